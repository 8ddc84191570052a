"""What the process knows of itself: what it does now, since when, and what went wrong last.

The job tells it by a few assignments; whoever reads gets one frozen value. Times are seconds of one monotonic clock,
but for those that people read.
"""

from __future__ import annotations

import enum
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from connectors.errors import BridgeError, Transient, runbook_section


class Work(enum.StrEnum):
    """What the driver is at."""

    START = "start"
    """Connecting, claiming the zone, rolling forward, starting Spark and the query."""
    BATCH = "batch"
    CHORES = "chores"
    """Requests of people, catch-ups and rebuilds, between two micro-batches."""
    WAITING = "waiting"
    """Nothing is to be done."""
    RETRY = "retry"
    """Waiting out a failure before another start."""
    ENDED = "ended"


@dataclass(frozen=True)
class Failure:
    """An error as people are told of it.

    Attributes:
        kind: its class; facts: where it happened, one line.
        passes: it is met with another attempt by itself.
        runbook: the section of the runbook about it.
        at_ms: when, milliseconds since 1970.
    """

    kind: str
    message: str
    facts: str
    remedy: str
    passes: bool
    at_ms: int
    runbook: str

    @classmethod
    def of(cls, error: Exception, at_ms: int) -> Failure:
        """What an error says; one that the bridge does not know has no remedy of its own."""
        if isinstance(error, BridgeError):
            passes = isinstance(error, Transient)
            return cls(type(error).__name__, error.message, error.where, error.remedy, passes, at_ms, error.runbook)
        remedy = (
            "the process starts again and goes on where the ledger ends; if it ends so each time, go back to the last "
            "release that worked: it reads the same ledger, unless it says otherwise"
        )
        runbook = runbook_section(BridgeError.__name__)
        return cls(type(error).__name__, str(error), "", remedy, passes=False, at_ms=at_ms, runbook=runbook)


@dataclass(frozen=True)
class HealthState:
    """One moment of the process.

    Attributes:
        started: when the process began; started_ms for people.
        work: what the driver is at; since: when it began with it; beat: when it was last heard of.
        claimed: it owns the zone, and its query has been started at least once.
        failure: the last one; cleared by the first micro-batch that ends well after it.
        retry_at: when the next attempt begins, while ``work`` is ``RETRY``.
        waits_since: when records that wait in Kafka were first seen after the last micro-batch ended, or the query was
            started; None where nothing is known to wait. waits_seen: when they were last seen.
    """

    started: float
    started_ms: int
    work: Work = Work.START
    since: float = 0.0
    beat: float = 0.0
    claimed: bool = False
    failure: Failure | None = None
    retry_at: float = 0.0
    waits_since: float | None = None
    waits_seen: float = 0.0


class Health:
    """Keeps the present :class:`HealthState`. Any thread may read :attr:`state`; the job's threads write.

    Args:
        clock: seconds, monotonic; now_ms: wall clock, milliseconds since 1970.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._clock = clock
        self._now_ms = now_ms
        self._lock = threading.Lock()
        now = clock()
        self._state = HealthState(started=now, started_ms=now_ms(), since=now, beat=now)

    @property
    def state(self) -> HealthState:
        """The process as it is now."""
        return self._state

    def now(self) -> float:
        """The clock that the state's times are of."""
        return self._clock()

    def at_work(self, work: Work) -> None:
        """The driver begins with something else, or is heard of while it goes on with the same."""
        with self._lock:
            now = self._clock()
            since = self._state.since if work is self._state.work else now
            self._state = replace(self._state, work=work, since=since, beat=now)

    def running(self) -> None:
        """The zone is claimed, the topics are as they should be, the query is about to start."""
        with self._lock:
            now = self._clock()
            self._state = replace(self._state, claimed=True, work=Work.WAITING, since=now, beat=now, waits_since=None)

    def succeeded(self) -> None:
        """A micro-batch has ended well: what failed before has passed."""
        with self._lock:
            self._state = replace(self._state, failure=None, beat=self._clock(), waits_since=None)

    def looked_at_kafka(self, *, waits: bool) -> None:
        """Kafka holds records that have not landed, or does not, or could not be asked, which is no sign of either."""
        with self._lock:
            now = self._clock()
            since = now if self._state.waits_since is None else self._state.waits_since
            self._state = replace(self._state, waits_since=since if waits else None, waits_seen=now)

    def retrying(self, error: Exception, pause: float) -> None:
        """The query has failed and starts again in so many seconds."""
        with self._lock:
            now = self._clock()
            self._state = replace(
                self._state,
                work=Work.RETRY,
                since=now,
                beat=now,
                failure=Failure.of(error, self._now_ms()),
                retry_at=now + pause,
            )

    def ended(self, error: Exception | None) -> None:
        """The job is over; with an error, for good."""
        with self._lock:
            now = self._clock()
            failure = self._state.failure if error is None else replace(Failure.of(error, self._now_ms()), passes=False)
            self._state = replace(self._state, work=Work.ENDED, since=now, beat=now, failure=failure)
