"""docs/tutorial.md, run as a reader would: every command in order, in two terminals, from a fresh folder.

What prepares the machine (blocks called "Once") is there already: the folder ``cdc-bridge`` stands for the clone, and
has this project's own files and environment. ``CDC_BRIDGE_TUTORIAL=whole`` runs these blocks, too: as root, with
``REPOSITORY`` naming the repository to clone (``make tutorial``).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.page import Block, Command, blocks, commands, shows
from tests.docs.terminal import Terminal
from tests.rig.services import READY
from tests.support.bridge import QUICK_START
from tests.support.class_archive import keep_classes

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
WHOLE = os.environ.get("CDC_BRIDGE_TUTORIAL") == "whole"
PREPARED, FIRST = "Once", "First terminal"
SECONDS = 240.0
_INSTALL_SECONDS = 1200.0
_NOT_A_CLONE = {".git", ".cache", "build", "dist", "demo-output"}


def environment() -> dict[str, str]:
    """A reader's, but for what makes Java start sooner and leaves the environment of Python as it is."""
    named = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "CDC_BRIDGE_", "PYTEST"))}
    named |= {"LC_ALL": "C.UTF-8", "COLUMNS": "100", "TERM": "dumb"}
    if "CDC_BRIDGE_JARS" in os.environ:
        named["CDC_BRIDGE_JARS"] = os.environ["CDC_BRIDGE_JARS"]
    if not WHOLE:
        named |= {"MAKEFLAGS": "--assume-old=.venv/.installed", "CDC_BRIDGE_SPARK__CONF": json.dumps(QUICK_START)}
    return named


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder, with what stands for the clone in it unless the page makes that itself."""
    if not WHOLE:
        keep_classes()
        clone = tmp_path / "cdc-bridge"
        clone.mkdir()
        for entry in ROOT.iterdir():
            if entry.name not in _NOT_A_CLONE:
                (clone / entry.name).symlink_to(entry)
    return tmp_path


@pytest.fixture
def terminals(folder: Path) -> Iterator[tuple[Terminal, Terminal]]:
    both = Terminal(folder, environment()), Terminal(folder, environment())
    yield both
    for terminal in both:
        terminal.close()


def try_out(terminal: Terminal, command: Command, *, seconds: float = SECONDS) -> None:
    """Run a command, repeatedly where the page says so, and hold what it prints against what is shown."""
    deadline = time.monotonic() + seconds
    code, printed = terminal.run(command.line, seconds=seconds)
    while command.again and not _as_shown(command, code, printed) and time.monotonic() < deadline:
        code, printed = terminal.run(command.line, seconds=seconds)
    if not _as_shown(command, code, printed):
        wanted = "\n".join(command.shown or ())
        pytest.fail(
            f"exit code {code} of\n{command.line}\nIt printed:\n" + "\n".join(printed) + f"\nThe page shows:\n{wanted}"
        )


def _as_shown(command: Command, code: int, printed: list[str]) -> bool:
    return code == 0 and (command.shown is None or shows(command.shown, printed))


def of_terminal(title: str) -> list[Block]:
    return [block for block in blocks(PAGE) if block.language in ("bash", "console") and block.title == title]


@pytest.mark.rig
def test_every_command_of_the_tutorial_does_what_the_page_shows(terminals: tuple[Terminal, Terminal]) -> None:
    first, second = terminals
    if WHOLE:
        first.run('sudo() { "$@"; }', seconds=SECONDS)
        for block in of_terminal(PREPARED):
            try_out(first, Command(block.text), seconds=_INSTALL_SECONDS)
    for block in of_terminal(FIRST):
        first.begin(block.text)
    first.read_until(READY, seconds=_INSTALL_SECONDS if WHOLE else SECONDS)
    tried = 0
    for block in of_terminal(""):
        for command in commands(block):
            try_out(second, command)
            tried += 1
    assert tried >= 15
    ended = first.interrupt(seconds=SECONDS)
    assert "Dropping cluster" in ended
    assert "Traceback" not in ended
