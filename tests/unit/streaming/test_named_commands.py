"""What a remedy tells a person to type is a command line that the bridge takes."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

import connectors
from streaming import cli

ROOT = Path(connectors.__file__).parents[1]
SOURCES = [path for package in ("connectors", "streaming") for path in sorted((ROOT / package).rglob("*.py"))]
COMMAND = typer.main.get_command(cli.app)
ACTS = {"pause", "resume", "resync", "replay", "resolve"}
"""Commands that do something: what they are to do it to is said with them."""

_QUOTED = re.compile(r"([`'])cdc-bridge ([^`']+)\1")
_WHOLE = re.compile(r"(?:Example: |\s*)cdc-bridge ([a-z].*)")
_PLAIN = re.compile(r"(?<![`'\w/.-])cdc-bridge (?=[a-z])")
_NO_COMMANDS = ("cdc-bridge format ", "cdc-bridge column encryption")
"""A name of the writer in a file, and of a key."""
_REDIRECTION = re.compile(r" > \S+$")
_SAID = "0"
"""Stands for what is filled in when the sentence is written: a name, a path or a number."""


def texts(path: Path) -> Iterator[str]:
    """The texts in a module, joined as they are written, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in told:
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else _SAID for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (told | parts):
            yield node.value


def command_lines(text: str) -> Iterator[str]:
    """What is behind ``cdc-bridge`` in a sentence's quoted commands, or in a text that is a command or its example."""
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        yield from (quoted[2] for quoted in _QUOTED.finditer(text))
    elif not text.startswith(_NO_COMMANDS):
        yield whole[1]


def parse(line: str) -> None:
    """Return if the command line can be run; one that only names a reading command needs no arguments.

    Raises:
        TyperException: there is no such command or option, or an argument is missing or surplus.
    """
    words = [_SAID if word.isupper() else word for word in shlex.split(_REDIRECTION.sub("", line))]
    command, context = COMMAND, typer.Context(COMMAND, info_name="cdc-bridge")
    while isinstance(command, TyperGroup):
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, typer.Context(found, info_name=name, parent=context)
    if words or context.info_name in ACTS:
        command.make_context(context.info_name, words, parent=context.parent)


LINES = [(path, line) for path in SOURCES for text in texts(path) for line in command_lines(text)]


def test_commands_are_named_all_over_the_project() -> None:
    named = {path.relative_to(ROOT).parts[0] for path, _ in LINES}
    assert named == {"connectors", "streaming"}
    assert {"resync CONFIG TABLE", "run bridge.yaml --once", "status"} <= {line for _, line in LINES}


@pytest.mark.parametrize("line", sorted({line for _, line in LINES}))
def test_a_command_that_a_text_names_can_be_typed(line: str) -> None:
    parse(line)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("mend CONFIG TABLE", "No such command 'mend'."),
        ("ledger repair CONFIG", "No such command 'repair'."),
        ("resync CONFIG", "Missing parameter: table"),
        ("resync", "Missing parameter: config"),
        ("resync CONFIG TABLE --again", "No such option: --again"),
        ("explain CONFIG --topic TOPIC --offset first", "Input should be a valid integer"),
    ],
)
def test_one_that_does_not_exist_or_lacks_an_argument_is_found(line: str, said: str) -> None:
    with pytest.raises(TyperException) as caught:
        parse(line)
    assert str(caught.value).startswith(said)


def test_a_command_within_a_sentence_is_quoted() -> None:
    plain = [
        (path.relative_to(ROOT), text)
        for path in SOURCES
        for text in texts(path)
        if _PLAIN.search(text) and _WHOLE.fullmatch(text) is None
    ]
    assert plain == []
