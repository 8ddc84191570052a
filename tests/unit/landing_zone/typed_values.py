"""Values of every landing-file type, for tests that hold for all of them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from connectors.landing_zone.schema import type_from_text

TYPES = (
    *("bool", "int16", "int32", "int64", "float", "double", "string", "binary", "date32"),
    *("timestamp[us]", "timestamp[us,UTC]"),
    *("decimal128(9,0)", "decimal128(10,2)", "decimal128(38,10)"),
)


def values_of(text: str) -> st.SearchStrategy[Any]:
    """Any value of the type."""
    kind = type_from_text(text)
    if pa.types.is_boolean(kind):
        return st.booleans()
    if pa.types.is_integer(kind):
        bound = 2 ** (kind.bit_width - 1)
        return st.integers(-bound, bound - 1) | st.integers(-3, 3)
    if pa.types.is_floating(kind):
        return st.floats(width=32 if kind == pa.float32() else 64) | st.integers(-3, 3).map(float)
    if pa.types.is_decimal(kind):
        digits = 10**kind.precision - 1
        return st.integers(-digits, digits).map(lambda unscaled: Decimal(f"{unscaled}e-{kind.scale}"))
    if pa.types.is_string(kind):
        return st.text(max_size=5) | st.integers(-3, 3).map(str)
    if pa.types.is_binary(kind):
        return st.binary(max_size=5)
    if pa.types.is_date32(kind):
        return st.dates()
    moments = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31, 23, 59, 59, 999_999))
    return moments if kind == pa.timestamp("us") else moments.map(lambda moment: moment.replace(tzinfo=UTC))


@st.composite
def arrays(draw: st.DrawFn, types: tuple[str, ...] = TYPES) -> pa.Array[Any]:
    """A few values of one type, NULLs among them."""
    text = draw(st.sampled_from(types))
    return pa.array(draw(st.lists(st.none() | values_of(text), max_size=5)), type_from_text(text))


def same_values(one: pa.Array[Any], other: pa.Array[Any]) -> bool:
    """Whether two arrays have one type and equal values; not-a-number is itself."""
    pairs = zip(one.to_pylist(), other.to_pylist(), strict=True)
    return one.type == other.type and all(left == right or (left != left and right != right) for left, right in pairs)
