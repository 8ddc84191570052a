"""``_metadata.json``: what the replicator has to know of a table before its first file.

Key columns are named as in the files, once for all: the contract forbids to change them. Numbered files are always
asked for, and on tables with a key rows without a marker are upserts, so that a snapshot read twice does no harm
(landing-zone format, "Metadata file in the landing zone"; best practices). Text tables also declare their columns and
format; Parquet files speak for themselves.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from connectors.landing_zone.delimited_format import ENCODING, DelimitedFormat, contract_type
from connectors.landing_zone.schema import PinnedSchema

SEQUENTIAL = "SequentialFileName"


@dataclass(frozen=True)
class DeclaredColumn:
    """A column of a text table: ``type`` is the contract's name of it, such as ``Int32``."""

    name: str
    type: str
    nullable: bool


@dataclass(frozen=True)
class DelimitedDeclaration:
    """What the metadata of a text table says beyond its keys."""

    columns: tuple[DeclaredColumn, ...]
    format: DelimitedFormat


@dataclass(frozen=True)
class TableMetadata:
    """A table's metadata as the bridge writes it.

    Attributes:
        key_columns: empty for a table that can only append.
        upsert_by_default: what a row without marker does: upsert, else insert.
        delimited: None for Parquet.
    """

    key_columns: tuple[str, ...]
    upsert_by_default: bool
    delimited: DelimitedDeclaration | None = None

    def to_json(self) -> bytes:
        """The file's content; equal metadata gives equal bytes."""
        body: dict[str, Any] = {}
        if self.key_columns:
            body["keyColumns"] = list(self.key_columns)
        body["fileDetectionStrategy"] = SEQUENTIAL
        body["isUpsertDefaultRowMarker"] = self.upsert_by_default
        if self.delimited is not None:
            text = self.delimited.format
            body["SchemaDefinition"] = {
                "Columns": [
                    {"Name": column.name, "DataType": column.type, "IsNullable": column.nullable}
                    for column in self.delimited.columns
                ]
            }
            body["FileFormat"] = text.file_format
            body["FileExtension"] = text.file_extension
            body["FileFormatTypeProperties"] = {
                "FirstRowAsHeader": True,
                "RowSeparator": text.row_separator,
                "ColumnSeparator": text.column_separator,
                "QuoteCharacter": text.quote,
                "EscapeCharacter": text.escape,
                "NullValue": text.null,
                "Encoding": ENCODING,
            }
        return (json.dumps(body, indent=2, ensure_ascii=False) + "\n").encode()


def metadata_of(schema: PinnedSchema, delimited: DelimitedFormat | None = None) -> TableMetadata:
    """The metadata of a table with this schema, in Parquet or in the given text format."""
    keys = schema.key_columns
    declaration = None
    if delimited is not None:
        columns = tuple(
            DeclaredColumn(column.name, contract_type(column.type), not column.key) for column in schema.columns
        )
        declaration = DelimitedDeclaration(columns, delimited)
    return TableMetadata(key_columns=keys, upsert_by_default=bool(keys), delimited=declaration)
