"""What a table's ``_metadata.json`` says, with the defaults of the landing-zone format.

Read without the writing side's help, so that replay and verify can judge what was written. The format's own page spells
the keys both ``keyColumns`` and ``KeyColumns``, so the names of properties are read in any case;
:attr:`TableMetadata.unusual` lists what is not spelled as on that page or not named there at all.
"""

from __future__ import annotations

import codecs
import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from connectors.landing_zone.errors import InvalidZoneError

METADATA_FILE = "_metadata.json"


class DetectionStrategy(enum.StrEnum):
    """How the replicator finds and orders a table's new files."""

    SEQUENTIAL = "SequentialFileName"
    LAST_UPDATE_TIME = "LastUpdateTimeFileDetection"


class TextType(enum.StrEnum):
    """The ``DataType`` names of a ``SchemaDefinition``."""

    DOUBLE = "Double"
    SINGLE = "Single"
    INT16 = "Int16"
    INT32 = "Int32"
    INT64 = "Int64"
    DATE_TIME = "DateTime"
    DATE = "IDate"
    TIME = "ITime"
    STRING = "String"
    BOOLEAN = "Boolean"
    BYTE_ARRAY = "ByteArray"


@dataclass(frozen=True)
class TextColumn:
    """One column of a ``SchemaDefinition``; nullable unless it says otherwise."""

    name: str
    type: TextType
    nullable: bool = True


@dataclass(frozen=True)
class TextFormat:
    """How a delimited-text file is written; the defaults are the format's.

    The format names no default for ``NullValue``: the empty text is taken, unquoted.

    Attributes:
        extension: of the files, without a leading dot.
        columns: None without a ``SchemaDefinition``: every column is text then.
    """

    extension: str = "csv"
    row_separator: str = "\r\n"
    column_separator: str = ","
    quote: str = '"'
    escape: str = "\\"
    null_value: str = ""
    encoding: str = "utf-8"
    columns: tuple[TextColumn, ...] | None = None


@dataclass(frozen=True)
class TableMetadata:
    """A table's metadata; the default value is that of a folder without the file: Parquet, numbered, inserts only.

    Attributes:
        keys: names of the key columns, empty when none are declared.
        upsert_default: rows without a marker are upserts instead of inserts.
        text: None for Parquet.
        unusual: properties that the format does not name, or not in this spelling.
    """

    keys: tuple[str, ...] = ()
    strategy: DetectionStrategy = DetectionStrategy.SEQUENTIAL
    upsert_default: bool = False
    text: TextFormat | None = None
    unusual: tuple[str, ...] = field(default=())

    @property
    def extension(self) -> str:
        """Extension of the table's files, without a leading dot."""
        return "parquet" if self.text is None else self.text.extension


_SPELLINGS = {
    "keycolumns": ("keyColumns", "KeyColumns"),
    "filedetectionstrategy": ("fileDetectionStrategy",),
    "isupsertdefaultrowmarker": ("isUpsertDefaultRowMarker",),
    "fileformat": ("FileFormat",),
    "fileextension": ("FileExtension",),
    "schemadefinition": ("SchemaDefinition",),
    "fileformattypeproperties": ("FileFormatTypeProperties",),
}
_ROW_SEPARATORS = ("\r\n", "\n", "\r")
_COLUMN_SEPARATORS = (",", ";", "|", "\t")
_QUOTES = ('"', "'", "")
_ESCAPES = ("\\", "/", '"', "")


def parse_metadata(body: bytes, path: str) -> TableMetadata:
    """The metadata in ``body``; ``path`` is named in errors.

    Raises:
        InvalidZoneError: not JSON, not an object, or a property whose value the format does not allow.
    """
    try:
        document = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidZoneError(
            f"the table's metadata is not valid JSON: {error}",
            remedy="put every text value in quotes (the value of fileDetectionStrategy too) and double each backslash",
            file=path,
        ) from error
    if not isinstance(document, dict):
        raise _invalid(
            path, "the table's metadata is not a JSON object", 'write an object such as {"keyColumns": ["id"]}'
        )
    values: dict[str, object] = {}
    unusual: list[str] = []
    for name, value in document.items():
        low = name.lower()
        if name not in _SPELLINGS.get(low, ()):
            unusual.append(name)
        if low in values and values[low] != value:
            raise _invalid(path, f"{name} is given twice with different values", f"keep one spelling of {name}")
        values[low] = value
    upsert = values.get("isupsertdefaultrowmarker", False)
    if not isinstance(upsert, bool):
        raise _invalid(path, f"isUpsertDefaultRowMarker is {upsert!r}", "write true or false, without quotes")
    return TableMetadata(
        keys=_keys(values.get("keycolumns"), path),
        strategy=_strategy(values.get("filedetectionstrategy"), path),
        upsert_default=upsert,
        text=_text_format(values, path),
        unusual=tuple(unusual),
    )


