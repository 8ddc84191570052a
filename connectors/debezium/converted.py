"""What a column's conversion gives, and the cells of Arrow arrays as numpy sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.options import OutOfRange
from connectors.debezium.verdicts import sample

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Column: TypeAlias = "pa.Array[Any]"
"""An Arrow array of any type."""


def no_rows() -> Int64s:
    """An empty array of row indexes."""
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Converted:
    """A column in its pinned type.

    Attributes:
        values: as many rows as went in; null where nothing came in, where the range rule says so, and in bad rows.
        clamped: number of cells that the range rule has changed, to a bound or to null.
        bad: indexes of rows that cannot be converted, ascending.
        reason: why, with the first bad value; ``None`` when ``bad`` is empty.
    """

    values: Column
    clamped: int = 0
    bad: Int64s = field(default_factory=no_rows)
    reason: str | None = None


@dataclass(frozen=True)
class Ranged:
    """Numbers after the range rule.

    Attributes:
        values: n numbers within the bounds; 0 where ``present`` is False.
        present: cells that hold a value.
        clamped: number of cells that the rule has changed.
        outside: rows that the rule makes bad.
    """

    values: Int64s
    present: Bools
    clamped: int
    outside: Bools


def distinct(numbers: Int64s) -> list[int]:
    """The numbers that occur, ascending; nothing is sorted where all are the same, as most often they are."""
    if len(numbers) and (numbers == numbers[0]).all():
        return [int(numbers[0])]
    found: list[int] = np.unique(numbers).tolist()
    return found


def integer_cells(array: Column) -> tuple[Int64s, Bools]:
    """The numbers of an integer array, 0 for null, and a mask of the cells that are not null."""
    filled = pc.fill_null(array, pa.scalar(0, array.type)) if array.null_count else array
    return filled.to_numpy(zero_copy_only=False).astype(np.int64, copy=False), present_cells(array)


def present_cells(array: Column) -> Bools:
    """A mask of the cells that are not null."""
    if not array.null_count:
        return np.ones(len(array), dtype=np.bool_)
    mask: Bools = array.is_valid().to_numpy(zero_copy_only=False)
    return mask


def apply_range(values: Int64s, present: Bools, low: int, high: int, rule: OutOfRange) -> Ranged:
    """Numbers within ``[low, high]``; those outside become a bound, null or a bad row, as the rule says."""
    outside = present & ((values < low) | (values > high))
    count = int(outside.sum())
    if count == 0:
        return Ranged(values, present, 0, outside)
    match rule:
        case OutOfRange.CLAMP:
            return Ranged(np.clip(values, low, high), present, count, np.zeros_like(outside))
        case OutOfRange.NULL:
            return Ranged(np.where(outside, 0, values), present & ~outside, count, np.zeros_like(outside))
        case OutOfRange.DEAD_LETTER:
            return Ranged(np.where(outside, 0, values), present & ~outside, 0, outside)
    assert_never(rule)


def arrow_integers(values: Int64s, present: Bools, kind: pa.DataType) -> Column:
    """An Arrow array of a type that 32 or 64 bit integers can be cast to: integers, dates, timestamps."""
    mask = None if bool(present.all()) else ~present
    numbers = values.astype(np.int32) if kind.bit_width == 32 else values
    return pa.array(numbers, mask=mask).view(kind)


def with_bad(values: Column, clamped: int, bad: Bools, what: str, source: Column) -> Converted:
    """A conversion with the rows of the mask ``bad``; the reason is ``what`` and the first bad value of ``source``."""
    rows = np.flatnonzero(bad)
    if len(rows) == 0:
        return Converted(values, clamped)
    return Converted(values, clamped, rows.astype(np.int64), f"{what}: {sample(source[int(rows[0])].as_py())}")
