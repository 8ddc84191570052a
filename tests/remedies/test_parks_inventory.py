"""Each reason for which a table stands still has a test that goes through its remedy to a table that streams."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.core import TyperGroup

import connectors
from connectors.landing_zone.redo import TABLE_ERRORS
from tests.remedies.parks import DEFECT_ALONE, PARKS, documented
from tests.remedies.test_inventory import names_and_texts
from tests.unit.streaming.test_named_commands import COMMAND, command_lines, parse

ROOT = Path(connectors.__file__).parents[1]
UNREACHED = {"null_key"}
TESTS = PARKS | {reason: (file, name) for reason, (file, name, _) in DEFECT_ALONE.items()}

_MET_AS = {
    "not_adopted": "adopt",
    **{
        f"zone:{re.sub('(?<!^)(?=[A-Z])', '_', name).lower()}": f"{name}Error"
        for name in (error.__name__.removesuffix("Error") for error in TABLE_ERRORS)
    },
}
"""Reasons that a test does not name: what it names instead, such as the error of a table."""

_HEALTHY = {"require_streaming", "require_health", "mirrored", "STREAMING"}
"""What a test asks for in the end."""


def test_every_documented_reason_has_its_test_and_nothing_else_has() -> None:
    assert TESTS.keys() == documented().keys()


def test_no_other_reason_than_these_is_out_of_reach() -> None:
    assert set(DEFECT_ALONE) == UNREACHED
    assert not UNREACHED & PARKS.keys()


@pytest.mark.parametrize(("reason", "test"), sorted(TESTS.items()))
def test_the_named_test_exists_meets_the_reason_and_asks_for_health(reason: str, test: tuple[str, str]) -> None:
    file, name = test
    words = names_and_texts((ROOT / file).read_text(encoding="utf-8"), name)
    assert words & {reason, _MET_AS.get(reason, reason)}
    assert words & _HEALTHY


@pytest.mark.parametrize("reason", sorted(TESTS))
def test_what_to_do_names_commands_that_exist(reason: str) -> None:
    for line in command_lines(documented()[reason]):
        if " " in line:
            parse(line)
        else:
            assert isinstance(COMMAND, TyperGroup)
            assert line in COMMAND.commands


def test_most_remedies_name_a_command() -> None:
    without = {reason for reason, text in documented().items() if not list(command_lines(text))}
    assert without == {"dropped", "name_collision", "sources_alike"}
