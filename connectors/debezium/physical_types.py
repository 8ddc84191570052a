"""Which Arrow type a codec delivers a column in, before its meaning is applied."""

from __future__ import annotations

from typing import assert_never

import pyarrow as pa

from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.types import LogicalType, logical_type

_VARIABLE_DECIMAL = pa.struct([("scale", pa.int32()), ("value", pa.binary())])
_GEOMETRY = pa.struct([("wkb", pa.binary()), ("srid", pa.int32())])
_POINT = pa.struct([("x", pa.float64()), ("y", pa.float64()), ("wkb", pa.binary()), ("srid", pa.int32())])


def physical_type(field: Field) -> pa.DataType:
    """The Arrow type in which a codec delivers the field's values.

    Arrays, maps, vectors and structs without a known meaning are ``string``: compact JSON text, the order of keys kept
    (see :func:`is_json_text`). A decimal sent as a JSON number (``decimal.format=NUMERIC``) is ``string`` too, the
    number's own digits; a field whose schema says bytes may be delivered so as well.
    """
    kind = logical_type(field)
    match kind:
        case LogicalType.BOOLEAN:
            return pa.bool_()
        case LogicalType.INT16:
            return pa.int16()
        case LogicalType.INT32 | LogicalType.DATE_DAYS | LogicalType.TIME_MILLIS:
            return pa.int32()
        case (
            LogicalType.INT64
            | LogicalType.UNSIGNED_INT64
            | LogicalType.TIME_MICROS
            | LogicalType.TIME_NANOS
            | LogicalType.TIMESTAMP_MILLIS
            | LogicalType.TIMESTAMP_MICROS
            | LogicalType.TIMESTAMP_NANOS
        ):
            return pa.int64()
        case LogicalType.FLOAT32:
            return pa.float32()
        case LogicalType.FLOAT64:
            return pa.float64()
        case LogicalType.BYTES | LogicalType.BITS | LogicalType.DECIMAL:
            return pa.binary()
        case LogicalType.VARIABLE_DECIMAL:
            return _VARIABLE_DECIMAL
        case LogicalType.GEOMETRY:
            return _GEOMETRY
        case LogicalType.POINT:
            return _POINT
        case (
            LogicalType.TEXT
            | LogicalType.JSON_TEXT
            | LogicalType.BYTES_BASE64
            | LogicalType.BYTES_BASE64_URL
            | LogicalType.BYTES_HEX
            | LogicalType.DECIMAL_TEXT
            | LogicalType.DATE_ISO
            | LogicalType.DATE_STRUCT
            | LogicalType.TIME_ISO
            | LogicalType.TIME_STRUCT
            | LogicalType.ZONED_TIME_ISO
            | LogicalType.ZONED_TIME_STRUCT
            | LogicalType.TIMESTAMP_ISO
            | LogicalType.TIMESTAMP_STRUCT
            | LogicalType.ZONED_TIMESTAMP_ISO
            | LogicalType.ZONED_TIMESTAMP_STRUCT
        ):
            return pa.string()
    assert_never(kind)


def is_json_text(field: Field) -> bool:
    """True when the wire holds a nested value of which the codec delivers the JSON text."""
    return (
        field.type in (ConnectType.ARRAY, ConnectType.MAP, ConnectType.STRUCT) and physical_type(field) == pa.string()
    )
