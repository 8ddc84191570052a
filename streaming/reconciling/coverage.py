"""Whether the mirror has everything up to a place in the source's log: what tells a difference from mere lag.

Two things prove it, a third only says that nothing more seems to come; the first that comes true is taken:

1. the table's own landed events: each of its partitions has landed an event behind the place;
2. the connector's acknowledged position (PostgreSQL: the replication slot's; else what Kafka Connect has stored): what
   is before it is in Kafka, so the mirror has it once the topics' ends of that moment have landed;
3. silence: the database says that it has sent its whole log to the connector, nothing has been added to the topics for
   a while since, and all of it has landed. A connector that has read its changes and can't deliver them is as silent
   as one at rest: what has landed by then may be looked at, and what has not may still come.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from connectors.landing_zone.ledger.state import LedgerState, Phase, TableState, TableStatus
from connectors.source_database.position import LogPosition
from streaming.landing.carry import partition_carry

POLL_SECONDS = 0.5

Ends = Mapping[str, Mapping[int, int]]

_UNDELIVERED = (
    "the connector was sent every change and its topics are silent, but nothing tells whether it has delivered all of "
    "them: set source.connect, and the connector's heartbeat.interval.ms and heartbeat.action.query"
)


class Evidence(enum.StrEnum):
    """What says that the mirror covers a place in the log; :attr:`SILENCE` proves nothing."""

    EVENTS = "events"
    ACKNOWLEDGED = "acknowledged"
    SILENCE = "silence"


@dataclass(frozen=True)
class Covered:
    """The mirror has everything up to the place, in the files of this state of the ledger; under silence, maybe."""

    state: LedgerState
    evidence: Evidence


@dataclass(frozen=True)
class Uncovered:
    """It is not proven; ``reason`` says what is missing, for a person."""

    reason: str


class Reach(Protocol):
    """How far the connector has come, as the database and Kafka Connect tell it."""

    def acknowledged(self) -> LogPosition | None:
        """Everything before it is in Kafka; None when nobody tells."""
        ...

    def transmitted(self, position: LogPosition) -> bool | None:
        """Whether the database has sent its log to the connector up to a place; None when it does not tell.

        It has written it to the connection: what the connector has made of it, this does not say.
        """
        ...


@dataclass(frozen=True)
class Watch:
    """Looks at the ledger, the topics and the connector until a place in the log is covered.

    Attributes:
        head: the ledger's newest state.
        unpublished: tables whose last file is bound and not in its folder yet.
        ends: the committed ends of these topics.
        now: a clock in seconds; pause: waits so many seconds.
        settle: seconds after which the topics count as silent.
    """

    head: Callable[[], LedgerState]
    unpublished: Callable[[LedgerState], frozenset[str]]
    ends: Callable[[tuple[str, ...]], Ends]
    reach: Reach
    now: Callable[[], float]
    pause: Callable[[float], None]
    settle: float = 5.0

    def caught_up(self, name: str, seconds: float) -> LedgerState:
        """The state once what is in the topics now has landed, or after so many seconds."""
        state = self.head()
        wanted = self.ends(_topics(state, name))
        deadline = self.now() + seconds
        while not (_landed(state, wanted) and name not in self.unpublished(state)) and self.now() < deadline:
            self.pause(POLL_SECONDS)
            state = self.head()
        return state

    def cover(
        self, name: str, position: LogPosition | None, seconds: float, *, proof: bool = False
    ) -> Covered | Uncovered:
        """Wait until the mirror of a table has everything up to ``position``, at most so many seconds.

        A table that stands still, or a database that does not tell its position, is known at once not to get there.

        Args:
            proof: silence is not enough. It still ends the wait where nobody tells how far the connector has come.
        """
        if position is None:
            return Uncovered(
                "the database does not tell its log position: grant this user BINLOG MONITOR or REPLICATION CLIENT"
            )
        deadline = self.now() + seconds
        acknowledged: Ends | None = None
        quiet: tuple[Ends, float] | None = None
        while True:
            told = self.reach.acknowledged() if acknowledged is None else None
            state = self.head()
            still = standing_still(state, name)
            if still is not None:
                return Uncovered(still)
            published = name not in self.unpublished(state)
            if published and _own_events_reach(state, name, position):
                return Covered(state, Evidence.EVENTS)
            ends = self.ends(_topics(state, name))
            if acknowledged is None and told is not None and told >= position:
                acknowledged = ends
            if published and acknowledged is not None and _landed(state, acknowledged):
                return Covered(state, Evidence.ACKNOWLEDGED)
            transmitted = self.reach.transmitted(position)
            if not (published and transmitted and _landed(state, ends)):
                quiet = None
            elif quiet is None or quiet[0] != ends:
                quiet = ends, self.now()
            elif self.now() - quiet[1] >= self.settle:
                if not proof:
                    return Covered(state, Evidence.SILENCE)
                if told is None:
                    return Uncovered(_UNDELIVERED)
            if self.now() >= deadline:
                return Uncovered(_missing(state, ends, position, told, transmitted, published=published))
            self.pause(POLL_SECONDS)


def standing_still(state: LedgerState, name: str) -> str | None:
    """Why a table gets no new rows; None for one that does."""
    table = state.tables.get(name)
    if table is None:
        return "the ledger no longer knows the table"
    if table.parked is not None:
        return f"the table is parked ({table.parked.reason}): its mirror stands still on purpose"
    if table.status not in (TableStatus.LOADING, TableStatus.STREAMING):
        return f"the table is {table.status}: its mirror is being made"
    return None


def _topics(state: LedgerState, name: str) -> tuple[str, ...]:
    table = state.tables.get(name)
    return () if table is None else tuple(sorted(table.partitions))


def _landed(state: LedgerState, ends: Ends) -> bool:
    return not _waiting(state, ends)


def _waiting(state: LedgerState, ends: Ends) -> int:
    """Offsets below these ends that have not landed."""
    total = 0
    for topic, partitions in ends.items():
        known = state.topics[topic].partitions if topic in state.topics else {}
        total += sum(max(0, end - known.get(partition, 0)) for partition, end in partitions.items())
    return total


def _own_events_reach(state: LedgerState, name: str, position: LogPosition) -> bool:
    table: TableState = state.tables[name]
    if not table.partitions:
        return False
    for topic, partitions in table.partitions.items():
        known = state.topics[topic].partitions if topic in state.topics else {}
        if set(known) - set(partitions):
            return False
        for partition in partitions.values():
            carry = partition_carry(partition)
            # Behind a fall of the log's positions the highest one says nothing about the log of today.
            if partition.phase is not Phase.STREAMING or carry.high is None or carry.below:
                return False
            high, low = carry.high
            # PostgreSQL's words are the commit before and the event's own place; the binary log's, file and offset.
            reached = LogPosition(high, low) if position.file else LogPosition(0, max(high, low))
            if reached < position:
                return False
    return True


def _missing(
    state: LedgerState,
    ends: Ends,
    position: LogPosition,
    told: LogPosition | None,
    transmitted: bool | None,
    *,
    published: bool,
) -> str:
    waiting = _waiting(state, ends)
    if waiting:
        return f"{waiting:,} offsets of its topics have not landed: is the bridge running?"
    if not published:
        return "its last file is bound and not published yet"
    if transmitted is False:
        return f"the database has not sent its log up to {position} to a connector: is the connector running?"
    if transmitted is None and told is None:
        return (
            f"nothing tells whether the connector has read the log up to {position}: set source.connect, or let the "
            "user of source.database see the replication (PostgreSQL: pg_monitor; MySQL, MariaDB: PROCESS)"
        )
    if told is not None and told < position:
        return (
            f"the connector has acknowledged {told}, not {position}: wait longer, or set its heartbeat.interval.ms and "
            "heartbeat.action.query"
        )
    return "its topics keep growing: wait longer"
