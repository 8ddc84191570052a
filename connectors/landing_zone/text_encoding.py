"""Rows as delimited text, column by column.

Values read back as they were: numbers and decimals in plain notation with all their digits, dates as ``yyyy-MM-dd``,
timestamps as ``yyyy-MM-ddTHH:mm:ss.ffffff`` with a ``Z`` where they are UTC, booleans as ``true`` and ``false``, bytes
in Base64, not-a-number and the infinities as ``NaN``, ``Infinity``, ``-Infinity``. A field is quoted when it is empty,
has blanks at an end, equals the text for NULL, or contains a separator, a quote, an escape or a line break.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connectors.landing_zone.delimited_format import ENCODING, DelimitedFormat
from connectors.landing_zone.digest import value_offsets

# The library's type hints know no texts among the arguments.
_kernels: Any = pc

_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def header(names: Sequence[str], text: DelimitedFormat) -> bytes:
    """The first line, with its row separator."""
    fields = _quoted(pa.array(names, pa.string()), text).to_pylist()
    return (text.column_separator.join(str(field) for field in fields) + text.row_separator).encode(ENCODING)


def lines(rows: pa.RecordBatch, text: DelimitedFormat) -> memoryview:
    """The rows' lines, each with its row separator; 2 GiB of text at most."""
    if not len(rows):
        return memoryview(b"")
    fields = [_quoted(_plain(column), text) for column in rows.columns]
    joined = _kernels.binary_join_element_wise(
        *fields, text.column_separator, null_handling="replace", null_replacement=text.null
    )
    ended: pa.Array[Any] = _kernels.binary_join_element_wise(joined, "", text.row_separator)
    offsets = value_offsets(ended)
    body = ended.buffers()[2]
    return memoryview(body or b"")[int(offsets[0]) : int(offsets[-1])]


def _plain(column: pa.Array[Any]) -> pa.Array[Any]:
    """The values' text before quoting; nulls stay null."""
    kind = column.type
    if pa.types.is_string(kind):
        return column
    if pa.types.is_binary(kind):
        return pa.array(
            [
                None if value is None else binascii.b2a_base64(value, newline=False).decode()
                for value in _values(column)
            ],
            pa.string(),
        )
    if pa.types.is_decimal(kind):
        return pa.array([None if value is None else format(value, "f") for value in _values(column)], pa.string())
    if pa.types.is_timestamp(kind):
        return _timestamps(column)
    cast: pa.Array[Any] = column.cast(pa.string())
    if pa.types.is_floating(kind):
        for arrow, contract in _NOT_FINITE.items():
            cast = _kernels.if_else(_kernels.equal(cast, arrow), contract, cast)
    return cast


def _timestamps(column: pa.Array[Any]) -> pa.Array[Any]:
    text: pa.Array[Any] = _kernels.replace_substring(column.cast(pa.timestamp("us")).cast(pa.string()), " ", "T")
    if column.type.tz is None:
        return text
    zoned: pa.Array[Any] = _kernels.binary_join_element_wise(text, "Z", "")
    return zoned


def _quoted(fields: pa.Array[Any], text: DelimitedFormat) -> pa.Array[Any]:
    special = re.escape(f"{text.column_separator}{text.quote}{text.escape}")
    needed = _kernels.or_(
        _kernels.match_substring_regex(fields, rf"^$|^\s|\s$|[\r\n{special}]"),
        _kernels.equal(fields, text.null),
    )
    if not _kernels.any(needed).as_py():
        return fields
    escaped = fields
    if text.escape != text.quote:
        escaped = _kernels.replace_substring(escaped, text.escape, text.escape * 2)
    escaped = _kernels.replace_substring(escaped, text.quote, text.escape + text.quote)
    quoted: pa.Array[Any] = _kernels.if_else(
        needed, _kernels.binary_join_element_wise(text.quote, escaped, text.quote, ""), fields
    )
    return quoted


def _values(column: pa.Array[Any]) -> list[Any]:
    values: list[Any] = column.to_pylist()
    return values
