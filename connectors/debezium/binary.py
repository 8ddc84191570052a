"""Bytes in other dress: base64 and hexadecimal text, bit strings, geometries."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.converted import Bools, Column, Converted, present_cells, with_bad

_BIG_ENDIAN, _LITTLE_ENDIAN = 0, 1
_POINT_TYPE = 1
_NO_LENGTH = 2**31 - 1
_MOST_BITS = 10 * 8 << 20
"""Of a column in PostgreSQL, which has the longest ones. Without a limit a small record could fill the memory."""
_SRID_FLAG = 0x2000_0000
_WKB_HEAD = 5


def bytes_of_base64(array: Column) -> Converted:
    """Bytes of ``binary.handling.mode=base64``; text that is not base64 is a bad row."""
    return _decoded(array, lambda text: base64.b64decode(text, validate=True), "not base64")


def bytes_of_base64_url(array: Column) -> Converted:
    """Bytes of ``binary.handling.mode=base64-url-safe``, with or without padding."""
    return _decoded(
        array, lambda text: base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True), "not base64"
    )


def bytes_of_hex(array: Column) -> Converted:
    """Bytes of ``binary.handling.mode=hex``; text that is not hexadecimal is a bad row."""
    return _decoded(array, binascii.unhexlify, "not hexadecimal")


def bit_strings(array: Column, length: int | None) -> Converted:
    """Text of 0 and 1, most significant bit first, from ``io.debezium.data.Bits``: little-endian bytes.

    Args:
        length: the bits that the column declares, from the schema; a value then has so many digits, since the
            connector leaves out leading zero bytes (and with them the length of a ``bit varying``). ``None``, or
            PostgreSQL's mark for ``bit varying`` without a length: eight digits a byte.

    Rows with bits beyond the length are bad, and so are all of a column with a length that no database has.
    """
    limit = None if length == _NO_LENGTH else length
    if limit is not None and limit > _MOST_BITS:
        nothing = pa.nulls(len(array), pa.string())
        return with_bad(nothing, 0, present_cells(array), f"of a column with more than {_MOST_BITS} bits", array)
    texts: list[str | None] = []
    for cell in array.to_pylist():
        if cell is None:
            texts.append(None)
            continue
        digits = format(int.from_bytes(cell, "little"), "b") if any(cell) else ""
        width = 8 * len(cell) if limit is None else limit
        texts.append(None if len(digits) > width else digits.rjust(width, "0"))
    values = pa.array(texts, type=pa.string())
    bad = present_cells(array) & ~present_cells(values)
    return with_bad(values, 0, bad, f"more than {length} bits", array)


def geometries(array: Column) -> Converted:
    """Well-known binary from structs of ``wkb`` and ``srid``: with an SRID the extended form of PostGIS."""
    return _well_known(array, pc.struct_field(array, "wkb").to_pylist())


def points(array: Column) -> Converted:
    """The same from structs of ``x``, ``y``, ``wkb`` and ``srid``; without ``wkb`` it is built from the coordinates."""
    bodies = [
        wkb if wkb is not None or x is None or y is None else struct.pack("<BIdd", _LITTLE_ENDIAN, _POINT_TYPE, x, y)
        for wkb, x, y in zip(*(pc.struct_field(array, name).to_pylist() for name in ("wkb", "x", "y")), strict=True)
    ]
    return _well_known(array, bodies)


def _well_known(array: Column, bodies: list[bytes | None]) -> Converted:
    present = present_cells(array)
    srids = pc.struct_field(array, "srid").to_pylist()
    cells = [
        _with_srid(body, srid) if body is not None and valid else None
        for body, srid, valid in zip(bodies, srids, present.tolist(), strict=True)
    ]
    values = pa.array(cells, type=pa.binary())
    return with_bad(values, 0, present & ~present_cells(values), "not a well-known binary geometry", array)


def _with_srid(wkb: bytes, srid: int | None) -> bytes | None:
    if len(wkb) < _WKB_HEAD or wkb[0] not in (_BIG_ENDIAN, _LITTLE_ENDIAN):
        return None
    if not srid:
        return wkb
    order = "<" if wkb[0] == _LITTLE_ENDIAN else ">"
    (kind,) = struct.unpack_from(f"{order}I", wkb, 1)
    if kind & _SRID_FLAG:
        return wkb
    return wkb[:1] + struct.pack(f"{order}Ii", kind | _SRID_FLAG, srid) + wkb[_WKB_HEAD:]


def _decoded(array: Column, decode: Callable[[str], bytes], what: str) -> Converted:
    texts = array.to_pylist()
    try:
        return Converted(pa.array([None if text is None else decode(text) for text in texts], type=pa.binary()))
    except ValueError:
        cells = [None if text is None else _decoded_or_none(text, decode) for text in texts]
    values = pa.array(cells, type=pa.binary())
    bad: Bools = present_cells(array) & ~present_cells(values)
    return with_bad(values, 0, bad, what, array)


def _decoded_or_none(text: str, decode: Callable[[str], bytes]) -> bytes | None:
    try:
        return decode(text)
    except ValueError:
        return None
