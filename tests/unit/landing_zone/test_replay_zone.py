"""Finding tables, reading their metadata, and the order of their files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.replay.table_metadata import (
    DetectionStrategy,
    TableMetadata,
    TextColumn,
    TextFormat,
    TextType,
    parse_metadata,
)
from connectors.landing_zone.replay.zone import open_zone
from connectors.landing_zone.storage.local import LocalStorage
from tests.unit.landing_zone.zone_on_disk import employees, make_table

PATH = "t/_metadata.json"


def test_tables_are_folders_inside_and_outside_of_schema_folders(tmp_path: Path) -> None:
    for folder in ("b", "public.schema/b", "public.schema/a", "_scratchPad/1", ".git", "s.schema/_x", ".schema"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "_partnerEvents.json").write_text("{}")
    (tmp_path / "public.schema" / "note.txt").write_text("")

    zone = open_zone(LocalStorage(tmp_path))

    assert [(table.name, table.folder) for table in zone.tables()] == [
        ("b", "b"),
        ("public.a", "public.schema/a"),
        ("public.b", "public.schema/b"),
    ]
    assert zone.table("public.schema/a") == zone.table("public.a")


def test_unknown_table_is_an_error_that_names_the_nearest(tmp_path: Path) -> None:
    make_table(tmp_path, "public.schema/orders")
    make_table(tmp_path, "public.schema/customers")
    with pytest.raises(InvalidZoneError) as raised:
        open_zone(LocalStorage(tmp_path)).table("public.order")
    assert str(raised.value) == (
        f"the landing zone has no such table [table=public.order, zone={tmp_path.as_uri()}]. "
        "Remedy: name one of the zone's tables, such as public.orders, public.customers"
    )


def test_zone_without_tables_points_to_the_url(tmp_path: Path) -> None:
    with pytest.raises(InvalidZoneError, match="check the zone's url: it holds no table"):
        open_zone(LocalStorage(tmp_path / "absent")).table("x")


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("{}", TableMetadata()),
        ('{"keyColumns": ["C1", "C2"]}', TableMetadata(keys=("C1", "C2"))),
        ('\ufeff{"KeyColumns": ["id"]}', TableMetadata(keys=("id",))),
        (
            '{"keyColumns": ["id"], "fileDetectionStrategy": "LastUpdateTimeFileDetection",'
            ' "isUpsertDefaultRowMarker": true}',
            TableMetadata(("id",), DetectionStrategy.LAST_UPDATE_TIME, True),
        ),
        ('{"fileDetectionStrategy": "SequentialFileName", "FileFormat": "Parquet"}', TableMetadata()),
        ('{"FileFormat": "CSV"}', TableMetadata(text=TextFormat())),
        ('{"FileExtension": ".psv"}', TableMetadata(text=TextFormat(extension="psv"))),
        (
            '{"keycolumns": ["id"], "ConditionalUpdateColumn": "n"}',
            TableMetadata(keys=("id",), unusual=("keycolumns", "ConditionalUpdateColumn")),
        ),
        (
            r"""{"KeyColumns": ["id"], "SchemaDefinition": {"Columns": [
                {"Name": "id", "DataType": "Int32", "IsNullable": false}, {"Name": "name", "DataType": "string"}]},
                "FileFormat": "DelimitedText", "FileExtension": "tsv", "FileFormatTypeProperties": {
                "FirstRowAsHeader": true, "RowSeparator": "\n", "ColumnSeparator": "\t", "QuoteCharacter": "'",
                "EscapeCharacter": "/", "NullValue": "N/A", "Encoding": "windows-1252"}}""",
            TableMetadata(
                keys=("id",),
                text=TextFormat(
                    extension="tsv",
                    row_separator="\n",
                    column_separator="\t",
                    quote="'",
                    escape="/",
                    null_value="N/A",
                    encoding="cp1252",
                    columns=(TextColumn("id", TextType.INT32, False), TextColumn("name", TextType.STRING)),
                ),
            ),
        ),
    ],
)
def test_metadata_is_read_with_the_formats_defaults(document: str, expected: TableMetadata) -> None:
    assert parse_metadata(document.encode(), PATH) == expected


TEXT = '{"FileFormat": "CSV", '


@pytest.mark.parametrize(
    ("document", "message", "remedy"),
    [
        (
            '{"fileDetectionStrategy": SequentialFileName}',
            "the table's metadata is not valid JSON: Expecting value: line 1 column 27 (char 26)",
            "put every text value in quotes (the value of fileDetectionStrategy too) and double each backslash",
        ),
        ("[]", "the table's metadata is not a JSON object", 'write an object such as {"keyColumns": ["id"]}'),
        (
            '{"keyColumns": ["a"], "KeyColumns": ["b"]}',
            "KeyColumns is given twice with different values",
            "keep one spelling of KeyColumns",
        ),
        ('{"keyColumns": "id"}', "keyColumns is 'id'", "write an array of column names"),
        ('{"keyColumns": ["id", 5]}', "keyColumns is ['id', 5]", "write an array of column names"),
        (
            '{"keyColumns": ["id", "id"]}',
            "keyColumns names a column twice: ['id', 'id']",
            "name each key column once",
        ),
        (
            '{"fileDetectionStrategy": "Newest"}',
            "fileDetectionStrategy is 'Newest'",
            "write SequentialFileName or LastUpdateTimeFileDetection, in quotes",
        ),
        (
            '{"isUpsertDefaultRowMarker": "true"}',
            "isUpsertDefaultRowMarker is 'true'",
            "write true or false, without quotes",
        ),
        (
            '{"FileFormat": "JSON"}',
            "FileFormat is 'JSON'",
            "write CSV or DelimitedText, or leave it out for Parquet",
        ),
        (
            '{"FileFormat": "DelimitedText"}',
            "FileExtension is None",
            'name the extension of the files, such as "tsv": text needs it',
        ),
        (
            TEXT + '"FileFormatTypeProperties": []}',
            "FileFormatTypeProperties is not an object",
            "write an object with the text format's properties",
        ),
        (
            TEXT + '"FileFormatTypeProperties": {"FirstRowAsHeader": false}}',
            "FirstRowAsHeader is not true",
            "write a header row, and true: text files need both",
        ),
        (
            TEXT + '"FileFormatTypeProperties": {"ColumnSeparator": "::"}}',
            "ColumnSeparator is '::'",
            r"use one of ',', ';', '|', '\t'",
        ),
        (
            TEXT + '"FileFormatTypeProperties": {"NullValue": null}}',
            "NullValue is None",
            'write the text that stands for NULL, such as "N/A"',
        ),
        (
            TEXT + '"FileFormatTypeProperties": {"Encoding": "martian"}}',
            "Encoding 'martian' is not known",
            "name an encoding such as UTF-8 or windows-1252",
        ),
        (
            TEXT + '"SchemaDefinition": {}}',
            "SchemaDefinition has no array Columns",
            'write {"Columns": [{"Name": ..., "DataType": ...}]}',
        ),
        (
            TEXT + '"SchemaDefinition": {"Columns": [{"DataType": "Int32"}]}}',
            "a column of SchemaDefinition has the Name None",
            "give every column its name",
        ),
        (
            TEXT + '"SchemaDefinition": {"Columns": [{"Name": "n", "DataType": "Decimal"}]}}',
            "column n has the DataType 'Decimal'",
            "use one of Double, Single, Int16, Int32, Int64, DateTime, IDate, ITime, String, Boolean, ByteArray",
        ),
        (
            TEXT + '"SchemaDefinition": {"Columns": [{"Name": "n", "DataType": "Int32", "IsNullable": 1}]}}',
            "IsNullable of column n is 1",
            "write true or false, without quotes",
        ),
        (
            TEXT + '"SchemaDefinition": {"Columns": [{"Name": "n", "DataType": "Int32"},'
            ' {"Name": "n", "DataType": "Int64"}]}}',
            "SchemaDefinition names a column twice",
            "name each column once",
        ),
    ],
)
def test_invalid_metadata_is_an_error_that_says_what_to_write(document: str, message: str, remedy: str) -> None:
    with pytest.raises(InvalidZoneError) as raised:
        parse_metadata(document.encode(), PATH)
    assert (raised.value.message, raised.value.remedy, raised.value.facts) == (message, remedy, {"file": PATH})


def test_numbered_files_are_ordered_by_number_and_others_are_foreign(tmp_path: Path) -> None:
    table = employees(tmp_path)
    for number in (10, 9):
        table.rows(number, ("E1", "a", 4))
    table.rows(9, ("E1", "b", 4), where="_ProcessedFiles")
    for name in ("9.parquet", "x.txt", f"{0:020d}.parquet", f"{8:020d}.csv", "_9.parquet", ".DS_Store"):
        (table.path / name).write_bytes(b"x")
    (table.path / f"{11:020d}.parquet").mkdir()

    zone_table = table.zone().table("dbo.Employees")
    listing = zone_table.listing(TableMetadata())

    assert [(file.number, file.path.removeprefix(table.folder)) for file in listing.files] == [
        (9, f"/_ProcessedFiles/{table.name(9)}"),
        (10, f"/{table.name(10)}"),
    ]
    assert [file.name for file in listing.twins] == [table.name(9)]
    assert sorted(entry.name for entry in listing.foreign) == sorted(
        [f"{0:020d}.parquet", f"{8:020d}.csv", f"{11:020d}.parquet", "9.parquet", "x.txt"]
    )
    assert [entry.name for entry in listing.ignored] == [".DS_Store", "_9.parquet", "_metadata.json"]


def test_files_found_by_time_are_ordered_by_time_then_path(tmp_path: Path) -> None:
    table = employees(tmp_path, fileDetectionStrategy="LastUpdateTimeFileDetection")
    table.rows(3, ("E1", "first", 4)).rows(1, ("E1", "third", 4)).rows(2, ("E1", "second", 4))
    (table.path / "part").mkdir()
    (table.path / table.name(2)).rename(table.path / "part" / "any name.parquet")
    (table.path / "readme.txt").write_text("")
    for name, seconds in ((table.name(3), 1000), ("part/any name.parquet", 2000), (table.name(1), 2000)):
        os.utime(table.path / name, (seconds, seconds))
    os.utime(table.path / table.name(1), (3000, 3000))

    replayed = table.replay()
    zone_table = table.zone().table("dbo.Employees")
    metadata = zone_table.metadata()

    assert [(file.number, file.name) for file in replayed.files] == [
        (1, table.name(3)),
        (2, "any name.parquet"),
        (3, table.name(1)),
    ]
    assert replayed.table.to_pylist() == [{"EmployeeID": "E1", "EmployeeLocation": "third"}]
    assert table.replay(as_of=2).table.column("EmployeeLocation").to_pylist() == ["second"]
    assert metadata is not None
    assert [entry.name for entry in zone_table.listing(metadata).foreign] == ["readme.txt"]


def test_files_of_one_time_are_ordered_by_path(tmp_path: Path) -> None:
    table = employees(tmp_path, fileDetectionStrategy="LastUpdateTimeFileDetection")
    for number in (2, 3, 1):
        table.rows(number, ("E1", str(number), 4))
        os.utime(table.path / table.name(number), (1000, 1000))
    assert [file.name for file in table.replay().files] == [table.name(number) for number in (1, 2, 3)]


def test_compressed_text_files_are_numbered_too(tmp_path: Path) -> None:
    table = make_table(tmp_path, "t", {"FileExtension": "csv"}).text(1, b"a\r\n1\r\n").text(2, b"x", "csv.gz")
    files = table.zone().table("t").listing(TableMetadata(text=TextFormat())).files
    assert [file.number for file in files] == [1, 2]
