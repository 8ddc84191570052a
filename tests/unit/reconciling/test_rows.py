"""Rows of either side in one form, and key ranges that meet their landed rows."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from connectors.source_database.catalog import SourceColumn
from connectors.source_database.column_types import mysql_type, postgresql_type
from connectors.source_database.location import DatabaseKind
from streaming.reconciling.columns import ColumnPlan, plan_columns
from streaming.reconciling.index import MirrorIndex
from streaming.reconciling.outcome import DifferenceKind, difference, differs
from streaming.reconciling.rows import Unreadable, landed_key, landed_rows, source_rows


def plan(*columns: tuple[str, str, str], key: str = "id", kind: DatabaseKind = DatabaseKind.POSTGRESQL) -> ColumnPlan:
    """(name, the database's type, landed type) per column."""
    source = [SourceColumn(name, postgresql_type(written)) for name, written, _ in columns]
    pinned = PinnedSchema(tuple(PinnedColumn(name, name, landed, name == key) for name, _, landed in columns))
    return plan_columns(kind, source, pinned)


PRICES = plan(("id", "integer", "int32"), ("price", "numeric(20,4)", "decimal128(10,2)"))
LANDED = pa.table(
    {"id": pa.array([1, 2], pa.int32()), "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2))}
)


def test_equal_rows_have_equal_hashes_whatever_batch_they_come_in() -> None:
    together = source_rows(PRICES, [("1", "2"), ("1.5", None)])
    alone = source_rows(PRICES, [("2",), (None,)])
    landed = landed_rows(PRICES, LANDED)
    assert together.content.tolist() == landed.content.tolist()
    assert alone.content[0] == landed.content[1]
    assert together.row(0) == landed.row(0) == (1, Decimal("1.50"))


def test_a_cell_that_cannot_have_landed_is_not_taken_for_null() -> None:
    rows = source_rows(PRICES, [("1", "2"), ("1.50", "9.9999")])
    assert rows.content[0] == landed_rows(PRICES, LANDED).content[0]
    assert rows.content[1] != landed_rows(PRICES, LANDED).content[1]
    assert rows.row(1) == (2, Unreadable("9.9999"))
    range_, differing = MirrorIndex(PRICES, LANDED).meet(rows)
    assert (range_.equal, differing.tolist()) == (False, [1])
    assert differs([rows.row(1)], [(2, None)])
    found = difference(PRICES, [rows.row(1)], [(2, None)])
    assert (found.kind, [(one.source, one.mirrored) for one in found.cells]) == (
        DifferenceKind.CHANGED,
        [("9.9999", None)],
    )


def test_a_landed_cell_that_cannot_be_read_equals_nothing_either() -> None:
    bytes_ = plan(("id", "integer", "int32"), ("body", "bytea", "string"))
    table = pa.table({"id": pa.array([1], pa.int32()), "body": pa.array(["!"])})
    landed = landed_rows(bytes_, table)
    assert landed.row(0) == (1, Unreadable("!"))
    assert landed.content[0] != source_rows(bytes_, [("1",), (None,)]).content[0]


def test_a_column_that_no_file_had_yet_is_null() -> None:
    table = LANDED.select(["id"])
    assert landed_rows(PRICES, table).row(0) == (1, None)


def test_nan_equals_nan() -> None:
    assert not differs([(1, float("nan"))], [(1, float("nan"))])
    assert differs([(1, 0.5)], [(1, float("nan"))])


def test_a_landed_key_is_written_as_the_database_takes_it() -> None:
    columns: list[tuple[str, str, str, Any, str]] = [
        ("a", "boolean", "bool", True, "1"),
        ("b", "bytea", "binary", b"\x00\xff", "\\x00ff"),
        ("c", "numeric(5,2)", "decimal128(5,2)", Decimal("1.50"), "1.50"),
        ("d", "timestamp with time zone", "timestamp[us,UTC]", datetime.datetime(2024, 1, 1), "2024-01-01 00:00:00+00"),
        ("e", "timestamp without time zone", "timestamp[us]", datetime.datetime(2024, 1, 1), "2024-01-01 00:00:00"),
        ("f", "date", "date32", datetime.date(2024, 1, 1), "2024-01-01"),
        ("g", "uuid", "string", "a", "a"),
    ]
    for name, written, landed, value, literal in columns:
        made = plan((name, written, landed), key=name)
        assert landed_key(made, (value,)) == (literal,)
    mysql = plan(("b", "bytea", "binary"), key="b", kind=DatabaseKind.MYSQL)
    assert landed_key(mysql, (b"\x00",)) == (b"\x00",)


def test_text_and_bytes_of_one_column_are_both_read() -> None:
    mysql = plan(("id", "integer", "int32"), ("body", "bytea", "binary"), kind=DatabaseKind.MYSQL)
    rows = source_rows(mysql, [("1", "2", "3"), (b"\xff", "a", None)])
    assert [rows.row(index)[1] for index in range(3)] == [b"\xff", b"a", None]


def test_rows_that_nobody_met_are_told_by_their_keys() -> None:
    index = MirrorIndex(PRICES, LANDED)
    range_, differing = index.meet(source_rows(PRICES, [("1",), ("1.5",)]))
    assert (range_.equal, len(differing)) == (True, 0)
    [unmet] = index.unmet().tolist()
    assert index.rows_of([unmet]) == {unmet: [(2, None)]}
    assert index.rows_of([7]) == {}
    empty = MirrorIndex(PRICES, LANDED.slice(0, 0))
    assert empty.unmet().tolist() == []


@pytest.mark.parametrize(
    ("kind", "written", "landed", "value", "literal"),
    [
        (DatabaseKind.MYSQL, "bit(12)", "string", "000000000101", b"\x00\x05"),
        (DatabaseKind.MYSQL, "bit(12)", "binary", b"\x05\x08", b"\x08\x05"),
        (DatabaseKind.MYSQL, "bit(1)", "bool", True, b"\x01"),
        (DatabaseKind.MYSQL, "bit(1)", "int32", 0, b"\x00"),
        (DatabaseKind.POSTGRESQL, "bit(3)", "string", "101", "101"),
        (DatabaseKind.POSTGRESQL, "bit(12)", "binary", b"\x05\x08", "100000000101"),
        (DatabaseKind.POSTGRESQL, "bit(1)", "bool", False, "0"),
    ],
)
def test_landed_bits_are_looked_up_as_the_database_sends_them(
    kind: DatabaseKind, written: str, landed: str, value: object, literal: str | bytes
) -> None:
    column = SourceColumn("id", mysql_type("bit", written) if kind is DatabaseKind.MYSQL else postgresql_type(written))
    pinned = PinnedSchema((PinnedColumn("id", "id", landed, True),))
    assert landed_key(plan_columns(kind, [column], pinned), (value,)) == (literal,)
