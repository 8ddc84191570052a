import json
import re
from typing import Any

import pytest

from connectors.landing_zone.delimited_format import DelimitedFormat, contract_type
from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.metadata import metadata_of, parse_metadata
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from tests.unit.landing_zone.landed_rows import TYPES

ORDER_LINES = PinnedSchema(
    (
        PinnedColumn("Order Id", "order_id", "int64", key=True),
        PinnedColumn("note", "note", "string"),
        PinnedColumn("line", "line", "int16", key=True),
        PinnedColumn("price", "price", "decimal128(10,2)"),
    )
)
KEYLESS = PinnedSchema((PinnedColumn("a", "a", "string"),))
TSV = DelimitedFormat(column_separator="\t", row_separator="\n", escape="\\", null="N/A", extension="tsv")


def test_a_parquet_table_names_its_keys_as_in_the_file() -> None:
    assert metadata_of(ORDER_LINES).to_json().decode() == (
        "{\n"
        '  "keyColumns": [\n'
        '    "Order Id",\n'
        '    "line"\n'
        "  ],\n"
        '  "fileDetectionStrategy": "SequentialFileName",\n'
        '  "isUpsertDefaultRowMarker": true\n'
        "}\n"
    )


def test_a_table_without_key_only_appends() -> None:
    assert json.loads(metadata_of(KEYLESS).to_json()) == {
        "fileDetectionStrategy": "SequentialFileName",
        "isUpsertDefaultRowMarker": False,
    }


def test_a_text_table_declares_its_columns_and_format() -> None:
    assert json.loads(metadata_of(ORDER_LINES, TSV).to_json()) == {
        "keyColumns": ["Order Id", "line"],
        "fileDetectionStrategy": "SequentialFileName",
        "isUpsertDefaultRowMarker": True,
        "SchemaDefinition": {
            "Columns": [
                {"Name": "Order Id", "DataType": "Int64", "IsNullable": False},
                {"Name": "note", "DataType": "String", "IsNullable": True},
                {"Name": "line", "DataType": "Int16", "IsNullable": False},
                {"Name": "price", "DataType": "String", "IsNullable": True},
            ]
        },
        "FileFormat": "DelimitedText",
        "FileExtension": "tsv",
        "FileFormatTypeProperties": {
            "FirstRowAsHeader": True,
            "RowSeparator": "\n",
            "ColumnSeparator": "\t",
            "QuoteCharacter": '"',
            "EscapeCharacter": "\\",
            "NullValue": "N/A",
            "Encoding": "UTF-8",
        },
    }


def test_compressed_csv_says_so_in_its_extension() -> None:
    body = json.loads(metadata_of(KEYLESS, DelimitedFormat(gzip=True)).to_json())
    assert (body["FileFormat"], body["FileExtension"]) == ("CSV", "csv.gz")


def test_every_pinned_type_has_a_name_in_the_contract() -> None:
    assert {text: contract_type(text) for text in TYPES} == {
        "bool": "Boolean",
        "int16": "Int16",
        "int32": "Int32",
        "int64": "Int64",
        "float": "Single",
        "double": "Double",
        "string": "String",
        "binary": "ByteArray",
        "date32": "IDate",
        "timestamp[us]": "DateTime",
        "timestamp[us,UTC]": "DateTime",
        "decimal128(10,2)": "String",
    }
    with pytest.raises(ValueError, match="not a landing-file type"):
        contract_type("time64")


@pytest.mark.parametrize("schema", [ORDER_LINES, KEYLESS])
@pytest.mark.parametrize("text", [None, DelimitedFormat(), TSV, DelimitedFormat(gzip=True, extension="psv")])
def test_metadata_is_read_back_as_it_was_written(schema: PinnedSchema, text: DelimitedFormat | None) -> None:
    metadata = metadata_of(schema, text)
    assert parse_metadata(metadata.to_json()) == metadata


