"""The terminal that pages are run in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.terminal import Terminal, TerminalError

SECONDS = 120


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path, {**os.environ, "LC_ALL": "C.UTF-8"})
    yield opened
    opened.close(seconds=SECONDS)


def test_a_command_gives_its_exit_code_and_all_that_it_prints(terminal: Terminal) -> None:
    assert terminal.run("echo ┃ä┃; echo aside >&2; (exit 3)", seconds=SECONDS) == (3, ["┃ä┃", "aside"])


def test_what_a_command_sets_is_there_for_the_next_one(terminal: Terminal, tmp_path: Path) -> None:
    assert terminal.run("mkdir made; cd made; export SHOP=a; made=b", seconds=SECONDS) == (0, [])
    assert terminal.run("cat <<END\n$SHOP$made\nEND\npwd -P", seconds=SECONDS) == (
        0,
        ["ab", str(tmp_path.resolve() / "made")],
    )


def test_commands_read_nothing_that_is_typed_later(terminal: Terminal) -> None:
    assert terminal.run("cat", seconds=SECONDS) == (0, [])


def test_an_interrupt_ends_what_runs_and_lets_it_say_goodbye(terminal: Terminal) -> None:
    # An interrupt between two commands is a matter of the next one's end, so none of them may take long.
    terminal.begin("(trap 'echo goodbye; exit' INT; echo ready; while :; do sleep 0.1; done)")
    terminal.read_until("ready\n", seconds=SECONDS)
    assert terminal.interrupt(seconds=SECONDS) == "goodbye\n"


def test_a_command_that_takes_too_long_is_an_error_with_its_output(terminal: Terminal) -> None:
    # One piece of output: once its beginning is there, so is its end.
    terminal.begin(r"printf 'ready\nstarted\n'")
    terminal.read_until("ready\n", seconds=SECONDS)
    with pytest.raises(TerminalError, match=r"not in time\. It printed:\nstarted"):
        terminal.run("sleep 600", seconds=1)
