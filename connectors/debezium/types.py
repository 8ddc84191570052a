"""Which type a source column has in the landing zone.

Every field of an event's schema has one logical type, and every logical type one Arrow type, whatever connector and
handling mode it comes from (Debezium documentation, "Data type mappings" of each connector). Decisions:

- dates are ``date32``; timestamps ``timestamp[us]``, with UTC where the source knows the instant;
- times of day are text ``HH:MM:SS[.ffffff]``: Delta has no time type, and MySQL's TIME reaches +-838 hours;
- decimals are ``decimal128`` where precision and scale fit, else text in plain notation;
- nested values (arrays, maps, structs, vectors) are JSON text.
"""

from __future__ import annotations

import enum
from typing import assert_never

import pyarrow as pa

from connectors.debezium import semantics
from connectors.debezium.errors import SchemaError
from connectors.debezium.schema import ConnectType, Field

MAX_DECIMAL_PRECISION = 38

UNSIGNED_BIGINT = ("__debezium.source.column.type", "BIGINT UNSIGNED")
"""The parameter by which a field is MySQL's BIGINT UNSIGNED: in its default mode an int64 whose upper half looks
negative. Connectors send it with ``column.propagate.source.type``; a declared ``uint64`` has it too."""


class LogicalType(enum.Enum):
    """What a field means and how its values are written in an event."""

    BOOLEAN = enum.auto()
    INT16 = enum.auto()
    INT32 = enum.auto()
    INT64 = enum.auto()
    UNSIGNED_INT64 = enum.auto()
    FLOAT32 = enum.auto()
    FLOAT64 = enum.auto()
    TEXT = enum.auto()
    JSON_TEXT = enum.auto()
    BYTES = enum.auto()
    BYTES_BASE64 = enum.auto()
    BYTES_BASE64_URL = enum.auto()
    BYTES_HEX = enum.auto()
    BITS = enum.auto()
    DECIMAL = enum.auto()
    DECIMAL_TEXT = enum.auto()
    VARIABLE_DECIMAL = enum.auto()
    DATE_DAYS = enum.auto()
    DATE_ISO = enum.auto()
    DATE_STRUCT = enum.auto()
    TIME_MILLIS = enum.auto()
    TIME_MICROS = enum.auto()
    TIME_NANOS = enum.auto()
    TIME_ISO = enum.auto()
    TIME_STRUCT = enum.auto()
    ZONED_TIME_ISO = enum.auto()
    ZONED_TIME_STRUCT = enum.auto()
    TIMESTAMP_MILLIS = enum.auto()
    TIMESTAMP_MICROS = enum.auto()
    TIMESTAMP_NANOS = enum.auto()
    TIMESTAMP_ISO = enum.auto()
    TIMESTAMP_STRUCT = enum.auto()
    ZONED_TIMESTAMP_ISO = enum.auto()
    ZONED_TIMESTAMP_STRUCT = enum.auto()
    GEOMETRY = enum.auto()
    POINT = enum.auto()


_PLAIN: dict[ConnectType, LogicalType] = {
    ConnectType.BOOLEAN: LogicalType.BOOLEAN,
    ConnectType.INT8: LogicalType.INT16,
    ConnectType.INT16: LogicalType.INT16,
    ConnectType.INT32: LogicalType.INT32,
    ConnectType.INT64: LogicalType.INT64,
    ConnectType.FLOAT32: LogicalType.FLOAT32,
    ConnectType.FLOAT64: LogicalType.FLOAT64,
    ConnectType.STRING: LogicalType.TEXT,
    ConnectType.BYTES: LogicalType.BYTES,
    ConnectType.ARRAY: LogicalType.JSON_TEXT,
    ConnectType.MAP: LogicalType.JSON_TEXT,
    ConnectType.STRUCT: LogicalType.JSON_TEXT,
}

