"""Semantic names of schemas: what a field means beyond its physical type.

Kafka Connect calls it the schema's name; Debezium documents its own under ``io.debezium.data`` and ``io.debezium.time``
(Debezium documentation, "Data type mappings"). The three ``cdc_bridge`` names are ours: with
``binary.handling.mode`` base64, base64-url-safe or hex, Debezium sends strings that nothing marks as bytes, so only a
declared column can say it.
"""

from __future__ import annotations

from connectors.debezium.schema import ConnectType

CONNECT_DATE = "org.apache.kafka.connect.data.Date"
CONNECT_TIME = "org.apache.kafka.connect.data.Time"
CONNECT_TIMESTAMP = "org.apache.kafka.connect.data.Timestamp"
DECIMAL = "org.apache.kafka.connect.data.Decimal"

DATE = "io.debezium.time.Date"
TIME = "io.debezium.time.Time"
MICRO_TIME = "io.debezium.time.MicroTime"
NANO_TIME = "io.debezium.time.NanoTime"
TIMESTAMP = "io.debezium.time.Timestamp"
MICRO_TIMESTAMP = "io.debezium.time.MicroTimestamp"
NANO_TIMESTAMP = "io.debezium.time.NanoTimestamp"
ZONED_TIME = "io.debezium.time.ZonedTime"
ZONED_TIMESTAMP = "io.debezium.time.ZonedTimestamp"
ISO_DATE = "io.debezium.time.IsoDate"
ISO_TIME = "io.debezium.time.IsoTime"
ISO_TIMESTAMP = "io.debezium.time.IsoTimestamp"
YEAR = "io.debezium.time.Year"
MICRO_DURATION = "io.debezium.time.MicroDuration"
NANO_DURATION = "io.debezium.time.NanoDuration"
INTERVAL = "io.debezium.time.Interval"
STRUCTURED_DATE = "io.debezium.time.StructuredDate"
STRUCTURED_TIME = "io.debezium.time.StructuredTime"
STRUCTURED_TIMESTAMP = "io.debezium.time.StructuredTimestamp"
STRUCTURED_ZONED_TIME = "io.debezium.time.StructuredZonedTime"
STRUCTURED_ZONED_TIMESTAMP = "io.debezium.time.StructuredZonedTimestamp"
STRUCTURED_DURATION = "io.debezium.time.StructuredDuration"

VARIABLE_SCALE_DECIMAL = "io.debezium.data.VariableScaleDecimal"
BITS = "io.debezium.data.Bits"
JSON = "io.debezium.data.Json"
XML = "io.debezium.data.Xml"
UUID = "io.debezium.data.Uuid"
LTREE = "io.debezium.data.Ltree"
TSVECTOR = "io.debezium.data.Tsvector"
ENUM = "io.debezium.data.Enum"
ENUM_SET = "io.debezium.data.EnumSet"
GEOMETRY = "io.debezium.data.geometry.Geometry"
GEOGRAPHY = "io.debezium.data.geometry.Geography"
POINT = "io.debezium.data.geometry.Point"
CIRCLE = "io.debezium.data.geometry.Circle"
LINE = "io.debezium.data.geometry.Line"
DOUBLE_VECTOR = "io.debezium.data.DoubleVector"
FLOAT_VECTOR = "io.debezium.data.FloatVector"
SPARSE_VECTOR = "io.debezium.data.SparseVector"
SPARSE_DOUBLE_VECTOR = "io.debezium.data.SparseDoubleVector"

BASE64 = "cdc_bridge.Base64"
BASE64_URL = "cdc_bridge.Base64Url"
HEX = "cdc_bridge.Hex"

PHYSICAL_TYPES: dict[str, ConnectType] = {
    CONNECT_DATE: ConnectType.INT32,
    CONNECT_TIME: ConnectType.INT32,
    CONNECT_TIMESTAMP: ConnectType.INT64,
    DATE: ConnectType.INT32,
    TIME: ConnectType.INT32,
    MICRO_TIME: ConnectType.INT64,
    NANO_TIME: ConnectType.INT64,
    TIMESTAMP: ConnectType.INT64,
    MICRO_TIMESTAMP: ConnectType.INT64,
    NANO_TIMESTAMP: ConnectType.INT64,
    ZONED_TIME: ConnectType.STRING,
    ZONED_TIMESTAMP: ConnectType.STRING,
    ISO_DATE: ConnectType.STRING,
    ISO_TIME: ConnectType.STRING,
    ISO_TIMESTAMP: ConnectType.STRING,
    YEAR: ConnectType.INT32,
    MICRO_DURATION: ConnectType.INT64,
    NANO_DURATION: ConnectType.INT64,
    INTERVAL: ConnectType.STRING,
    STRUCTURED_DATE: ConnectType.STRUCT,
    STRUCTURED_TIME: ConnectType.STRUCT,
    STRUCTURED_TIMESTAMP: ConnectType.STRUCT,
    STRUCTURED_ZONED_TIME: ConnectType.STRUCT,
    STRUCTURED_ZONED_TIMESTAMP: ConnectType.STRUCT,
    STRUCTURED_DURATION: ConnectType.STRUCT,
    VARIABLE_SCALE_DECIMAL: ConnectType.STRUCT,
    BITS: ConnectType.BYTES,
    JSON: ConnectType.STRING,
    XML: ConnectType.STRING,
    UUID: ConnectType.STRING,
    LTREE: ConnectType.STRING,
    TSVECTOR: ConnectType.STRING,
    ENUM: ConnectType.STRING,
    ENUM_SET: ConnectType.STRING,
    GEOMETRY: ConnectType.STRUCT,
    GEOGRAPHY: ConnectType.STRUCT,
    POINT: ConnectType.STRUCT,
    CIRCLE: ConnectType.STRUCT,
    LINE: ConnectType.STRUCT,
    DOUBLE_VECTOR: ConnectType.ARRAY,
    FLOAT_VECTOR: ConnectType.ARRAY,
    SPARSE_VECTOR: ConnectType.STRUCT,
    SPARSE_DOUBLE_VECTOR: ConnectType.STRUCT,
    BASE64: ConnectType.STRING,
    BASE64_URL: ConnectType.STRING,
    HEX: ConnectType.STRING,
}
"""The physical type that goes with each semantic name; Decimal is not among them, since it also needs a scale."""
