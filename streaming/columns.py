"""Which columns of an event land: selection, masking, columns about the event itself, and computed ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.converted import Column
from connectors.debezium.events import Bools, Op, UInt64s
from connectors.landing_zone.evolution import IncomingColumn
from connectors.landing_zone.schema import type_to_text
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn, TableMode
from streaming.rows import OrderedRows
from streaming.shaping.expressions import ExpressionFailedError, compute
from streaming.shaping.merged_sources import identity_columns

MASK = "****"
HISTORY_COLUMNS = (
    MetadataColumn.OP,
    MetadataColumn.SOURCE_TS,
    MetadataColumn.POSITION,
    MetadataColumn.KAFKA_TOPIC,
    MetadataColumn.KAFKA_PARTITION,
    MetadataColumn.KAFKA_OFFSET,
    MetadataColumn.DELETED,
)
"""What every row of a history has: enough to order changes, to tell a repeat, and to tell an image from before."""

_OP_LETTERS = {Op.CREATE: "c", Op.UPDATE: "u", Op.DELETE: "d", Op.READ: "r", Op.TRUNCATE: "t"}


@dataclass(frozen=True)
class Projected:
    """What lands of some events.

    Attributes:
        rows: one row per event, columns named by source.
        old_rows: the rows under their keys before the change, one per key change; None where there is none.
        incoming: each column, for :func:`connectors.landing_zone.evolution.evolve`.
    """

    rows: pa.RecordBatch
    old_rows: pa.RecordBatch | None
    incoming: tuple[IncomingColumn, ...]


def landing_columns(events: OrderedRows, options: TableOptions, keys: tuple[str, ...]) -> list[str]:
    """Names of the source columns that land, in the source's order. Key columns always do."""
    own = {*keys, *identity_columns(options)}
    return [
        name
        for name in events.rows.schema.names
        if name in own
        or ((not options.include or matches(name, options.include)) and not matches(name, options.exclude))
    ]


def displaced(names: Sequence[str], options: TableOptions, pinned: frozenset[str]) -> list[str]:
    """The bridge's own columns whose pinned name a source column has as well.

    Args:
        names: the source's columns.
        pinned: what the table's columns are fed from so far.
    """
    own = [options.metadata_prefix + kind.value for kind in _metadata_kinds(options)]
    if options.soft_delete:
        own.append(options.soft_delete)
    own += [name for name, _ in options.added]
    return [name for name in own if name in names and name in pinned and _free_name(name, names) not in pinned]


def keeps_deleted_rows(options: TableOptions) -> bool:
    """Whether a deleted row stays in the mirrored table, so that the row before the delete is worth landing."""
    return bool(options.soft_delete) or options.mode is TableMode.HISTORY


def project(events: OrderedRows, options: TableOptions, keys: tuple[str, ...]) -> Projected:
    """The rows reduced to what lands, plus the columns about the event and the computed ones.

    Raises:
        ExpressionFailedError: a computed column cannot be computed, with the index of the first event.
    """
    rows, incoming = _project(events, options, keys, events.ops == Op.DELETE)
    if events.old_keys is None or not len(events.key_changed):
        return Projected(rows, None, incoming)
    old = replace(events.take(events.key_changed), rows=_old_images(events, events.old_keys))
    try:
        old_rows, _ = _project(old, options, keys, np.ones(len(old), np.bool_))
    except ExpressionFailedError as error:
        raise ExpressionFailedError(error.column, int(events.key_changed[error.row]), error.detail) from error
    return Projected(rows, old_rows, incoming)


