"""``_metadata.json``: what the replicator has to know of a table before its first file.

Key columns are named as in the files, once for all: the contract forbids to change them. Numbered files are always
asked for, and on tables with a key rows without a marker are upserts, so that a snapshot read twice does no harm
(landing-zone format, "Metadata file in the landing zone"; best practices). Text tables also declare their columns and
format; Parquet files speak for themselves.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeVar

from connectors.landing_zone.delimited_format import ENCODING, DelimitedFormat, contract_type
from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.layout import METADATA_FILE
from connectors.landing_zone.schema import PinnedSchema

SEQUENTIAL = "SequentialFileName"

_T = TypeVar("_T")


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


def parse_metadata(body: bytes, *, path: str = METADATA_FILE) -> TableMetadata:
    """Metadata that the bridge has written; ``path`` is named in errors.

    Raises:
        InvalidZoneError: not JSON, or not what the bridge writes: somebody else changed the file.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _changed(f"it is not JSON: {error}", path) from error
    root = _Part(content, "", path)
    keys = root.texts("keyColumns")
    strategy = root.take("fileDetectionStrategy", str)
    if strategy != SEQUENTIAL:
        raise _changed(f"fileDetectionStrategy is {strategy!r} instead of {SEQUENTIAL!r}", path)
    upsert = root.take("isUpsertDefaultRowMarker", bool)
    declaration = _declaration(root) if "SchemaDefinition" in root.left else None
    root.require_empty()
    return TableMetadata(key_columns=keys, upsert_by_default=upsert, delimited=declaration)


def _declaration(root: _Part) -> DelimitedDeclaration:
    columns: list[DeclaredColumn] = []
    definition = root.part("SchemaDefinition")
    for number, entry in enumerate(definition.take("Columns", list)):
        column = _Part(entry, f"SchemaDefinition.Columns[{number}].", root.path)
        declared = DeclaredColumn(
            column.take("Name", str), column.take("DataType", str), column.take("IsNullable", bool)
        )
        column.require_empty()
        columns.append(declared)
    definition.require_empty()
    properties = root.part("FileFormatTypeProperties")
    file_format, extension = root.take("FileFormat", str), root.take("FileExtension", str)
    fixed = {
        "FirstRowAsHeader": properties.take("FirstRowAsHeader", bool),
        "Encoding": properties.take("Encoding", str),
    }
    if fixed != {"FirstRowAsHeader": True, "Encoding": ENCODING}:
        raise _changed(f"FileFormatTypeProperties ask for {fixed}", root.path)
    try:
        text = DelimitedFormat(
            column_separator=properties.take("ColumnSeparator", str),
            row_separator=properties.take("RowSeparator", str),
            quote=properties.take("QuoteCharacter", str),
            escape=properties.take("EscapeCharacter", str),
            null=properties.take("NullValue", str),
            gzip=extension.endswith(".gz"),
            extension=extension.removesuffix(".gz"),
        )
    except ValueError as error:
        raise _changed(str(error), root.path) from error
    properties.require_empty()
    if file_format != text.file_format:
        raise _changed(f"FileFormat is {file_format!r} instead of {text.file_format!r}", root.path)
    return DelimitedDeclaration(tuple(columns), text)


class _Part:
    """An object within the metadata, whose keys are taken one by one until none is left."""

    def __init__(self, content: object, prefix: str, path: str) -> None:
        if not isinstance(content, dict):
            raise _changed(f"{prefix.removesuffix('.') or 'it'} is not an object", path)
        self.left: dict[str, object] = dict(content)
        self.path = path
        self._prefix = prefix

    def take(self, key: str, kind: type[_T]) -> _T:
        if key not in self.left:
            raise _changed(f"{self._prefix}{key} is missing", self.path)
        value = self.left.pop(key)
        if not isinstance(value, kind):
            raise _changed(f"{self._prefix}{key} is {value!r}", self.path)
        return value

    def part(self, key: str) -> _Part:
        return _Part(self.take(key, dict), f"{self._prefix}{key}.", self.path)

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.take(key, list) if key in self.left else []
        if not all(isinstance(value, str) for value in values):
            raise _changed(f"{self._prefix}{key} has to be a list of names", self.path)
        return tuple(values)

    def require_empty(self) -> None:
        if self.left:
            raise _changed(f"it has the unknown key {self._prefix}{min(self.left)}", self.path)


def _changed(what: str, path: str) -> InvalidZoneError:
    return InvalidZoneError(
        f"the table's metadata is not as the bridge wrote it: {what}",
        remedy="restore the file, and `cdc-bridge resume CONFIG TABLE` if that has stopped its table; without a copy, "
        "`cdc-bridge resync CONFIG TABLE`: the replicator has read it once, and its keys change with a new folder only",
        file=path,
    )
