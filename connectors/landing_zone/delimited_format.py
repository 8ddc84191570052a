"""How a delimited-text table is written: separators, quotes, the text for NULL, and the type names of its metadata.

The contract leaves the writer much freedom (landing-zone format, "Delimited text requirements"). Used of it is what
gives every value back: fields are quoted where they need it, always in UTF-8 with a header row.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from connectors.landing_zone.schema import type_from_text

ENCODING = "UTF-8"

_COLUMN_SEPARATORS = (",", ";", "|", "\t")
_ROW_SEPARATORS = ("\r\n", "\n", "\r")
_QUOTES = ('"', "'")
_ESCAPES = ("\\", "/", '"')


@dataclass(frozen=True)
class DelimitedFormat:
    """The text format of a table.

    Attributes:
        escape: put before a quote within a quoted field, and before itself. The same character as ``quote`` doubles
            it, as RFC 4180 has it.
        null: an unquoted field with just this text is NULL; a text that happens to be equal is quoted. The default is
            not empty, so that a reader that does not tell ``""`` from nothing still reads empty texts as such.
        gzip: compress; ``.gz`` is then part of the extension.
        extension: ``csv``, ``tsv``, ``psv``, ...

    Raises:
        ValueError: a separator, quote or escape that the contract does not know, or one (the empty quote and escape)
            with which not every text could be held.
    """

    column_separator: str = ","
    row_separator: str = "\r\n"
    quote: str = '"'
    escape: str = '"'
    null: str = "__NULL__"
    gzip: bool = False
    extension: str = "csv"

    def __post_init__(self) -> None:
        _require_one_of("column separator", self.column_separator, _COLUMN_SEPARATORS)
        _require_one_of("row separator", self.row_separator, _ROW_SEPARATORS)
        _require_one_of("quote character", self.quote, _QUOTES)
        _require_one_of("escape character", self.escape, _ESCAPES)
        if any(special in self.null for special in (self.column_separator, self.quote, self.escape, "\r", "\n")):
            raise ValueError("the text for NULL must not contain a separator, the quote or the escape character")
        if not self.extension.isalnum() or not self.extension.isascii():
            raise ValueError(f"not a file extension: {self.extension!r}; write letters and digits, as in csv")

    @property
    def file_extension(self) -> str:
        """What a landing file's name ends in: ``csv`` or ``csv.gz``."""
        return f"{self.extension}.gz" if self.gzip else self.extension

    @property
    def file_format(self) -> str:
        """``FileFormat`` of the metadata: anything but CSV is called ``DelimitedText``."""
        return "CSV" if self.extension.lower() == "csv" else "DelimitedText"


def contract_type(text: str) -> str:
    """The contract's name of a pinned type, for ``SchemaDefinition``.

    There is none for decimals: they are written as ``String`` in plain notation, so that no digit is lost.

    Raises:
        ValueError: not a pinned type.
    """
    kind = type_from_text(text)
    if pa.types.is_decimal128(kind):
        return "String"
    return _CONTRACT_TYPES[text]


_CONTRACT_TYPES = {
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
}


def _require_one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        listed = ", ".join(repr(one) for one in allowed)
        raise ValueError(f"{value!r} cannot be the {what} of a delimited file; allowed are {listed}")
