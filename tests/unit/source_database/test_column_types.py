"""What the types of a database's columns mean."""

from __future__ import annotations

import pytest

from connectors.source_database.column_types import ColumnType, SourceType, mysql_type, postgresql_type


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("integer", SourceType.INTEGER),
        ("character varying(20)", SourceType.TEXT),
        ("numeric(10,2)", SourceType.NUMERIC),
        ("timestamp(3) with time zone", SourceType.INSTANT),
        ("timestamp without time zone", SourceType.TIMESTAMP),
        ("time(6) with time zone", SourceType.ZONED_TIME),
        ("interval year to month", SourceType.INTERVAL),
        ("bit varying(5)", SourceType.VARYING_BITS),
        ("public.hstore", SourceType.HSTORE),
        ('"shop".geometry(Point,4326)', SourceType.GEOMETRY),
        ("int4range", SourceType.TEXT),
        ("box", SourceType.OTHER),
        ("money", SourceType.MONEY),
    ],
)
def test_postgresql_types(text: str, family: SourceType) -> None:
    assert postgresql_type(text) == ColumnType(family, text)


def test_an_enum_is_text_and_an_array_has_elements() -> None:
    assert postgresql_type("mood", is_enum=True) == ColumnType(SourceType.TEXT, "mood")
    assert postgresql_type("numeric(5,1)[]") == ColumnType(
        SourceType.ARRAY, "numeric(5,1)[]", element=SourceType.NUMERIC
    )
    assert postgresql_type("bit(12)") == ColumnType(SourceType.BITS, "bit(12)", length=12)


@pytest.mark.parametrize(
    ("data_type", "column_type", "family", "length"),
    [
        ("bigint", "bigint(20)", SourceType.INTEGER, None),
        ("bigint", "bigint(20) unsigned", SourceType.UNSIGNED_BIGINT, None),
        ("int", "int(10) unsigned", SourceType.INTEGER, None),
        ("enum", "enum('a','b')", SourceType.TEXT, None),
        ("bit", "bit(10)", SourceType.BITS, 10),
        ("bit", "bit", SourceType.BITS, 1),
        ("datetime", "datetime(6)", SourceType.TIMESTAMP, None),
        ("timestamp", "timestamp", SourceType.INSTANT, None),
        ("polygon", "polygon", SourceType.GEOMETRY, None),
        ("vector", "vector(3)", SourceType.OTHER, None),
    ],
)
def test_mysql_types(data_type: str, column_type: str, family: SourceType, length: int | None) -> None:
    assert mysql_type(data_type, column_type) == ColumnType(family, column_type, length=length)