def _project(
    events: OrderedRows, options: TableOptions, keys: tuple[str, ...], gone: Bools
) -> tuple[pa.RecordBatch, tuple[IncomingColumn, ...]]:
    """The columns of one row per event; ``gone`` marks those that their key has left."""
    columns: dict[str, Column] = {}
    for name in landing_columns(events, options, keys):
        column = events.rows.column(name)
        if name not in keys and is_masked(name, options):
            column = _masked(column)
        columns[name] = column
    for kind in _metadata_kinds(options):
        columns[_free_name(options.metadata_prefix + kind.value, events.rows.schema.names)] = _metadata_column(
            kind, events, gone
        )
    if options.soft_delete:
        columns[_free_name(options.soft_delete, events.rows.schema.names)] = pa.array(gone)
    landed = pa.RecordBatch.from_pydict(columns)
    nothing = pa.array(gone) if gone.any() and not keeps_deleted_rows(options) else None
    for name, expression in options.added:
        values = compute(landed, name, expression)
        if nothing is not None:
            values = pc.if_else(nothing, pa.scalar(None, values.type), values)
        columns[_free_name(name, events.rows.schema.names)] = values
    incoming = tuple(
        IncomingColumn(name, type_to_text(column.type), key=name in keys) for name, column in columns.items()
    )
    return pa.RecordBatch.from_pydict(columns), incoming


def _old_images(events: OrderedRows, old_keys: pa.RecordBatch) -> pa.RecordBatch:
    """The rows before their key changed: the columns that are known of them, and NULL."""
    known = set(old_keys.schema.names)
    columns = [
        old_keys.column(field.name) if field.name in known else pa.nulls(old_keys.num_rows, field.type)
        for field in events.rows.schema
    ]
    return pa.RecordBatch.from_arrays(columns, names=events.rows.schema.names)


def _metadata_kinds(options: TableOptions) -> tuple[MetadataColumn, ...]:
    kinds = options.metadata_columns
    if options.mode is TableMode.HISTORY:
        kinds = tuple(dict.fromkeys((*HISTORY_COLUMNS, *kinds)))
    # A merged table has them in its rows already, as a part of its key.
    known = set(identity_columns(options).values())
    return tuple(kind for kind in kinds if kind not in known)


def _free_name(name: str, names: Sequence[str]) -> str:
    """A further column's name; the source's own column of that name keeps it."""
    while name in names:
        name += "_"
    return name


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the glob patterns takes the column."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def is_masked(name: str, options: TableOptions) -> bool:
    """Whether the column's values are hidden; one that is hashed or encrypted is not masked as well."""
    return matches(name, options.mask) and not matches(name, (*options.hashed, *options.encrypted))


def _masked(column: pa.Array) -> pa.Array:
    if not pa.types.is_string(column.type):
        return pa.nulls(len(column), column.type)
    return pc.if_else(column.is_valid(), MASK, pa.scalar(None, pa.string()))


def _hexadecimal(keys: UInt64s) -> pa.Array:
    """Each row's three words as 48 hexadecimal digits."""
    digits = keys.astype(">u8").tobytes().hex().encode()
    ends = np.arange(len(keys) + 1, dtype=np.int32) * 48
    return pa.StringArray.from_buffers(len(keys), pa.py_buffer(ends), pa.py_buffer(digits))


def _constant(text: str | None, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), count)


def _metadata_column(kind: MetadataColumn, events: OrderedRows, gone: Bools) -> pa.Array:
    match kind:
        case MetadataColumn.OP:
            letters = np.array([_OP_LETTERS[Op(code)] for code in range(len(_OP_LETTERS))])
            return pa.array(letters[events.ops], pa.string())
        case MetadataColumn.SOURCE_TS:
            unknown = events.source_ms == 0
            return pa.array(events.source_ms * 1000, pa.timestamp("us", tz="UTC"), mask=unknown)
        case MetadataColumn.POSITION:
            return _hexadecimal(events.keys)
        case MetadataColumn.KAFKA_TOPIC:
            return pa.array(np.array(events.topics)[events.topic_index], pa.string())
        case MetadataColumn.KAFKA_PARTITION:
            return pa.array(events.partitions, pa.int32())
        case MetadataColumn.KAFKA_OFFSET:
            return pa.array(events.offsets, pa.int64())
        case MetadataColumn.DELETED:
            return pa.array(gone)
        case MetadataColumn.SOURCE_DATABASE:
            return _constant(events.table.database, len(events))
        case MetadataColumn.SOURCE_SCHEMA:
            return _constant(events.table.schema, len(events))
        case MetadataColumn.SOURCE_TABLE:
            return _constant(events.table.name, len(events))
