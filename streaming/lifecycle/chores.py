"""What the driver does between two micro-batches: it carries out what people ask for, and brings tables back.

Never beside a batch: the ledger has one writer at a time, and the caller holds the lock that batches take too. Each
call does little, so that the stream of all other tables waits no longer than for one chunk of one table.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from connectors.errors import BridgeError, Terminal, Transient
from connectors.failpoints import Failpoint, pass_failpoint
from connectors.landing_zone.errors import (
    FencedError,
    InvalidDraftError,
    LedgerCorruptError,
    StorageDeniedError,
)
from connectors.landing_zone.ledger.state import TableState, TableStatus
from connectors.landing_zone.requests import (
    Action,
    Answer,
    Request,
    answer,
    answer_to,
    remove_old_answers,
    waiting,
    withdraw,
)
from streaming.driver.publishing import waiting_files
from streaming.driver.query import Retries
from streaming.driver.startup import OpenZone
from streaming.lifecycle.answers import accepted, refused
from streaming.lifecycle.generations import AT_REST
from streaming.lifecycle.stopping import stop_table
from streaming.log_context import about_work

_log = logging.getLogger(__name__)

Handler = Callable[[Request], Answer]
"""Carries out one request and says what became of it. A version that it commits names the request in ``handled``."""

Step = Callable[[str], bool]
"""Brings the table of this name further, by at most one chunk or one phase; False when there was nothing to do now."""

Watch = Callable[[], Collection[str]]
"""Names tables that need a step although they load or stream."""


class Survey(Protocol):
    """What is looked at for all tables at once, beside the chores: see :mod:`streaming.lifecycle.catalog_watch`."""

    @property
    def looking(self) -> bool:
        """Whether something is still to come of what has begun."""
        ...

    def __call__(self) -> bool:
        """Record what was found; False for nothing."""
        ...


CONCERNS_ALL = (FencedError, InvalidDraftError, LedgerCorruptError, StorageDeniedError)
"""Errors of a chore that end the driver: they are not about the one table."""

_REQUESTS = ""
_PENDING = " pending"
_SURVEY = " survey"
_OF_ALL = (_REQUESTS, _PENDING, _SURVEY)
"""Names that no table has."""


@dataclass(frozen=True)
class Pace:
    """When chores are done, and how failures that pass are met.

    Attributes:
        interval: seconds between two looks into the letter box; 0 looks each time.
        retries: pauses after a failure that may pass. ``attempts`` counts only with ``gives_up``.
        gives_up: the failure that did not pass within the attempts ends the driver (``run --once``); otherwise the
            chore is tried again and again, while the other tables go on.
    """

    interval: float
    retries: Retries
    gives_up: bool


@dataclass(frozen=True)
class _Failed:
    times: int
    again: float


class Chores:
    """The chores of one driver; see the module.

    Args:
        handlers: what carries out each action.
        steps: tried in this order for each table that is neither loading nor streaming nor parked for good, and for
            those that ``watch`` names, which is asked as often as the letter box is looked into.
        survey: done each time, where there is one.
        on_failure: told of each failure that is retried, and after how many seconds.
        clock: seconds; now_ms: the wall clock, milliseconds since 1970.
    """

    def __init__(
        self,
        opened: OpenZone,
        handlers: Mapping[Action, Handler],
        steps: Sequence[Step],
        pace: Pace,
        *,
        on_failure: Callable[[BridgeError, float], None],
        watch: Watch = frozenset,
        survey: Survey | None = None,
        clock: Callable[[], float] = time.monotonic,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._opened = opened
        self._handlers = handlers
        self._steps = steps
        self._pace = pace
        self._on_failure = on_failure
        self._watch = watch
        self._survey = survey
        self._watched: float | None = None
        self._suspects: Collection[str] = ()
        self._clock = clock
        self._now_ms = now_ms
        self._looked: float | None = None
        self._failed: dict[str, _Failed] = {}
        self._last = ""
        self._idle = False
        self._told: set[str] = set()

    def run(self) -> None:
        """Carry out what is asked for, record what was found of all tables, then bring one table one step further.

        Raises:
            Terminal: not about one table, such as ``FencedError``; the driver has to end.
            Transient: a failure did not pass within the attempts, and the pace says to give up then.
        """
        version = self._opened.ledger.state.version
        asked = self._attempt(_REQUESTS, self._take_requests)
        published = self._attempt(_PENDING, self._publish)
        found = self._survey is not None and self._attempt(_SURVEY, self._survey)
        names = self._in_turn()
        # A failure of a table that needs no care any more is over: what it was to do may have been done all the same.
        self._failed = {name: failed for name, failed in self._failed.items() if name in (*_OF_ALL, *names)}
        moved = any(self._attempt(name, partial(self._advance, name)) for name in names)
        did = asked or published or found or moved
        self._idle = not did and not self._failed and not self._awaited()
        if self._opened.ledger.state.version != version:
            self._opened.prune()

    def idle(self) -> bool:
        """Whether the last :meth:`run` found no request, nothing to bring further now, and no failure to wait out.

        Only with an interval of 0 has it looked for requests each time.
        """
        return self._idle

    def _version(self) -> int:
        return self._opened.ledger.state.version

    def _awaited(self) -> bool:
        """Whether a driver that ends when nothing is left to do waits for what the survey finds."""
        return self._pace.gives_up and self._survey is not None and self._survey.looking

    def _in_turn(self) -> list[str]:
        """The tables to look at, beginning after the one that was brought further last."""
        if self._is_time(self._watched):
            self._watched = self._clock()
            self._suspects = self._watch()
        tables = sorted(self._opened.ledger.state.tables.items())
        names = [name for name, table in tables if _needs_care(table) or name in self._suspects]
        return [name for name in names if name > self._last] + [name for name in names if name <= self._last]

    def _attempt(self, name: str, do: Callable[[], bool]) -> bool:
        """Whether ``do`` did something; its failure is waited out, or stops the table."""
        failed = self._failed.get(name)
        if failed is not None and self._clock() < failed.again:
            return False
        with about_work(self._version):
            return self._attempt_now(name, do)

    def _attempt_now(self, name: str, do: Callable[[], bool]) -> bool:
        try:
            done = self._done_or_stopped(name, do)
        except Transient as error:
            self._wait_out(name, error)
            return True
        self._failed.pop(name, None)
        return done

    def _done_or_stopped(self, name: str, do: Callable[[], bool]) -> bool:
        """What ``do`` says; or its table stands still now, or that fails in its turn, in a way that passes."""
        try:
            return do()
        except Terminal as error:
            if name in _OF_ALL or isinstance(error, CONCERNS_ALL):
                raise
            stop_table(self._opened.ledger, name, error)
            return True

    def _wait_out(self, name: str, error: Transient) -> None:
        times = self._failed[name].times + 1 if name in self._failed else 1
        if self._pace.gives_up and times > self._pace.retries.attempts:
            raise error
        pause = self._pace.retries.pause(times, error.retry_after)
        self._failed[name] = _Failed(times, self._clock() + pause)
        self._on_failure(error, pause)

    def _advance(self, name: str) -> bool:
        done = any(step(name) for step in self._steps)
        if done:
            self._last = name
        return done

    def _is_time(self, last: float | None) -> bool:
        """Whether the pace's interval has passed since then."""
        return last is None or self._clock() >= last + self._pace.interval

    def _take_requests(self) -> bool:
        """Carry out the requests that wait, oldest first; False when there were none, or it is not time yet."""
        if not self._is_time(self._looked):
            return False
        now = self._clock()
        self._opened.ledger.check_fence()
        found = waiting(self._opened.state)
        for path in found.unreadable:
            if path not in self._told:
                self._told.add(path)
                _log.warning("%s is no request that this version understands; it is left where it is", path)
        for request in found.requests:
            with about_work(self._version):
                self._answer(request)
        if found.requests:
            remove_old_answers(self._opened.state, now_ms=self._now_ms())
        self._looked = now
        return bool(found.requests)

    def _publish(self) -> bool:
        """Publish what is bound by a version whose answer was lost; of a table at rest nothing else would."""
        if not waiting_files(self._opened.ledger.state):
            return False
        self._opened.publisher.publish_pending(self._opened.ledger)
        return True

    def _answer(self, request: Request) -> None:
        """Carry the request out and answer it; one whose answer was written before a crash is only taken out."""
        if answer_to(self._opened.state, request.id) is not None:
            withdraw(self._opened.state, request)
            return
        given = self._carry_out(request)
        pass_failpoint(Failpoint.REQUEST_BEFORE_ANSWER)
        answer(self._opened.state, request, replace(given, answered_ms=self._now_ms()))
        facts = {"request": request.id, "action": request.action.value, "table": request.table, "by": request.by}
        told = "%s asked by %s: %s" if given.accepted else "%s asked by %s is refused: %s"
        _log.info(
            told, f"{request.action.value} {request.table}".rstrip(), request.by, given.message, extra={"facts": facts}
        )

    def _carry_out(self, request: Request) -> Answer:
        ledger = self._opened.ledger
        if request.id in ledger.state.handled:
            return accepted(request, "it has been carried out already", ledger.state.version)
        handler = self._handlers.get(request.action)
        if handler is None:
            return refused(
                request,
                f"the running driver does not know how to {request.action.value.replace('_', ' ')}",
                "run the same version of the bridge everywhere",
            )
        try:
            return handler(request)
        except Terminal as error:
            if isinstance(error, CONCERNS_ALL):
                raise
            return refused(request, error.message, error.remedy)


def _needs_care(table: TableState) -> bool:
    if table.parked is not None and table.status is TableStatus.PARKED:
        return table.parked.rebuild is not None
    return table.status not in AT_REST
