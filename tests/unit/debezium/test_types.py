"""One field, one type."""

from __future__ import annotations

import pyarrow as pa
import pytest

from connectors.debezium import semantics
from connectors.debezium.errors import SchemaError
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.types import LogicalType, logical_type, pinned_type
from connectors.debezium.values import is_json_text, physical_type

LOCAL, INSTANT = pa.timestamp("us"), pa.timestamp("us", tz="UTC")
C = ConnectType


def column(kind: ConnectType, semantic: str | None = None, **parameters: str) -> Field:
    return Field("x", kind, semantic=semantic, parameters=tuple(sorted(parameters.items())))


@pytest.mark.parametrize(
    ("kind", "pinned"),
    [
        (C.BOOLEAN, pa.bool_()),
        (C.INT8, pa.int16()),
        (C.INT16, pa.int16()),
        (C.INT32, pa.int32()),
        (C.INT64, pa.int64()),
        (C.FLOAT32, pa.float32()),
        (C.FLOAT64, pa.float64()),
        (C.STRING, pa.string()),
        (C.BYTES, pa.binary()),
        (C.ARRAY, pa.string()),
        (C.MAP, pa.string()),
        (C.STRUCT, pa.string()),
    ],
)
def test_plain_types_keep_their_width_and_nested_ones_become_text(kind: ConnectType, pinned: pa.DataType) -> None:
    assert (pinned_type(column(kind)), physical_type(column(kind))) == (pinned, pinned)


@pytest.mark.parametrize(
    ("semantic", "physical", "pinned"),
    [
        (semantics.DATE, pa.int32(), pa.date32()),
        (semantics.CONNECT_DATE, pa.int32(), pa.date32()),
        (semantics.ISO_DATE, pa.string(), pa.date32()),
        (semantics.STRUCTURED_DATE, pa.string(), pa.date32()),
        (semantics.TIME, pa.int32(), pa.string()),
        (semantics.CONNECT_TIME, pa.int32(), pa.string()),
        (semantics.MICRO_TIME, pa.int64(), pa.string()),
        (semantics.NANO_TIME, pa.int64(), pa.string()),
        (semantics.ISO_TIME, pa.string(), pa.string()),
        (semantics.STRUCTURED_TIME, pa.string(), pa.string()),
        (semantics.ZONED_TIME, pa.string(), pa.string()),
        (semantics.STRUCTURED_ZONED_TIME, pa.string(), pa.string()),
        (semantics.TIMESTAMP, pa.int64(), LOCAL),
        (semantics.CONNECT_TIMESTAMP, pa.int64(), LOCAL),
        (semantics.MICRO_TIMESTAMP, pa.int64(), LOCAL),
        (semantics.NANO_TIMESTAMP, pa.int64(), LOCAL),
        (semantics.ISO_TIMESTAMP, pa.string(), LOCAL),
        (semantics.STRUCTURED_TIMESTAMP, pa.string(), LOCAL),
        (semantics.ZONED_TIMESTAMP, pa.string(), INSTANT),
        (semantics.STRUCTURED_ZONED_TIMESTAMP, pa.string(), INSTANT),
        (semantics.YEAR, pa.int32(), pa.int32()),
        (semantics.MICRO_DURATION, pa.int64(), pa.int64()),
        (semantics.NANO_DURATION, pa.int64(), pa.int64()),
        (semantics.INTERVAL, pa.string(), pa.string()),
        (semantics.STRUCTURED_DURATION, pa.string(), pa.string()),
        (semantics.VARIABLE_SCALE_DECIMAL, pa.struct([("scale", pa.int32()), ("value", pa.binary())]), pa.string()),
        (semantics.BITS, pa.binary(), pa.string()),
        (semantics.JSON, pa.string(), pa.string()),
        (semantics.XML, pa.string(), pa.string()),
        (semantics.UUID, pa.string(), pa.string()),
        (semantics.LTREE, pa.string(), pa.string()),
        (semantics.TSVECTOR, pa.string(), pa.string()),
        (semantics.ENUM, pa.string(), pa.string()),
        (semantics.ENUM_SET, pa.string(), pa.string()),
        (semantics.GEOMETRY, pa.struct([("wkb", pa.binary()), ("srid", pa.int32())]), pa.binary()),
        (semantics.GEOGRAPHY, pa.struct([("wkb", pa.binary()), ("srid", pa.int32())]), pa.binary()),
        (
            semantics.POINT,
            pa.struct([("x", pa.float64()), ("y", pa.float64()), ("wkb", pa.binary()), ("srid", pa.int32())]),
            pa.binary(),
        ),
        (semantics.CIRCLE, pa.string(), pa.string()),
        (semantics.LINE, pa.string(), pa.string()),
        (semantics.DOUBLE_VECTOR, pa.string(), pa.string()),
        (semantics.FLOAT_VECTOR, pa.string(), pa.string()),
        (semantics.SPARSE_VECTOR, pa.string(), pa.string()),
        (semantics.SPARSE_DOUBLE_VECTOR, pa.string(), pa.string()),
        (semantics.BASE64, pa.string(), pa.binary()),
        (semantics.BASE64_URL, pa.string(), pa.binary()),
        (semantics.HEX, pa.string(), pa.binary()),
    ],
)
def test_every_semantic_name_has_one_physical_and_one_pinned_type(
    semantic: str, physical: pa.DataType, pinned: pa.DataType
) -> None:
    field = column(semantics.PHYSICAL_TYPES[semantic], semantic)
    assert (physical_type(field), pinned_type(field)) == (physical, pinned)


