"""How a column of the database is compared with its landed column: both are brought to one type and one spelling.

The landed side has the type that the bridge has pinned for it, whatever handling mode the connector was in; the
database's side is its own text. So the pair of the two says which rule holds (:mod:`connectors.debezium.types` has the
bridge's mapping).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium import iso_text
from connectors.debezium.converted import Column, Converted
from connectors.debezium.options import OutOfRange
from connectors.source_database.catalog import SourceColumn
from connectors.source_database.column_types import SourceType
from connectors.source_database.location import DatabaseKind
from streaming.reconciling import spelling
from streaming.reconciling.conversions import (
    LOCAL,
    Convert,
    Spell,
    base64_text,
    bits,
    cast_to,
    decimals_of,
    encoded_bytes,
    kept,
    mysql_geometries,
    point,
    six_digits,
    source_bytes,
    spelled,
    truth,
    without_zero_dates,
    without_zone,
)

_UNSIGNED = pa.decimal128(20, 0)


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
    kind: DatabaseKind,
    column: SourceColumn,
    pinned: pa.DataType,
    rule: OutOfRange = OutOfRange.CLAMP,
    binary_mode: str | None = None,
) -> Comparison | None:
    """The rule for a column, or None when none is known for this pair of types.

    Args:
        rule: what the bridge does with dates and timestamps that a landing file cannot hold.
        binary_mode: the connector's ``binary.handling.mode``; None where it is not known.
    """
    family = column.type.family
    if pa.types.is_string(pinned):
        return _landed_text(kind, column, binary_mode)
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
        return Comparison(pinned, spelled(truth, pinned), kept)
    if pa.types.is_integer(pinned):
        if family is SourceType.INTERVAL:
            return Comparison(pa.int64(), spelled(spelling.interval_micros, pa.int64()), cast_to(pa.int64()))
        if family is SourceType.UNSIGNED_BIGINT:
            return Comparison(_UNSIGNED, cast_to(_UNSIGNED), cast_to(_UNSIGNED))
        if integers or family in (SourceType.BOOLEAN, SourceType.BITS):
            convert = cast_to(pa.int64()) if integers else spelled(lambda cell: int(truth(cell)), pa.int64())
            return Comparison(pa.int64(), convert, cast_to(pa.int64()))
        return None
    numbers = integers or family in (SourceType.NUMERIC, SourceType.MONEY, SourceType.UNSIGNED_BIGINT)
    if pa.types.is_floating(pinned):
        if family is SourceType.FLOAT32 and kind is DatabaseKind.MYSQL:
            # A snapshot has six digits of it, the stream all.
            return Comparison(pa.float64(), six_digits, six_digits)
        if family in (SourceType.FLOAT32, SourceType.FLOAT64) or numbers:
            return Comparison(pinned, cast_to(pinned), kept)
        return None
    if isinstance(pinned, pa.Decimal128Type) and numbers:
        return Comparison(pinned, decimals_of(pinned), kept)
    return None


def _landed_text(kind: DatabaseKind, column: SourceColumn, binary_mode: str | None) -> Comparison | None:
    text = pa.string()
    match column.type.family:
        case SourceType.TEXT:
            return Comparison(text, kept, kept)
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
            return Comparison(text, spelled(spelling.json_of_hstore), spelled(spelling.parsed_json))
        case SourceType.ARRAY:
            return _arrays(column.type.element)
        case SourceType.BITS | SourceType.VARYING_BITS:
            return _bit_texts(kind, column)
        case SourceType.BYTES:
            return Comparison(text, source_bytes(kind, base64_text), encoded_bytes(binary_mode))
        case _:
            return None


def _landed_bytes(kind: DatabaseKind, family: SourceType, length: int | None) -> Comparison | None:
    bytes_ = pa.binary()
    match family:
        case SourceType.BYTES:
            return Comparison(bytes_, source_bytes(kind, bytes), kept)
        case SourceType.BITS if length is not None:
            size = -(-length // 8)
            return Comparison(bytes_, spelled(lambda cell: bits(cell).to_bytes(size, "little"), bytes_), kept)
        case SourceType.POINT:
            return Comparison(bytes_, spelled(point, bytes_), kept)
        case SourceType.GEOMETRY if kind is DatabaseKind.MYSQL:
            return Comparison(bytes_, mysql_geometries, kept)
        case SourceType.GEOMETRY:
            return Comparison(bytes_, spelled(bytes.fromhex, bytes_), kept)
        case _:
            return None


def _landed_date(kind: DatabaseKind, column: SourceColumn, rule: OutOfRange) -> Comparison | None:
    if column.type.family is not SourceType.DATE:
        return None
    without_zeros = without_zero_dates(kind, "1970-01-01", column)
    return Comparison(pa.date32(), lambda array: iso_text.iso_dates(without_zeros(array), rule), kept)


def _landed_timestamp(kind: DatabaseKind, column: SourceColumn, rule: OutOfRange) -> Comparison | None:
    if column.type.family not in (SourceType.TIMESTAMP, SourceType.INSTANT):
        return None
    without_zeros = without_zero_dates(kind, "1970-01-01 00:00:00", column)

    def of_source(array: Column) -> Converted:
        # Sessions are in UTC: PostgreSQL writes the offset, which is always the same, MySQL leaves it out.
        local: Any = pc.replace_substring_regex(without_zeros(array), r"\+00( BC)?$", r"\1")
        return iso_text.local_timestamps(local, rule)

    return Comparison(LOCAL, of_source, without_zone)


def _both(spell: Spell) -> Comparison:
    return Comparison(pa.string(), spelled(spell), spelled(spell))


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
            spelled(lambda text: spelling.json_of_array(text, kind)),
            spelled(spelling.json_of_floats),
        )
    return Comparison(
        pa.string(), spelled(lambda text: spelling.json_of_array(text, kind)), spelled(spelling.parsed_json)
    )


def _bit_texts(kind: DatabaseKind, column: SourceColumn) -> Comparison:
    if column.type.family is SourceType.VARYING_BITS:
        # As many digits land as fill the bytes.
        return _both(lambda text: text.lstrip("0"))
    if kind is DatabaseKind.POSTGRESQL:
        return Comparison(pa.string(), kept, kept)
    width = column.type.length or 1
    return Comparison(pa.string(), spelled(lambda cell: format(bits(cell), "b").zfill(width)), kept)
