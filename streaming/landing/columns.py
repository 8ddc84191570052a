"""Which columns of an event land: selection, masking, columns about the event itself, and computed ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.converted import Column
from connectors.debezium.events import Bools, Op, UInt64s
from connectors.debezium.temporal import FIRST_MICRO, LAST_MICRO
from connectors.landing_zone.evolution import IncomingColumn
from connectors.landing_zone.schema import PinnedSchema, type_from_text, type_to_text
from streaming.landing.own_columns import metadata_kinds, own_names, own_source, plain
from streaming.landing.rows import OrderedRows
from streaming.landing.shaping.expressions import ExpressionFailedError, columns_named, compute
from streaming.landing.shaping.merged_sources import identity_columns
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn, TableMode

MASK = "****"
FIRST_MILLI, LAST_MILLI = FIRST_MICRO // 1000, LAST_MICRO // 1000
"""The first and the last moment that a landing file holds, in milliseconds since 1970."""
_OP_LETTERS = {Op.CREATE: "c", Op.UPDATE: "u", Op.DELETE: "d", Op.READ: "r", Op.TRUNCATE: "t"}


@dataclass(frozen=True)
class Projected:
    """What lands of some events.

    Attributes:
        rows: one row per event, columns named by source.
        old_rows: the rows under their keys before the change, one per key change; None where there is none.
        keyed: the key's columns.
    """

    rows: pa.RecordBatch
    old_rows: pa.RecordBatch | None
    keyed: frozenset[str]

    @property
    def incoming(self) -> tuple[IncomingColumn, ...]:
        """Each column, for :func:`connectors.landing_zone.evolution.evolve`."""
        return tuple(
            IncomingColumn(field.name, type_to_text(field.type), key=field.name in self.keyed)
            for field in self.rows.schema
        )


def landing_columns(events: OrderedRows, options: TableOptions, keys: tuple[str, ...]) -> list[str]:
    """Names of the source columns that land, in the source's order. Key columns always do."""
    own = {*keys, *identity_columns(options)}
    return [
        name
        for name in events.rows.schema.names
        if name in own
        or ((not options.include or matches(name, options.include)) and not matches(name, options.exclude))
    ]


def keeps_deleted_rows(options: TableOptions) -> bool:
    """Whether a deleted row stays in the mirrored table, so that the row before the delete is worth landing."""
    return bool(options.soft_delete) or options.mode is TableMode.HISTORY


def first_computed(events: OrderedRows, options: TableOptions) -> int:
    """Index of the first event whose computed columns land; the number of events where there is none."""
    if keeps_deleted_rows(options):
        return 0
    stay = np.flatnonzero(events.ops != Op.DELETE)
    return int(stay[0]) if len(stay) else len(events)


def project(
    events: OrderedRows,
    options: TableOptions,
    keys: tuple[str, ...],
    pinned: PinnedSchema | None = None,
    *,
    computes: bool | None = None,
) -> Projected:
    """The rows reduced to what lands, plus the columns about the event and the computed ones.

    A computed column is NULL in the row of a delete that does not stay. Where no row needs its values and the record
    lacks what it is computed from, it has its pinned type, or is left out while it has none.

    Args:
        pinned: the table's schema so far; a column of it that the record lacks is NULL to an expression.
        computes: whether a row may need computed values; None where the events themselves say it.

    Raises:
        ExpressionFailedError: a computed column cannot be computed, with the index of the first event.
    """
    if computes is None:
        computes = first_computed(events, options) < len(events)
    gone: Bools = events.ops == Op.DELETE
    columns = _landing(events, options, keys, pinned, gone)
    computed = _computed(columns, events, options, pinned, gone, computes=computes)
    rows = pa.RecordBatch.from_pydict(columns | computed)
    keyed = frozenset(keys)
    if events.old_keys is None or not len(events.key_changed):
        return Projected(rows, None, keyed)
    old = replace(events.take(events.key_changed), rows=_old_images(events, events.old_keys))
    left: Bools = np.ones(len(old), np.bool_)
    old_columns = _landing(old, options, keys, pinned, left)
    if keeps_deleted_rows(options):
        try:
            old_columns |= _computed(old_columns, old, options, pinned, left, computes=True)
        except ExpressionFailedError as error:
            raise ExpressionFailedError(error.column, int(events.key_changed[error.row]), error.detail) from error
    else:
        old_columns |= {source: pa.nulls(len(old), values.type) for source, values in computed.items()}
    return Projected(rows, pa.RecordBatch.from_pydict(old_columns), keyed)


