"""From what a codec reads to what a landing file holds, a column at a time.

A codec delivers each column in :func:`physical_type`; :func:`to_pinned` makes it
:func:`connectors.debezium.types.pinned_type`. This is the hot path: whole columns, no Python per value where a source
sends ordinary ones.
"""

from __future__ import annotations

import re
from typing import Any, assert_never

import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium import binary, clock, decimals, iso_text, nested, structured, temporal
from connectors.debezium.converted import Bools, Column, Converted, with_bad
from connectors.debezium.options import OutOfRange
from connectors.debezium.physical_types import is_json_text, physical_type
from connectors.debezium.schema import Field
from connectors.debezium.temporal import TimeUnit
from connectors.debezium.types import LogicalType, decimal_scale, logical_type, pinned_type

__all__ = ["Converted", "is_json_text", "parse_float", "physical_type", "to_pinned"]

_NUMBER = re.compile(r"0*+([0-9]{1,12})[0-9]*+")
_FLOATS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def parse_float(value: float | str) -> float:
    """A float from a JSON number, or from the text that JsonConverter writes for the numbers that JSON does not have.

    Raises:
        ValueError: any other text.
    """
    if not isinstance(value, str):
        return float(value)
    if value not in _FLOATS:
        raise ValueError(f"not a number, NaN, Infinity or -Infinity: {value[:60]!r}")
    return _FLOATS[value]


def to_pinned(array: Column, field: Field, rule: OutOfRange = OutOfRange.CLAMP) -> Converted:
    """The column in its pinned type.

    Args:
        array: of :func:`physical_type`, or of a type that Arrow casts to it; slices, all-null and empty arrays as well.
        rule: for dates and timestamps beyond the years 1 to 9999, infinity included. Anything else that cannot be
            converted, such as a decimal with more digits than its schema promises, is a bad row under every rule.

    Raises:
        SchemaError: a decimal whose schema gives no scale.
    """
    kind = logical_type(field)
    if kind is LogicalType.DECIMAL and (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return _decimals_of_text(array.cast(pa.string()), field)
    physical = physical_type(field)
    if array.type != physical:
        if pa.types.is_integer(physical) and pa.types.is_integer(array.type):
            return _narrowed(array, physical, field, rule)
        array = array.cast(physical)
    match kind:
        case (
            LogicalType.BOOLEAN
            | LogicalType.INT16
            | LogicalType.INT32
            | LogicalType.INT64
            | LogicalType.FLOAT32
            | LogicalType.FLOAT64
            | LogicalType.TEXT
            | LogicalType.BYTES
        ):
            return Converted(array)
        case LogicalType.JSON_TEXT:
            return nested.json_texts(array, field, rule, to_pinned)
        case LogicalType.UNSIGNED_INT64:
            return Converted(array.view(pa.uint64()).cast(pinned_type(field)))
        case LogicalType.BYTES_BASE64:
            return binary.bytes_of_base64(array)
        case LogicalType.BYTES_BASE64_URL:
            return binary.bytes_of_base64_url(array)
        case LogicalType.BYTES_HEX:
            return binary.bytes_of_hex(array)
        case LogicalType.BITS:
            return binary.bit_strings(array, _length(field))
        case LogicalType.DECIMAL:
            pinned = pinned_type(field)
            if isinstance(pinned, pa.Decimal128Type):
                return decimals.fixed_decimals(array, pinned.precision, pinned.scale)
            return decimals.plain_decimals(array, decimal_scale(field))
        case LogicalType.DECIMAL_TEXT:
            return _decimals_of_text(array, field)
        case LogicalType.VARIABLE_DECIMAL:
            return decimals.variable_decimals(array)
        case LogicalType.DATE_DAYS:
            return temporal.dates(array, rule)
        case LogicalType.DATE_ISO:
            return iso_text.iso_dates(array, rule)
        case LogicalType.DATE_STRUCT:
            return structured.structured_dates(array, rule)
        case LogicalType.TIME_MILLIS:
            return clock.times(array, TimeUnit.MILLIS)
        case LogicalType.TIME_MICROS:
            return clock.times(array, TimeUnit.MICROS)
        case LogicalType.TIME_NANOS:
            return clock.times(array, TimeUnit.NANOS)
        case LogicalType.TIME_ISO:
            return clock.times_of_text(array, keep_zone=False)
        case LogicalType.TIME_STRUCT:
            return structured.structured_times(array, keep_zone=False)
        case LogicalType.ZONED_TIME_ISO:
            return clock.times_of_text(array, keep_zone=True)
        case LogicalType.ZONED_TIME_STRUCT:
            return structured.structured_times(array, keep_zone=True)
        case LogicalType.TIMESTAMP_MILLIS:
            return temporal.timestamps(array, TimeUnit.MILLIS, rule)
        case LogicalType.TIMESTAMP_MICROS:
            return temporal.timestamps(array, TimeUnit.MICROS, rule)
        case LogicalType.TIMESTAMP_NANOS:
            return temporal.timestamps(array, TimeUnit.NANOS, rule)
        case LogicalType.TIMESTAMP_ISO:
            return iso_text.local_timestamps(array, rule)
        case LogicalType.TIMESTAMP_STRUCT:
            return structured.structured_timestamps(array, rule)
        case LogicalType.ZONED_TIMESTAMP_ISO:
            return iso_text.instants(array, rule)
        case LogicalType.ZONED_TIMESTAMP_STRUCT:
            return structured.structured_instants(array, rule)
        case LogicalType.GEOMETRY:
            return binary.geometries(array)
        case LogicalType.POINT:
            return binary.points(array)
    assert_never(kind)


def _decimals_of_text(array: Column, field: Field) -> Converted:
    pinned = pinned_type(field)
    if isinstance(pinned, pa.Decimal128Type):
        return decimals.decimals_of_text(array, pinned.precision, pinned.scale)
    return decimals.plain_decimals_of_text(array)


def _narrowed(array: Column, physical: pa.DataType, field: Field, rule: OutOfRange) -> Converted:
    """Integers of another width than the schema's: those that do not fit are bad rows."""
    wide: Column = array.cast(pa.decimal128(20, 0)) if pa.types.is_uint64(array.type) else array
    limit = 2 ** (physical.bit_width - 1)
    fits: Any = pc.and_(pc.greater_equal(wide, -limit), pc.less_equal(wide, limit - 1))
    bad: Bools = ~fits.fill_null(True).to_numpy(zero_copy_only=False)
    fitting: Any = pc.if_else(fits, array, pa.scalar(None, array.type))
    converted = to_pinned(fitting.cast(physical), field, rule)
    if not bad.any():
        return converted
    also_bad = bad.copy()
    also_bad[converted.bad] = True
    return with_bad(converted.values, converted.clamped, also_bad, f"not an {physical}", array)


def _length(field: Field) -> int | None:
    """The bits that a column declares; of a number without end its first digits, which are too many as well."""
    digits = _NUMBER.fullmatch(field.parameter("length") or "")
    return int(digits[1]) if digits else None