def _invalid(path: str, message: str, remedy: str) -> InvalidZoneError:
    return InvalidZoneError(message, remedy=remedy, file=path)


def _keys(value: object, path: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise _invalid(path, f"keyColumns is {value!r}", "write an array of column names")
    if len(set(value)) != len(value):
        raise _invalid(path, f"keyColumns names a column twice: {value!r}", "name each key column once")
    return tuple(value)


def _strategy(value: object, path: str) -> DetectionStrategy:
    if value is None:
        return DetectionStrategy.SEQUENTIAL
    try:
        return DetectionStrategy(str(value))
    except ValueError:
        allowed = " or ".join(DetectionStrategy)
        raise _invalid(path, f"fileDetectionStrategy is {value!r}", f"write {allowed}, in quotes") from None


def _text_format(values: Mapping[str, object], path: str) -> TextFormat | None:
    kind = values.get("fileformat")
    about_text = ("fileextension", "schemadefinition", "fileformattypeproperties")
    if kind is None and not any(name in values for name in about_text):
        return None
    if kind is not None and (not isinstance(kind, str) or kind.lower() not in ("parquet", "csv", "delimitedtext")):
        raise _invalid(path, f"FileFormat is {kind!r}", "write CSV or DelimitedText, or leave it out for Parquet")
    name = (kind or "CSV").lower()
    if name == "parquet":
        return None
    extension = values.get("fileextension", "csv" if name == "csv" else None)
    if not isinstance(extension, str) or not extension.strip("."):
        raise _invalid(
            path, f"FileExtension is {extension!r}", 'name the extension of the files, such as "tsv": text needs it'
        )
    properties = values.get("fileformattypeproperties", {})
    if not isinstance(properties, dict):
        raise _invalid(
            path, "FileFormatTypeProperties is not an object", "write an object with the text format's properties"
        )
    return _dialect(properties, extension.lstrip("."), _columns(values.get("schemadefinition"), path), path)


def _dialect(
    properties: Mapping[str, object], extension: str, columns: tuple[TextColumn, ...] | None, path: str
) -> TextFormat:
    if properties.get("FirstRowAsHeader", True) is not True:
        raise _invalid(path, "FirstRowAsHeader is not true", "write a header row, and true: text files need both")
    default = TextFormat()

    def one_of(name: str, fallback: str, allowed: Sequence[str]) -> str:
        value = properties.get(name, fallback)
        if value not in allowed:
            raise _invalid(path, f"{name} is {value!r}", f"use one of {', '.join(map(repr, allowed))}")
        return str(value)

    null_value = properties.get("NullValue", default.null_value)
    if not isinstance(null_value, str):
        raise _invalid(path, f"NullValue is {null_value!r}", 'write the text that stands for NULL, such as "N/A"')
    encoding = properties.get("Encoding", default.encoding)
    try:
        encoding = codecs.lookup(str(encoding)).name
    except LookupError:
        raise _invalid(
            path, f"Encoding {encoding!r} is not known", "name an encoding such as UTF-8 or windows-1252"
        ) from None
    return TextFormat(
        extension=extension,
        row_separator=one_of("RowSeparator", default.row_separator, _ROW_SEPARATORS),
        column_separator=one_of("ColumnSeparator", default.column_separator, _COLUMN_SEPARATORS),
        quote=one_of("QuoteCharacter", default.quote, _QUOTES),
        escape=one_of("EscapeCharacter", default.escape, _ESCAPES),
        null_value=null_value,
        encoding=encoding,
        columns=columns,
    )


_TEXT_TYPES = {kind.value.lower(): kind for kind in TextType}


def _columns(definition: object, path: str) -> tuple[TextColumn, ...] | None:
    if definition is None:
        return None
    listed = definition.get("Columns") if isinstance(definition, dict) else None
    if not isinstance(listed, list) or not all(isinstance(column, dict) for column in listed):
        raise _invalid(
            path, "SchemaDefinition has no array Columns", 'write {"Columns": [{"Name": ..., "DataType": ...}]}'
        )
    columns = []
    for column in listed:
        name, kind, nullable = column.get("Name"), column.get("DataType"), column.get("IsNullable", True)
        if not isinstance(name, str) or not name:
            raise _invalid(path, f"a column of SchemaDefinition has the Name {name!r}", "give every column its name")
        if str(kind).lower() not in _TEXT_TYPES:
            raise _invalid(path, f"column {name} has the DataType {kind!r}", f"use one of {', '.join(TextType)}")
        if not isinstance(nullable, bool):
            raise _invalid(path, f"IsNullable of column {name} is {nullable!r}", "write true or false, without quotes")
        columns.append(TextColumn(name, _TEXT_TYPES[str(kind).lower()], nullable))
    if len({column.name for column in columns}) != len(columns):
        raise _invalid(path, "SchemaDefinition names a column twice", "name each column once")
    return tuple(columns)
