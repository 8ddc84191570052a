"""A person at a terminal: types what a remedy names, word for word, and reads what the commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from connectors.errors import Terminal
from streaming.cli import main
from streaming.errors_docs import errors
from streaming.remedies import names_command
from tests.support.process import SECONDS as PROCESS_SECONDS
from tests.support.process import command
from tests.support.told_commands import commands

_TERMINAL = {kind.__name__ for kind in errors() if issubclass(kind, Terminal)}

SECONDS = 60.0
"""How long a command may wait for the bridge."""

_TOLD = re.compile(r"what to do: (.+?) *│?$", re.IGNORECASE | re.MULTILINE)
_LEFT_OPEN = re.compile(r"[A-Z]{2,}")


@dataclass(frozen=True)
class Printed:
    """How a command ended, and what it printed: its result, and what it says beside it."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> list[str]:
        """What it tells to do, each in one line."""
        return _TOLD.findall(f"{self.out}\n{self.err}")

    @property
    def remedy(self) -> str:
        """The only thing that it tells to do."""
        [remedy] = self.told
        return remedy

    @property
    def act(self) -> str:
        """What is to be done before the command is given again."""
        return self.remedy.partition(" (to try again: ")[0]

    @property
    def error(self) -> str:
        """The kind of error that it ended with; empty where it has shown none."""
        title = re.search(r"^╭─ (\w+) ─", self.err, re.MULTILINE)
        return "" if title is None else title[1]


def require_refused(refused: Printed, kind: type[Exception], remedy: str, *where: str) -> None:
    """It ends with this error, which says where, and tells this to do."""
    assert (refused.code, refused.error) == (1, kind.__name__), refused
    assert refused.act.startswith(remedy), refused.remedy
    assert [fact for fact in where if fact not in refused.err] == [], refused.err


@dataclass
class Shell:
    """Types command lines, in a terminal that is wide enough for every line.

    Attributes:
        places: what stands for the words that a text leaves open, such as ``CONFIG`` and ``ZONE``.
    """

    capsys: pytest.CaptureFixture[str]
    places: dict[str, object] = field(default_factory=dict)

    def type(self, line: str, *, beside: Callable[[], object] | None = None, **places: object) -> Printed:
        """Run a line that begins with ``cdc-bridge``.

        Args:
            beside: a bridge that runs, as turns that are taken until the command has ended.
            places: as of the shell, for this line.
        """
        words = self._words(line, places)
        self.capsys.readouterr()
        code = main(words) if beside is None else _beside(lambda: main(words), beside)
        said = self.capsys.readouterr()
        return _telling(Printed(code, said.out, said.err))

    def type_apart(self, line: str, **places: object) -> Printed:
        """As :meth:`type`, in a process of its own: one that starts a Java."""
        done = subprocess.run(
            command(*self._words(line, places)), capture_output=True, text=True, timeout=PROCESS_SECONDS, check=False
        )
        return _telling(Printed(done.returncode, done.stdout, done.stderr))

    def _words(self, line: str, places: Mapping[str, object]) -> list[str]:
        known = {**self.places, **places}
        program, *words = (str(known.get(word, word)) for word in shlex.split(line))
        assert program == "cdc-bridge"
        assert [word for word in words if _LEFT_OPEN.fullmatch(word)] == [], f"nothing stands for a word of {line}"
        return words

    def follow(
        self, remedy: str, name: str, *, beside: Callable[[], object] | None = None, **places: object
    ) -> Printed:
        """Type the command of this name that a remedy tells to type: all of it, and nothing else."""
        named = [line for line in commands(remedy) if line.startswith(f"cdc-bridge {name} ")]
        assert len(named) == 1, f"{len(named)} commands {name} in: {remedy}"
        return self.type(named[0], beside=beside, **places)


def _telling(printed: Printed) -> Printed:
    """What was printed; a terminal error tells a command, whichever it is."""
    if printed.error in _TERMINAL:
        assert names_command(printed.remedy), f"{printed.error} names no command: {printed.remedy}"
    return printed


def _beside(command: Callable[[], int], bridge: Callable[[], object]) -> int:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(command()), daemon=True)
    thread.start()
    deadline = time.monotonic() + SECONDS
    while thread.is_alive():
        bridge()
        thread.join(0.05)
        assert time.monotonic() < deadline, "the command waits for something that the bridge does not do"
    return codes[0]
