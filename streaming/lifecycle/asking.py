"""Asking the running driver for something, and waiting until it is done.

A command writes nothing but its request: only the driver that owns the zone writes the ledger. Where none runs, the
request waits for the next start.
"""

from __future__ import annotations

import difflib
import getpass
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from connectors.errors import Terminal
from connectors.landing_zone.ledger.follow import Follower
from connectors.landing_zone.ledger.state import LedgerState, TableState
from connectors.landing_zone.requests import Action, Answer, Request, answer_to, new_request, submit
from connectors.landing_zone.storage.protocol import Storage
from streaming.reporting.parked import parked_values

POLL_SECONDS = 0.2
SILENCE_SECONDS = 10.0
"""Without an answer or a new version for so long, it is said that perhaps nobody is there to answer."""

_NEAREST = 3


class UnknownTableError(Terminal):
    """A command names a table that the ledger does not know."""


@dataclass(frozen=True)
class Outcome:
    """What became of what was asked for.

    Attributes:
        answer: None while the request waits.
        table: the table as the ledger knows it at the end; None where the action concerns none.
        done: it is carried out; False while the request waits, if it is refused, or if it did not come off.
    """

    request: Request
    answer: Answer | None
    table: TableState | None
    done: bool

    @property
    def failed(self) -> bool:
        """Whether a person has to do something about it."""
        return self.answer is not None and not self.done

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        answer, table = self.answer, self.table
        return {
            "request": self.request.id,
            "action": self.request.action.value,
            "table": self.request.table,
            "waiting": answer is None,
            "accepted": None if answer is None else answer.accepted,
            "message": "" if answer is None else answer.message,
            "remedy": "" if answer is None else answer.remedy,
            "version": 0 if answer is None else answer.version,
            "status": None if table is None else table.status.value,
            "parked": None if table is None or table.parked is None else parked_values(table.parked),
            "done": self.done,
        }


class Asking:
    """One request to the driver.

    Args:
        state: the state storage.
        sleep: waits so many seconds; clock: seconds.
    """

    def __init__(
        self,
        state: Storage,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._storage = state
        self._follower = Follower(state)
        self._sleep = sleep
        self._clock = clock
        self._now_ms = now_ms
        self._asked_ms = 0

    @property
    def state(self) -> LedgerState:
        """The ledger as far as it has been followed."""
        return self._follower.state

    def submit(self, action: Action, table: str, arguments: dict[str, str] | None = None) -> Request:
        """Put a request into the letter box, behind those that were put there before.

        Args:
            table: which it is about; empty where the action concerns none.

        Raises:
            UnknownTableError: the ledger does not know the table.
        """
        if table:
            require_table(table, self.state)
        self._asked_ms = max(self._now_ms(), self._asked_ms + 1)
        request = new_request(action, now_ms=self._asked_ms, by=asker(), table=table, arguments=arguments)
        submit(self._storage, request)
        return request

    def answer(self, request: Request, on_silence: Callable[[], None]) -> Answer:
        """Wait for the driver's answer.

        Args:
            on_silence: called once if nothing stirs: no answer, no new version of the ledger.
        """
        version, since, told = self.state.version, self._clock(), False
        while (given := answer_to(self._storage, request.id)) is None:
            if self._follower.advance().version != version:
                version, since = self.state.version, self._clock()
            elif not told and self._clock() - since >= SILENCE_SECONDS:
                told = True
                on_silence()
            self._sleep(POLL_SECONDS)
        self._follower.advance()
        return given

    def follow(self, table: str, settled: Callable[[TableState], bool], on_look: Callable[[LedgerState], None]) -> None:
        """Wait until the table is settled.

        Args:
            on_look: called with each state of the ledger that was looked at.
        """
        while True:
            state = self._follower.advance()
            on_look(state)
            if settled(state.tables[table]):
                return
            self._sleep(POLL_SECONDS)


def require_table(name: str, state: LedgerState) -> None:
    """Return if the ledger knows the table.

    Raises:
        UnknownTableError: it does not; the message names the nearest that it knows.
    """
    if name in state.tables:
        return
    near = difflib.get_close_matches(name, state.tables, n=_NEAREST, cutoff=0.5)
    known = f"the nearest: {', '.join(near)}" if near else f"it knows {len(state.tables)} tables"
    raise UnknownTableError(
        f"the ledger knows no table {name}; {known}" if state.version else "the ledger is empty: no bridge has run yet",
        remedy="name the table as `cdc-bridge status CONFIG` does; it is known once its first event was read",
        table=name,
    )


def asker() -> str:
    """Who asks, for people: ``user@host``."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())  # a container's user may have no name
    return f"{user}@{socket.gethostname()}"
