"""A source and a mirror that move as a test says, over the job's own landing files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.schema import PinnedSchema
from connectors.source_database.catalog import DatabaseTable, SourceColumn
from connectors.source_database.column_types import postgresql_type
from connectors.source_database.location import DatabaseKind
from connectors.source_database.position import LogPosition
from connectors.source_database.snapshot import Columns, Value
from streaming.demo.workload import Record
from streaming.reconciling.columns import ColumnPlan, plan_columns
from streaming.reconciling.coverage import Watch
from streaming.reconciling.outcome import TableOutcome
from streaming.reconciling.table import Limits, Sides, Steps, TableComparison
from tests.support.plain_job import PlainJob
from tests.unit.streaming.landed_shop import landed

COLUMNS = (SourceColumn("id", postgresql_type("bigint")), SourceColumn("name", postgresql_type("text")))
TABLE = "public.orders"


class Silent:
    """A connector that says of itself what a test wants."""

    def __init__(self, position: LogPosition | None = None) -> None:
        self.position = position
        self.sent: bool | None = True

    def acknowledged(self) -> LogPosition | None:
        return self.position

    def transmitted(self, position: LogPosition) -> bool | None:
        return self.sent


@dataclass
class Moving:
    """A database table and its landed mirror.

    Attributes:
        rows: the database's, by key.
        lsn: how far its log is.
        reach: what its connector says; without more, that everything has been delivered.
        holding: columns beside id and name that hold values.
        further: value of each further column, the same in every row.
        lost: keys that the database does not find, though it has their rows.
        before_reading: called before each transaction of the comparison, with its number from 0: the world moves here.
        before_looking: called before each look at the ledger; ``passing``: while it is waited.
    """

    folder: Path
    job: PlainJob
    rows: dict[int, str | None] = field(default_factory=dict)
    lsn: int = 100
    reach: Silent = field(default_factory=lambda: Silent(LogPosition(0, 100)))
    before_reading: Callable[[int], None] = lambda number: None
    before_looking: Callable[[], None] = lambda: None
    passing: Callable[[], None] = lambda: None
    seconds: float = 0.0
    moments: int = 0
    read: list[list[str]] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    holding: set[str] = field(default_factory=set)
    further: dict[str, Value] = field(default_factory=dict)

    def land(self, *records: Record) -> None:
        """One more micro-batch."""
        self.job.receive(*records)

    @property
    def position(self) -> LogPosition | None:
        return LogPosition(0, self.lsn) if self.lsn else None

    @property
    def head(self) -> LedgerState:
        return self.job.ledger.state

    def plan(self, table: str = TABLE) -> ColumnPlan:
        state = self.head.tables[table]
        schema = msgspec.json.decode(self.head.schemas[state.schema], type=PinnedSchema)
        return plan_columns(DatabaseKind.POSTGRESQL, COLUMNS, schema)

    def compare(self, plan: ColumnPlan | None = None, table: str = TABLE, **limits: Any) -> TableOutcome:
        steps = Steps(lambda step: None, lambda table, rows, total: None, lambda table, what: None)
        chosen = Limits(**{"wait": 10.0, "rounds": 5, "batch": 2, **limits})
        sides = Sides(self.snapshot, self.job.zone, self.watch())
        state = self.head.tables[table]
        source = DatabaseTable.of_events(DatabaseKind.POSTGRESQL, *state.source)
        return TableComparison(sides, table, state, source, plan or self.plan(table), chosen, steps).run()

    def watch(self) -> Watch:
        def head() -> LedgerState:
            self.before_looking()
            return self.head

        def pause(seconds: float) -> None:
            self.seconds += seconds
            self.passing()

        return Watch(
            head=head,
            unpublished=lambda state: frozenset(),
            ends=lambda topics: {topic: self.job.log.ends()[topic] for topic in topics},
            reach=self.reach,
            now=lambda: self.seconds,
            pause=pause,
            settle=1.0,
        )

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Moment]:
        self.before_reading(self.moments)
        self.moments += 1
        yield Moment(self, dict(self.rows), self.position)


@dataclass
class Moment:
    """What one transaction sees."""

    world: Moving
    seen: dict[int, str | None]
    position: LogPosition | None

    def rows(
        self, table: DatabaseTable, columns: Sequence[SourceColumn], order: Sequence[str], batch: int
    ) -> Iterator[Columns]:
        everything = [self._written(key, columns) for key in sorted(self.seen)]
        for first in range(0, len(everything), batch):
            yield list(zip(*everything[first : first + batch], strict=True))

    def rows_with(
        self, table: DatabaseTable, columns: Sequence[SourceColumn], key: Sequence[str], keys: Sequence[Sequence[Value]]
    ) -> Iterator[Columns]:
        wanted = sorted(str(one[0]) for one in keys)
        self.world.read.append(wanted)
        known = [key for key in sorted(self.seen) if str(key) in wanted and key not in self.world.lost]
        found = [self._written(key, columns) for key in known]
        if found:
            yield list(zip(*found, strict=True))

    def holding(self, table: DatabaseTable, columns: Sequence[SourceColumn]) -> tuple[SourceColumn, ...]:
        return tuple(column for column in columns if column.name in self.world.holding)

    def _written(self, key: int, columns: Sequence[SourceColumn]) -> tuple[Value, ...]:
        row: dict[str, Value] = {"id": str(key), "name": self.seen[key], **self.world.further}
        return tuple(row[column.name] for column in columns)


def moving(folder: Path, *batches: list[Record], rows: dict[int, str | None], **options: Any) -> Moving:
    """A world whose mirror has landed these batches, and whose database holds these rows."""
    return Moving(folder, landed(folder, *batches, **options), rows)