def test_the_table_of_semantic_names_is_complete() -> None:
    names = {value for name, value in vars(semantics).items() if name.isupper() and isinstance(value, str)}
    assert names == set(semantics.PHYSICAL_TYPES) | {semantics.DECIMAL}


@pytest.mark.parametrize(
    ("precision", "scale", "pinned"),
    [
        ("10", "2", pa.decimal128(10, 2)),
        ("38", "0", pa.decimal128(38, 0)),
        ("38", "38", pa.decimal128(38, 38)),
        ("39", "2", pa.string()),
        ("3", "5", pa.string()),
        ("5", "-2", pa.string()),
        ("64", "2", pa.string()),
        (None, "2", pa.string()),
    ],
)
def test_a_decimal_is_exact_where_it_fits_and_text_elsewhere(
    precision: str | None, scale: str, pinned: pa.DataType
) -> None:
    given = {"scale": scale} | ({} if precision is None else {"connect.decimal.precision": precision})
    assert pinned_type(column(C.BYTES, semantics.DECIMAL, **given)) == pinned


@pytest.mark.parametrize(
    ("source_type", "scale", "pinned"),
    [
        ("BIGINT UNSIGNED", "0", pa.decimal128(20, 0)),
        ("MONEY", "2", pa.decimal128(19, 2)),
        ("money", "2", pa.decimal128(19, 2)),
        ("NUMERIC", "2", pa.string()),
    ],
)
def test_a_propagated_source_type_gives_the_precision_that_the_connector_leaves_out(
    source_type: str, scale: str, pinned: pa.DataType
) -> None:
    field = column(C.BYTES, semantics.DECIMAL, **{"scale": scale, "__debezium.source.column.type": source_type})
    assert pinned_type(field) == pinned


def test_a_propagated_length_gives_the_precision() -> None:
    field = column(C.BYTES, semantics.DECIMAL, **{"scale": "2", "__debezium.source.column.length": "12"})
    assert pinned_type(field) == pa.decimal128(12, 2)


def test_an_unsigned_bigint_in_an_int64_is_a_decimal_of_20_digits() -> None:
    field = column(C.INT64, **{"__debezium.source.column.type": "bigint unsigned zerofill"})
    assert (physical_type(field), pinned_type(field)) == (pa.int64(), pa.decimal128(20, 0))


def test_a_semantic_name_with_another_physical_type_means_nothing() -> None:
    assert logical_type(column(C.FLOAT64, semantics.MICRO_DURATION)) is LogicalType.FLOAT64
    assert logical_type(column(C.STRING, semantics.DATE)) is LogicalType.TEXT
    assert logical_type(column(C.INT32, "com.example.Colour")) is LogicalType.INT32


def test_json_text_stands_for_nested_values_only() -> None:
    nested = [column(C.ARRAY), column(C.STRUCT), column(C.STRUCT, semantics.STRUCTURED_DATE)]
    flat = [column(C.STRING, semantics.JSON), column(C.STRUCT, semantics.POINT), column(C.INT32)]
    assert [is_json_text(field) for field in (*nested, *flat)] == [True] * 3 + [False] * 3


def test_a_decimal_without_scale_says_what_to_declare() -> None:
    with pytest.raises(SchemaError) as caught:
        pinned_type(column(C.BYTES, semantics.DECIMAL))
    assert str(caught.value) == (
        "A decimal's schema has no scale, so its values cannot be read [field=x]. "
        "Remedy: look at the record's schema: Kafka Connect's decimal says its scale there, a whole number; mend the "
        "transformation or the converter that leaves it out or changes it"
    )


def test_a_scale_that_is_no_number_is_named() -> None:
    with pytest.raises(SchemaError, match="has scale 'two', which is not a number"):
        pinned_type(column(C.BYTES, semantics.DECIMAL, scale="two"))
