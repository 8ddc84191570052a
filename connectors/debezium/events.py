"""Decoded change events, column by column.

A decoder turns the raw records of one topic partition into chunks of one table and one row schema, in offset order.
Nothing here knows how an event was encoded, nor where it goes.
"""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.debezium.schema import RowSchema, SourceTable
from connectors.debezium.table_change import TableChange

Int8s = npt.NDArray[np.int8]
Int64s = npt.NDArray[np.int64]
UInt64s = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]


class Op(enum.IntEnum):
    """Operations that concern a row (Debezium, "Change event values", field ``op``)."""

    CREATE = 0
    UPDATE = 1
    DELETE = 2
    READ = 3
    TRUNCATE = 4


class SnapshotKind(enum.IntEnum):
    """What ``source.snapshot`` says: a row of an initial (or blocking) snapshot, of an incremental one, or neither."""

    NONE = 0
    INITIAL = 1
    INCREMENTAL = 2


class SkipReason(enum.StrEnum):
    """Why a record that is not a row event yields no row. Counted, never silent."""

    TOMBSTONE = "tombstone"
    HEARTBEAT = "heartbeat"
    TRANSACTION = "transaction"
    SCHEMA_CHANGE = "schema_change"
    SIGNAL = "signal"
    MESSAGE = "message"
    EXCLUDED_TABLE = "excluded_table"
    EXCLUDED_OPERATION = "excluded_operation"


@dataclass(frozen=True)
class RawRecords:
    """Consecutive records of one topic partition as Kafka holds them, in offset order.

    Attributes:
        keys, values: ``binary`` arrays; null where Kafka has null (a null value is a tombstone).
        offsets: int64, ascending; holes are normal (transaction markers, compaction).
        timestamps: Kafka's record timestamps, milliseconds since the epoch.
        headers: list<struct<key: string, value: binary>>, empty or null for a record that has none; or ``None`` when
            headers were not read.
    """

    topic: str
    partition: int
    keys: pa.BinaryArray
    values: pa.BinaryArray
    offsets: Int64s
    timestamps: Int64s
    headers: pa.ListArray | None = None

    def __len__(self) -> int:
        return len(self.offsets)


@dataclass(frozen=True)
class ChangeChunk:
    """Consecutive row events of one table with one row schema, in offset order; n rows.

    Attributes:
        rows: n rows; one column per field of ``schema``, same names and order, each of
            :func:`connectors.debezium.types.pinned_type`. For a delete only the key's columns hold values, or the
            before image does where the table's decoding asks for it; for a truncate none does; otherwise it is the
            after image.
        ops: :class:`Op` per row.
        offsets: Kafka offset per row (int64, ascending).
        positions: (n, 2) uint64: the event's log position as two big-endian words, comparable within one connector;
            zeros where the event has none.
        positioned: False when the connector gives no position at all; then only the offset orders.
        snapshots: :class:`SnapshotKind` per row.
        run_ids: the connector run (header ``__debezium.context.runId``) per row; null where the header is absent.
        source_ms: ``source.ts_ms`` per row, milliseconds; 0 where unknown. For lag only, never an order.
        key_changed: indexes of updates whose key differs between before and after.
        old_keys: the key's columns before the change, one row per entry of ``key_changed``; types as in ``rows``. All
            columns where the table's decoding asks for before images.
        unavailable: per column, a mask of the cells that hold no value because the source did not send it (TOAST) and
            ``before`` had none either. Those cells are null in ``rows``.
        clamped: number of cells that a type's written range rule has changed.
        from_before: number of cells that the source did not send, and ``before`` had.
    """

    table: SourceTable
    schema: RowSchema
    topic: str
    partition: int
    connector: str
    rows: pa.RecordBatch
    ops: Int8s
    offsets: Int64s
    positions: UInt64s
    positioned: bool
    snapshots: Int8s
    run_ids: pa.StringArray
    source_ms: Int64s
    key_changed: Int64s
    old_keys: pa.RecordBatch | None = None
    unavailable: dict[str, Bools] = field(default_factory=dict)
    clamped: int = 0
    from_before: int = 0

    def __len__(self) -> int:
        return len(self.offsets)


@dataclass(frozen=True)
class BadRecord:
    """A record that could not be decoded: where it is, why, and its bytes."""

    topic: str
    partition: int
    offset: int
    reason: str
    detail: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()

    @classmethod
    def of(cls, records: RawRecords, row: int, reason: str, detail: str) -> BadRecord:
        """The record in this row, with its bytes."""
        headers = () if records.headers is None else records.headers[row].as_py() or ()
        return cls(
            topic=records.topic,
            partition=records.partition,
            offset=int(records.offsets[row]),
            reason=reason,
            detail=detail,
            key=records.keys[row].as_py(),
            value=records.values[row].as_py(),
            headers=tuple((header["key"], header["value"]) for header in headers),
        )


@dataclass
class Decoded:
    """What became of some raw records: every one of them is in exactly one of the first three.

    Attributes:
        table_changes: what the skipped schema-change records tell, in offset order.
        excluded: the tables of records that were skipped because the settings leave their table out.
        runs: the connector runs that any of the records name, each with Kafka's time of its newest record
            (milliseconds), by the connector's logical name.
    """

    chunks: list[ChangeChunk] = field(default_factory=list)
    bad: list[BadRecord] = field(default_factory=list)
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    table_changes: list[TableChange] = field(default_factory=list)
    excluded: frozenset[SourceTable] = frozenset()
    runs: dict[str, dict[str, int]] = field(default_factory=dict)
