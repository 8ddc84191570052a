"""Several source tables that land in one: what tells their rows apart.

Each row gets the names of its source as further key columns, before anything else looks at it. So the rest of the
landing sees one table with a wider key, whose rows never meet those of another source. Log positions of different
sources mean nothing to each other; every partition's own order is kept, and so is that of a source's partitions.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from connectors.debezium.schema import ConnectType, Field, RowSchema
from streaming.landing.rows import OrderedRows
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn
from streaming.sources import Source, source_of

SOURCE_COLUMNS = (MetadataColumn.SOURCE_DATABASE, MetadataColumn.SOURCE_SCHEMA, MetadataColumn.SOURCE_TABLE)
"""The columns about the event that name its source."""


def identity_columns(options: TableOptions) -> dict[str, MetadataColumn]:
    """The key columns that tell the sources of a merged table apart; empty for any other table."""
    if not options.merge_sources:
        return {}
    return {options.metadata_prefix + kind.value: kind for kind in SOURCE_COLUMNS if kind in options.metadata_columns}


def identity(source: Source, options: TableOptions) -> tuple[str, ...]:
    """What the identity columns hold in the rows of a source; a source without a schema has an empty one."""
    parts = dict(zip(SOURCE_COLUMNS, source, strict=True))
    return tuple(parts[kind] or "" for kind in identity_columns(options).values())


def with_identity(events: OrderedRows, options: TableOptions) -> OrderedRows:
    """The events of one source of a merged table with its names in front of their key.

    As they are where a column of the source has the name of one: nothing tells such rows from another source's.
    """
    names = tuple(identity_columns(options))
    if not set(names).isdisjoint(events.rows.schema.names):
        return events
    values = identity(source_of(events.table), options)
    schema = RowSchema(
        (*(Field(name, ConnectType.STRING, optional=False) for name in names), *events.schema.fields),
        key=(*names, *events.schema.key) if events.schema.key else (),
        learned=events.schema.learned,
    )
    return replace(
        events,
        schema=schema,
        rows=_before(names, values, events.rows),
        old_keys=None if events.old_keys is None else _before(names, values, events.old_keys),
        identified=True,
    )


def _before(names: tuple[str, ...], values: tuple[str, ...], rows: pa.RecordBatch) -> pa.RecordBatch:
    constants = [pa.repeat(pa.scalar(value, pa.string()), rows.num_rows) for value in values]
    return pa.RecordBatch.from_arrays([*constants, *rows.columns], names=[*names, *rows.schema.names])
