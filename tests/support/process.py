"""The bridge as a process of its own: the command line, as a user types it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SECONDS = 180
_TAIL = 4_000


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "streaming", *arguments]


def run_once(settings: Path, environment: Mapping[str, str] | None = None, seconds: float = SECONDS) -> tuple[int, str]:
    """``cdc-bridge run SETTINGS --once``: its exit code (minus the signal that killed it) and what it said."""
    done = subprocess.run(
        command("run", str(settings), "--once"),
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return done.returncode, done.stderr[-_TAIL:]


@contextmanager
def running(settings: Path) -> Iterator[subprocess.Popen[str]]:
    """``cdc-bridge run SETTINGS``, whose lines can be read from its ``stderr``; ended at the latest with the test."""
    with subprocess.Popen(command("run", str(settings)), stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
