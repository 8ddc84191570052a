"""Which columns of an event land: selection, masking and the metadata columns that describe the event itself."""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.events import Op, UInt64s
from connectors.landing_zone.evolution import IncomingColumn
from connectors.landing_zone.schema import type_to_text
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn
from streaming.rows import OrderedRows

MASK = "****"
_OP_LETTERS = {Op.CREATE: "c", Op.UPDATE: "u", Op.DELETE: "d", Op.READ: "r", Op.TRUNCATE: "t"}


def landing_columns(events: OrderedRows, options: TableOptions, keys: tuple[str, ...]) -> list[str]:
    """Names of the source columns that land, in the source's order. Key columns always do."""
    return [
        name
        for name in events.rows.schema.names
        if name in keys
        or ((not options.include or _matches(name, options.include)) and not _matches(name, options.exclude))
    ]


def project(
    events: OrderedRows, options: TableOptions, keys: tuple[str, ...]
) -> tuple[pa.RecordBatch, tuple[IncomingColumn, ...]]:
    """The rows reduced to what lands, plus the metadata columns.

    Returns:
        n rows whose columns are named by source, and the description of each column for
        :func:`connectors.landing_zone.evolution.evolve`.
    """
    columns: list[pa.Array] = []
    incoming: list[IncomingColumn] = []
    for name in landing_columns(events, options, keys):
        column = events.rows.column(name)
        if name not in keys and _matches(name, options.mask):
            column = _masked(column)
        columns.append(column)
        incoming.append(IncomingColumn(name, type_to_text(column.type), key=name in keys))
    for kind in options.metadata_columns:
        column = _metadata_column(kind, events)
        columns.append(column)
        incoming.append(
            IncomingColumn(_free_name(options.metadata_prefix + kind.value, events), type_to_text(column.type))
        )
    return pa.RecordBatch.from_arrays(columns, names=[column.source for column in incoming]), tuple(incoming)


def _free_name(name: str, events: OrderedRows) -> str:
    """A metadata column's name; the source's own column of that name keeps it."""
    while name in events.rows.schema.names:
        name += "_"
    return name


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _masked(column: pa.Array) -> pa.Array:
    if not pa.types.is_string(column.type):
        return pa.nulls(len(column), column.type)
    return pc.if_else(column.is_valid(), MASK, pa.scalar(None, pa.string()))


def _hexadecimal(keys: UInt64s) -> pa.Array:
    """Each row's three words as 48 hexadecimal digits."""
    digits = keys.astype(">u8").tobytes().hex().encode()
    ends = np.arange(len(keys) + 1, dtype=np.int32) * 48
    return pa.StringArray.from_buffers(len(keys), pa.py_buffer(ends), pa.py_buffer(digits))


def _metadata_column(kind: MetadataColumn, events: OrderedRows) -> pa.Array:
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
