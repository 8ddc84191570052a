"""Columns declared in the settings."""

from __future__ import annotations

import pyarrow as pa
import pytest

from connectors.debezium import semantics
from connectors.debezium.declared import known_declarations, parse_column
from connectors.debezium.errors import ColumnDeclarationError
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.types import pinned_type
from connectors.debezium.values import physical_type

INSTANT = pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize(
    ("text", "physical", "pinned"),
    [
        ("boolean", pa.bool_(), pa.bool_()),
        ("int8", pa.int16(), pa.int16()),
        ("int16", pa.int16(), pa.int16()),
        ("int32", pa.int32(), pa.int32()),
        ("int64", pa.int64(), pa.int64()),
        ("uint64", pa.int64(), pa.decimal128(20, 0)),
        ("float32", pa.float32(), pa.float32()),
        ("float64", pa.float64(), pa.float64()),
        ("string", pa.string(), pa.string()),
        ("bytes", pa.binary(), pa.binary()),
        ("bytes(base64)", pa.string(), pa.binary()),
        ("bytes(base64url)", pa.string(), pa.binary()),
        ("bytes(hex)", pa.string(), pa.binary()),
        ("decimal(10,2)", pa.binary(), pa.decimal128(10, 2)),
        ("decimal(10,2) as string", pa.string(), pa.decimal128(10, 2)),
        ("decimal(10,2) as number", pa.string(), pa.decimal128(10, 2)),
        ("decimal(50,2)", pa.binary(), pa.string()),
        ("variable_decimal", pa.struct([("scale", pa.int32()), ("value", pa.binary())]), pa.string()),
        ("date", pa.int32(), pa.date32()),
        ("date(iso)", pa.string(), pa.date32()),
        ("time(ms)", pa.int32(), pa.string()),
        ("time(us)", pa.int64(), pa.string()),
        ("time(ns)", pa.int64(), pa.string()),
        ("time(iso)", pa.string(), pa.string()),
        ("timetz", pa.string(), pa.string()),
        ("timestamp(ms)", pa.int64(), pa.timestamp("us")),
        ("timestamp(us)", pa.int64(), pa.timestamp("us")),
        ("timestamp(ns)", pa.int64(), pa.timestamp("us")),
        ("timestamp(iso)", pa.string(), pa.timestamp("us")),
        ("timestamptz", pa.string(), INSTANT),
        ("year", pa.int32(), pa.int32()),
        ("interval", pa.string(), pa.string()),
        ("interval(us)", pa.int64(), pa.int64()),
        ("interval(ns)", pa.int64(), pa.int64()),
        ("json", pa.string(), pa.string()),
        ("xml", pa.string(), pa.string()),
        ("uuid", pa.string(), pa.string()),
        ("enum", pa.string(), pa.string()),
        ("bits(12)", pa.binary(), pa.string()),
        ("geometry", pa.struct([("wkb", pa.binary()), ("srid", pa.int32())]), pa.binary()),
        ("geography", pa.struct([("wkb", pa.binary()), ("srid", pa.int32())]), pa.binary()),
        (
            "point",
            pa.struct([("x", pa.float64()), ("y", pa.float64()), ("wkb", pa.binary()), ("srid", pa.int32())]),
            pa.binary(),
        ),
        ("array", pa.string(), pa.string()),
        ("map", pa.string(), pa.string()),
        ("struct", pa.string(), pa.string()),
        ("io.debezium.time.ZonedTimestamp", pa.string(), INSTANT),
        ("io.debezium.time.MicroTimestamp", pa.int64(), pa.timestamp("us")),
    ],
)
def test_a_declaration_says_how_a_column_is_read_and_landed(
    text: str, physical: pa.DataType, pinned: pa.DataType
) -> None:
    field = parse_column("x", text)
    assert (field.name, field.optional, physical_type(field), pinned_type(field)) == ("x", True, physical, pinned)


def test_case_and_spacing_do_not_matter() -> None:
    expected = Field(
        "x",
        ConnectType.STRING,
        semantic=semantics.DECIMAL,
        parameters=(("connect.decimal.precision", "10"), ("scale", "2")),
    )
    assert parse_column("x", "  Decimal ( 10 , 2 )  AS  String ") == expected
    assert parse_column("x", "decimal(10,2)as string") == expected


def test_every_fixed_declaration_is_listed() -> None:
    assert {parse_column("x", text).name for text in known_declarations() if "n)" not in text and "p,s" not in text}


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("int46", "int64"),
        ("bigint", "int64"),
        ("timestamp", "timestamp(us)"),
        ("timestamp(s)", "timestamp(us)"),
        ("varchar(20)", "string"),
        ("decimal(10)", "decimal(p,s)"),
        ("numeric(10,2)", "decimal(p,s)"),
        ("io.debezium.time.MicroTimestmp", "io.debezium.time.MicroTimestamp"),
    ],
)
def test_an_unknown_declaration_names_the_nearest_one(text: str, nearest: str) -> None:
    with pytest.raises(ColumnDeclarationError, match=r"did you mean") as caught:
        parse_column("amount", text)
    assert caught.value.remedy.startswith(f"did you mean {nearest!r}? ")


def test_an_unknown_declaration_lists_all_that_are_known() -> None:
    with pytest.raises(ColumnDeclarationError) as caught:
        parse_column("amount", "§§")
    assert caught.value.message == "The type of column 'amount' is not known: '§§'"
    assert caught.value.facts == {"column": "amount"}
    assert f"Known are {', '.join(known_declarations())}, and semantic names such as " in caught.value.remedy