def _landing(
    events: OrderedRows, options: TableOptions, keys: tuple[str, ...], pinned: PinnedSchema | None, gone: Bools
) -> dict[str, Column]:
    """One value per event of each column but the computed ones; ``gone`` marks rows that their key has left."""
    names, keyed = events.rows.schema.names, frozenset(keys)
    columns: dict[str, Column] = {}
    for name in landing_columns(events, options, keys):
        column = events.rows.column(name)
        if name not in keyed and is_masked(name, options):
            column = _masked(column)
        columns[name] = column
    for kind in metadata_kinds(options):
        source = own_source(options.metadata_prefix + kind.value, names, options, pinned)
        columns[source] = _metadata_column(kind, events, gone)
    if options.soft_delete:
        columns[own_source(options.soft_delete, names, options, pinned)] = pa.array(gone)
    return columns


def _computed(
    columns: dict[str, Column],
    events: OrderedRows,
    options: TableOptions,
    pinned: PinnedSchema | None,
    gone: Bools,
    *,
    computes: bool,
) -> dict[str, Column]:
    """The computed columns of one row per event, from ``columns`` as they land."""
    if not options.added:
        return {}
    names = events.rows.schema.names
    types = {} if pinned is None else {column.source: type_from_text(column.type) for column in pinned.columns}
    own = {own_source(name, names, options, pinned) for name in own_names(options)}
    # A column that the source has and the settings leave out is no column that the record lacks.
    lacking = {name: kind for name, kind in types.items() if name not in names and name not in own}
    # Reversed: a name that a source column and one of the bridge's share is the source column's.
    landed = pa.RecordBatch.from_pydict({plain(source): columns[source] for source in reversed(columns)})
    stay = None if keeps_deleted_rows(options) or not gone.any() else np.flatnonzero(~gone)
    kept = landed if stay is None else landed.take(pa.array(stay))
    found: dict[str, Column] = {}
    for name, expression in options.added:
        source = own_source(name, names, options, pinned)
        try:
            values = _evaluated(kept, name, expression, lacking)
        except ExpressionFailedError as error:
            if computes:
                row = error.row if stay is None else int(stay[error.row]) if len(stay) else 0
                raise ExpressionFailedError(name, row, error.detail) from error
            if source in types:
                found[source] = pa.nulls(len(events), types[source])
            continue
        if stay is not None:
            values = values.take(pa.array(np.cumsum(~gone) - 1, mask=gone))
        found[source] = values
    return found


def _evaluated(rows: pa.RecordBatch, name: str, expression: str, lacking: Mapping[str, pa.DataType]) -> Column:
    """An expression's values; columns of the types ``lacking`` that the rows have not are NULL to it."""
    known = rows.schema.names
    absent = [one for one in columns_named(expression) if one not in known]
    unknown = [one for one in absent if one not in lacking]
    if unknown:
        detail = f"the record has no column {', '.join(unknown)}; it has {', '.join(reversed(known))}"
        raise ExpressionFailedError(name, 0, detail)
    for one in absent:
        rows = rows.append_column(one, pa.nulls(len(rows), lacking[one]))
    return compute(rows, name, expression)


def _old_images(events: OrderedRows, old_keys: pa.RecordBatch) -> pa.RecordBatch:
    """The rows before their key changed: the columns that are known of them, and NULL."""
    known = set(old_keys.schema.names)
    columns = [
        old_keys.column(field.name) if field.name in known else pa.nulls(old_keys.num_rows, field.type)
        for field in events.rows.schema
    ]
    return pa.RecordBatch.from_arrays(columns, names=events.rows.schema.names)


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the glob patterns takes the column."""
    return bool(patterns) and any(fnmatchcase(name, pattern) for pattern in patterns)


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
            told = (events.source_ms != 0) & (events.source_ms >= FIRST_MILLI) & (events.source_ms <= LAST_MILLI)
            return pa.array(np.where(told, events.source_ms, 0) * 1000, pa.timestamp("us", tz="UTC"), mask=~told)
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
