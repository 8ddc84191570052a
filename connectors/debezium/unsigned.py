"""Columns of a source block as unsigned numbers of 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.debezium.converted import present_cells
from connectors.debezium.events import Bools, Int64s

UInt64s = npt.NDArray[np.uint64]
Values: TypeAlias = Sequence[Any] | pa.Array
"""n plain values, null where there is none."""

_HIGHEST = 2**64 - 1


def listed(values: Values | None, count: int) -> Sequence[Any]:
    """The values as a list; ``None`` is so many nulls."""
    if values is None:
        return [None] * count
    found: Sequence[Any] = values.to_pylist() if isinstance(values, pa.Array) else values
    return found


def taken(values: Values, places: Int64s) -> list[Any] | pa.Array:
    """The values at ``places``; those of Arrow stay there."""
    if isinstance(values, pa.Array):
        return values.take(pa.array(places))
    return [values[place] for place in places.tolist()]


def unsigned_numbers(values: Values | None, count: int) -> tuple[UInt64s, Bools]:
    """Unsigned numbers of integers or decimal texts, 0 and unknown for null, other text and negative numbers."""
    if values is None:
        return np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=np.bool_)
    array: Any = values
    try:
        if not isinstance(values, pa.Array):
            # Arrow looks at all values to find their type, where it is not told.
            array = pa.array(values, pa.uint64() if values and type(values[0]) is int else None)
        if array.type != pa.uint64():
            array = array.cast(pa.uint64())
    except (pa.ArrowException, OverflowError):
        array = pa.array([_number(value) for value in listed(values, count)], pa.uint64())
    known = present_cells(array)
    return (array.fill_null(0) if array.null_count else array).to_numpy(zero_copy_only=False), known


def _number(value: object) -> int | None:
    """As Arrow reads it, ``0x10`` too: no text may decide how those beside it are read."""
    try:
        number = int(value, 16 if value[:2] in ("0x", "0X") else 10) if isinstance(value, str) else value
    except ValueError:
        return None
    return int(number) if isinstance(number, int) and 0 <= number <= _HIGHEST else None
