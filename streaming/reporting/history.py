"""The ledger's versions as a person reads them: what each one did, and what it changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from connectors.landing_zone.errors import VersionNotKeptError
from connectors.landing_zone.ledger.apply import apply, follows
from connectors.landing_zone.ledger.history import read_version, state_at, versions
from connectors.landing_zone.ledger.state import (
    NOTHING_LANDED,
    LandedFile,
    LedgerState,
    Parked,
    PlannedTopic,
    TableStatus,
    Version,
    VersionKind,
)
from connectors.landing_zone.schema import PinnedSchema
from connectors.landing_zone.storage.protocol import Storage
from streaming.reporting.parked import parked_values

_AT_REST = (TableStatus.LOADING, TableStatus.STREAMING)


@dataclass(frozen=True)
class NewColumn:
    """A column that a table's files have from a version on; ``type`` as the ledger writes it."""

    table: str
    name: str
    type: str


@dataclass(frozen=True)
class HistoryEntry:
    """One version.

    Attributes:
        moved: ``[start, end)`` of the partitions whose offsets went on, per topic.
        new_tables: tables that the ledger did not know before.
        new_columns: columns added to known tables; the first columns of a new table are not listed.
        parked: tables that stand still from this version on; ``resumed``: those that stream again.
        under_way: tables that are on their way back from this version on, and how.
        beside: tables whose file landed beside the stream, as in a catch-up.
        requests: ids of the requests that it carries out.
        complete: False when the version before is not kept, so that what changed cannot be told.
        pending: tables with a file of an earlier version that was not known to be published yet.
        decided: what a person has decided about a file, by table.
    """

    version: int
    kind: VersionKind
    written_ms: int
    epoch: int
    writer: str
    host: str
    moved: Mapping[str, Mapping[int, tuple[int, int]]]
    files: tuple[LandedFile, ...]
    new_tables: tuple[str, ...]
    new_columns: tuple[NewColumn, ...]
    parked: Mapping[str, Parked]
    resumed: tuple[str, ...]
    under_way: Mapping[str, TableStatus]
    beside: tuple[str, ...]
    requests: tuple[str, ...]
    counters: Mapping[str, int]
    complete: bool
    pending: tuple[str, ...]
    decided: Mapping[str, str] = field(default_factory=dict)

    @property
    def offsets(self) -> int:
        """Length of its range over all partitions."""
        return sum(end - start for partitions in self.moved.values() for start, end in partitions.values())

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "version": self.version,
            "kind": self.kind.value,
            "written_ms": self.written_ms,
            "epoch": self.epoch,
            "writer": self.writer,
            "host": self.host,
            "offsets": {
                topic: {str(partition): list(span) for partition, span in partitions.items()}
                for topic, partitions in self.moved.items()
            },
            "files": [msgspec.to_builtins(file, str_keys=True) for file in self.files],
            "new_tables": list(self.new_tables),
            "new_columns": [{"table": one.table, "name": one.name, "type": one.type} for one in self.new_columns],
            "parked": {name: parked_values(parked) for name, parked in self.parked.items()},
            "resumed": list(self.resumed),
            "under_way": {name: status.value for name, status in self.under_way.items()},
            "beside": list(self.beside),
            "requests": list(self.requests),
            "counters": dict(self.counters),
            "complete": self.complete,
            "pending": list(self.pending),
            "decided": dict(self.decided),
        }


def history(state: Storage, limit: int) -> list[HistoryEntry]:
    """The newest versions, newest first, at most ``limit``.

    Raises:
        LedgerCorruptError: a version is missing or cannot be read.
    """
    newest_first = list(versions(state, limit=limit))
    if not newest_first:
        return []
    before = _state_before(state, newest_first[-1])
    return list(_entries(before, newest_first[::-1]))[::-1]


def entry_of(state: Storage, number: int) -> HistoryEntry:
    """One version.

    Raises:
        VersionNotKeptError: it was pruned, or is not written yet.
        LedgerCorruptError: it cannot be read.
    """
    version = read_version(state, number)
    return describe(_state_before(state, version), version)


def describe(before: LedgerState | None, version: Version) -> HistoryEntry:
    """What ``version`` did to the state ``before`` it; without that state only what the version itself says."""
    known = {} if before is None else before.tables
    statuses = {name: None if name not in known else known[name].status for name in version.tables}
    return HistoryEntry(
        version=version.version,
        kind=version.kind,
        written_ms=version.written_ms,
        epoch=version.epoch,
        writer=version.writer,
        host=version.host,
        moved={topic: moved for topic, plan in version.planned.items() if (moved := _moved(plan))},
        files=tuple(version.files[name] for name in sorted(version.files)),
        new_tables=() if before is None else tuple(sorted(version.tables.keys() - known.keys())),
        new_columns=() if before is None else tuple(_new_columns(before, version)),
        parked={
            name: table.parked
            for name, table in version.tables.items()
            if table.parked is not None
            and table.status is TableStatus.PARKED
            and statuses[name] is not TableStatus.PARKED
        },
        resumed=tuple(
            name
            for name, table in sorted(version.tables.items())
            if table.status in _AT_REST and statuses[name] not in (None, *_AT_REST)
        ),
        under_way={
            name: table.status
            for name, table in sorted(version.tables.items())
            if table.status not in (TableStatus.PARKED, *_AT_REST) and statuses[name] is not table.status
        },
        beside=() if version.planned else tuple(sorted(version.files)),
        requests=version.handled,
        counters=version.counters,
        complete=before is not None,
        pending=tuple(sorted(version.pending.keys() - version.files.keys())),
        decided=version.decided,
    )


def _entries(before: LedgerState | None, oldest_first: Sequence[Version]) -> Iterator[HistoryEntry]:
    for version in oldest_first:
        yield describe(before, version)
        before = version.snapshot if before is None or not follows(before, version) else apply(before, version)


def _state_before(state: Storage, version: Version) -> LedgerState | None:
    if version.version == 1:
        return NOTHING_LANDED
    try:
        return state_at(state, version.version - 1)
    except VersionNotKeptError:
        return None


def _moved(plan: PlannedTopic) -> dict[int, tuple[int, int]]:
    return {partition: (start, end) for partition, (start, end) in sorted(plan.partitions.items()) if end > start}


def _new_columns(before: LedgerState, version: Version) -> Iterator[NewColumn]:
    schemas = {**before.schemas, **version.schemas}
    for name, table in sorted(version.tables.items()):
        earlier = before.tables[name].schema if name in before.tables else ""
        # A rebuild takes the schema away, and the next generation has the columns that it begins with.
        if not earlier or not table.schema or earlier == table.schema:
            continue
        old, new = (msgspec.json.decode(schemas[one], type=PinnedSchema) for one in (earlier, table.schema))
        names = {column.name for column in old.columns}
        yield from (NewColumn(name, column.name, column.type) for column in new.columns if column.name not in names)
