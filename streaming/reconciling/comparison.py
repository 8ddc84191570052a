"""How a column of the database is compared with its landed column: both are brought to one type and one spelling.

The landed side has the type that the bridge has pinned for it, whatever handling mode the connector was in; the
database's side is its own text. So the pair of the two says which rule holds (:mod:`connectors.debezium.types` has the
bridge's mapping).
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium import binary, decimals, iso_text
from connectors.debezium.converted import Column, Converted, with_bad
from connectors.debezium.options import OutOfRange
from connectors.source_database.catalog import SourceColumn
from connectors.source_database.column_types import SourceType
from connectors.source_database.location import DatabaseKind
from streaming.reconciling import spelling

Convert = Callable[[Column], Converted]
Spell = Callable[[Any], Any]

_UNSIGNED = pa.decimal128(20, 0)
_LOCAL = pa.timestamp("us")
_EWKB_HEAD = 4
_ZERO_DATE = re.compile(r"0000-|\d{4}-00|\d{4}-\d\d-00")


@dataclass(frozen=True)
class Comparison:
    """The rule of one column.

    Attributes:
        type: Arrow type of both sides after conversion.
        of_source: from what the database wrote (``string``, or ``binary`` where it sends bytes); cells that no landed
            value can equal are bad.
        of_landed: from the pinned type.
    """

    type: pa.DataType
    of_source: Convert
    of_landed: Convert


def comparison(
    kind: DatabaseKind, column: SourceColumn, pinned: pa.DataType, rule: OutOfRange = OutOfRange.CLAMP
) -> Comparison | None:
    """The rule for a column, or None when none is known for this pair of types.

    Args:
        rule: what the bridge does with dates and timestamps that a landing file cannot hold.
    """
    family = column.type.family
    if pa.types.is_string(pinned):
        return _landed_text(kind, column)
    if pa.types.is_binary(pinned):
        return _landed_bytes(kind, family, column.type.length)
    if pa.types.is_date32(pinned):
        return _landed_date(kind, column, rule)
    if pa.types.is_timestamp(pinned):
        return _landed_timestamp(kind, column, rule)
    return _landed_number(kind, family, pinned)


def _landed_number(kind: DatabaseKind, family: SourceType, pinned: pa.DataType) -> Comparison | None:
    integers = family in (SourceType.INTEGER, SourceType.YEAR)
    if pa.types.is_boolean(pinned) and family in (SourceType.BOOLEAN, SourceType.BITS, SourceType.INTEGER):
        return Comparison(pinned, _spelled(_truth, pinned), _kept)
    if pa.types.is_integer(pinned):
        if family is SourceType.INTERVAL:
            return Comparison(pa.int64(), _spelled(spelling.interval_micros, pa.int64()), _as(pa.int64()))
        if family is SourceType.UNSIGNED_BIGINT:
            return Comparison(_UNSIGNED, _as(_UNSIGNED), _as(_UNSIGNED))
        if integers or family in (SourceType.BOOLEAN, SourceType.BITS):
            convert = _as(pa.int64()) if integers else _spelled(lambda cell: int(_truth(cell)), pa.int64())
            return Comparison(pa.int64(), convert, _as(pa.int64()))
        return None
    numbers = integers or family in (SourceType.NUMERIC, SourceType.MONEY, SourceType.UNSIGNED_BIGINT)
    if pa.types.is_floating(pinned):
        if family is SourceType.FLOAT32 and kind is DatabaseKind.MYSQL:
            # A snapshot has six digits of it, the stream all.
            return Comparison(pa.float64(), _six_digits, _six_digits)
        if family in (SourceType.FLOAT32, SourceType.FLOAT64) or numbers:
            return Comparison(pinned, _floats(pinned), _kept)
        return None
    if isinstance(pinned, pa.Decimal128Type) and numbers:
        return Comparison(pinned, _decimals(pinned), _kept)
    return None


def _landed_text(kind: DatabaseKind, column: SourceColumn) -> Comparison | None:
    text = pa.string()
    match column.type.family:
        case SourceType.TEXT:
            return Comparison(text, _kept, _kept)
        case SourceType.JSON:
            return _both(spelling.parsed_json)
        case SourceType.NUMERIC | SourceType.MONEY | SourceType.INTEGER | SourceType.UNSIGNED_BIGINT:
            return _both(spelling.decimal)
        case SourceType.TIME:
            return _both(spelling.clock)
        case SourceType.ZONED_TIME:
            return _both(spelling.clock_in_utc)
        case SourceType.INTERVAL:
            return _both(spelling.interval)
        case SourceType.HSTORE:
            return Comparison(text, _spelled(spelling.json_of_hstore), _spelled(spelling.parsed_json))
        case SourceType.ARRAY:
            return _arrays(column.type.element)
        case SourceType.BITS | SourceType.VARYING_BITS:
            return _bit_texts(kind, column)
        case SourceType.BYTES:
            return Comparison(text, _source_bytes(kind, _base64), _encoded_bytes)
        case _:
            return None


def _landed_bytes(kind: DatabaseKind, family: SourceType, length: int | None) -> Comparison | None:
    bytes_ = pa.binary()
    match family:
        case SourceType.BYTES:
            return Comparison(bytes_, _source_bytes(kind, bytes), _kept)
        case SourceType.BITS if length is not None:
            size = -(-length // 8)
            return Comparison(bytes_, _spelled(lambda cell: _bits(cell).to_bytes(size, "little"), bytes_), _kept)
        case SourceType.POINT:
            return Comparison(bytes_, _spelled(_point, bytes_), _kept)
        case SourceType.GEOMETRY if kind is DatabaseKind.MYSQL:
            return Comparison(bytes_, _mysql_geometries, _kept)
        case SourceType.GEOMETRY:
            return Comparison(bytes_, _spelled(bytes.fromhex, bytes_), _kept)
        case _:
            return None


def _landed_date(kind: DatabaseKind, column: SourceColumn, rule: OutOfRange) -> Comparison | None:
    if column.type.family is not SourceType.DATE:
        return None
    without_zeros = _without_zero_dates(kind, "1970-01-01", column)
    return Comparison(pa.date32(), lambda array: iso_text.iso_dates(without_zeros(array), rule), _kept)


def _landed_timestamp(kind: DatabaseKind, column: SourceColumn, rule: OutOfRange) -> Comparison | None:
    if column.type.family not in (SourceType.TIMESTAMP, SourceType.INSTANT):
        return None
    without_zeros = _without_zero_dates(kind, "1970-01-01 00:00:00", column)

    def of_source(array: Column) -> Converted:
        # Sessions are in UTC: PostgreSQL writes the offset, which is always the same, MySQL leaves it out.
        local: Any = pc.replace_substring_regex(without_zeros(array), r"\+00( BC)?$", r"\1")
        return iso_text.local_timestamps(local, rule)

    return Comparison(_LOCAL, of_source, _as_local)


def _both(spell: Spell) -> Comparison:
    return Comparison(pa.string(), _spelled(spell), _spelled(spell))


def _arrays(element: SourceType | None) -> Comparison | None:
    kinds: dict[SourceType, type[int] | type[float] | type[bool] | type[str]] = {
        SourceType.INTEGER: int,
        SourceType.FLOAT32: float,
        SourceType.FLOAT64: float,
        SourceType.BOOLEAN: bool,
        SourceType.TEXT: str,
    }
    if element not in kinds:
        return None
    kind = kinds[element]
    if element is SourceType.FLOAT32:
        return Comparison(
            pa.string(),
            _spelled(lambda text: spelling.json_of_array(text, kind)),
            _spelled(spelling.json_of_floats),
        )
    return Comparison(
        pa.string(), _spelled(lambda text: spelling.json_of_array(text, kind)), _spelled(spelling.parsed_json)
    )


def _bit_texts(kind: DatabaseKind, column: SourceColumn) -> Comparison:
    if column.type.family is SourceType.VARYING_BITS:
        # As many digits land as fill the bytes.
        return _both(lambda text: text.lstrip("0"))
    if kind is DatabaseKind.POSTGRESQL:
        return Comparison(pa.string(), _kept, _kept)
    width = column.type.length or 1
    return Comparison(pa.string(), _spelled(lambda cell: format(_bits(cell), "b").zfill(width)), _kept)


def _kept(array: Column) -> Converted:
    return Converted(array)


def _as(kind: pa.DataType) -> Convert:
    def convert(array: Column) -> Converted:
        try:
            return Converted(array.cast(kind))
        except pa.ArrowInvalid:
            return _one_by_one(array, lambda cell: pa.scalar(cell).cast(kind).as_py(), kind)

    return convert


def _as_local(array: Column) -> Converted:
    return Converted(array.cast(pa.int64()).cast(_LOCAL))


def _floats(kind: pa.DataType) -> Convert:
    return _as(kind)


def _six_digits(array: Column) -> Converted:
    cells = array.cast(pa.float64()).to_pylist()
    return Converted(pa.array([None if cell is None else float(f"{cell:.6g}") for cell in cells], pa.float64()))


def _decimals(kind: pa.Decimal128Type) -> Convert:
    def convert(array: Column) -> Converted:
        special: Any = pc.match_substring_regex(array, "(?i)nan|inf")
        if pc.any(special).as_py():
            array = pc.if_else(special, pa.scalar(None, pa.string()), array)
        return decimals.decimals_of_text(array, kind.precision, kind.scale)

    return convert


def _spelled(spell: Spell, kind: pa.DataType | None = None) -> Convert:
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


def _truth(cell: str | bytes) -> bool:
    if isinstance(cell, bytes):
        return any(cell)
    if cell in ("t", "f"):
        return cell == "t"
    return int(cell) != 0


def _bits(cell: str | bytes) -> int:
    return int.from_bytes(cell, "big") if isinstance(cell, bytes) else int(cell, 2)


def _source_bytes(kind: DatabaseKind, spell: Callable[[bytes], object]) -> Convert:
    result = pa.binary() if spell is bytes else pa.string()
    if kind is DatabaseKind.MYSQL:
        return _spelled(lambda cell: spell(cell if isinstance(cell, bytes) else cell.encode()), result)
    return _spelled(lambda text: spell(bytes.fromhex(text.removeprefix("\\x"))), result)


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _encoded_bytes(array: Column) -> Converted:
    """Text of ``binary.handling.mode`` as base64: nothing but the values themselves says which mode it is."""
    cells = [cell for cell in array.to_pylist() if cell is not None]
    if all(len(cell) % 2 == 0 and re.fullmatch("[0-9a-f]*", cell) for cell in cells):
        decoded = binary.bytes_of_hex(array)
    else:
        decoded = binary.bytes_of_base64_url(pc.replace_substring(pc.replace_substring(array, "+", "-"), "/", "_"))
    bad = np.zeros(len(array), dtype=np.bool_)
    bad[decoded.bad] = True
    spelled = pa.array([None if cell is None else _base64(cell) for cell in decoded.values.to_pylist()], pa.string())
    return with_bad(spelled, 0, bad, "neither base64 nor hexadecimal", array)


def _point(text: str) -> bytes:
    x, y = (float(part) for part in text.strip("()").split(","))
    return struct.pack("<BIdd", 1, 1, x, y)


def _mysql_geometries(array: Column) -> Converted:
    """MySQL writes the SRID, little-endian, before well-known binary."""
    cells = [None if cell is None else (cell[_EWKB_HEAD:], cell[:_EWKB_HEAD]) for cell in array.to_pylist()]
    structs = pa.array(
        [None if cell is None else {"wkb": cell[0], "srid": int.from_bytes(cell[1], "little")} for cell in cells],
        pa.struct([("wkb", pa.binary()), ("srid", pa.int32())]),
    )
    return binary.geometries(structs)


def _without_zero_dates(kind: DatabaseKind, epoch: str, column: SourceColumn) -> Callable[[Column], Column]:
    """MySQL's zero dates as Debezium sends them: NULL, or 1970 where the column has no NULL."""
    if kind is DatabaseKind.POSTGRESQL:
        return lambda array: array
    instead = None if column.nullable else epoch

    def convert(array: Column) -> Column:
        zero: Any = pc.match_substring_regex(array, f"^({_ZERO_DATE.pattern})")
        replaced: Column = pc.if_else(zero, pa.scalar(instead, pa.string()), array)
        return replaced

    return convert
