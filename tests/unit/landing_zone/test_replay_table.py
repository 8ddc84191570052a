"""What a table contains after its files, by the landing-zone format's row markers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from connectors.landing_zone.replay import Observation, ObservationKind
from connectors.landing_zone.replay import history as history_module
from tests.unit.landing_zone.zone_on_disk import EMPLOYEE, UNMARKED, content, employees, make_table, place, table_of


def test_formats_example_moves_an_employee_from_redmond_to_bellevue(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(
        1, ("E0001", "Redmond", 0), ("E0002", "Redmond", 0), ("E0003", "Redmond", 0), ("E0001", "Bellevue", 1)
    )

    replayed = table.replay()

    assert content(replayed) == [("E0002", "Redmond"), ("E0003", "Redmond"), ("E0001", "Bellevue")]
    assert replayed.table.schema == UNMARKED
    assert replayed.rows_per_marker == {"0": 3, "1": 1}
    assert (replayed.name, replayed.last_number, replayed.observations) == ("dbo.Employees", 1, ())


def test_formats_example_changes_a_key_by_delete_and_insert(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1, ("E0001", "Bellevue", 0), ("E0001", None, 2), ("E0002", "Bellevue", 0))
    assert content(table.replay()) == [("E0002", "Bellevue")]


def test_insert_does_not_look_for_the_key(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1, ("E1", "a", 0)).rows(2, ("E1", "a", 0), ("E1", "b", 0))

    replayed = table.replay()

    assert content(replayed) == [("E1", "a"), ("E1", "a"), ("E1", "b")]
    assert replayed.observations == (
        Observation(ObservationKind.INSERT_OF_EXISTING_KEY, 2, (place(2, 0), place(2, 1))),
    )


def test_update_replaces_every_row_of_a_doubled_key_and_delete_removes_them(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1, ("E1", "a", 0), ("E1", "b", 0)).rows(2, ("E1", "c", 1)).rows(3, ("E1", None, 2))
    assert content(table.replay(as_of=2)) == [("E1", "c"), ("E1", "c")]
    assert content(table.replay()) == []


def test_update_and_upsert_insert_a_missing_row_and_delete_of_one_does_nothing(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1, ("E1", "a", 1), ("E2", "b", 4), ("E3", None, 2))

    replayed = table.replay()

    assert content(replayed) == [("E1", "a"), ("E2", "b")]
    assert replayed.observations == (
        Observation(ObservationKind.UPDATE_OF_MISSING_KEY, 1, (place(1, 0),)),
        Observation(ObservationKind.DELETE_OF_MISSING_KEY, 1, (place(1, 2),)),
    )


def test_rows_without_marker_are_inserts(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1, ("E1", "a"), schema=UNMARKED).rows(2, ("E1", "b", None))

    replayed = table.replay()

    assert content(replayed) == [("E1", "a"), ("E1", "b")]
    assert replayed.rows_per_marker == {"": 2}


def test_rows_without_marker_are_upserts_when_the_metadata_says_so(tmp_path: Path) -> None:
    table = employees(tmp_path, isUpsertDefaultRowMarker=True)
    table.rows(1, ("E1", "a"), ("E1", "b"), schema=UNMARKED).rows(2, ("E1", "c", None), ("E2", "d", 0))

    replayed = table.replay()

    assert content(replayed) == [("E1", "c"), ("E2", "d")]
    assert replayed.rows_per_marker == {"": 3, "0": 1}
    assert replayed.observations == ()


def test_null_in_a_key_column_is_a_value_like_any_other_and_noticed(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1, (None, "a", 4), ("", "b", 4), (None, "c", 4))

    replayed = table.replay()

    assert content(replayed) == [("", "b"), (None, "c")]
    assert replayed.observations == (Observation(ObservationKind.NULL_KEY, 2, (place(1, 0), place(1, 2))),)


def test_compound_key_is_compared_column_by_column(tmp_path: Path) -> None:
    schema = pa.schema(
        [("a", pa.string()), ("b", pa.int64()), ("c", pa.date32()), ("v", pa.int32()), ("__rowMarker__", pa.int32())]
    )
    table = make_table(tmp_path, "t", {"keyColumns": ["c", "a", "b"]})
    table.rows(1, ("x", 1, 5, 1, 4), ("x", 2, 5, 2, 4), ("y", 1, 5, 3, 4), ("x", 1, 6, 4, 4), schema=schema)
    table.rows(2, ("x", 2, 5, 20, 1), ("y", 1, 5, None, 2), schema=schema)

    assert [row["v"] for row in table.replay().table.to_pylist()] == [1, 4, 20]


def test_table_without_key_columns_can_only_insert(tmp_path: Path) -> None:
    table = make_table(tmp_path, "log", {}).rows(1, ("E1", "a", 0), ("E1", "b", 4), ("E1", "c", 2), ("E1", "a", 0))

    replayed = table.replay()

    assert content(replayed) == [("E1", "a"), ("E1", "a")]
    assert replayed.observations == (
        Observation(ObservationKind.KEYLESS_CHANGE, 2, (place(1, 1, "log"), place(1, 2, "log"))),
    )


def test_table_without_metadata_is_read_as_inserts(tmp_path: Path) -> None:
    table = make_table(tmp_path, "log").rows(1, ("E1", "a"), ("E1", "a"), schema=UNMARKED)
    assert content(table.replay()) == [("E1", "a"), ("E1", "a")]


@pytest.mark.parametrize(
    ("kind", "values", "detail"),
    [
        (pa.int32(), [4, 3, 9], "first value: 3"),
        (pa.string(), ["4", "4", "4"], "__rowMarker__ is string"),
    ],
)
def test_illegal_marker_ends_the_replay_and_nothing_of_the_file_is_applied(
    tmp_path: Path, kind: pa.DataType, values: list[Any], detail: str
) -> None:
    schema = EMPLOYEE.set(2, pa.field("__rowMarker__", kind))
    table = employees(tmp_path).rows(1, ("E0", "a", 4))
    table.rows(2, *((f"E{value}", "b", value) for value in values), schema=schema)

    replayed = table.replay()

    assert content(replayed) == [("E0", "a")]
    assert replayed.stopped is not None
    assert (replayed.stopped.kind, replayed.stopped.detail) == (ObservationKind.ILLEGAL_MARKER, detail)


def test_empty_table_has_no_columns_and_no_rows(tmp_path: Path) -> None:
    replayed = employees(tmp_path).replay()
    assert (replayed.table.num_rows, replayed.table.num_columns, replayed.last_number) == (0, 0, 0)


def test_only_the_first_places_of_an_observation_are_kept(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1, *((f"E{n}", None, 2) for n in range(4))).rows(2, ("E9", None, 2))
    assert table.replay(places=2).observations == (
        Observation(ObservationKind.DELETE_OF_MISSING_KEY, 5, (place(1, 0), place(1, 1))),
    )


def test_history_longer_than_a_fold_gives_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = employees(tmp_path)
    for number in range(1, 30):
        rows = [(f"E{(number * n) % 7}", f"{number}.{n}", (0, 1, 2, 4)[(number + n) % 4]) for n in range(6)]
        table.file(number, table_of(EMPLOYEE, *rows), row_group_size=4)
    at_once = table.replay(places=1000)

    monkeypatch.setattr(history_module, "FOLD_ROWS", 5)
    in_parts = table.replay(places=1000)

    assert in_parts.table.equals(at_once.table)
    assert set(in_parts.observations) == set(at_once.observations)
