"""The columns of a replayed table: the union of its files', and the types that share one."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from connectors.landing_zone.replay import Observation, ObservationKind
from tests.unit.landing_zone.zone_on_disk import (
    EMPLOYEE,
    UNMARKED,
    TableOnDisk,
    content,
    employees,
    make_table,
    place,
    table_of,
)


def test_columns_are_the_union_of_all_files_with_null_where_missing(tmp_path: Path) -> None:
    table = employees(tmp_path)
    table.rows(1, ("E1", "a", 4), ("E2", "b", 4))
    added = pa.schema([("Age", pa.int32()), ("EmployeeID", pa.string()), ("__rowMarker__", pa.int32())])
    table.rows(2, (7, "E3", 4), schema=added)

    replayed = table.replay()

    assert replayed.table.column_names == ["EmployeeID", "EmployeeLocation", "Age"]
    assert content(replayed) == [("E1", "a", None), ("E2", "b", None), ("E3", None, 7)]


def test_marker_column_is_read_wherever_it_is(tmp_path: Path) -> None:
    first = pa.schema([("__rowMarker__", pa.int64()), ("EmployeeID", pa.string())])
    table = employees(tmp_path).rows(1, (4, "E1"), (2, "E1"), (4, "E2"), schema=first)
    assert content(table.replay()) == [("E2",)]


def test_wider_type_of_the_same_family_is_shown_and_noticed(tmp_path: Path) -> None:
    table = make_table(tmp_path, "t", {"keyColumns": ["id"]})
    table.rows(1, (1, 4), schema=pa.schema([("id", pa.int32()), ("__rowMarker__", pa.int32())]))
    table.rows(2, (2**40, 4), (1, 2), schema=pa.schema([("id", pa.int64()), ("__rowMarker__", pa.int32())]))

    replayed = table.replay()

    assert content(replayed) == [(2**40,)]
    assert replayed.table.schema == pa.schema([("id", pa.int64())])
    assert replayed.observations == (
        Observation(ObservationKind.TYPE_WIDENED, 1, (place(2, None, "t"),), "column id: int32, then int64"),
    )


def test_other_type_ends_the_replay_as_it_ends_the_replication(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1, ("E1", "a", 4))
    table.rows(2, ("E2", 5, 4), schema=EMPLOYEE.set(1, pa.field("EmployeeLocation", pa.int32())))
    table.rows(3, ("E3", "c", 4))

    replayed = table.replay()

    assert content(replayed) == [("E1", "a")]
    assert replayed.last_number == 1
    assert replayed.stopped == Observation(
        ObservationKind.TYPE_CONFLICT, 1, (place(2),), "column EmployeeLocation: string, then int32"
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.date32(), pa.timestamp("us")),
        (pa.int32(), pa.float64()),
        (pa.string(), pa.binary()),
    ],
)
def test_types_that_share_no_values_conflict(tmp_path: Path, first: pa.DataType, second: pa.DataType) -> None:
    table = make_table(tmp_path, "t", {})
    for number, kind in ((1, first), (2, second)):
        table.file(number, pa.table({"v": pa.array([None], kind)}))
    stopped = table.replay().stopped
    assert stopped is not None
    assert (stopped.kind, stopped.detail) == (ObservationKind.TYPE_CONFLICT, f"column v: {first}, then {second}")


def test_all_null_column_without_a_type_takes_the_type_of_the_others(tmp_path: Path) -> None:
    table = employees(tmp_path)
    table.rows(1, ("E1", None, 4), schema=EMPLOYEE.set(1, pa.field("EmployeeLocation", pa.null())))
    table.rows(2, ("E2", "b", 4))
    table.rows(3, ("E3", None, 4), schema=EMPLOYEE.set(1, pa.field("EmployeeLocation", pa.null())))

    replayed = table.replay()

    assert content(replayed) == [("E1", None), ("E2", "b"), ("E3", None)]
    assert (replayed.table.schema, replayed.observations) == (UNMARKED, ())


def test_file_with_two_columns_of_one_name_is_unreadable(tmp_path: Path) -> None:
    table = employees(tmp_path).file(1, pa.table([["E1"], ["a"], ["b"]], names=["EmployeeID", "x", "x"]))
    stopped = table.replay().stopped
    assert stopped is not None
    assert stopped.detail == "the file has two columns of one name"


def test_key_column_that_no_file_has_is_null(tmp_path: Path) -> None:
    table = make_table(tmp_path, "t", {"keyColumns": ["absent"]}).rows(1, ("E1", "a", 4), ("E2", "b", 4))
    assert content(table.replay()) == [("E2", "b")]


def test_dictionary_columns_are_read_as_their_values(tmp_path: Path) -> None:
    table: TableOnDisk = employees(tmp_path)
    encoded = table_of(EMPLOYEE, ("E1", "a", 4))
    table.file(1, encoded.set_column(1, "EmployeeLocation", encoded.column(1).dictionary_encode()))
    table.rows(2, ("E2", "b", 4))
    assert table.replay().table.equals(table_of(UNMARKED, ("E1", "a"), ("E2", "b")))
