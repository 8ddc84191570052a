"""Builds columns for the tests of values and reads what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connectors.debezium.converted import Converted
from connectors.debezium.declared import parse_column
from connectors.debezium.options import OutOfRange
from connectors.debezium.types import pinned_type
from connectors.debezium.values import physical_type, to_pinned


def pinned(declaration: str, cells: Sequence[Any], rule: OutOfRange = OutOfRange.CLAMP) -> Converted:
    """The conversion of a column so declared; also proves that a slice of a longer column converts alike."""
    field = parse_column("x", declaration)
    array = pa.array(cells, type=physical_type(field))
    converted = to_pinned(array, field, rule)
    assert converted.values.type == pinned_type(field)
    assert len(converted.values) == len(cells)
    around = pa.concat_arrays([array, array, array]) if len(array) else array
    middle = to_pinned(around.slice(len(array), len(array)), field, rule)
    assert outcome(middle) == outcome(converted)
    return converted


def outcome(converted: Converted) -> tuple[list[Any], int, list[int], str | None]:
    """Values, clamped, bad rows and reason."""
    converted.values.validate(full=True)
    return converted.values.to_pylist(), converted.clamped, converted.bad.tolist(), converted.reason


def cells(declaration: str, values: Sequence[Any]) -> list[Any]:
    """The values of a conversion in which no row is bad and none is changed."""
    converted = pinned(declaration, values)
    assert (converted.clamped, converted.bad.tolist(), converted.reason) == (0, [], None)
    converted.values.validate(full=True)
    result: list[Any] = converted.values.to_pylist()
    return result
