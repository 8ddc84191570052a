"""Rules about folders, metadata and the numbers of files, each on a zone that breaks just that one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.verify import Rule, VerifyProgress, verify_zone
from tests.unit.landing_zone.verified_zone import (
    FILE_1,
    FILE_2,
    FILE_3,
    FOLDER,
    METADATA,
    REQUIRED_KEY,
    Breaks,
    broken,
    good_zone,
    problem,
    told,
    warning,
)
from tests.unit.landing_zone.zone_on_disk import employees, make_table


def test_right_zone_has_no_findings(tmp_path: Path) -> None:
    assert verify_zone(good_zone(tmp_path).zone()) == []


def test_zone_without_tables_has_no_findings(tmp_path: Path) -> None:
    assert verify_zone(open_zone(LocalStorage(tmp_path))) == []


METADATA_BREAKS: Breaks = {
    "metadata is missing": (
        lambda table: (table.path / "_metadata.json").unlink(),
        [
            problem(Rule.METADATA_MISSING, METADATA, "the table has no _metadata.json, so only inserts are possible"),
            problem(
                Rule.COLUMN_REQUIRED,
                FILE_1.replace("Employees/", "Employees/_ProcessedFiles/"),
                "column EmployeeID is required although it is no key column: deletes carry keys only",
            ),
            *[
                problem(
                    Rule.COLUMN_REQUIRED,
                    file,
                    "column EmployeeID is required although it is no key column: deletes carry keys only",
                )
                for file in (FILE_2, FILE_3)
            ],
            problem(
                Rule.KEYLESS_CHANGE,
                FILE_2,
                "3 rows update, delete or upsert without key columns, where only inserts are possible; first in "
                f"{FILE_2} row 0, {FILE_2} row 1, {FILE_3} row 0",
            ),
        ],
    ),
    "strategy is not quoted": (
        lambda table: table.metadata('{"keyColumns": ["EmployeeID"], "fileDetectionStrategy": SequentialFileName}'),
        [
            problem(
                Rule.METADATA_INVALID,
                METADATA,
                "the table's metadata is not valid JSON: Expecting value: line 1 column 57 (char 56)",
            )
        ],
    ),
    "property is unknown": (
        lambda table: table.metadata(
            {"keyColumns": ["EmployeeID"], "isUpsertDefaultRowMarker": True, "isPartitionEnabled": "true"}
        ),
        [
            warning(
                Rule.METADATA_PROPERTY,
                METADATA,
                "the property isPartitionEnabled is not one that the format names",
            )
        ],
    ),
    "a key column is not in the files": (
        lambda table: table.metadata({"keyColumns": ["EmployeeID", "Region"], "isUpsertDefaultRowMarker": True}),
        [
            problem(
                Rule.KEY_MISSING,
                file,
                "the key column Region is missing",
            )
            for file in (FILE_1.replace("Employees/", "Employees/_ProcessedFiles/"), FILE_2, FILE_3)
        ],
    ),
}


FOLDER_BREAKS: Breaks = {
    "foreign file": (
        lambda table: (table.path / "notes.txt").write_text("x"),
        [problem(Rule.FOREIGN_FILE, f"{FOLDER}/notes.txt", "this is no landing file of the table")],
    ),
    "number of 19 digits": (
        lambda table: (table.path / f"{4:019d}.parquet").write_text("x"),
        [problem(Rule.FOREIGN_FILE, f"{FOLDER}/{4:019d}.parquet", "this is no landing file of the table")],
    ),
    "leftover of a publisher": (
        lambda table: (table.path / "_4.parquet").write_text("x"),
        [
            warning(
                Rule.LEFTOVER,
                f"{FOLDER}/_4.parquet",
                "the replicator ignores this; an interrupted publisher may have left it",
            )
        ],
    ),
    "staged file": (
        lambda table: (
            table.root.joinpath("_scratchPad/1").mkdir(parents=True)
            or table.root.joinpath("_scratchPad/1/x.parquet").write_text("x")
        ),
        [warning(Rule.LEFTOVER, "_scratchPad/1/x.parquet", "1 staged files are not published", None)],
    ),
    "file outside of the tables": (
        lambda table: [(table.root / name).write_text("x") for name in ("a.parquet", "dbo.schema/b.parquet")],
        [
            warning(Rule.FOREIGN_FILE, "a.parquet", "this file is in no table's folder", None),
            warning(Rule.FOREIGN_FILE, "dbo.schema/b.parquet", "this file is in no table's folder", None),
        ],
    ),
    "partner events are not JSON": (
        lambda table: (table.root / "_partnerEvents.json").write_text("{"),
        [
            problem(
                Rule.PARTNER_EVENTS,
                "_partnerEvents.json",
                "the events file is not valid JSON: Expecting property name enclosed in double quotes: "
                "line 1 column 2 (char 1)",
                None,
            )
        ],
    ),
    "partner events lack the source": (
        lambda table: (table.root / "_partnerEvents.json").write_text('{"partnerName": "p", "sourceInfo": {}}'),
        [
            problem(
                Rule.PARTNER_EVENTS,
                "_partnerEvents.json",
                "the events file lacks partnerName or sourceInfo.sourceType",
                None,
            )
        ],
    ),
    "partner events in a table": (
        lambda table: (table.path / "_partnerEvents.json").write_text("{}"),
        [warning(Rule.PARTNER_EVENTS, f"{FOLDER}/_partnerEvents.json", "it belongs to the zone, not to a table")],
    ),
    "table without files": (
        lambda table: make_table(table.root, "Empty", {"keyColumns": ["id"]}),
        [
            warning(
                Rule.NO_FILES,
                None,
                "the table has no file; a table that never receives one has been seen to fail after two weeks",
                "Empty",
            )
        ],
    ),
    "number is missing": (
        lambda table: table.rows(6, ("E9", "x", 4), schema=REQUIRED_KEY),
        [
            problem(
                Rule.NUMBER_GAP,
                f"{FOLDER}/{6:020d}.parquet",
                "numbers 4 to 5 are missing: later files are never applied",
            )
        ],
    ),
    "number is there twice with other content": (
        lambda table: table.rows(2, ("E9", "x", 4), schema=REQUIRED_KEY, where="_ProcessedFiles"),
        [
            problem(
                Rule.NUMBER_TWICE,
                FILE_2,
                f"number 2 is there twice, with different content: {FOLDER}/_ProcessedFiles/{2:020d}.parquet",
            )
        ],
    ),
    "number is there twice with equal content": (
        lambda table: (table.path / "_ProcessedFiles" / table.name(2)).write_bytes(
            (table.path / table.name(2)).read_bytes()
        ),
        [
            warning(
                Rule.NUMBER_TWICE,
                FILE_2,
                f"number 2 is there twice, with equal content: {FOLDER}/_ProcessedFiles/{2:020d}.parquet",
            )
        ],
    ),
    "first files were removed": (
        lambda table: (table.path / "_ProcessedFiles" / table.name(1)).unlink(),
        [
            warning(
                Rule.HISTORY_REMOVED,
                FILE_2,
                "the first file is 2: earlier ones were removed, so rules about keys cannot be checked",
            )
        ],
    ),
}


BREAKS = {**METADATA_BREAKS, **FOLDER_BREAKS}


@pytest.mark.parametrize("name", BREAKS)
def test_zone_that_breaks_one_folder_rule_has_that_finding(tmp_path: Path, name: str) -> None:
    break_it, expected = BREAKS[name]
    assert broken(tmp_path, break_it) == expected


def test_files_ordered_by_time_are_a_warning(tmp_path: Path) -> None:
    table = employees(tmp_path, fileDetectionStrategy="LastUpdateTimeFileDetection").rows(7, ("E1", "a", 4))
    assert told(verify_zone(table.zone())) == [
        warning(
            Rule.DETECTION_STRATEGY,
            METADATA,
            "files are applied by their modification time, which is no order for change events",
        )
    ]


def test_progress_is_told_file_by_file(tmp_path: Path) -> None:
    steps: list[VerifyProgress] = []
    verify_zone(good_zone(tmp_path).zone(), progress=steps.append)
    assert [(step.table, step.done, step.total) for step in steps] == [("dbo.Employees", done, 3) for done in (1, 2, 3)]
    assert steps[1].file == FILE_2


class MovingStorage(LocalStorage):
    """Moves the first file to a cleanup folder between the two listings of it."""

    def list(self, folder: str) -> list[Any]:
        entries = super().list(folder)
        if folder == FOLDER and self.stat(FILE_1):
            self.put(f"{FOLDER}/_ProcessedFiles/{1:020d}.parquet", self.read(FILE_1))
            self.delete(FILE_1)
        return entries


def test_file_that_moves_while_the_folders_are_listed_is_there_once(tmp_path: Path) -> None:
    employees(tmp_path).rows(1, ("E1", "a", 4))
    assert verify_zone(open_zone(MovingStorage(tmp_path))) == []
