"""Every terminal error has a test that goes from it to health, and none leaves a person with nothing to do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import connectors
from connectors.errors import Terminal
from streaming.errors_docs import errors
from streaming.monitoring.alerts import ALERTS
from streaming.settings import BridgeSettings
from streaming.settings.explain import known_keys
from tests.remedies.inventory import ACTS, ACTS_ALONE, TESTS
from tests.unit.streaming.test_named_settings import KEYS, named

ROOT = Path(connectors.__file__).parents[1]
TERMINAL = {f"{kind.__module__}.{kind.__name__}" for kind in errors() if issubclass(kind, Terminal)}

_NOBODY_TO_ASK = re.compile(
    r"\b(contact|support|call us|consult|administrator|report (it|this|that|them|the)|ask (that|the|your|microsoft))\b",
    re.IGNORECASE,
)
_ALSO_NOT_THE_ONLY_ONE = {
    "streaming.task.bad_records.BadRecordError",
    "streaming.lifecycle.dead_letter_replay.ReplayRefusedError",
    "streaming.lifecycle.rebuilding.SnapshotRefusedError",
}
"""Errors that a test meets under another name: as the answer to a request, or as the reason of a table."""


def remedies() -> list[tuple[str, str]]:
    """Every remedy that is written in the code, with its place."""
    found = []
    for package in ("connectors", "streaming"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for part in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for value in _remedies_in(part):
                    words = [each.value for each in ast.walk(value) if isinstance(each, ast.Constant)]
                    text = "".join(word for word in words if isinstance(word, str))
                    found.append((f"{path.relative_to(ROOT)}:{value.lineno}", text))
    return found


def _remedies_in(part: ast.AST) -> Iterator[ast.expr]:
    """As an argument, a value or a result that is called so, or as that of a stop."""
    match part:
        case ast.keyword(arg="remedy", value=value):
            yield value
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if name.lower().endswith("remedy"):
            yield value
        case ast.FunctionDef(name=name) if name.endswith("remedy_of"):
            yield from (each.value for each in ast.walk(part) if isinstance(each, ast.Return) and each.value)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="Stop"), attr="at"), args=[_, _, _, _, value]):
            yield value


def remedies_of_errors() -> Iterator[tuple[str, str]]:
    """Class of a terminal error and what it is raised with, where that is written there and not a constant's."""
    kinds = {error.rpartition(".")[2] for error in TERMINAL}
    for package in ("connectors", "streaming"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for part in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                match part:
                    case ast.Call(func=ast.Name(id=kind)) if kind in kinds:
                        for value in _remedies_of(part):
                            named_constants = [each.id for each in ast.walk(value) if isinstance(each, ast.Name)]
                            words = [each.value for each in ast.walk(value) if isinstance(each, ast.Constant)]
                            text = "".join(word for word in words if isinstance(word, str))
                            if text and not any(name.isupper() for name in named_constants):
                                yield kind, text


def _remedies_of(call: ast.Call) -> Iterator[ast.expr]:
    return (each.value for each in call.keywords if each.arg == "remedy")


def told_to_do(error: str) -> str:
    """What the runbook says under *Do* about an error."""
    runbook = (ROOT / "docs/runbook.md").read_text(encoding="utf-8")
    section = re.search(rf"^### {error.rpartition('.')[2]}\n(.*?)(?=^### |^## |\Z)", runbook, re.MULTILINE | re.DOTALL)
    assert section is not None
    return re.findall(r"^- \*\*Do:\*\* (.+)$", section[1], re.MULTILINE)[0]


def settings_in(text: str) -> set[str]:
    """The keys of the settings that a text names, as ``tables.overrides[].keys`` or ``fabric.status: files``."""
    named = {quoted.partition(":")[0].replace("[]", "") for quoted in re.findall(r"`([^`]+)`", text)}
    return named & {".".join(path) for path in known_keys(BridgeSettings)}


def test_every_terminal_error_has_its_test_and_nothing_else_has() -> None:
    assert TESTS.keys() == TERMINAL


@pytest.mark.parametrize(("error", "test"), sorted(TESTS.items()))
def test_the_named_test_exists_and_meets_the_error(error: str, test: tuple[str, str]) -> None:
    file, name = test
    text = (ROOT / file).read_text(encoding="utf-8")
    functions = {node.name: node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    assert name in functions
    if error not in _ALSO_NOT_THE_ONLY_ONE:
        assert error.rpartition(".")[2] in text


@pytest.mark.parametrize("error", sorted(TESTS))
def test_what_to_do_is_a_command_else_a_setting_or_an_act_that_is_named(error: str) -> None:
    text = told_to_do(error)
    if "`cdc-bridge " in text or settings_in(text):
        assert error not in ACTS, "a command or a setting is named"
    else:
        assert ACTS[error] in text


def test_a_terminal_error_s_own_remedy_names_a_command_or_a_setting_where_one_helps() -> None:
    nameless = {error for error, text in remedies_of_errors() if "cdc-bridge " not in text and not named(text) & KEYS}
    assert nameless - ACTS_ALONE == set()


def test_no_remedy_sends_a_person_to_somebody_else() -> None:
    written = remedies()
    assert len(written) > 100
    assert [(place, text) for place, text in written if _NOBODY_TO_ASK.search(text)] == []


def test_no_section_of_the_runbook_about_an_alert_or_an_error_ends_with_somebody_else() -> None:
    runbook = (ROOT / "docs/runbook.md").read_text(encoding="utf-8")
    told = re.findall(r"^- \*\*Do:\*\* (.+)$", runbook, re.MULTILINE)
    assert len(told) >= len({name.rpartition(".")[2] for name in TERMINAL}) + len(ALERTS)
    assert [text for text in told if _NOBODY_TO_ASK.search(text)] == []
