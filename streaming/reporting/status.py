"""Where every table stands: what the ledger has bound, and how far that is behind Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LedgerState, Parked, TableState, TableStatus
from streaming.doubt import MAYBE_STALE, MAYBE_STALE_REMEDY, is_doubtful
from streaming.landing.carry import table_high_water
from streaming.renamed import renamed_columns, renamed_to
from streaming.reporting.parked import parked_values
from streaming.wording import position_text


@dataclass(frozen=True)
class TableReport:
    """One table.

    Attributes:
        last_number: number of its last file; ``pending``: of the file that is bound and not published yet.
        rows: landed so far, per marker.
        position: the highest log position that it has landed, see :func:`streaming.wording.position_text`.
        source_ms: when the source made the newest change that landed, milliseconds since 1970; 0 when unknown.
        lag_offsets: offsets between what has landed and Kafka's ends, over all topics that feed it; for a parked table
            from where it stopped. None when Kafka did not answer.
        dropped: the source dropped the table, and no event has come since that shows it again.
        renamed: the name that the table has at the source by now; empty for its own.
        renamed_columns: the name that columns have there by now, by the one under which rows have landed.
        doubtful: it may keep rows that the source has not, see :mod:`streaming.doubt`.
        lag_seconds: how long ago the newest landed change was made, or 0 when nothing waits; None when unknown.
    """

    name: str
    status: TableStatus
    last_number: int
    pending: int | None
    rows: Mapping[str, int]
    position: str
    source_ms: int
    topics: tuple[str, ...]
    lag_offsets: int | None
    lag_seconds: float | None
    late: int
    dead_letters: int
    dropped: bool
    renamed: str
    renamed_columns: Mapping[str, str]
    doubtful: bool
    parked: Parked | None

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "name": self.name,
            "status": self.status.value,
            "last_number": self.last_number,
            "pending": self.pending,
            "rows": dict(self.rows),
            "position": self.position,
            "source_ms": self.source_ms,
            "topics": list(self.topics),
            "lag_offsets": self.lag_offsets,
            "lag_seconds": None if self.lag_seconds is None else round(self.lag_seconds, 3),
            "late": self.late,
            "dead_letters": self.dead_letters,
            "dropped": self.dropped,
            "renamed": self.renamed or None,
            "renamed_columns": dict(self.renamed_columns),
            "doubt": {"message": MAYBE_STALE, "remedy": MAYBE_STALE_REMEDY} if self.doubtful else None,
            "parked": None if self.parked is None else parked_values(self.parked),
        }


@dataclass(frozen=True)
class StatusReport:
    """The whole bridge.

    Attributes:
        waiting: offsets between the ledger and Kafka's ends over all topics; None when Kafka did not answer.
        counters: totals since the ledger began.
    """

    version: int
    epoch: int
    writer: str
    tables: tuple[TableReport, ...]
    waiting: int | None
    counters: Mapping[str, int]

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "version": self.version,
            "epoch": self.epoch,
            "writer": self.writer,
            "waiting": self.waiting,
            "tables": [table.values() for table in self.tables],
            "counters": dict(self.counters),
        }


def status_of(
    state: LedgerState,
    present: Mapping[str, TopicDescription] | None,
    now_ms: int,
    unpublished: frozenset[str] = frozenset(),
) -> StatusReport:
    """The report.

    Args:
        unpublished: tables whose last file is bound but not in its folder yet.
        present: the topics as the broker knows them now; None when it does not answer.
        now_ms: wall clock, milliseconds since 1970.
    """
    return StatusReport(
        version=state.version,
        epoch=state.epoch,
        writer=state.writer,
        tables=tuple(
            _table(name, table, state, present, now_ms, name in unpublished)
            for name, table in sorted(state.tables.items())
        ),
        waiting=None if present is None else sum(_behind(topic, {}, state, present) for topic in present),
        counters=state.counters,
    )


def _table(
    name: str,
    table: TableState,
    state: LedgerState,
    present: Mapping[str, TopicDescription] | None,
    now_ms: int,
    unpublished: bool,
) -> TableReport:
    resume = {} if table.parked is None else table.parked.resume
    topics = tuple(sorted({*table.partitions, *resume}))
    offsets = None
    if present is not None:
        offsets = sum(_behind(topic, resume.get(topic, {}), state, present) for topic in topics)
    seconds = None
    if offsets == 0:
        seconds = 0.0
    elif offsets is not None and table.source_ms:
        seconds = max(0.0, (now_ms - table.source_ms) / 1000)
    high = table_high_water(table)
    renamed = renamed_to(table)
    dropped = table.dropped
    return TableReport(
        name=name,
        status=table.status,
        last_number=table.sequence,
        pending=table.sequence if unpublished else None,
        rows=table.rows,
        position=position_text(None if high is None else high.words),
        source_ms=table.source_ms,
        topics=topics,
        lag_offsets=offsets,
        lag_seconds=seconds,
        late=table.late,
        dead_letters=table.dead_letters,
        dropped=dropped is not None and dropped.generation == table.generation and not (dropped.back or renamed),
        renamed=renamed,
        renamed_columns=renamed_columns(table),
        doubtful=is_doubtful(table),
        parked=table.parked,
    )


def _behind(topic: str, resume: Mapping[int, int], state: LedgerState, present: Mapping[str, TopicDescription]) -> int:
    """Offsets of a topic that have not landed: from ``resume`` where a table stopped, else from the ledger's."""
    found = present.get(topic)
    if found is None:
        return 0
    return sum(
        max(0, end - resume.get(partition, state.next_offset(topic, partition, earliest)))
        for partition, (earliest, end) in found.partitions.items()
    )
