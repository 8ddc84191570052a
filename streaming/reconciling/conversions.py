"""Columns of a database's text, and of landed values, as columns that can be compared.

Whole columns where Arrow can; the rest one cell at a time. A cell that has no counterpart on the other side is bad, and
equals nothing (:class:`connectors.debezium.converted.Converted`).
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium import binary, decimals
from connectors.debezium.converted import Column, Converted, with_bad
from connectors.source_database.catalog import SourceColumn
from connectors.source_database.location import DatabaseKind

Convert = Callable[[Column], Converted]
Spell = Callable[[Any], Any]

LOCAL = pa.timestamp("us")
"""Type in which timestamps are compared, with and without a zone."""

_SRID_BYTES = 4
_ZERO_DATE = r"^(0000-|\d{4}-00|\d{4}-\d\d-00)"


def kept(array: Column) -> Converted:
    """The cells as they are."""
    return Converted(array)


def cast_to(kind: pa.DataType) -> Convert:
    """Each cell cast; those that do not fit are bad."""

    def convert(array: Column) -> Converted:
        try:
            return Converted(array.cast(kind))
        except pa.ArrowInvalid:
            return _one_by_one(array, lambda cell: pa.scalar(cell).cast(kind).as_py(), kind)

    return convert


def without_zone(array: Column) -> Converted:
    """Instants as the clock in UTC shows them."""
    return Converted(array.cast(pa.int64()).cast(LOCAL))


def six_digits(array: Column) -> Converted:
    """Floats with the six digits that MySQL's text of them has."""
    cells = array.cast(pa.float64()).to_pylist()
    return Converted(pa.array([None if cell is None else float(f"{cell:.6g}") for cell in cells], pa.float64()))


def decimals_of(kind: pa.Decimal128Type) -> Convert:
    """Text as decimals; NaN and infinity are NULL, as Debezium sends them."""

    def convert(array: Column) -> Converted:
        special: Any = pc.match_substring_regex(array, "(?i)nan|inf")
        if pc.any(special).as_py():
            array = pc.if_else(special, pa.scalar(None, pa.string()), array)
        return decimals.decimals_of_text(array, kind.precision, kind.scale)

    return convert


def spelled(spell: Spell, kind: pa.DataType | None = None) -> Convert:
    """Each cell spelled; those that have no spelling are bad."""
    return lambda array: _one_by_one(array, spell, pa.string() if kind is None else kind)


def _one_by_one(array: Column, spell: Spell, kind: pa.DataType) -> Converted:
    """Each cell's spelling; cells that have none are bad, and so equal nothing."""
    values: list[object] = []
    bad = np.zeros(len(array), dtype=np.bool_)
    for row, cell in enumerate(array.to_pylist()):
        try:
            values.append(None if cell is None else spell(cell))
        except (ValueError, ArithmeticError):
            bad[row] = True
            values.append(None)
    return with_bad(pa.array(values, kind), 0, bad, "not of its column's type", array)


def truth(cell: str | bytes) -> bool:
    """Of a bit, PostgreSQL's ``t`` or ``f``, or a number."""
    if isinstance(cell, bytes):
        return any(cell)
    if cell in ("t", "f"):
        return cell == "t"
    return int(cell) != 0


def bits(cell: str | bytes) -> int:
    """The number that a bit string stands for: MySQL's big-endian bytes, PostgreSQL's digits."""
    return int.from_bytes(cell, "big") if isinstance(cell, bytes) else int(cell, 2)


def source_bytes(kind: DatabaseKind, spell: Callable[[bytes], object]) -> Convert:
    """Bytes as the database writes them, each spelled."""
    result = pa.binary() if spell is bytes else pa.string()
    if kind is DatabaseKind.MYSQL:
        return spelled(lambda cell: spell(cell if isinstance(cell, bytes) else cell.encode()), result)
    return spelled(lambda text: spell(bytes.fromhex(text.removeprefix("\\x"))), result)


def base64_text(value: bytes) -> str:
    """The usual base64 with padding."""
    return base64.b64encode(value).decode()


def encoded_bytes(mode: str | None) -> Convert:
    """Text of ``binary.handling.mode`` as base64.

    Args:
        mode: ``base64``, ``base64-url-safe`` or ``hex``; None takes hexadecimal where all of the values look so.
    """

    def convert(array: Column) -> Converted:
        if mode == "hex" or (mode is None and _looks_hexadecimal(array)):
            decoded = binary.bytes_of_hex(array)
        else:
            decoded = binary.bytes_of_base64_url(pc.replace_substring(pc.replace_substring(array, "+", "-"), "/", "_"))
        bad = np.zeros(len(array), dtype=np.bool_)
        bad[decoded.bad] = True
        texts = [None if cell is None else base64_text(cell) for cell in decoded.values.to_pylist()]
        return with_bad(pa.array(texts, pa.string()), 0, bad, "neither base64 nor hexadecimal", array)

    return convert


def _looks_hexadecimal(array: Column) -> bool:
    cells = [cell for cell in array.to_pylist() if cell is not None]
    return all(len(cell) % 2 == 0 and re.fullmatch("[0-9a-f]*", cell) for cell in cells)


def point(text: str) -> bytes:
    """Well-known binary of PostgreSQL's ``(x,y)``."""
    x, y = (float(part) for part in text.strip("()").split(","))
    return struct.pack("<BIdd", 1, 1, x, y)


def mysql_geometries(array: Column) -> Converted:
    """MySQL writes the SRID, little-endian, before well-known binary."""
    cells = [None if cell is None else (cell[_SRID_BYTES:], cell[:_SRID_BYTES]) for cell in array.to_pylist()]
    structs = pa.array(
        [None if cell is None else {"wkb": cell[0], "srid": int.from_bytes(cell[1], "little")} for cell in cells],
        pa.struct([("wkb", pa.binary()), ("srid", pa.int32())]),
    )
    return binary.geometries(structs)


def without_zero_dates(kind: DatabaseKind, epoch: str, column: SourceColumn) -> Callable[[Column], Column]:
    """MySQL's zero dates as Debezium sends them: NULL, or 1970 where the column has no NULL."""
    if kind is DatabaseKind.POSTGRESQL:
        return lambda array: array
    instead = None if column.nullable else epoch

    def convert(array: Column) -> Column:
        zero: Any = pc.match_substring_regex(array, _ZERO_DATE)
        replaced: Column = pc.if_else(zero, pa.scalar(instead, pa.string()), array)
        return replaced

    return convert
