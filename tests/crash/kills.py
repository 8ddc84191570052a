"""When a process is killed: kinds of moments, and how a process is made to die at one of its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from connectors.failpoints import VARIABLE, Failpoint
from tests.crash.steps import StepBoard

_CHANGES = frozenset({"os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir"})


@dataclass(frozen=True)
class AtFailpoint:
    """At its n-th passage of a failpoint, from 1."""

    point: Failpoint
    passage: int


@dataclass(frozen=True)
class AtRequest:
    """Right before or right after its n-th request to a storage, from 1."""

    number: int
    after: bool


@dataclass(frozen=True)
class AtFileOperation:
    """Right before the n-th time that it makes, links, renames or removes a file or folder on the disk, from 1."""

    number: int


@dataclass(frozen=True)
class AtMoment:
    """From outside, so many seconds after it was started."""

    seconds: float


@dataclass(frozen=True)
class AtHttpRequest:
    """From outside, while the service has its n-th HTTP request in hand, from 1: before its effect, or after it."""

    number: int
    after: bool


Kill = AtFailpoint | AtRequest | AtFileOperation | AtMoment | AtHttpRequest


def die() -> NoReturn:
    """SIGKILL for this process."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody lives on after SIGKILL")


def prepare(kill: Kill | None, board: StepBoard, folder: Path) -> None:
    """Let this process die at a moment of its own, and count its file operations.

    Args:
        folder: operations on files outside it do not count.
    """
    os.environ.pop(VARIABLE, None)
    if isinstance(kill, AtFailpoint):
        os.environ[VARIABLE] = f"{kill.point}:{kill.passage}"
    last = kill.number if isinstance(kill, AtFileOperation) else 0
    sys.addaudithook(_file_operations(board, str(folder), last))


def _file_operations(board: StepBoard, folder: str, last: int) -> Callable[[str, tuple[Any, ...]], None]:
    # Python tells of these operations right before it does them.
    def heard(event: str, told: tuple[Any, ...]) -> None:
        makes = event == "open" and isinstance(told[2], int) and told[2] & os.O_CREAT
        if not (makes or event in _CHANGES) or not isinstance(told[0], str | Path):
            return
        if str(told[0]).startswith(folder) and board.count_file_operation() == last:
            die()

    return heard
