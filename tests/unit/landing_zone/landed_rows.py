"""Rows and schemas for the tests of landing files: every pinned type, nulls, and garbage where none should be seen."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from connectors.landing_zone.schema import PinnedColumn, PinnedSchema

TYPES = (
    "bool",
    "int16",
    "int32",
    "int64",
    "float",
    "double",
    "string",
    "binary",
    "date32",
    "timestamp[us]",
    "timestamp[us,UTC]",
    "decimal128(10,2)",
)

EVERY_TYPE = PinnedSchema(
    (
        PinnedColumn("id", "id", "int64", key=True),
        *(PinnedColumn(f"a {text}", f"a {text}", text) for text in TYPES),
    )
)

ORDERS = PinnedSchema((PinnedColumn("id", "id", "int64", key=True), PinnedColumn("name", "name", "string")))


def rows_of(schema: PinnedSchema, rows: int, seed: int = 1) -> pa.RecordBatch:
    """Random rows, a fifth of the cells NULL (never in a key); equal for equal arguments."""
    chance = np.random.default_rng(seed)
    columns = []
    for column in schema.columns:
        cells = [
            number if column.key else None if chance.random() < 0.2 else _value(column.type, chance)
            for number in range(rows)
        ]
        columns.append(pa.array(cells, schema.arrow().field(column.name).type))
    return pa.RecordBatch.from_arrays(columns, schema=schema.arrow())


def orders(*rows: tuple[int, str | None]) -> pa.RecordBatch:
    """Rows of :data:`ORDERS`."""
    return pa.RecordBatch.from_pylist([{"id": key, "name": name} for key, name in rows], schema=ORDERS.arrow())


def cut(rows: pa.RecordBatch, sizes: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """``rows`` in slices of these sizes, again and again; some of them are empty if a size is."""
    start = 0
    while start < len(rows):
        for size in sizes:
            yield rows.slice(start, size)
            start += size


def with_garbage(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows in other buffers: a slice of more, and other bytes where a cell is NULL."""
    columns = []
    for column in rows.columns:
        padded = pa.concat_arrays([column.slice(0, 1), column, column.slice(0, 1)])
        if column.null_count and (pa.types.is_string(column.type) or pa.types.is_int64(column.type)):
            filler = "garbage" if pa.types.is_string(column.type) else 99
            filled = padded.fill_null(filler)
            _, *buffers = filled.buffers()
            mask = pa.array(padded.is_valid().to_pylist(), pa.bool_()).buffers()[1]
            padded = pa.Array.from_buffers(column.type, len(padded), [mask, *buffers])
        columns.append(padded.slice(1, len(rows)))
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)


def _value(text: str, chance: np.random.Generator) -> object:
    number = int(chance.integers(30_000))
    match text:
        case "bool":
            return number % 2 == 0
        case "int16" | "int32" | "int64":
            return number - 15_000
        case "float":
            return number / 4
        case "double":
            return number / 7
        case "string":
            return f"text ö {number}" if number % 3 else ""
        case "binary":
            return number.to_bytes(4, "big")
        case "date32":
            return dt.date(2000, 1, 1) + dt.timedelta(days=number)
        case "timestamp[us]":
            return dt.datetime(2000, 1, 1) + dt.timedelta(seconds=number, microseconds=number)
        case "timestamp[us,UTC]":
            return dt.datetime(2000, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=number)
        case _:
            return decimal.Decimal(number).scaleb(-2)
