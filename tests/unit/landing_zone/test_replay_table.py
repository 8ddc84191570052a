"""What a table contains after its files, by the landing-zone format's rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from connectors.landing_zone.errors import InvalidZoneError, PathNotFoundError
from connectors.landing_zone.ledger.state import LedgerState, TableState
from connectors.landing_zone.replay import (
    Observation,
    ObservationKind,
    Place,
    Progress,
    ReplayedTable,
    Stage,
    open_zone,
    replay,
    sequences_at,
)
from connectors.landing_zone.replay import history as history_module
from connectors.landing_zone.replay.content import UnreadableFileError
from connectors.landing_zone.storage.local import LocalStorage
from tests.unit.landing_zone.zone_on_disk import EMPLOYEE, TableOnDisk, employees, make_table, table_of

UNMARKED = EMPLOYEE.remove(2)


def content(replayed: ReplayedTable) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in replayed.table.to_pylist()]


def place(number: int, row: int | None = None, folder: str = "dbo.schema/Employees") -> Place:
    return Place(f"{folder}/{number:020d}.parquet", row)


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


def test_missing_number_ends_the_replay(tmp_path: Path) -> None:
    table = employees(tmp_path)
    for number in (1, 2, 5, 6):
        table.rows(number, (f"E{number}", "a", 4))

    replayed = table.replay()

    assert content(replayed) == [("E1", "a"), ("E2", "a")]
    assert replayed.last_number == 2
    assert replayed.stopped == Observation(
        ObservationKind.GAP, 1, (place(5),), "files 3 to 4 are missing; files not applied from here on: 2"
    )


def test_first_files_that_were_removed_end_the_replay_at_once(tmp_path: Path) -> None:
    replayed = employees(tmp_path).rows(2, ("E2", "a", 4)).replay()

    assert replayed.table.num_rows == 0
    assert replayed.last_number == 0
    assert replayed.stopped == Observation(
        ObservationKind.GAP, 1, (place(2),), "file 1 is missing; files not applied from here on: 1"
    )


@pytest.mark.parametrize("body", [b"", b"PAR1 is not enough"])
def test_unreadable_file_ends_the_replay(tmp_path: Path, body: bytes) -> None:
    table = employees(tmp_path).rows(1, ("E1", "a", 4)).rows(3, ("E3", "a", 4)).text(2, body, "parquet")

    replayed = table.replay()

    assert content(replayed) == [("E1", "a")]
    assert replayed.stopped is not None
    assert (replayed.stopped.kind, replayed.stopped.places) == (ObservationKind.UNREADABLE_FILE, (place(2),))


def test_file_with_two_columns_of_one_name_is_unreadable(tmp_path: Path) -> None:
    table = employees(tmp_path).file(1, pa.table([["E1"], ["a"], ["b"]], names=["EmployeeID", "x", "x"]))
    stopped = table.replay().stopped
    assert stopped is not None
    assert stopped.detail == "the file has two columns of one name"


def test_row_whose_other_columns_are_damaged_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    table = employees(tmp_path)
    table.rows(1, *((f"E{n}", "Redmond" * 50, 4) for n in range(100)), compression="none", use_dictionary=False)
    path = table.path / table.name(1)
    body = bytearray(path.read_bytes())
    place_of_values = body.index(b"RedmondRedmond")
    body[place_of_values - 4 : place_of_values] = b"\xff\xff\xff\x7f"
    path.write_bytes(bytes(body))

    with pytest.raises(UnreadableFileError, match="row group 0 cannot be decoded") as raised:
        table.replay()

    assert raised.value.facts == {"file": "dbo.schema/Employees/00000000000000000001.parquet"}
    assert raised.value.remedy == (
        "delete the file and publish the right content under the same name; later files wait"
    )


def test_file_with_zero_rows_counts_and_is_noticed(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1).rows(2, ("E1", "a", 4))

    replayed = table.replay()

    assert content(replayed) == [("E1", "a")]
    assert replayed.last_number == 2
    assert replayed.observations == (Observation(ObservationKind.ZERO_ROWS, 1, (place(1),)),)


@pytest.mark.parametrize("folder", ["_ProcessedFiles", "_FilesReadyToDelete"])
def test_files_that_the_replicator_has_moved_away_are_read_too(tmp_path: Path, folder: str) -> None:
    table = employees(tmp_path).rows(1, ("E1", "a", 4), where=folder).rows(2, ("E2", "b", 4))
    (table.path / folder / "_FilesReadyToDeleteInfo.json").write_text("{}")

    replayed = table.replay()

    assert content(replayed) == [("E1", "a"), ("E2", "b")]
    assert [file.path for file in replayed.files] == [
        f"dbo.schema/Employees/{folder}/{table.name(1)}",
        f"dbo.schema/Employees/{table.name(2)}",
    ]


class MovingStorage(LocalStorage):
    """Moves a file to a cleanup folder, as the replicator does, between its listing and its reading."""

    def read(self, path: str) -> bytes:
        if path.endswith("1.parquet") and "_ProcessedFiles" not in path and self.stat(path):
            folder, _, name = path.rpartition("/")
            self.rename_if_absent(path, f"{folder}/_ProcessedFiles/{name}")
        return super().read(path)


def test_file_that_moves_while_the_zone_is_read_is_found(tmp_path: Path) -> None:
    employees(tmp_path).rows(1, ("E1", "a", 4))
    assert content(replay(open_zone(MovingStorage(tmp_path)).table("dbo.Employees"))) == [("E1", "a")]


class VanishingStorage(LocalStorage):
    def read(self, path: str) -> bytes:
        if path.endswith(".parquet"):
            self.delete(path)
        return super().read(path)


def test_file_that_vanishes_while_the_zone_is_read_is_an_error_with_its_remedy(tmp_path: Path) -> None:
    employees(tmp_path).rows(1, ("E1", "a", 4))
    with pytest.raises(PathNotFoundError) as raised:
        replay(open_zone(VanishingStorage(tmp_path)).table("dbo.Employees"))
    assert str(raised.value) == (
        "a landing file vanished while the zone was read [file=dbo.schema/Employees/00000000000000000001.parquet]. "
        "Remedy: read the zone again; the replicator removes its processed files after seven days"
    )


def test_as_of_shows_the_table_after_that_file(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1, ("E1", "a", 4)).rows(2, ("E1", "b", 1)).rows(3, ("E1", None, 2))
    assert [content(table.replay(as_of=number)) for number in (0, 1, 2, 3)] == [[], [("E1", "a")], [("E1", "b")], []]


@pytest.mark.parametrize("number", [-1, 2])
def test_as_of_a_file_that_is_not_there_is_an_error(tmp_path: Path, number: int) -> None:
    with pytest.raises(InvalidZoneError) as raised:
        employees(tmp_path).rows(1, ("E1", "a", 4)).replay(as_of=number)
    assert str(raised.value) == (
        f"the table has no file {number}; its last one is 1 [table=dbo.Employees]. Remedy: ask for a number from 0 to 1"
    )


def test_as_of_a_ledger_version_gives_every_tables_last_number(tmp_path: Path) -> None:
    def state(folder: str, sequence: int) -> TableState:
        return TableState(source=("db", "s", "t"), folder=folder, sequence=sequence)

    tables = {"dbo.Employees": state("dbo.schema/Employees", 1), "dbo.Other": state("dbo.schema/Other", 7)}
    ledger = LedgerState(ledger_id="x", version=3, epoch=1, writer="w", tables=tables)
    table = employees(tmp_path).rows(1, ("E1", "a", 4)).rows(2, ("E2", "b", 4))

    assert sequences_at(ledger) == {"dbo.Employees": 1, "dbo.Other": 7}
    assert content(table.replay(as_of=sequences_at(ledger)["dbo.Employees"])) == [("E1", "a")]


def test_empty_table_has_no_columns_and_no_rows(tmp_path: Path) -> None:
    replayed = employees(tmp_path).replay()
    assert (replayed.table.num_rows, replayed.table.num_columns, replayed.last_number) == (0, 0, 0)


def test_only_the_first_places_of_an_observation_are_kept(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1, *((f"E{n}", None, 2) for n in range(4))).rows(2, ("E9", None, 2))
    assert table.replay(places=2).observations == (
        Observation(ObservationKind.DELETE_OF_MISSING_KEY, 5, (place(1, 0), place(1, 1))),
    )


def test_progress_is_told_file_by_file_in_both_stages(tmp_path: Path) -> None:
    table = employees(tmp_path).rows(1, ("E1", "a", 4)).rows(2, ("E1", "b", 4))
    steps: list[Progress] = []

    table.replay(progress=steps.append)

    one, two = (f"dbo.schema/Employees/{table.name(number)}" for number in (1, 2))
    assert steps == [
        Progress("dbo.Employees", Stage.APPLY, one, 1, 2),
        Progress("dbo.Employees", Stage.APPLY, two, 2, 2),
        Progress("dbo.Employees", Stage.FETCH, two, 1, 1),
    ]


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


def test_key_column_that_no_file_has_is_null(tmp_path: Path) -> None:
    table = make_table(tmp_path, "t", {"keyColumns": ["absent"]}).rows(1, ("E1", "a", 4), ("E2", "b", 4))
    assert content(table.replay()) == [("E2", "b")]


def test_dictionary_columns_are_read_as_their_values(tmp_path: Path) -> None:
    table: TableOnDisk = employees(tmp_path)
    encoded = table_of(EMPLOYEE, ("E1", "a", 4))
    table.file(1, encoded.set_column(1, "EmployeeLocation", encoded.column(1).dictionary_encode()))
    table.rows(2, ("E2", "b", 4))
    assert table.replay().table.equals(table_of(UNMARKED, ("E1", "a"), ("E2", "b")))


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "brotli", "lz4"])
def test_parquet_of_any_compression_is_read(tmp_path: Path, compression: str) -> None:
    table = employees(tmp_path).rows(1, ("E1", "a", 4), compression=compression)
    assert content(table.replay()) == [("E1", "a")]