def changed(**changes: Any) -> bytes:
    body = json.loads(metadata_of(ORDER_LINES, TSV).to_json())
    for key, value in changes.items():
        *parents, last = key.split("__")
        part = body
        for parent in parents:
            part = part[parent]
        if value is None:
            del part[last]
        else:
            part[last] = value
    return json.dumps(body).encode()


COLUMN = {"Name": "a", "DataType": "String", "IsNullable": True}


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"{", "it is not JSON: Expecting property name enclosed in double quotes"),
        (b"\xff", "it is not JSON"),
        (b"[]", "it is not an object"),
        (changed(keyColumns="id"), "keyColumns is 'id'"),
        (changed(keyColumns=[1]), "keyColumns has to be a list of names"),
        (changed(fileDetectionStrategy=None), "fileDetectionStrategy is missing"),
        (
            changed(fileDetectionStrategy="LastUpdateTimeFileDetection"),
            "fileDetectionStrategy is 'LastUpdateTimeFileDetection' instead of 'SequentialFileName'",
        ),
        (changed(isUpsertDefaultRowMarker="true"), "isUpsertDefaultRowMarker is 'true'"),
        (changed(ConditionalUpdateColumn="n"), "it has the unknown key ConditionalUpdateColumn"),
        (changed(FileFormat="CSV"), "FileFormat is 'CSV' instead of 'DelimitedText'"),
        (changed(FileExtension=None), "FileExtension is missing"),
        (changed(SchemaDefinition=[]), "SchemaDefinition is []"),
        (changed(SchemaDefinition__Columns=[1]), "SchemaDefinition.Columns[0] is not an object"),
        (
            changed(SchemaDefinition__Columns=[COLUMN, {**COLUMN, "Size": 1}]),
            "it has the unknown key SchemaDefinition.Columns[1].Size",
        ),
        (changed(SchemaDefinition__More=1), "it has the unknown key SchemaDefinition.More"),
        (changed(FileFormatTypeProperties__NullValue=None), "FileFormatTypeProperties.NullValue is missing"),
        (
            changed(FileFormatTypeProperties__Encoding="utf-16"),
            "FileFormatTypeProperties ask for {'FirstRowAsHeader': True, 'Encoding': 'utf-16'}",
        ),
        (
            changed(FileFormatTypeProperties__ColumnSeparator="#"),
            "'#' cannot be the column separator of a delimited file; allowed are ',', ';', '|', '\\t'",
        ),
        (changed(FileFormatTypeProperties__More=1), "it has the unknown key FileFormatTypeProperties.More"),
    ],
)
def test_metadata_that_somebody_else_changed_is_reported_with_what_is_wrong(body: bytes, what: str) -> None:
    with pytest.raises(InvalidZoneError) as caught:
        parse_metadata(body, path="orders/_metadata.json")
    assert caught.value.message.startswith(f"the table's metadata is not as the bridge wrote it: {what}")
    assert caught.value.remedy == (
        "restore the file, and `cdc-bridge resume CONFIG TABLE` if that has stopped its table; without a copy, "
        "`cdc-bridge resync CONFIG TABLE`: the replicator has read it once, and its keys change with a new folder only"
    )
    assert caught.value.facts == {"file": "orders/_metadata.json"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"column_separator": "#"}, "'#' cannot be the column separator"),
        ({"row_separator": ""}, "'' cannot be the row separator"),
        ({"quote": ""}, "'' cannot be the quote character"),
        ({"escape": ""}, "'' cannot be the escape character"),
        ({"escape": "'"}, "\"'\" cannot be the escape character of a delimited file; allowed are '\\\\', '/', '\"'"),
        ({"null": "a,b"}, "the text for NULL must not contain a separator, the quote or the escape character"),
        ({"extension": "csv.gz"}, "not a file extension: 'csv.gz'"),
    ],
)
def test_a_format_that_cannot_hold_every_text_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        DelimitedFormat(**wrong)
