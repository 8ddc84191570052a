"""Column kinds of the demo's source database: how Debezium describes and encodes their values."""

from __future__ import annotations

import base64
import enum
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, assert_never

Value = None | int | float | bool | str | Decimal | datetime | date

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOCAL_EPOCH = datetime(1970, 1, 1)


class Kind(enum.Enum):
    """Types of PostgreSQL columns as the connector sends them with its default modes."""

    INT32 = "int32"
    INT64 = "int64"
    FLOAT64 = "float64"
    BOOLEAN = "boolean"
    TEXT = "text"
    NUMERIC = "numeric(12,2)"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamptz"
    JSONB = "jsonb"


@dataclass(frozen=True)
class Column:
    """A column of a demo table."""

    name: str
    kind: Kind
    optional: bool = True


SCALE, PRECISION = 2, 12

_CONNECT: dict[Kind, tuple[str, str | None, dict[str, str]]] = {
    Kind.INT32: ("int32", None, {}),
    Kind.INT64: ("int64", None, {}),
    Kind.FLOAT64: ("double", None, {}),
    Kind.BOOLEAN: ("boolean", None, {}),
    Kind.TEXT: ("string", None, {}),
    Kind.NUMERIC: (
        "bytes",
        "org.apache.kafka.connect.data.Decimal",
        {"scale": str(SCALE), "connect.decimal.precision": str(PRECISION)},
    ),
    Kind.DATE: ("int32", "io.debezium.time.Date", {}),
    Kind.TIMESTAMP: ("int64", "io.debezium.time.MicroTimestamp", {}),
    Kind.TIMESTAMPTZ: ("string", "io.debezium.time.ZonedTimestamp", {}),
    Kind.JSONB: ("string", "io.debezium.data.Json", {}),
}
_AVRO_TYPES = {
    "int32": "int",
    "int64": "long",
    "double": "double",
    "boolean": "boolean",
    "string": "string",
    "bytes": "bytes",
}


def declaration(column: Column) -> str:
    """The column's type as the settings declare it (``tables.overrides[].declared``)."""
    match column.kind:
        case Kind.TEXT:
            return "string"
        case Kind.NUMERIC:
            return f"decimal({PRECISION},{SCALE})"
        case Kind.TIMESTAMP:
            return "timestamp(us)"
        case Kind.JSONB:
            return "json"
        case Kind.INT32 | Kind.INT64 | Kind.FLOAT64 | Kind.BOOLEAN | Kind.DATE | Kind.TIMESTAMPTZ:
            return str(column.kind.value)
        case _:
            assert_never(column.kind)


def connect_field(column: Column) -> dict[str, Any]:
    """The column in a schema embedded in JSON."""
    kind, name, parameters = _CONNECT[column.kind]
    field: dict[str, Any] = {"type": kind, "optional": column.optional, "field": column.name}
    if name is not None:
        field |= {"name": name, "version": 1}
    if parameters:
        field["parameters"] = parameters
    return field


def avro_field(column: Column) -> dict[str, Any]:
    """The column in an Avro schema as Connect's converter writes it."""
    kind, name, parameters = _CONNECT[column.kind]
    avro: Any = _AVRO_TYPES[kind]
    if name is not None:
        avro = {"type": avro, "connect.version": 1, "connect.name": name}
        if parameters:
            avro |= {"connect.parameters": parameters, "logicalType": "decimal", "scale": SCALE, "precision": PRECISION}
    if column.optional:
        return {"name": column.name, "type": ["null", avro], "default": None}
    return {"name": column.name, "type": avro}


def json_value(column: Column, value: Value) -> object:
    """The value as it stands in JSON."""
    if isinstance(value, Decimal):
        return base64.b64encode(_unscaled(value)).decode()
    return avro_value(column, value)


def avro_value(column: Column, value: Value) -> object:
    """The value for an Avro writer that knows the logical type ``decimal``."""
    if value is None or isinstance(value, Decimal):
        return value
    match column.kind:
        case Kind.DATE:
            return (value - _EPOCH.date()).days if isinstance(value, date) else value
        case Kind.TIMESTAMP:
            return _micros(value, _LOCAL_EPOCH) if isinstance(value, datetime) else value
        case Kind.TIMESTAMPTZ:
            return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if isinstance(value, datetime) else value
        case _:
            return value


def _micros(value: datetime, epoch: datetime) -> int:
    passed = value - epoch
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds


def _unscaled(value: Decimal) -> bytes:
    number = int(value.scaleb(SCALE))
    return number.to_bytes((number.bit_length() + 8) // 8, "big", signed=True)
