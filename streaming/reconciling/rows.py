"""Rows of either side in one form: typed and spelled alike, with a hash of the key and one of all that is compared."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from connectors.debezium.converted import Converted
from connectors.source_database.column_types import SourceType
from connectors.source_database.location import DatabaseKind
from connectors.source_database.snapshot import Columns, Value
from streaming.reconciling.columns import ColumnPlan, ComparedColumn

Hashes = npt.NDArray[np.uint64]

_SOURCE_ONLY, _LANDED_ONLY = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)

HASHED_ROWS = 65_536
"""Landed rows that are converted and hashed at once."""


@dataclass(frozen=True)
class Unreadable:
    """A cell that nothing on the other side can equal; ``text`` is how it is written on its own."""

    text: str

    def __str__(self) -> str:
        return self.text


Row = tuple[Any, ...]
"""A row's compared cells, in the plan's order."""


@dataclass(frozen=True)
class ComparedRows:
    """n rows.

    Attributes:
        identity: hash of the key columns, or of all where the table has no key.
        content: hash of all compared columns; of a row that holds a cell without a counterpart, one that no equal row
            of the other side has.
        cells: the compared columns, converted.
        bad: unreadable cells' texts by (row, column).
    """

    identity: Hashes
    content: Hashes
    cells: pa.Table
    bad: dict[tuple[int, int], str]

    def __len__(self) -> int:
        return len(self.identity)

    def row(self, index: int) -> Row:
        """The cells of a row as Python values."""
        return tuple(
            Unreadable(self.bad[index, place]) if (index, place) in self.bad else column[index].as_py()
            for place, column in enumerate(self.cells.columns)
        )


def source_rows(plan: ColumnPlan, columns: Columns) -> ComparedRows:
    """Rows as the database delivered them: a tuple of values per compared column."""
    converted = [column.rule.of_source(_written(values)) for column, values in zip(plan.compared, columns, strict=True)]
    bad = {(int(row), place): _text(columns[place][int(row)]) for place, one in enumerate(converted) for row in one.bad}
    return _rows(plan, converted, bad, _SOURCE_ONLY)


def landed_rows(plan: ColumnPlan, table: pa.Table) -> ComparedRows:
    """Rows of a replayed table; a column that no file had is NULL."""
    converted: list[Converted] = []
    for column in plan.compared:
        if column.name in table.column_names:
            cells = table.column(column.name).combine_chunks()
            converted.append(column.rule.of_landed(cells))
        else:
            converted.append(Converted(pa.nulls(table.num_rows, column.rule.type)))
    bad = {
        (int(row), place): _text(table.column(plan.compared[place].name)[int(row)].as_py())
        for place, one in enumerate(converted)
        for row in one.bad
    }
    return _rows(plan, converted, bad, _LANDED_ONLY)


def landed_slices(plan: ColumnPlan, table: pa.Table) -> Iterator[ComparedRows]:
    """The rows of a replayed table, :data:`HASHED_ROWS` at a time."""
    for first in range(0, table.num_rows, HASHED_ROWS):
        yield landed_rows(plan, table.slice(first, HASHED_ROWS))


def landed_key(plan: ColumnPlan, row: Row) -> tuple[Value, ...]:
    """A landed row's key as the database takes it in a condition."""
    return tuple(
        _literal(plan.kind, column, value) for column, value in zip(plan.compared, row, strict=True) if column.key
    )


def _literal(kind: DatabaseKind, column: ComparedColumn, value: object) -> Value:
    if column.source.type.family is SourceType.BITS and value is not None:
        return _bits_literal(kind, column, value)
    match value:
        case None | str():
            return value
        case bool():
            return str(int(value))
        case bytes():
            return value if kind is DatabaseKind.MYSQL else f"\\x{value.hex()}"
        case datetime.datetime():
            zone = "+00" if kind is DatabaseKind.POSTGRESQL and column.source.type.family is SourceType.INSTANT else ""
            return value.isoformat(" ") + zone
        case _:
            return str(value)


def _bits_literal(kind: DatabaseKind, column: ComparedColumn, value: object) -> Value:
    """Bits that landed as a number, a truth value, digits or little-endian bytes, as the database sends them."""
    width = column.source.type.length or 1
    match value:
        case bytes():
            number = int.from_bytes(value, "little")
        case int():
            number = int(value)
        case _:
            number = int(str(value), 2)
    if kind is DatabaseKind.MYSQL:
        return number.to_bytes(-(-width // 8), "big")
    return format(number, "b").zfill(width)


def _written(values: Sequence[Value]) -> pa.Array:
    binary = any(isinstance(value, bytes) for value in values)
    if binary and any(isinstance(value, str) for value in values):
        values = [value.encode() if isinstance(value, str) else value for value in values]
    return pa.array(values, pa.binary() if binary else pa.string())


def _rows(
    plan: ColumnPlan, converted: Sequence[Converted], bad: dict[tuple[int, int], str], unequal: np.uint64
) -> ComparedRows:
    # Numbered names: a table may have columns whose names differ in nothing that polars sees.
    names = [str(place) for place in range(len(converted))]
    cells = pa.table([one.values for one in converted], names=names)
    frame = pl.DataFrame(pl.from_arrow(cells))
    content = frame.hash_rows(seed=0).to_numpy().copy()
    content[[row for row, _ in bad]] ^= unequal
    identity = content
    if plan.key:
        identity = frame.select(names[: len(plan.key)]).hash_rows(seed=0).to_numpy()
    return ComparedRows(identity, content, cells, bad)


def _text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