# A semantic name counts only together with the physical type that its documentation gives.
_BY_MEANING: dict[tuple[str, ConnectType], LogicalType] = {
    (semantics.DATE, ConnectType.INT32): LogicalType.DATE_DAYS,
    (semantics.CONNECT_DATE, ConnectType.INT32): LogicalType.DATE_DAYS,
    (semantics.ISO_DATE, ConnectType.STRING): LogicalType.DATE_ISO,
    (semantics.STRUCTURED_DATE, ConnectType.STRUCT): LogicalType.DATE_STRUCT,
    (semantics.TIME, ConnectType.INT32): LogicalType.TIME_MILLIS,
    (semantics.CONNECT_TIME, ConnectType.INT32): LogicalType.TIME_MILLIS,
    (semantics.MICRO_TIME, ConnectType.INT64): LogicalType.TIME_MICROS,
    (semantics.NANO_TIME, ConnectType.INT64): LogicalType.TIME_NANOS,
    (semantics.ISO_TIME, ConnectType.STRING): LogicalType.TIME_ISO,
    (semantics.STRUCTURED_TIME, ConnectType.STRUCT): LogicalType.TIME_STRUCT,
    (semantics.ZONED_TIME, ConnectType.STRING): LogicalType.ZONED_TIME_ISO,
    (semantics.STRUCTURED_ZONED_TIME, ConnectType.STRUCT): LogicalType.ZONED_TIME_STRUCT,
    (semantics.TIMESTAMP, ConnectType.INT64): LogicalType.TIMESTAMP_MILLIS,
    (semantics.CONNECT_TIMESTAMP, ConnectType.INT64): LogicalType.TIMESTAMP_MILLIS,
    (semantics.MICRO_TIMESTAMP, ConnectType.INT64): LogicalType.TIMESTAMP_MICROS,
    (semantics.NANO_TIMESTAMP, ConnectType.INT64): LogicalType.TIMESTAMP_NANOS,
    (semantics.ISO_TIMESTAMP, ConnectType.STRING): LogicalType.TIMESTAMP_ISO,
    (semantics.STRUCTURED_TIMESTAMP, ConnectType.STRUCT): LogicalType.TIMESTAMP_STRUCT,
    (semantics.ZONED_TIMESTAMP, ConnectType.STRING): LogicalType.ZONED_TIMESTAMP_ISO,
    (semantics.STRUCTURED_ZONED_TIMESTAMP, ConnectType.STRUCT): LogicalType.ZONED_TIMESTAMP_STRUCT,
    (semantics.DECIMAL, ConnectType.BYTES): LogicalType.DECIMAL,
    (semantics.DECIMAL, ConnectType.STRING): LogicalType.DECIMAL_TEXT,
    (semantics.DECIMAL, ConnectType.FLOAT64): LogicalType.DECIMAL_TEXT,
    (semantics.VARIABLE_SCALE_DECIMAL, ConnectType.STRUCT): LogicalType.VARIABLE_DECIMAL,
    (semantics.BITS, ConnectType.BYTES): LogicalType.BITS,
    (semantics.GEOMETRY, ConnectType.STRUCT): LogicalType.GEOMETRY,
    (semantics.GEOGRAPHY, ConnectType.STRUCT): LogicalType.GEOMETRY,
    (semantics.POINT, ConnectType.STRUCT): LogicalType.POINT,
    (semantics.BASE64, ConnectType.STRING): LogicalType.BYTES_BASE64,
    (semantics.BASE64_URL, ConnectType.STRING): LogicalType.BYTES_BASE64_URL,
    (semantics.HEX, ConnectType.STRING): LogicalType.BYTES_HEX,
}

_LOCAL_TIMESTAMP = pa.timestamp("us")
_INSTANT = pa.timestamp("us", tz="UTC")
_UNSIGNED_DIGITS = 20
_UNSIGNED_INT64 = pa.decimal128(_UNSIGNED_DIGITS, 0)
_MONEY_DIGITS = 19
_SOURCE_TYPE, _UNSIGNED = UNSIGNED_BIGINT


_SCALE = (
    "look at the record's schema: Kafka Connect's decimal says its scale there, a whole number; mend the "
    "transformation or the converter that leaves it out or changes it"
)


def logical_type(field: Field) -> LogicalType:
    """The field's logical type; a semantic name that nobody knows leaves the plain type of its physical one."""
    if field.semantic is not None:
        meant = _BY_MEANING.get((field.semantic, field.type))
        if meant is not None:
            return meant
    elif field.type is ConnectType.INT64 and _is_unsigned_bigint(field):
        return LogicalType.UNSIGNED_INT64
    return _PLAIN[field.type]


