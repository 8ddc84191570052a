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
WRITER = ROOT / "connectors" / "command_lines.py"
"""What writes commands with names in them; its own tests are ``tests/unit/test_command_lines.py``."""
SOURCES = [
    path for package in ("connectors", "streaming") for path in sorted((ROOT / package).rglob("*.py")) if path != WRITER
]
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
_HOLE = "\0"
"""Stands for the same, in a text of which it is asked where it is filled in."""
_COMMAND = re.compile(r"cdc-bridge (?=[a-z\0])[^`]*")
_UNFINISHED = re.compile(r"`cdc-bridge [^`]*\Z")
_FORMATTED = re.compile(r"`cdc-bridge [^`]*(?:\{\w*\}|%[sd])")
_WRITERS = {"command", "command_line"}
_TITLES = {"cdc-bridge {version.own_version()}", "cdc-bridge {settings.name}"}
"""What the program is called, where it says its version, and in Spark's list of applications."""


def written_by_calls(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls that write a command line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _WRITERS:
            yield node


def template_of(call: ast.Call) -> str:
    """What the call is given as what the project says itself."""
    first = call.args[0]
    assert isinstance(first, ast.Constant), ast.unparse(call)
    return str(first.value)


def texts(path: Path) -> Iterator[str]:
    """The texts in a module, joined as they are written, without docstrings; commands with names as they come out."""
    yield from texts_of(ast.parse(path.read_text(encoding="utf-8")))


def texts_of(tree: ast.AST) -> Iterator[str]:
    """As :func:`texts`, of a module's tree."""
    yield from (f"`cdc-bridge {template_of(call).replace('{}', _SAID)}`" for call in written_by_calls(tree))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in told:
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else _SAID for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (told | parts):
            yield node.value


def joined(tree: ast.AST) -> Iterator[str]:
    """What puts a name, or anything else that is not a constant, into a command by itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            filled = "".join(_constant(part) or _HOLE for part in node.values)
            if any(_HOLE in found for found in _COMMAND.findall(filled) if not found.startswith(_NO_COMMANDS)):
                yield ast.unparse(node)[2:-1]
    yield from (text for text in texts_of(tree) if _UNFINISHED.search(text) or _FORMATTED.search(text))


def _constant(part: ast.expr) -> str | None:
    """The part as it will be, of an f-string's text or of a constant of the module; None where nobody knows."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    value = part.value if isinstance(part, ast.FormattedValue) else part
    return _SAID if isinstance(value, ast.Name) and value.id.isupper() else None


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


def test_no_text_joins_a_command_and_a_name_by_itself() -> None:
    found = [
        (path.relative_to(ROOT), text)
        for path in SOURCES
        for text in joined(ast.parse(path.read_text(encoding="utf-8")))
        if text not in _TITLES
    ]
    assert found == []


def test_every_place_of_a_command_is_filled_once() -> None:
    calls = [call for path in SOURCES for call in written_by_calls(ast.parse(path.read_text(encoding="utf-8")))]
    assert len(calls) > 50
    for call in calls:
        words = template_of(call).split()
        assert [word for word in words if "{" in word] == ["{}"] * (len(call.args) - 1), ast.unparse(call)
        assert not call.keywords, ast.unparse(call)
        assert not any(isinstance(each, ast.Starred) for each in call.args), ast.unparse(call)


@pytest.mark.parametrize(
    "code",
    [
        'f"`cdc-bridge resync CONFIG {table}`"',
        'f"once more: `cdc-bridge resync CONFIG {quote(table)} --restart`"',
        'f"  cdc-bridge verify {folder / ZONE}"',
        'f"`cdc-bridge {verb} CONFIG TABLE`"',
        '"`cdc-bridge resync CONFIG " + table + "`"',
        '"`cdc-bridge resync CONFIG {}`".format(table)',
        '"`cdc-bridge resync CONFIG {table}`".format_map(names)',
        '"`cdc-bridge resync CONFIG %s`" % table',
        """f"`cdc-bridge resync CONFIG {command('status CONFIG')}`\"""",
    ],
)
def test_one_that_joins_them_is_found(code: str) -> None:
    assert list(joined(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        """f"stop it, and {command('resync CONFIG {}', table)}\"""",
        """f"  {command_line('verify {}', folder)}\"""",
        'f"`cdc-bridge run {SETTINGS_FILE} --once`"',
        'f"{name} stands still; `cdc-bridge resync CONFIG TABLE` fills {columns}"',
    ],
)
def test_one_that_keeps_them_apart_is_not(code: str) -> None:
    assert list(joined(ast.parse(code))) == []
