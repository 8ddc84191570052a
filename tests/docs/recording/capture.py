"""A command in a pseudo terminal, and what it prints when."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.docs.recording.screen import Line, Screen


@dataclass(frozen=True)
class Frame:
    """What is on the screen from a moment on, in seconds since the beginning."""

    begin: float
    lines: tuple[Line, ...]


def capture(command: Sequence[str], *, columns: int, rows: int, folder: Path) -> list[tuple[float, str]]:
    """Run a command to its end; each piece of its output with the seconds since its start.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    for name in ("COLUMNS", "LINES", "COLORTERM", "NO_COLOR", "MAKEFLAGS", "MAKELEVEL"):
        environment.pop(name, None)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    pieces = []
    began = time.monotonic()
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        while True:
            try:
                read = os.read(ours, 65536)
            except OSError:  # Linux' way of saying that nobody has the other end any more
                break
            if not read:
                break
            pieces.append((time.monotonic() - began, decoder.decode(read)))
    os.close(ours)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output="".join(text for _, text in pieces))
    return pieces


def frames(pieces: Sequence[tuple[float, str]], *, columns: int, rows: int, every: float) -> list[Frame]:
    """What the screen shows, looked at ``every`` so many seconds; one frame for as long as it does not change."""
    screen = Screen(columns, rows)
    shown = [Frame(0.0, screen.lines())]
    for number, (moment, text) in enumerate(pieces):
        screen.feed(text)
        following = pieces[number + 1][0] if number + 1 < len(pieces) else float("inf")
        if following == float("inf") or int(following / every) > int(moment / every):
            lines = screen.lines()
            if lines != shown[-1].lines:
                shown.append(Frame(moment, lines))
    return shown
