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
from tests.remedies.inventory import ACTS, ACTS_ALONE, TESTS, told_to_do
from tests.remedies.raise_sites import written
from tests.unit.streaming.test_named_settings import KEYS, named

ROOT = Path(connectors.__file__).parents[1]
TERMINAL = {f"{kind.__module__}.{kind.__name__}" for kind in errors() if issubclass(kind, Terminal)}

_NOBODY_TO_ASK = re.compile(
    r"\b(contact|support|call us|consult|administrator|report (it|this|that|them|the)|ask (that|the|your|microsoft))\b",
    re.IGNORECASE,
)
_MET_AS = {
    "connectors.debezium.errors.ColumnDeclarationError": "is not a known type: did you mean",
    "connectors.debezium.errors.SchemaError": "unusable schema",
    "connectors.kafka.errors.RecordsGoneError": "retention has removed what the table has to catch up from",
    "connectors.landing_zone.errors.InvalidFileNameError": "move it out of the table's folder",
    "connectors.landing_zone.replay.content.UnreadableFileError": "the file is not valid Parquet",
    "connectors.source_database.errors.DatabaseRequestError": "the source database does not do what was asked",
    "streaming.lifecycle.landed_letters.ReplayRefusedError": "the letters cannot land together: ",
    "streaming.lifecycle.later_reading.TooMuchToReadError": "offsets would have to be read to tell",
    "streaming.reconciling.mirror.UnreadableMirrorError": "the table's files cannot be applied to file",
    "streaming.lifecycle.refused_snapshots.SnapshotRefusedError": "the snapshot that was to fill the table failed: ",
}
"""Errors that a test meets as the answer to a request, the reason of a table or of a letter, or as a finding: what is
said there."""


