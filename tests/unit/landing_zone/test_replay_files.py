"""The files that a replay reads: where they are, in which order, up to which one, and where it must stop."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from connectors.landing_zone.errors import InvalidZoneError, PathNotFoundError
from connectors.landing_zone.ledger.state import LedgerState, TableState
from connectors.landing_zone.replay import (
    Observation,
    ObservationKind,
    Progress,
    Stage,
    open_zone,
    replay,
    sequences_at,
)
from connectors.landing_zone.replay.content import UnreadableFileError, open_content
from connectors.landing_zone.replay.table_metadata import TableMetadata
from connectors.landing_zone.storage.local import LocalStorage
from tests.unit.landing_zone.zone_on_disk import content, employees, place


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
        "put the right content back under the same name from a copy; without one, `cdc-bridge resync CONFIG TABLE` "
        "fills a table of the bridge anew, and whatever else writes this zone has to publish the file again; the "
        "files behind it wait"
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
            self.put(f"{folder}/_ProcessedFiles/{name}", super().read(path))
            self.delete(path)
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
        f"the table has no file {number}; its last one is 1 [table=dbo.Employees]. Remedy: ask for a number from 0 to "
        "1: `cdc-bridge replay ZONE --table dbo.Employees --as-of 1`"
    )


def test_as_of_a_ledger_version_gives_every_tables_last_number(tmp_path: Path) -> None:
    def state(folder: str, sequence: int) -> TableState:
        return TableState(source=("db", "s", "t"), folder=folder, sequence=sequence)

    tables = {"dbo.Employees": state("dbo.schema/Employees", 1), "dbo.Other": state("dbo.schema/Other", 7)}
    ledger = LedgerState(ledger_id="x", version=3, epoch=1, writer="w", tables=tables)
    table = employees(tmp_path).rows(1, ("E1", "a", 4)).rows(2, ("E2", "b", 4))

    assert sequences_at(ledger) == {"dbo.Employees": 1, "dbo.Other": 7}
    assert content(table.replay(as_of=sequences_at(ledger)["dbo.Employees"])) == [("E1", "a")]


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


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "brotli", "lz4"])
def test_parquet_of_any_compression_is_read(tmp_path: Path, compression: str) -> None:
    table = employees(tmp_path).rows(1, ("E1", "a", 4), compression=compression)
    assert content(table.replay()) == [("E1", "a")]


def test_arrow_s_threads_hold_nothing_of_python(tmp_path: Path) -> None:
    employees(tmp_path).rows(1, ("E1", "a", 4))
    body = next(tmp_path.rglob("*.parquet")).read_bytes()
    held = sys.getrefcount(body)

    file = open_content(body, TableMetadata(), "1.parquet")

    assert sys.getrefcount(body) == held
    assert file.read(0, file.schema.names).num_rows == 1
