"""Every remedy of a terminal error is counted where it is written: a test carries it out, none does, or none can."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import pytest

from tests.remedies.raise_sites import KINDS, ROOT, raise_sites
from tests.remedies.sites import SITES
from tests.remedies.test_inventory import names_and_texts
from tests.remedies.unreached import UNREACHED, Unreached

SHARED = 14
"""Letters that a text of a test has in common with the remedy that it is about; or all that it has, or most of them."""
FEW = 8

_NAMED = re.compile(r"cdc-bridge ((?:ledger |dead-letters )?[a-z]+)")


def remedies_by_class() -> dict[str, set[str]]:
    """Of the classes that have more than one remedy."""
    found = defaultdict(set)
    for site in raise_sites():
        found[site.kind].add(site.text)
    return {kind: texts for kind, texts in found.items() if len(texts) > 1}


def begun_with(text: str, known: Iterable[str]) -> str:
    """The longest of these with which a remedy begins; empty for none."""
    return max((one for one in known if text.startswith(one)), key=len, default="")


def test_every_class_of_terminal_errors_is_raised_with_a_remedy() -> None:
    assert {site.kind for site in raise_sites()} == KINDS


def test_each_remedy_of_a_class_with_several_is_in_one_of_the_lists_and_nothing_else_is() -> None:
    remedies = remedies_by_class()
    assert SITES.keys() | UNREACHED.keys() == remedies.keys()
    for kind, texts in remedies.items():
        known = [*SITES.get(kind, ()), *UNREACHED.get(kind, ())]
        begun = {text: begun_with(text, known) for text in texts}
        assert sorted(begun.values()) == sorted(known), kind


@pytest.mark.parametrize(
    ("kind", "remedy", "test"),
    [(kind, remedy, test) for kind, tests in sorted(SITES.items()) for remedy, test in tests.items()],
)
def test_the_named_test_of_a_remedy_names_it(kind: str, remedy: str, test: tuple[str, str]) -> None:
    """By some of its words, or by the command that it names: one that meets the class may be about another remedy.

    Where a remedy is handed over, its words are not known here, and the test has to meet the class, or a table that it
    has parked, whose class is not told.
    """
    file, name = test
    words = names_and_texts((ROOT / file).read_text(encoding="utf-8"), name)
    [text] = {one for one in remedies_by_class()[kind] if begun_with(one, SITES[kind]) == remedy}
    if "::" in text:
        assert words & {kind, "parked"}, text
        return
    assert any(word.startswith(remedy) or shares(word, text) for word in words) or words & set(_NAMED.findall(text)), (
        text
    )


@pytest.mark.parametrize(
    ("kind", "remedy", "unreached"),
    [(kind, remedy, one) for kind, remedies in UNREACHED.items() for remedy, one in remedies.items()],
)
def test_the_words_of_a_remedy_that_nobody_meets_are_pinned(kind: str, remedy: str, unreached: Unreached) -> None:
    words = names_and_texts((ROOT / unreached.file).read_text(encoding="utf-8"), unreached.test)
    [text] = {one for one in remedies_by_class()[kind] if begun_with(one, UNREACHED[kind]) == remedy}
    assert any(shares(word, text) for word in words), text
    assert unreached.why.endswith(".")


def shares(word: str, text: str) -> bool:
    """Whether a test's text is of this remedy; what is filled in is missing in the remedy's."""
    if len(word) >= FEW and word in text:
        return True
    return any(text[start : start + SHARED] in word for start in range(len(text) - SHARED + 1))
