"""The pinned schema of a landing-zone table and how it may change.

A type that differs between two files of one table stops its mirroring, and a missing nullable column is filled with
NULL (landing-zone format, "Table columns and column operations"; best practices, "Schema changes"). So a table's
columns are pinned in the ledger, only ever added to, and never inferred from a batch.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import NewType

import msgspec
import pyarrow as pa

PinnedFingerprint = NewType("PinnedFingerprint", str)


@dataclass(frozen=True)
class PinnedColumn:
    """One column of a landing file.

    Attributes:
        name: as in the file, the metadata and the mirrored table.
        source: the name of the source's field.
        type: Arrow type as text, see :func:`type_from_text`: ``int64``, ``decimal128(10,2)``, ``timestamp[us,UTC]``.
        key: True for a key column: required; all others are nullable.
    """

    name: str
    source: str
    type: str
    key: bool = False


@dataclass(frozen=True)
class PinnedSchema:
    """A table's columns in file order, without ``__rowMarker__``."""

    columns: tuple[PinnedColumn, ...]

    @cached_property
    def fingerprint(self) -> PinnedFingerprint:
        """32 hexadecimal digits; equal for equal schemas everywhere."""
        return PinnedFingerprint(hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:32])

    @property
    def key_columns(self) -> tuple[str, ...]:
        """Names of the key columns as in the files, in file order."""
        return tuple(column.name for column in self.columns if column.key)

    def arrow(self) -> pa.Schema:
        """The Arrow schema of a file without row markers: key columns required, all others nullable."""
        return self._arrow

    @cached_property
    def _arrow(self) -> pa.Schema:
        return pa.schema(
            [pa.field(column.name, type_from_text(column.type), nullable=not column.key) for column in self.columns]
        )


_SIMPLE: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date32": pa.date32(),
    "timestamp[us]": pa.timestamp("us"),
    "timestamp[us,UTC]": pa.timestamp("us", tz="UTC"),
}
_TEXTS = {kind: text for text, kind in _SIMPLE.items()}
_OF_TEXTS = frozenset({pa.string().id, pa.binary().id})


def type_from_text(text: str) -> pa.DataType:
    """The Arrow type of a pinned type's text.

    Raises:
        ValueError: not one of the types that a landing file may hold.
    """
    if text in _SIMPLE:
        return _SIMPLE[text]
    if text.startswith("decimal128(") and text.endswith(")"):
        precision, scale = text[len("decimal128(") : -1].split(",")
        return pa.decimal128(int(precision), int(scale))
    raise ValueError(f"not a landing-file type: {text!r}")


def type_to_text(kind: pa.DataType) -> str:
    """The text of an Arrow type, as :func:`type_from_text` reads it.

    Raises:
        ValueError: not one of the types that a landing file may hold.
    """
    if pa.types.is_decimal128(kind):
        return f"decimal128({kind.precision},{kind.scale})"
    if (text := _TEXTS.get(kind)) is not None:
        return text
    raise ValueError(f"not a landing-file type: {kind}")


def is_text(kind: pa.DataType) -> bool:
    """Whether the values of a landing-file type vary in length: strings and binaries."""
    return kind.id in _OF_TEXTS
