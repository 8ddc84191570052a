"""A reader's terminal: one bash that is given commands one after the other."""

from __future__ import annotations

import codecs
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

_MARK = "\x01done "


class TerminalError(Exception):
    """A command took too long; the message holds what it has printed."""


class Terminal:
    """A bash of its own session, whose standard error goes where its output goes.

    Args:
        folder: where it begins.
        environment: its whole environment.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        # Started by a shell without job control, it would ignore interrupts for ever.
        command = ["env", "--default-signal=INT", "bash", "--noprofile", "--norc"]
        self._bash = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        self._stdin, self._stdout = self._bash.stdin, self._bash.stdout
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._printed = ""

    def run(self, command: str, *, seconds: float) -> tuple[int, list[str]]:
        """Run a command, or several; the exit code of the last one that failed and the lines that they printed.

        Raises:
            TerminalError: it did not end in time.
        """
        self.begin(f"failed=0; trap 'failed=$?' ERR\n{{\n{command}\n}} </dev/null\nprintf '\\n{_MARK}%d\\n' $failed")
        printed = self.read_until(_MARK, seconds=seconds)
        code = int(self.read_until("\n", seconds=seconds))
        return code, printed.removesuffix("\n").splitlines()

    def begin(self, command: str) -> None:
        """Type a command without waiting for its end."""
        self._stdin.write(f"{command}\n".encode())
        self._stdin.flush()

    def read_until(self, text: str, *, seconds: float) -> str:
        """What is printed until the text appears; the text itself is read, too.

        Raises:
            TerminalError: it does not within the time, or bash ends.
        """
        deadline = time.monotonic() + seconds
        while text not in self._printed:
            if not self._read(deadline):
                raise TerminalError(f"bash has ended. It printed:\n{self._printed}")
        before, _, self._printed = self._printed.partition(text)
        return before

    def interrupt(self, *, seconds: float) -> str:
        """Press Ctrl-C, and return what is printed until everything that was started here has ended."""
        os.killpg(self._bash.pid, signal.SIGINT)
        self._stdin.close()
        deadline = time.monotonic() + seconds
        while self._read(deadline):
            pass
        self._bash.wait(seconds)
        return self._printed

    def close(self, *, seconds: float = 60.0) -> None:
        """End bash and what it still runs, politely at first, since a server may have children of its own to end."""
        if self._bash.poll() is None:
            try:
                self.interrupt(seconds=seconds)
            except (TerminalError, subprocess.TimeoutExpired):
                os.killpg(self._bash.pid, signal.SIGKILL)
                self._bash.wait()
        self._stdin.close()
        self._stdout.close()

    def _read(self, deadline: float) -> bool:
        """Take in what is printed next; False when all that could print has ended."""
        with selectors.DefaultSelector() as ready:
            ready.register(self._stdout, selectors.EVENT_READ)
            if not ready.select(max(0.0, deadline - time.monotonic())):
                raise TerminalError(f"not in time. It printed:\n{self._printed}")
        read = os.read(self._stdout.fileno(), 65536)
        self._printed += self._decoder.decode(read)
        return bool(read)
