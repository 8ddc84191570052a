"""What an error says in one line: what happened, where, and what to do."""

from __future__ import annotations

import re
import shlex

import pytest

from connectors.errors import BridgeError


def said(**facts: object) -> str:
    return str(BridgeError("It broke", remedy="mend it", **facts))


def test_facts_stand_behind_the_message() -> None:
    assert said() == "It broke. Remedy: mend it"
    assert said(topic="shop.orders", offset=7, table=None) == "It broke [topic=shop.orders, offset=7]. Remedy: mend it"


@pytest.mark.parametrize("name", ["my orders", "a, b", "x=y", "request=put if absent", "(a) \"b\" 'c'"])
def test_a_name_whose_ends_are_seen_stays_as_it_is(name: str) -> None:
    assert said(table=name, file="f") == f"It broke [table={name}, file=f]. Remedy: mend it"


@pytest.mark.parametrize("name", ["a, file=b", "a]. Remedy: rest [b", " a", "a ", "\na", "'a'", "it's], x=1", ""])
def test_a_name_that_looks_like_what_is_around_it_is_quoted(name: str) -> None:
    shown = re.fullmatch(r"It broke \[table=('.*'), file=f\]\. Remedy: mend it", said(table=name, file="f"), re.DOTALL)
    assert shown is not None
    assert shlex.split(shown[1]) == [name]
