"""A value's one text: exact, and read back as the value that it was.

Whole numbers and decimals are plain notation with all their digits (a decimal keeps its scale), floats the shortest
digits that read back, dates ``yyyy-MM-dd``, timestamps ``yyyy-MM-ddTHH:mm:ss.ffffff`` with a ``Z`` where they are UTC,
booleans ``true`` and ``false``, bytes Base64, not-a-number and the infinities ``NaN``, ``Infinity``, ``-Infinity``.
Text is itself. It is what delimited files hold and what a text column holds of a column that changed its type.
"""

from __future__ import annotations

import binascii
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# The library's type hints know no texts among the arguments.
_kernels: Any = pc

_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def canonical_text(column: pa.Array[Any]) -> pa.Array[Any]:
    """The texts (``string``) of values of any landing-file type; NULL stays NULL."""
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


def from_canonical_text(texts: pa.Array[Any], kind: pa.DataType) -> pa.Array[Any]:
    """The values of ``kind`` that have these texts; NULL where a text is not the canonical one of any.

    Args:
        texts: ``string``.
        kind: any landing-file type.
    """
    if pa.types.is_string(kind):
        return texts
    parsed = _parsed(_values(texts), kind)
    back = canonical_text(parsed)
    missing = pa.scalar(None, kind)
    kept: pa.Array[Any] = _kernels.if_else(_kernels.fill_null(_kernels.equal(back, texts), False), parsed, missing)
    return kept


def _parsed(texts: list[str | None], kind: pa.DataType) -> pa.Array[Any]:
    """The values that the texts have, if they have any: what is too lenient shows when they are written again."""
    if pa.types.is_binary(kind):
        return pa.array([_bytes(text) for text in texts], kind)
    try:
        return pa.array(texts, pa.string()).cast(kind)
    except pa.ArrowInvalid:
        if len(texts) == 1:
            return pa.nulls(1, kind)
    half = len(texts) // 2
    return pa.concat_arrays([_parsed(texts[:half], kind), _parsed(texts[half:], kind)])


def _bytes(text: str | None) -> bytes | None:
    try:
        return None if text is None else binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        return None


def _timestamps(column: pa.Array[Any]) -> pa.Array[Any]:
    text: pa.Array[Any] = _kernels.replace_substring(column.cast(pa.timestamp("us")).cast(pa.string()), " ", "T")
    if column.type.tz is None:
        return text
    zoned: pa.Array[Any] = _kernels.binary_join_element_wise(text, "Z", "")
    return zoned


def _values(column: pa.Array[Any]) -> list[Any]:
    values: list[Any] = column.to_pylist()
    return values
