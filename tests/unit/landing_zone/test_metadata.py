import json

import pytest

from connectors.landing_zone.delimited_format import DelimitedFormat, contract_type
from connectors.landing_zone.metadata import metadata_of
from connectors.landing_zone.replay.table_metadata import (
    DetectionStrategy,
    TextColumn,
    TextFormat,
    TextType,
    parse_metadata,
)
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
    """By the reader of the format, which knows nothing of the bridge."""
    metadata = metadata_of(schema, text)
    read = parse_metadata(metadata.to_json(), "orders/_metadata.json")
    assert (read.keys, read.strategy, read.upsert_default, read.unusual) == (
        metadata.key_columns,
        DetectionStrategy.SEQUENTIAL,
        metadata.upsert_by_default,
        (),
    )
    assert (read.text is None) is (text is None)
    if text is not None and metadata.delimited is not None and read.text is not None:
        assert read.text == TextFormat(
            extension=text.file_extension,
            row_separator=text.row_separator,
            column_separator=text.column_separator,
            quote=text.quote,
            escape=text.escape,
            null_value=text.null,
            columns=tuple(
                TextColumn(column.name, TextType(column.type), column.nullable) for column in metadata.delimited.columns
            ),
        )