def remedies() -> list[tuple[str, str]]:
    """Every remedy that is written in the code, with its place."""
    found = []
    for package in ("connectors", "streaming"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for part in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for value in _remedies_in(part):
                    found.append((f"{path.relative_to(ROOT)}:{value.lineno}", written(value)))
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
                            text = written(value)
                            if text and not any(name.isupper() for name in named_constants):
                                yield kind, text


def _remedies_of(call: ast.Call) -> Iterator[ast.expr]:
    return (each.value for each in call.keywords if each.arg == "remedy")


def names_and_texts(module: str, test: str) -> set[str]:
    """Every name and text in a test, and in what of its module it uses: fixtures, functions, methods, constants.

    Args:
        module: its source; test: the function, behind ``Class::`` where several have its name.

    Raises:
        LookupError: there is no such test, or more than one.
    """
    tree = ast.parse(module)
    known: dict[str, list[ast.AST]] = {}
    for node in tree.body:
        for name in _defined(node):
            known.setdefault(name, []).append(node)
        for inner in node.body if isinstance(node, ast.ClassDef) else ():
            for name in _defined(inner):
                known.setdefault(f"{node.name}::{name}" if name.startswith("test_") else name, []).append(inner)
    found = [node for name, nodes in known.items() if name == test or name.endswith(f"::{test}") for node in nodes]
    if len(found) != 1:
        raise LookupError(f"{len(found)} tests are called {test}")
    seen: set[str] = set()
    left = found
    while left:
        for word in _words(left.pop()) - seen:
            seen.add(word)
            left += [node for node in known.get(word, ()) if not word.startswith("test_")]
    return seen


def _defined(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Assign(targets=targets):
            return tuple(target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            return (name,)
        case _:
            return ()


def _words(node: ast.AST) -> set[str]:
    """Names, attributes, arguments and texts, but for docstrings, and for the own name of what is assigned."""
    docs = {
        id(part.body[0].value)
        for part in ast.walk(node)
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and part.body and isinstance(part.body[0], ast.Expr)
    }
    words: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Name(id=word, ctx=ast.Load()) | ast.Attribute(attr=word) | ast.arg(arg=word):
                words.add(word)
            case ast.Constant(value=str(word)) if id(part) not in docs:
                words.add(word)
    return words


def settings_in(text: str) -> set[str]:
    """The keys of the settings that a text names, as ``tables.overrides[].keys`` or ``fabric.status: files``."""
    named = {quoted.partition(":")[0].replace("[]", "") for quoted in re.findall(r"`([^`]+)`", text)}
    return named & {".".join(path) for path in known_keys(BridgeSettings)}


def test_every_terminal_error_has_its_test_and_nothing_else_has() -> None:
    assert TESTS.keys() == TERMINAL


@pytest.mark.parametrize(("error", "test"), sorted(TESTS.items()))
def test_the_named_test_exists_and_meets_the_error(error: str, test: tuple[str, str]) -> None:
    file, name = test
    words = names_and_texts((ROOT / file).read_text(encoding="utf-8"), name)
    if error in _MET_AS:
        assert any(_MET_AS[error] in word for word in words)
    else:
        assert any(re.search(rf"\b{error.rpartition('.')[2]}\b", word) for word in words)


MODULE = """
import other
WRONG = 'raises TableLostError'
class Fixed:
    def test_same(self): return helped()
class Broken:
    kept = ZoneLostError
    def look(self): raise LookError
    def test_same(self): return self.look()
def helped(): return WRONG
def unused(): raise UnusedError
def test_alone(): 'of the DocumentedError'
"""


def test_only_what_a_test_does_counts_as_meeting_an_error() -> None:
    assert names_and_texts(MODULE, "Fixed::test_same") == {"self", "helped", "WRONG", "raises TableLostError"}
    assert names_and_texts(MODULE, "Broken::test_same") == {"self", "look", "LookError"}
    assert names_and_texts(MODULE, "test_alone") == set()
    for name in ("test_same", "test_none", "Fixed::test_alone"):
        with pytest.raises(LookupError, match=f"tests are called {name}"):
            names_and_texts(MODULE, name)


@pytest.mark.parametrize("error", sorted(TESTS))
def test_what_to_do_is_a_command_else_a_setting_or_an_act_that_is_named(error: str) -> None:
    text = told_to_do(error)
    if "`cdc-bridge " in text or settings_in(text):
        assert error not in ACTS, "a command or a setting is named"
    else:
        assert ACTS[error] in text


def test_a_terminal_error_s_own_remedy_names_a_command_or_a_setting_where_one_helps() -> None:
    nameless = {error for error, text in remedies_of_errors() if "cdc-bridge " not in text and not named(text) & KEYS}
    assert nameless == ACTS_ALONE


TYPES = {"shell", "main", "stands", "carry_out", "typed"}
"""Who types a command in a test: in the shell of the tests, as a process of its own, or as its module does."""


def test_the_command_that_a_terminal_error_s_own_remedy_names_is_typed_in_its_test() -> None:
    naming = {error for error, text in remedies_of_errors() if "cdc-bridge " in text}
    untyped = set()
    for error, (file, name) in TESTS.items():
        words = names_and_texts((ROOT / file).read_text(encoding="utf-8"), name)
        if words.isdisjoint(TYPES):
            untyped.add(error.rpartition(".")[2])
    assert naming & untyped == set()


UNTYPED = {
    # A bridge is run by what the command calls, with a Spark that has started already.
    "AddressInUseError",
    "AddressNotOursError",
    "KafkaAccessError",
    "OffsetGapError",
    "TopicRecreatedError",
}
"""Errors whose test types no command; none of their own remedies names one."""


def test_in_the_test_of_every_other_terminal_error_commands_are_typed() -> None:
    untyped = {
        error.rpartition(".")[2]
        for error, (file, name) in TESTS.items()
        if names_and_texts((ROOT / file).read_text(encoding="utf-8"), name).isdisjoint(TYPES)
    }
    assert untyped == UNTYPED


def test_no_remedy_sends_a_person_to_somebody_else() -> None:
    written = remedies()
    assert len(written) > 100
    assert [(place, text) for place, text in written if _NOBODY_TO_ASK.search(text)] == []


def test_no_section_of_the_runbook_about_an_alert_or_an_error_ends_with_somebody_else() -> None:
    runbook = (ROOT / "docs/runbook.md").read_text(encoding="utf-8")
    told = re.findall(r"^- \*\*Do:\*\* (.+)$", runbook, re.MULTILINE)
    assert len(told) >= len({name.rpartition(".")[2] for name in TERMINAL}) + len(ALERTS)
    assert [text for text in told if _NOBODY_TO_ASK.search(text)] == []
