"""Decimals: unscaled big-endian bytes, or digits as text.

In ``decimal.handling.mode=precise`` a value is the two's complement of its unscaled integer, big-endian and of any
length, with the scale in the schema (Connect ``Decimal``) or beside it (``VariableScaleDecimal``). Up to 16 bytes are
converted as columns; anything longer one by one. A value with more digits than its schema promises is a bad row under
every range rule: no neighbouring value would be true.
"""

from __future__ import annotations

import decimal
import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.converted import Bools, Column, Converted, present_cells, with_bad

UInt64s = npt.NDArray[np.uint64]

# Digits before and after the point that PostgreSQL's numeric can have, the widest decimal of any source, with room.
_MOST_DIGITS = 200_000
_SPECIAL = {"nan", "infinity", "-infinity", "positive_infinity", "negative_infinity"}
_DIGITS = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,9})?", re.ASCII)
_EXACT = decimal.Context(prec=60, traps=[decimal.Inexact, decimal.InvalidOperation])
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_TWO_WORDS = 16


def fixed_decimals(array: Column, precision: int, scale: int) -> Converted:
    """``decimal128(precision, scale)`` from a binary (or fixed-size binary) array of unscaled integers."""
    if array.type != pa.binary():
        array = array.cast(pa.binary())
    present = present_cells(array)
    starts, ends, content = _binary_cells(array)
    lengths = np.where(present, ends - starts, 0)
    low, high = _sign_extended(content, np.where(present, ends, 0), np.minimum(lengths, _TWO_WORDS))
    bad = present & ((lengths == 0) | _exceeds(low, high, 10**precision))
    for row in np.flatnonzero(lengths > _TWO_WORDS):
        number = int.from_bytes(array[int(row)].as_py(), "big", signed=True)
        bad[row] = abs(number) >= 10**precision
        low[row], high[row] = number & (2**64 - 1), number >> 64 & (2**64 - 1)
    words = np.empty((len(array), 2), dtype="<u8")
    words[:, 0], words[:, 1] = low, high
    good = present & ~bad
    validity = None if bool(good.all()) else pa.py_buffer(np.packbits(good, bitorder="little").tobytes())
    kind = pa.decimal128(precision, scale)
    values = pa.Array.from_buffers(kind, len(array), [validity, pa.py_buffer(words.tobytes())])
    return with_bad(values, 0, bad, f"decimal with more than {precision} digits", array)


def plain_decimals(array: Column, scale: int) -> Converted:
    """Text in plain notation (``-0.0012``) from a binary array of unscaled integers of one scale."""
    texts = [None if unscaled is None else _plain(unscaled, scale) for unscaled in array.cast(pa.binary()).to_pylist()]
    return _texts(texts, array)


def variable_decimals(array: Column) -> Converted:
    """Text in plain notation from structs of ``scale`` and ``value``; a struct without either is a bad row."""
    texts: list[str | None] = []
    for scale, unscaled in zip(*(pc.struct_field(array, part).to_pylist() for part in ("scale", "value")), strict=True):
        texts.append(None if scale is None or unscaled is None else _plain(unscaled, scale))
    valid = present_cells(array)
    if not valid.all():
        texts = [text if kept else None for text, kept in zip(texts, valid.tolist(), strict=True)]
    return _texts(texts, array)


def decimals_of_text(array: Column, precision: int, scale: int) -> Converted:
    """``decimal128(precision, scale)`` from digits, with or without exponent.

    Text with more digits than that, and NaN or infinity, are bad rows.
    """
    kind = pa.decimal128(precision, scale)
    try:
        return Converted(array.cast(kind))
    except pa.ArrowInvalid:
        numbers = [None if text is None else _fitting(text, precision, scale) for text in array.to_pylist()]
    values = pa.array(numbers, type=kind)
    what = f"not a decimal of {precision} digits, {scale} of them after the point"
    return with_bad(values, 0, present_cells(array) & ~present_cells(values), what, array)


def plain_decimals_of_text(array: Column) -> Converted:
    """Text in plain notation from digits, with or without exponent; NaN and infinity stay as the source wrote them."""
    return _texts([None if text is None else _plain_of_text(text) for text in array.to_pylist()], array)


