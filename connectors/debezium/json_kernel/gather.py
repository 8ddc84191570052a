"""Columns of a scan's members, straight into Arrow's buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.json_kernel.scan import Scan, Slot
from connectors.json_errors import DECODE_ERRORS

Given = TypeVar("Given")

_LONGEST_NUMBER = 40


class _Gathered:
    """A member's ``json_column``, its bitmap, and the array that they make."""

    def __init__(self, scan: Scan, slot: Slot) -> None:
        self.scan = scan
        self.valid = np.zeros(_bitmap_size(scan.count), dtype=np.uint8)
        ffi = scan.kernel.ffi
        self._held = ffi.from_buffer("uint8_t[]", self.valid)
        self._pointer = ffi.new("json_column *", (slot.member, slot.parent, slot.required, self._held, 0))

    def call(self, function: Callable[..., Given], *arguments: object) -> Given:
        """What a function of the kernel gives for this column, whose memory lives until it has."""
        return self.scan.texts.call(function, self.scan.cells, self._pointer, *arguments)

    def array(self, kind: pa.DataType, *buffers: npt.NDArray[Any]) -> pa.Array:
        held = [pa.py_buffer(self.valid) if self._pointer.nulls else None, *map(pa.py_buffer, buffers)]
        return pa.Array.from_buffers(kind, self.scan.count, held, self._pointer.nulls)


def integers(scan: Scan, slot: Slot, kind: pa.DataType) -> pa.Array:
    """Integers of 8 to 64 bits; a number that does not fit is handed over."""
    column = _Gathered(scan, slot)
    width = kind.bit_width // 8
    values = np.empty(scan.count, dtype=f"i{width}")
    out = scan.kernel.ffi.from_buffer(values)
    column.call(scan.kernel.lib.json_gather_integers, width, out)
    return column.array(kind, values)


def booleans(scan: Scan, slot: Slot) -> pa.Array:
    column = _Gathered(scan, slot)
    bits = np.zeros(_bitmap_size(scan.count), dtype=np.uint8)
    out = scan.kernel.ffi.from_buffer("uint8_t[]", bits)
    column.call(scan.kernel.lib.json_gather_booleans, out)
    return column.array(pa.bool_(), bits)


def floats(scan: Scan, slot: Slot, kind: pa.DataType) -> pa.Array:
    """Numbers, rounded as they have to be; NaN and the infinities, which are texts, are handed over."""
    column = _Gathered(scan, slot)
    values = np.empty(scan.count, dtype=np.float64)
    slow = np.empty(scan.count, dtype=np.int64)
    buffer = scan.kernel.ffi.from_buffer
    gather = scan.kernel.lib.json_gather_doubles
    left = column.call(gather, buffer("double[]", values), buffer("int64_t[]", slow))
    if left:
        _parse(scan, slot, values, slow[:left])
    return column.array(pa.float64(), values).cast(kind)


def _parse(scan: Scan, slot: Slot, values: npt.NDArray[np.float64], places: npt.NDArray[np.int64]) -> None:
    """The values at ``places`` as Arrow parses them: rounded exactly. What is zero, infinite or long is handed over."""
    numbers = raws(scan, slot).take(pa.array(places))
    plain = np.asarray(pc.fill_null(pc.less_equal(pc.binary_length(numbers), _LONGEST_NUMBER), False))
    scan.status[places[~plain]] = 1
    places = places[plain]
    try:
        parsed = numbers.filter(pa.array(plain)).cast(pa.string()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        # Today's Arrow makes infinity of what is too large; one that refuses it says nothing of which it was.
        scan.status[places] = 1
        return
    scan.status[places[~np.isfinite(parsed) | (parsed == 0)]] = 1
    values[places] = parsed


def texts(scan: Scan, slot: Slot) -> pa.StringArray:
    return _variable(scan, slot, scan.kernel.lib.json_gather_texts, pa.string())


def base64_bytes(scan: Scan, slot: Slot) -> pa.BinaryArray:
    return _variable(scan, slot, scan.kernel.lib.json_gather_base64, pa.binary())


def raws(scan: Scan, slot: Slot) -> pa.BinaryArray:
    """The values as they stand in the records, ``null`` too; null where the member is absent."""
    return _variable(scan, slot, scan.kernel.lib.json_gather_raw, pa.binary())


def _variable(scan: Scan, slot: Slot, gather: Callable[..., int], kind: pa.DataType) -> pa.Array:
    column = _Gathered(scan, slot)
    offsets = np.empty(scan.count + 1, dtype=np.int32)
    room = int(scan.sizes[slot.member])
    out = np.empty(room, dtype=np.uint8)
    buffer = scan.kernel.ffi.from_buffer
    used = column.call(gather, buffer("int32_t[]", offsets), buffer("uint8_t[]", out), room)
    return column.array(kind, offsets, out[:used])


def letters(scan: Scan, slot: Slot) -> str:
    """Texts of one character each, all in one; ``?`` for one that is handed over."""
    column = _Gathered(scan, slot)
    out = np.empty(scan.count, dtype=np.uint8)
    column.call(scan.kernel.lib.json_gather_letters, scan.kernel.ffi.from_buffer("uint8_t[]", out))
    return out.tobytes().decode("ascii")


def expect(scan: Scan, slot: Slot, text: str) -> None:
    """Hands over the records in which the member is there and is not this text."""
    value = b'"' + text.encode() + b'"'
    _Gathered(scan, slot).call(scan.kernel.lib.json_expect, value, len(value))


def decoded(scan: Scan, slot: Slot, decoder: msgspec.json.Decoder[Any]) -> list[Any]:
    """The values as ``decoder`` has them, ``None`` where the member is absent; what it refuses is handed over."""
    return [_decoded(scan, place, raw, decoder) for place, raw in enumerate(raws(scan, slot).to_pylist())]


def repeated(scan: Scan, slot: Slot, decoder: msgspec.json.Decoder[Any]) -> list[Any]:
    """The same where all records have one value, which is decoded once."""
    good = np.flatnonzero(scan.status == 0)
    if not len(good):
        return [None] * scan.count
    first = int(good[0])
    raw = scan.text(slot, first)
    value = _decoded(scan, first, raw, decoder)
    if scan.status[first] or (raw is None and slot.required):
        scan.status[good] = 1
    return [value] * scan.count


def _decoded(scan: Scan, place: int, raw: bytes | None, decoder: msgspec.json.Decoder[Any]) -> object:
    if raw is None:
        return None
    try:
        return decoder.decode(raw)
    except DECODE_ERRORS:
        scan.status[place] = 1
        return None


def _bitmap_size(count: int) -> int:
    return (count + 7) // 8
