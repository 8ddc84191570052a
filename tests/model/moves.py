"""Who moves in a run of the model, and what may become of a request."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.model.world import Call


class Option(NamedTuple):
    """Something that may happen next. ``apply`` makes it happen and returns what the process in hand has to do."""

    told: str | Callable[[], str]
    apply: Callable[[], object]


class Stop(BaseException):
    """The run is over; processes in the middle of something just end."""


class Crash(BaseException):
    """The process is killed."""


class Outcome(NamedTuple):
    """What becomes of the request in hand."""

    effect: bool = True
    answer: bool = True
    late: bool = False
    dies: bool = False


CARRY_ON = Outcome()
END = object()
"""Of an option: nothing is left to do."""
FAULTS = {
    "fails": Outcome(effect=False, answer=False),
    "takes effect, its answer is lost": Outcome(answer=False),
    "is given up and arrives later": Outcome(effect=False, answer=False, late=True),
    "is cut off by a crash": Outcome(effect=False, dies=True),
    "is followed by a crash": Outcome(dies=True),
    "is on its way at a crash": Outcome(effect=False, late=True, dies=True),
}


def locked() -> threading.Lock:
    """A lock at which the next one who comes waits."""
    lock = threading.Lock()
    lock.acquire()
    return lock


def let_go(lock: threading.Lock) -> None:
    """Let whoever waits at it go on, if it is locked."""
    if lock.locked():
        lock.release()


@dataclass
class Process:
    """A process that is alive.

    Attributes:
        losses: times that the ledger had been lost when it was started.
        heard: digest of all answers it got: with its name and its cut, it decides what it does next.
        hindered: whether anything has happened while it was alive that it did not do by itself.
        asking: the request that it is about to make.
        asleep: it was left before that, and until somebody changes its answer nothing is new if it goes on.
    """

    name: str
    kind: str
    cut: int = 0
    losses: int = 0
    heard: int = 0
    hindered: bool = False
    asking: Call | None = None
    asleep: bool = False
    turn: threading.Lock = field(default_factory=locked)

    def key(self) -> tuple[object, ...]:
        return self.name, self.kind, self.cut, self.heard, self.hindered
