"""How rows are found again by the values that their key columns were read with."""

from __future__ import annotations

import pytest
from sqlalchemy import make_url

from connectors.source_database.catalog import SourceColumn
from connectors.source_database.column_types import mysql_type, postgresql_type
from connectors.source_database.location import DatabaseKind
from connectors.source_database.snapshot import Value, has_key

NAME = SourceColumn("name", postgresql_type("text"))
BITS = SourceColumn("flags", mysql_type("bit", "bit(12)"))
POSTGRES_BITS = SourceColumn("flags", postgresql_type("bit(3)"))


def condition(kind: DatabaseKind, column: SourceColumn, value: Value) -> tuple[str, list[object]]:
    driver = "mysql+pymysql" if kind is DatabaseKind.MYSQL else "postgresql+psycopg"
    compiled = has_key(kind, [column], [value]).compile(dialect=make_url(f"{driver}://").get_dialect()())
    return str(compiled), list(compiled.params.values())


@pytest.mark.parametrize("kind", list(DatabaseKind))
def test_a_null_is_found_as_null_since_it_equals_nothing(kind: DatabaseKind) -> None:
    text, values = condition(kind, NAME, None)
    assert text.endswith("IS NULL")
    assert values == []


def test_mysqls_bits_are_found_as_the_number_that_they_are_since_its_bytes_equal_no_bit() -> None:
    text, values = condition(DatabaseKind.MYSQL, BITS, b"\x08\x05")
    assert (text, values) == ("`flags` = %s", [0x805])


@pytest.mark.parametrize(
    ("kind", "column", "value"),
    [
        (DatabaseKind.POSTGRESQL, NAME, "a"),
        (DatabaseKind.POSTGRESQL, POSTGRES_BITS, "101"),
        (DatabaseKind.MYSQL, SourceColumn("k", mysql_type("binary", "binary(2)")), b"ab"),
    ],
)
def test_every_other_value_is_found_as_it_was_read(kind: DatabaseKind, column: SourceColumn, value: Value) -> None:
    assert condition(kind, column, value)[1] == [value]
