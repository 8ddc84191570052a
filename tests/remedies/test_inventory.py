"""Every terminal error has a test that goes from it to health, and none leaves a person with nothing to do."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import connectors
from connectors.errors import Terminal
from streaming.errors_docs import errors
from tests.remedies.inventory import TESTS

ROOT = Path(connectors.__file__).parents[1]
TERMINAL = {f"{kind.__module__}.{kind.__name__}" for kind in errors() if issubclass(kind, Terminal)}

_NOBODY_TO_ASK = re.compile(r"\b(contact|support|call us|consult|administrator)\b", re.IGNORECASE)
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
            for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(call, ast.keyword) and call.arg == "remedy":
                    words = [part.value for part in ast.walk(call.value) if isinstance(part, ast.Constant)]
                    text = "".join(word for word in words if isinstance(word, str))
                    found.append((f"{path.relative_to(ROOT)}:{call.value.lineno}", text))
    return found


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


def test_no_remedy_sends_a_person_to_somebody_else() -> None:
    written = remedies()
    assert len(written) > 100
    assert [(place, text) for place, text in written if _NOBODY_TO_ASK.search(text)] == []


def test_no_section_of_the_runbook_about_an_error_ends_with_somebody_else() -> None:
    runbook = (ROOT / "docs/runbook.md").read_text(encoding="utf-8")
    about_errors = runbook[runbook.index("\n## Errors") :]
    told = re.findall(r"^- \*\*Do:\*\* (.+)$", about_errors, re.MULTILINE)
    assert len(told) >= len({name.rpartition(".")[2] for name in TERMINAL})
    assert [text for text in told if _NOBODY_TO_ASK.search(text)] == []