def _texts(texts: list[str | None], array: Column) -> Converted:
    values = pa.array(texts, type=pa.string())
    return with_bad(values, 0, present_cells(array) & ~present_cells(values), "not a decimal", array)


def _binary_cells(array: Column) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], bytes | memoryview]:
    """Start and end of each cell in the content that the array shares with its parent."""
    _, offsets, content = array.buffers()
    if offsets is None or len(array) == 0:
        nothing = np.zeros(len(array), dtype=np.int64)
        return nothing, nothing, b""
    stored = np.frombuffer(memoryview(offsets), dtype=np.int32, count=array.offset + len(array) + 1)[array.offset :]
    first, last = int(stored[0]), int(stored[-1])
    bounds = stored.astype(np.int64) - first
    return bounds[:-1], bounds[1:], b"" if content is None else memoryview(content)[first:last]


def _sign_extended(
    content: bytes | memoryview, ends: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> tuple[UInt64s, UInt64s]:
    """Low and high word of 128-bit two's complements; of each cell, the last ``lengths`` (at most 16) bytes count.

    Reads the eight bytes before each end (and the eight before those) as one number, whatever lies there, and shifts
    out what belongs to the neighbour.
    """
    padded = np.frombuffer(bytes(_TWO_WORDS) + bytes(content), dtype=np.uint8)
    words: npt.NDArray[np.int64] = np.ndarray(len(padded) - 7, dtype=">i8", buffer=padded, strides=(1,))

    def word(distance: int, used: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        shift = 64 - 8 * np.clip(used, 1, 8)
        taken = words[ends + (_TWO_WORDS - distance)].astype(np.int64)
        return np.where(used > 0, taken << shift >> shift, 0)

    low = word(8, lengths)
    if len(lengths) == 0 or lengths.max() <= 8:
        return low.view(np.uint64), (low >> 63).view(np.uint64)
    high = np.where(lengths > 8, word(16, lengths - 8), low >> 63)
    return low.view(np.uint64), high.view(np.uint64)


def _exceeds(low: UInt64s, high: UInt64s, bound: int) -> Bools:
    """Cells whose magnitude reaches the bound (at most 10**38)."""
    negative = high >> np.uint64(63) == _ONE
    magnitude_low = np.where(negative, ~low + _ONE, low)
    carry = (negative & (magnitude_low == _ZERO)).astype(np.uint64)
    magnitude_high = np.where(negative, ~high + carry, high)
    bound_high, bound_low = np.uint64(bound >> 64), np.uint64(bound & (2**64 - 1))
    exceeds: Bools = (magnitude_high > bound_high) | ((magnitude_high == bound_high) & (magnitude_low >= bound_low))
    return exceeds


def _plain(unscaled: bytes, scale: int) -> str | None:
    if not unscaled or abs(scale) > _MOST_DIGITS:
        return None
    number = int.from_bytes(unscaled, "big", signed=True)
    # decimal knows no limit on digits, int's own conversion does.
    digits = str(abs(number)) if len(unscaled) < 1000 else str(decimal.Decimal(abs(number)))
    sign = "-" if number < 0 else ""
    if scale <= 0:
        return sign + (digits + "0" * -scale if number else "0")
    digits = digits.rjust(scale + 1, "0")
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}"


def _number(text: str) -> decimal.Decimal | None:
    if _DIGITS.fullmatch(text) is None:
        return None
    number = decimal.Decimal(text)
    exponent = number.as_tuple().exponent
    return number if isinstance(exponent, int) and abs(exponent) <= _MOST_DIGITS else None


def _plain_of_text(text: str) -> str | None:
    if text.lower() in _SPECIAL:
        return text
    number = _number(text)
    return None if number is None else format(number, "f")


def _fitting(text: str, precision: int, scale: int) -> decimal.Decimal | None:
    number = _number(text)
    if number is None or (number and number.adjusted() >= precision - scale):
        return None
    try:
        return number.quantize(decimal.Decimal((0, (1,), -scale)), context=_EXACT)
    except decimal.Inexact:
        return None
