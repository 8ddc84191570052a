"""The columns of a replayed table: the union of all its files' (landing-zone format, "Delete column")."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

_FAMILIES: tuple[Callable[[pa.DataType], bool], ...] = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind),
    lambda kind: pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind),
    pa.types.is_timestamp,
    pa.types.is_time,
)


def widened(known: pa.DataType, incoming: pa.DataType) -> pa.DataType | None:
    """The type that holds the values of both, within one family of types; None when there is none.

    The replicator takes no change of type at all; a reader that wants to show the data can take these.
    """
    if known == incoming or pa.types.is_null(incoming):
        return known
    if pa.types.is_null(known):
        return incoming
    if not any(family(known) and family(incoming) for family in _FAMILIES):
        return None
    schemas = [pa.schema([pa.field("", kind)]) for kind in (known, incoming)]
    try:
        both: pa.DataType = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return None
    return both


def conformed(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """``rows`` with exactly the columns and types of ``schema``; NULL where a column is missing.

    Raises:
        pyarrow.ArrowInvalid: a value does not fit, which :func:`widened` types never cause.
    """
    present = dict(zip(rows.column_names, rows.columns, strict=True))
    columns = [
        present[field.name].cast(field.type)
        if field.name in present
        else pa.chunked_array([pa.nulls(rows.num_rows, field.type)])
        for field in schema
    ]
    return pa.table(columns, schema=schema)
