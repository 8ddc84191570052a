"""Each rule of the format, on a zone that breaks just that one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.verify import Finding, Rule, Severity, VerifyProgress, verify_zone
from tests.unit.landing_zone.zone_on_disk import EMPLOYEE, TableOnDisk, employees, make_table

FOLDER = "dbo.schema/Employees"
FILE_1, FILE_2, FILE_3 = (f"{FOLDER}/{number:020d}.parquet" for number in (1, 2, 3))
METADATA = f"{FOLDER}/_metadata.json"
REQUIRED_KEY = pa.schema([pa.field("EmployeeID", pa.string(), nullable=False), *list(EMPLOYEE)[1:]])


def good_zone(root: Path) -> TableOnDisk:
    """Three right files: snapshot without markers, then changes; the first was consumed."""
    table = employees(root, fileDetectionStrategy="SequentialFileName", isUpsertDefaultRowMarker=True)
    table.rows(1, ("E1", "a"), ("E2", "b"), schema=REQUIRED_KEY.remove(2), where="_ProcessedFiles")
    table.rows(2, ("E3", "c", 4), ("E1", "d", 1), schema=REQUIRED_KEY)
    table.rows(3, ("E1", None, 2), ("E4", None, 0), schema=REQUIRED_KEY)
    partner = {"partnerName": "p", "sourceInfo": {"sourceType": "SQL"}}
    (root / "_partnerEvents.json").write_text(json.dumps(partner))
    return table


def finding(rule: Rule, file: str | None, message: str, severity: Severity, table: str | None) -> tuple[Any, ...]:
    return (severity, rule, table, file, message)


def problem(rule: Rule, file: str | None, message: str, table: str | None = "dbo.Employees") -> tuple[Any, ...]:
    return finding(rule, file, message, Severity.PROBLEM, table)


def warning(rule: Rule, file: str | None, message: str, table: str | None = "dbo.Employees") -> tuple[Any, ...]:
    return finding(rule, file, message, Severity.WARNING, table)


def told(findings: list[Finding]) -> list[tuple[Any, ...]]:
    assert all(found.remedy for found in findings)
    return [(found.severity, found.rule, found.table, found.file, found.message) for found in findings]


def test_right_zone_has_no_findings(tmp_path: Path) -> None:
    assert verify_zone(good_zone(tmp_path).zone()) == []


def test_zone_without_tables_has_no_findings(tmp_path: Path) -> None:
    assert verify_zone(open_zone(LocalStorage(tmp_path))) == []


def schema_with(place: int, field: pa.Field) -> pa.Schema:
    return REQUIRED_KEY.set(place, field)


Break = Callable[[TableOnDisk], object]

METADATA_BREAKS: dict[str, tuple[Break, list[tuple[Any, ...]]]] = {
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

FOLDER_BREAKS: dict[str, tuple[Break, list[tuple[Any, ...]]]] = {
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

FILE_4 = f"{FOLDER}/{4:020d}.parquet"


def fourth(*rows: tuple[Any, ...], schema: pa.Schema = REQUIRED_KEY, **options: Any) -> Break:
    return lambda table: table.rows(4, *rows, schema=schema, **options)


FILE_BREAKS: dict[str, tuple[Break, list[tuple[Any, ...]]]] = {
    "zero bytes": (
        lambda table: table.text(4, b"", "parquet"),
        [problem(Rule.EMPTY_FILE, FILE_4, "the file has zero bytes")],
    ),
    "not Parquet": (
        lambda table: table.text(4, b"x", "parquet"),
        [
            problem(
                Rule.UNREADABLE_FILE,
                FILE_4,
                "the file is not valid Parquet: Parquet file size is 1 bytes, "
                "smaller than the minimum file footer (8 bytes)",
            )
        ],
    ),
    "codec that the format does not take": (
        fourth(("E9", "x", 4), compression="lz4"),
        [problem(Rule.COMPRESSION, FILE_4, "the file is compressed with LZ4")],
    ),
    "marker is not last": (
        fourth((4, "E9", "x"), schema=pa.schema([REQUIRED_KEY.field(place) for place in (2, 0, 1)])),
        [problem(Rule.MARKER_POSITION, FILE_4, "__rowMarker__ is column 1 of 3, not the last")],
    ),
    "marker is INT64": (
        fourth(("E9", "x", 4), schema=schema_with(2, pa.field("__rowMarker__", pa.int64()))),
        [problem(Rule.MARKER_TYPE, FILE_4, "__rowMarker__ is stored as INT64, not as INT32")],
    ),
    "marker is an 8-bit integer": (
        fourth(("E9", "x", 4), schema=schema_with(2, pa.field("__rowMarker__", pa.int8()))),
        [
            problem(
                Rule.MARKER_TYPE,
                FILE_4,
                "__rowMarker__ is stored as INT32 Int(bitWidth=8, isSigned=true), not as INT32",
            )
        ],
    ),
    "marker is text": (
        fourth(("E9", "x", "4"), schema=schema_with(2, pa.field("__rowMarker__", pa.string()))),
        [
            problem(Rule.MARKER_TYPE, FILE_4, "__rowMarker__ is stored as BYTE_ARRAY String, not as INT32"),
            problem(Rule.MARKER_VALUE, FILE_4, "1 rows have the row marker 4"),
        ],
    ),
    "marker is 3": (
        fourth(("E8", "x", 3), ("E9", "x", 4), ("E7", "x", 3)),
        [problem(Rule.MARKER_VALUE, FILE_4, "2 rows have the row marker 3")],
    ),
    "marker is NULL": (
        fourth(("E9", "x", None)),
        [warning(Rule.MARKER_VALUE, FILE_4, "1 rows have NULL as row marker and count as upserts")],
    ),
    "complex type": (
        fourth(
            ("E9", "x", [1], 4),
            schema=REQUIRED_KEY.insert(2, pa.field("tags", pa.list_(pa.field("element", pa.int32())))),
        ),
        [problem(Rule.COLUMN_TYPE, FILE_4, "column tags is of the complex type list<element: int32>")],
    ),
    "type changes": (
        fourth(("E9", b"x", 4), schema=schema_with(1, pa.field("EmployeeLocation", pa.binary()))),
        [
            problem(
                Rule.COLUMN_CHANGED,
                FILE_4,
                "column EmployeeLocation is stored as BYTE_ARRAY, in earlier files as BYTE_ARRAY String",
            )
        ],
    ),
    "column that is no key is required": (
        fourth(("E9", "x", 4), schema=schema_with(1, pa.field("EmployeeLocation", pa.string(), nullable=False))),
        [
            problem(
                Rule.COLUMN_REQUIRED,
                FILE_4,
                "column EmployeeLocation is required although it is no key column: deletes carry keys only",
            )
        ],
    ),
    "columns differ in case": (
        fourth(("E9", "x", 4), schema=schema_with(1, pa.field("employeelocation", pa.string()))),
        [problem(Rule.COLUMN_NAME, FILE_4, "columns EmployeeLocation and employeelocation differ in case only")],
    ),
    "key column is missing": (
        fourth(("x", 0), schema=REQUIRED_KEY.remove(0)),
        [problem(Rule.KEY_MISSING, FILE_4, "the key column EmployeeID is missing")],
    ),
    "key is NULL": (
        fourth((None, "x", 4), ("E9", "x", 4), schema=EMPLOYEE),
        [problem(Rule.KEY_NULL, FILE_4, "the key column EmployeeID is NULL in 1 rows")],
    ),
}

HISTORY_BREAKS: dict[str, tuple[Break, list[tuple[Any, ...]]]] = {
    "insert of an existing key": (
        fourth(("E2", "x", 0), ("E5", "x", 0)),
        [
            problem(
                Rule.INSERT_OF_EXISTING_KEY,
                FILE_4,
                "1 rows insert a key that the table holds: the mirrored table has the row twice; "
                f"first in {FILE_4} row 0",
            )
        ],
    ),
    "update of a missing key": (
        fourth(("E1", "x", 1), ("E1", "y", 1)),
        [
            warning(
                Rule.UPDATE_OF_MISSING_KEY,
                FILE_4,
                f"1 rows update a key that the table does not hold, and so insert it; first in {FILE_4} row 0",
            )
        ],
    ),
    "delete of a missing key": (
        fourth(("E7", None, 2), ("E1", None, 2)),
        [
            warning(
                Rule.DELETE_OF_MISSING_KEY,
                FILE_4,
                "2 rows delete a key that the table does not hold, and so change nothing; "
                f"first in {FILE_4} row 0, {FILE_4} row 1",
            )
        ],
    ),
}

BREAKS = METADATA_BREAKS | FOLDER_BREAKS | FILE_BREAKS | HISTORY_BREAKS


@pytest.mark.parametrize("name", BREAKS)
def test_zone_that_breaks_one_rule_has_that_finding(tmp_path: Path, name: str) -> None:
    break_it, expected = BREAKS[name]
    table = good_zone(tmp_path)
    break_it(table)
    assert told(verify_zone(table.zone())) == expected


def test_rules_about_keys_rest_after_a_hole_in_the_history(tmp_path: Path) -> None:
    table = good_zone(tmp_path).text(4, b"", "parquet").rows(5, ("E2", "x", 0), ("E9", "x", 1), schema=REQUIRED_KEY)
    assert [found.rule for found in verify_zone(table.zone())] == [Rule.EMPTY_FILE]


def test_files_ordered_by_time_are_a_warning(tmp_path: Path) -> None:
    table = employees(tmp_path, fileDetectionStrategy="LastUpdateTimeFileDetection").rows(7, ("E1", "a", 4))
    assert told(verify_zone(table.zone())) == [
        warning(
            Rule.DETECTION_STRATEGY,
            METADATA,
            "files are applied by their modification time, which is no order for change events",
        )
    ]


def text_table(root: Path) -> TableOnDisk:
    columns = [
        {"Name": "id", "DataType": "Int32", "IsNullable": False},
        {"Name": "name", "DataType": "String", "IsNullable": False},
    ]
    return make_table(root, "t", {"keyColumns": ["id"], "FileFormat": "CSV", "SchemaDefinition": {"Columns": columns}})


def test_text_table_is_judged_by_its_schema_definition(tmp_path: Path) -> None:
    table = text_table(tmp_path).text(1, b"id,name,age,__rowMarker__\r\n1,x,3,4\r\n,,4,4\r\n")
    file = f"t/{1:020d}.csv"
    required = "column name is required although it is no key column: deletes carry keys only"
    not_null = "column name is NULL in 1 rows, the SchemaDefinition says that it is not nullable"
    assert told(verify_zone(table.zone())) == [
        problem(Rule.COLUMN_REQUIRED, file, required, "t"),
        problem(Rule.COLUMN_UNDECLARED, file, "column age is not in the SchemaDefinition", "t"),
        problem(Rule.KEY_NULL, file, "the key column id is NULL in 1 rows", "t"),
        problem(Rule.COLUMN_REQUIRED, file, not_null, "t"),
    ]


def test_decimals_of_equal_storage_are_one_type_and_others_are_not(tmp_path: Path) -> None:
    def schema(precision: int) -> pa.Schema:
        return pa.schema([("id", pa.int32()), ("d", pa.decimal128(precision, 2)), ("__rowMarker__", pa.int32())])

    table = make_table(tmp_path, "t", {"keyColumns": ["id"]})
    for number, precision in ((1, 20), (2, 20), (3, 21)):
        table.rows(number, (number, None, 4), schema=schema(precision))
    assert told(verify_zone(table.zone())) == [
        problem(
            Rule.COLUMN_CHANGED,
            f"t/{3:020d}.parquet",
            "column d is stored as FIXED_LEN_BYTE_ARRAY(9) Decimal(precision=21, scale=2), in earlier files as "
            "FIXED_LEN_BYTE_ARRAY(9) Decimal(precision=20, scale=2)",
            "t",
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
        if folder == FOLDER:
            self.rename_if_absent(FILE_1, f"{FOLDER}/_ProcessedFiles/{1:020d}.parquet")
        return entries


def test_file_that_moves_while_the_folders_are_listed_is_there_once(tmp_path: Path) -> None:
    employees(tmp_path).rows(1, ("E1", "a", 4))
    assert verify_zone(open_zone(MovingStorage(tmp_path))) == []
