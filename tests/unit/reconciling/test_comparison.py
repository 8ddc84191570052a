"""How a database's value is compared with a landed one: by meaning, across types and handling modes."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from connectors.debezium.options import OutOfRange
from connectors.landing_zone.schema import type_from_text
from connectors.source_database.catalog import SourceColumn
from connectors.source_database.column_types import mysql_type, postgresql_type
from connectors.source_database.location import DatabaseKind
from streaming.reconciling.comparison import Comparison, comparison

POSTGRES, MYSQL = DatabaseKind.POSTGRESQL, DatabaseKind.MYSQL
UTC = datetime.UTC


def rule(kind: DatabaseKind, type_text: str, landed: str, *, nullable: bool = True) -> Comparison:
    if kind is POSTGRES:
        column = SourceColumn("c", postgresql_type(type_text, is_enum=type_text == "mood"), nullable)
    else:
        column = SourceColumn("c", mysql_type(re.split(r"\W", type_text, maxsplit=1)[0], type_text), nullable)
    found = comparison(kind, column, type_from_text(landed))
    assert found is not None
    return found


def both(found: Comparison, written: str | bytes | None, landed: object, type_text: str) -> tuple[Any, Any, int]:
    kind = pa.binary() if isinstance(written, bytes) else pa.string()
    ours = found.of_source(pa.array([written], kind))
    theirs = found.of_landed(pa.array([landed], type_from_text(type_text)))
    assert ours.values.type == theirs.values.type == found.type
    return ours.values[0].as_py(), theirs.values[0].as_py(), len(ours.bad) + len(theirs.bad)


@pytest.mark.parametrize(
    ("kind", "source", "landed_type", "written", "landed"),
    [
        (POSTGRES, "boolean", "bool", "t", True),
        (POSTGRES, "bit(1)", "bool", "0", False),
        (MYSQL, "bit(1)", "bool", b"\x01", True),
        (MYSQL, "tinyint(1)", "bool", "1", True),
        (MYSQL, "tinyint(1)", "int16", "1", 1),
        (POSTGRES, "smallint", "int16", "-5", -5),
        (POSTGRES, "oid", "int64", "4000000000", 4_000_000_000),
        (MYSQL, "int(10) unsigned", "int64", "4294967295", 4_294_967_295),
        (MYSQL, "bigint(20) unsigned", "decimal128(20,0)", "18446744073709551615", Decimal(2**64 - 1)),
        (MYSQL, "bigint(20) unsigned", "int64", "7", 7),
        (MYSQL, "bigint(20) unsigned", "string", "7", "7"),
        (MYSQL, "year(4)", "int32", "2024", 2024),
        (POSTGRES, "real", "float", "1.1", 1.1),
        (POSTGRES, "double precision", "double", "1e+300", 1e300),
        (POSTGRES, "double precision", "double", "-Infinity", float("-inf")),
        (MYSQL, "float", "float", "1.100000023841858", 1.1),
        (MYSQL, "float", "double", "3.1415927410125732", 3.14159),
        (POSTGRES, "numeric(10,2)", "decimal128(10,2)", "1.5", Decimal("1.50")),
        (POSTGRES, "numeric(10,2)", "double", "1.50", 1.5),
        (POSTGRES, "numeric(10,2)", "string", "1.50", "1.5"),
        (POSTGRES, "numeric", "string", "1000", "1000.00"),
        (POSTGRES, "numeric(10,2)", "decimal128(10,2)", "NaN", None),
        (POSTGRES, "money", "decimal128(19,2)", "12.50", Decimal("12.50")),
        (POSTGRES, "integer", "decimal128(12,2)", "12", Decimal("12.00")),
        (POSTGRES, "character(5)", "string", "ab   ", "ab   "),
        (POSTGRES, "mood", "string", "happy", "happy"),
        (POSTGRES, "jsonb", "string", '{"a": 1.0}', '{"a":1}'),
        (POSTGRES, "hstore", "string", '"a"=>"1"', '{"a":"1"}'),
        (POSTGRES, "integer[]", "string", "{1,NULL}", "[1,null]"),
        (POSTGRES, "real[]", "string", "{1.1}", "[1.100000023841858]"),
        (POSTGRES, "text[]", "string", '{"a b"}', '["a b"]'),
        (POSTGRES, "bytea", "binary", "\\x00ff", b"\x00\xff"),
        (POSTGRES, "bytea", "string", "\\xfbff", "+/8="),
        (POSTGRES, "bytea", "string", "\\xfbff", "-_8="),
        (POSTGRES, "bytea", "string", "\\xfbff", "fbff"),
        (MYSQL, "blob", "binary", b"\x00\xff", b"\x00\xff"),
        (MYSQL, "varbinary(4)", "string", b"ab", "YWI="),
        (POSTGRES, "bit(10)", "string", "0000000101", "0000000101"),
        (MYSQL, "bit(10)", "string", b"\x00\x05", "0000000101"),
        (POSTGRES, "bit varying(12)", "string", "101", "00000101"),
        (POSTGRES, "bit(10)", "binary", "0100000001", b"\x01\x01"),
        (POSTGRES, "date", "date32", "2024-02-29", datetime.date(2024, 2, 29)),
        (POSTGRES, "date", "date32", "infinity", datetime.date(9999, 12, 31)),
        (POSTGRES, "date", "date32", "0044-03-15 BC", datetime.date(1, 1, 1)),
        (MYSQL, "date", "date32", "0000-00-00", None),
        (POSTGRES, "time without time zone", "string", "04:05:06.7", "04:05:06.700000"),
        (POSTGRES, "time with time zone", "string", "13:51:30+02", "11:51:30Z"),
        (MYSQL, "time(3)", "string", "-10:11:12.500", "-10:11:12.500000"),
        (
            POSTGRES,
            "timestamp without time zone",
            "timestamp[us]",
            "2024-01-01 08:00:00.5",
            datetime.datetime(2024, 1, 1, 8, 0, 0, 500_000),
        ),
        (
            POSTGRES,
            "timestamp with time zone",
            "timestamp[us,UTC]",
            "2024-01-01 08:00:00.123456+00",
            datetime.datetime(2024, 1, 1, 8, 0, 0, 123_456, tzinfo=UTC),
        ),
        (
            POSTGRES,
            "timestamp with time zone",
            "timestamp[us,UTC]",
            "0044-03-15 00:00:00+00 BC",
            datetime.datetime(1, 1, 1, tzinfo=UTC),
        ),
        (
            MYSQL,
            "timestamp",
            "timestamp[us,UTC]",
            "2024-01-01 08:00:00",
            datetime.datetime(2024, 1, 1, 8, tzinfo=UTC),
        ),
        (MYSQL, "datetime(6)", "timestamp[us]", "0000-00-00 00:00:00.000000", None),
        (POSTGRES, "interval", "int64", "P-1M", -2_629_800_000_000),
        (POSTGRES, "interval", "string", "P1M", "P0Y1M0DT0H0M0S"),
        (POSTGRES, "point", "binary", "(1,2.5)", b"\x01\x01\0\0\0" + b"\0\0\0\0\0\0\xf0?" + b"\0\0\0\0\0\0\x04@"),
        (POSTGRES, "geometry", "binary", "0101000020E6100000", bytes.fromhex("0101000020E6100000")),
        (MYSQL, "point", "binary", b"\0\0\0\0\x01\x01\0\0\0" + b"\0" * 16, b"\x01\x01\0\0\0" + b"\0" * 16),
        (
            MYSQL,
            "geometry",
            "binary",
            b"\xe6\x10\0\0\x01\x01\0\0\0" + b"\0" * 16,
            b"\x01\x01\0\0\x20\xe6\x10\0\0" + b"\0" * 16,
        ),
    ],
)
def test_equal_values_are_equal(
    kind: DatabaseKind, source: str, landed_type: str, written: str | bytes, landed: object
) -> None:
    ours, theirs, bad = both(rule(kind, source, landed_type), written, landed, landed_type)
    assert (ours, bad) == (theirs, 0)


@pytest.mark.parametrize(
    ("kind", "source", "landed_type", "written", "landed"),
    [
        (MYSQL, "bigint(20) unsigned", "int64", "18446744073709551615", -1),
        (POSTGRES, "character(5)", "string", "ab   ", "ab"),
        (POSTGRES, "bit(10)", "string", "0000000101", "101"),
        (POSTGRES, "numeric(10,2)", "decimal128(10,2)", "1.51", Decimal("1.50")),
        (POSTGRES, "real", "float", "1.1", 1.2),
        (POSTGRES, "text", "string", "", None),
        (
            POSTGRES,
            "timestamp without time zone",
            "timestamp[us]",
            "2024-01-01 00:00:00",
            datetime.datetime(2024, 1, 2),
        ),
    ],
)
def test_different_values_are_different(
    kind: DatabaseKind, source: str, landed_type: str, written: str, landed: object
) -> None:
    ours, theirs, bad = both(rule(kind, source, landed_type), written, landed, landed_type)
    assert (ours, bad) != (theirs, 0)


@pytest.mark.parametrize(("mode", "read"), [("hex", "yv4="), ("base64", "cafe"), ("base64-url-safe", "cafe")])
def test_the_connectors_binary_mode_decides_where_it_is_known(mode: str, read: str) -> None:
    found = comparison(POSTGRES, SourceColumn("c", postgresql_type("bytea")), pa.string(), binary_mode=mode)
    assert found is not None
    assert found.of_landed(pa.array(["cafe"])).values.to_pylist() == [read]


def test_what_the_landed_type_cannot_hold_equals_nothing() -> None:
    found = rule(POSTGRES, "numeric(20,4)", "decimal128(10,2)")
    converted = found.of_source(pa.array(["1.2345", None, "1.00"]))
    assert converted.values.to_pylist() == [None, None, Decimal("1.00")]
    assert converted.bad.tolist() == [0]
    assert rule(POSTGRES, "integer", "int64").of_source(pa.array(["1", "x"])).bad.tolist() == [1]
    assert rule(POSTGRES, "bytea", "string").of_landed(pa.array(["!"])).bad.tolist() == [0]


def test_a_zero_date_of_a_column_without_null_is_1970() -> None:
    found = rule(MYSQL, "date", "date32", nullable=False)
    assert found.of_source(pa.array(["0000-00-00", "2024-05-00"])).values.to_pylist() == [
        datetime.date(1970, 1, 1),
        datetime.date(1970, 1, 1),
    ]


def test_dates_that_no_file_holds_follow_the_bridges_own_rule() -> None:
    column = SourceColumn("c", postgresql_type("date"))
    found = comparison(POSTGRES, column, pa.date32(), OutOfRange.NULL)
    assert found is not None
    assert found.of_source(pa.array(["infinity"])).values.to_pylist() == [None]


@pytest.mark.parametrize(
    ("kind", "source", "landed"),
    [
        (POSTGRES, "date", "int32"),
        (POSTGRES, "timestamp without time zone", "string"),
        (POSTGRES, "text", "timestamp[us]"),
        (POSTGRES, "text", "date32"),
        (POSTGRES, "text", "int64"),
        (POSTGRES, "date", "double"),
        (POSTGRES, "text", "decimal128(5,1)"),
        (POSTGRES, "numeric[]", "string"),
        (POSTGRES, "text", "binary"),
        (POSTGRES, "text", "bool"),
    ],
)
def test_pairs_without_a_rule_are_not_compared(kind: DatabaseKind, source: str, landed: str) -> None:
    assert comparison(kind, SourceColumn("c", postgresql_type(source)), type_from_text(landed)) is None
