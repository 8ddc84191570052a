"""Rules about a landing file's content, each on a zone that breaks just that one."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from connectors.landing_zone.verify import Rule, verify_zone
from tests.unit.landing_zone.verified_zone import FILE_4, REQUIRED_KEY, Breaks, broken, fourth, problem, told, warning
from tests.unit.landing_zone.zone_on_disk import EMPLOYEE, TableOnDisk, make_table


def schema_with(place: int, field: pa.Field) -> pa.Schema:
    return REQUIRED_KEY.set(place, field)


FILE_BREAKS: Breaks = {
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


@pytest.mark.parametrize("name", FILE_BREAKS)
def test_zone_that_breaks_one_file_rule_has_that_finding(tmp_path: Path, name: str) -> None:
    break_it, expected = FILE_BREAKS[name]
    assert broken(tmp_path, break_it) == expected


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
