"""Rows as delimited text, column by column.

Values read back as they were: each is its canonical text (:mod:`connectors.landing_zone.canonical_text`). A field is
quoted when it is empty, has blanks at an end, equals the text for NULL, or contains a separator, a quote, an escape or
a line break.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connectors.landing_zone.canonical_text import canonical_text
from connectors.landing_zone.delimited_format import ENCODING, DelimitedFormat
from connectors.landing_zone.digest import value_offsets

# The library's type hints know no texts among the arguments.
_kernels: Any = pc


def header(names: Sequence[str], text: DelimitedFormat) -> bytes:
    """The first line, with its row separator."""
    fields = _quoted(pa.array(names, pa.string()), text).to_pylist()
    return (text.column_separator.join(str(field) for field in fields) + text.row_separator).encode(ENCODING)


def lines(rows: pa.RecordBatch, text: DelimitedFormat) -> memoryview:
    """The rows' lines, each with its row separator; 2 GiB of text at most."""
    if not len(rows):
        return memoryview(b"")
    fields = [_quoted(canonical_text(column), text) for column in rows.columns]
    joined = _kernels.binary_join_element_wise(
        *fields, text.column_separator, null_handling="replace", null_replacement=text.null
    )
    ended: pa.Array[Any] = _kernels.binary_join_element_wise(joined, "", text.row_separator)
    offsets = value_offsets(ended)
    body = ended.buffers()[2]
    return memoryview(body or b"")[int(offsets[0]) : int(offsets[-1])]


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