def pinned_type(field: Field) -> pa.DataType:
    """The Arrow type of the field's column in the landing zone; equal fields have equal types.

    Raises:
        SchemaError: a decimal whose schema gives no usable scale or precision.
    """
    kind = logical_type(field)
    match kind:
        case LogicalType.BOOLEAN:
            return pa.bool_()
        case LogicalType.INT16:
            return pa.int16()
        case LogicalType.INT32:
            return pa.int32()
        case LogicalType.INT64:
            return pa.int64()
        case LogicalType.UNSIGNED_INT64:
            return _UNSIGNED_INT64
        case LogicalType.FLOAT32:
            return pa.float32()
        case LogicalType.FLOAT64:
            return pa.float64()
        case LogicalType.DECIMAL | LogicalType.DECIMAL_TEXT:
            return _decimal_type(field)
        case LogicalType.DATE_DAYS | LogicalType.DATE_ISO | LogicalType.DATE_STRUCT:
            return pa.date32()
        case (
            LogicalType.TIMESTAMP_MILLIS
            | LogicalType.TIMESTAMP_MICROS
            | LogicalType.TIMESTAMP_NANOS
            | LogicalType.TIMESTAMP_ISO
            | LogicalType.TIMESTAMP_STRUCT
        ):
            return _LOCAL_TIMESTAMP
        case LogicalType.ZONED_TIMESTAMP_ISO | LogicalType.ZONED_TIMESTAMP_STRUCT:
            return _INSTANT
        case (
            LogicalType.BYTES
            | LogicalType.BYTES_BASE64
            | LogicalType.BYTES_BASE64_URL
            | LogicalType.BYTES_HEX
            | LogicalType.GEOMETRY
            | LogicalType.POINT
        ):
            return pa.binary()
        case (
            LogicalType.TEXT
            | LogicalType.JSON_TEXT
            | LogicalType.BITS
            | LogicalType.VARIABLE_DECIMAL
            | LogicalType.TIME_MILLIS
            | LogicalType.TIME_MICROS
            | LogicalType.TIME_NANOS
            | LogicalType.TIME_ISO
            | LogicalType.TIME_STRUCT
            | LogicalType.ZONED_TIME_ISO
            | LogicalType.ZONED_TIME_STRUCT
        ):
            return pa.string()
    assert_never(kind)


def decimal_scale(field: Field) -> int:
    """The scale of a decimal with a fixed one.

    Raises:
        SchemaError: the schema gives none.
    """
    scale = _integer(field, "scale")
    if scale is None:
        raise SchemaError(
            "A decimal's schema has no scale, so its values cannot be read",
            remedy=_SCALE,
            field=field.name,
        )
    return scale


def _decimal_type(field: Field) -> pa.DataType:
    scale, precision = decimal_scale(field), _decimal_precision(field)
    if precision is None or not 1 <= precision <= MAX_DECIMAL_PRECISION or not 0 <= scale <= precision:
        return pa.string()
    return pa.decimal128(precision, scale)


def _decimal_precision(field: Field) -> int | None:
    """Digits that the schema promises; ``None`` when it promises nothing.

    Debezium leaves the precision out for MONEY and for BIGINT UNSIGNED in precise mode; with
    ``column.propagate.source.type`` the source's own declaration follows in other parameters.
    """
    precision = _integer(field, "connect.decimal.precision")
    if precision is not None:
        return precision
    if _is_unsigned_bigint(field):
        return _UNSIGNED_DIGITS
    if (field.parameter(_SOURCE_TYPE) or "").upper() == "MONEY":
        return _MONEY_DIGITS
    return _integer(field, "__debezium.source.column.length")


def _is_unsigned_bigint(field: Field) -> bool:
    return bool(field.parameters) and (field.parameter(_SOURCE_TYPE) or "").upper().startswith(_UNSIGNED)


def _integer(field: Field, parameter: str) -> int | None:
    text = field.parameter(parameter)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise SchemaError(
            f"A decimal's schema has {parameter} {text!r}, which is not a number",
            remedy=_SCALE,
            field=field.name,
        ) from None
