"""Casting a column to a declared type, value by value: what does not fit is NULL, and told.

A value fits if nothing of it is lost: no digit, no time of day. Two exceptions: a float becomes the nearest decimal or
float, and any number the nearest float.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.converted import Column
from connectors.debezium.events import Bools
from connectors.landing_zone.canonical_text import canonical_text

_TRUE = frozenset({"true", "t", "yes", "y", "on", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "off", "0"})
_INTEGER = re.compile(r"[+-]?\d{1,40}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_FLOAT_WORDS = frozenset({"nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})([T ](?P<time>\d{2}:\d{2}(:\d{2}(\.\d{1,6}0*)?)?)(?P<zone>Z|[+-]\d{2}(:?\d{2})?)?)?",
    re.ASCII,
)
_DIGITS = Context(prec=38)
_INTEGER_BITS = {pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}


@dataclass(frozen=True)
class Cast:
    """A column in its new type.

    Attributes:
        failed: n booleans, the cells whose value does not fit; None when all do.
    """

    values: Column
    failed: Bools | None = None


def soft_cast(column: Column, target: pa.DataType) -> Cast:
    """The column as ``target``, one of :func:`~streaming.landing.shaping.landing_types.landing_type`; NULL stays NULL.

    Two types without a conversion between them (a date and a boolean, say) leave no value that fits.
    """
    if column.type == target:
        return Cast(column)
    values = _converted(column, target)
    if values.null_count == column.null_count:
        return Cast(values)
    failed: Bools = np.asarray(values.is_null()) & np.asarray(column.is_valid())
    return Cast(values, failed)


def exact_cast(column: Column, target: pa.DataType) -> Cast:
    """As :func:`soft_cast`, for values that have to stay apart: one that does not turn back into itself does not fit.

    So two different values never become one: neither ``7`` and ``007``, nor floats that are rounded.
    """
    if column.type == target:
        return Cast(column)
    values = soft_cast(column, target).values
    values = _where(pc.equal(soft_cast(values, column.type).values, column), values)
    if values.null_count == column.null_count:
        return Cast(values)
    failed: Bools = np.asarray(values.is_null()) & np.asarray(column.is_valid())
    return Cast(values, failed)


def _converted(column: Column, target: pa.DataType) -> Column:
    source = column.type
    if pa.types.is_string(target):
        return _decoded(column) if pa.types.is_binary(source) else canonical_text(column)
    if pa.types.is_string(source):
        return column.cast(pa.binary()) if pa.types.is_binary(target) else _from_text(column, target)
    if _is_number(source) and (_is_number(target) or pa.types.is_boolean(target)):
        return _number(column, target)
    if pa.types.is_boolean(source) and _is_number(target):
        return _number(column.cast(pa.int16()), target)
    if _is_day_or_time(source) and _is_day_or_time(target):
        return _time(column, target)
    return pa.nulls(len(column), target)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_day_or_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date32(kind) or pa.types.is_timestamp(kind))


def _where(mask: Column, column: Column) -> Column:
    """The values where ``mask`` holds, NULL elsewhere."""
    return pc.if_else(pc.fill_null(mask, False), column, pa.scalar(None, column.type))


def _number(column: Column, target: pa.DataType) -> Column:
    if pa.types.is_boolean(target):
        column = _roomy(column)
        zero, one = pa.scalar(0, pa.int16()).cast(column.type), pa.scalar(1, pa.int16()).cast(column.type)
        known = pc.or_(pc.equal(column, zero), pc.equal(column, one))
        return _where(known, pc.equal(column, one))
    if pa.types.is_floating(target):
        return _nearest_float(column, target)
    if pa.types.is_floating(column.type):
        column = _where(pc.is_finite(column), column)
        if pa.types.is_integer(target):
            column = _where(pc.equal(pc.floor(column), column), column)
            limit = 2.0 ** (_INTEGER_BITS[target] - 1)
            column = _where(pc.and_(pc.greater_equal(column, -limit), pc.less(column, limit)), column)
            return column.cast(target, safe=False)
        # The text of a float32 has its own shortest digits, not those of the float64 that is equal to it.
        return _each_once(column.cast(pa.string()), lambda digits: _nearest_decimal(digits, target), target)
    if pa.types.is_decimal(column.type):
        kept = 0 if pa.types.is_integer(target) else target.scale
        if column.type.scale > kept:
            exact = _roomy(column)
            column = _where(pc.equal(pc.round(exact, ndigits=kept), exact), column)
    return _by_polars(column, target)


def _roomy(column: Column) -> Column:
    """Decimals with digits to spare: rounding up, or the number one, needs more of them than their type may have."""
    if not pa.types.is_decimal(column.type):
        return column
    return column.cast(pa.decimal256(76, max(column.type.scale, 0)))


def _nearest_decimal(digits: str, target: pa.DataType) -> Decimal | None:
    """The float's shortest text, rounded half up: 1.005 has 1.01 with two places."""
    try:
        rounded = Decimal(digits).quantize(Decimal(1).scaleb(-target.scale), ROUND_HALF_UP, _DIGITS)
    except InvalidOperation:
        return None
    return rounded if not rounded or rounded.adjusted() < target.precision - target.scale else None


def _nearest_float(column: Column, target: pa.DataType) -> Column:
    values = column.cast(target, safe=False) if not pa.types.is_decimal(column.type) else _by_polars(column, target)
    if not pa.types.is_floating(column.type):
        return values
    # A finite number beyond the smaller float's range is not infinite.
    return _where(pc.or_(pc.is_finite(values), pc.invert(pc.is_finite(column))), values)


def _by_polars(column: Column, target: pa.DataType) -> Column:
    """Numbers within the range and precision of another number type; NULL for others."""
    kind = pl.Series(pl.from_arrow(pa.array([], target))).dtype
    return pl.Series(pl.from_arrow(column)).cast(kind, strict=False).to_arrow().cast(target)


def _time(column: Column, target: pa.DataType) -> Column:
    if pa.types.is_date32(target):
        days = column.cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
        return _where(pc.equal(days.cast(pa.timestamp("us")), column.cast(pa.timestamp("us"))), days)
    # Local and zoned are the same number: times of day in UTC.
    return column.cast(pa.timestamp("us")).cast(pa.int64()).cast(target)


def _decoded(column: Column) -> Column:
    try:
        return column.cast(pa.string())
    except pa.ArrowException:
        return _each_once(column, _utf8, pa.string())


def _utf8(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _from_text(column: Column, target: pa.DataType) -> Column:
    return _each_once(column, _reader(target), target)


def _each_once(column: Column, read: Callable[[Any], object], target: pa.DataType) -> Column:
    encoded = column.dictionary_encode()
    return pa.array([read(value) for value in encoded.dictionary.to_pylist()], target).take(encoded.indices)


def _reader(target: pa.DataType) -> Callable[[str], object]:
    if pa.types.is_boolean(target):
        return _boolean
    if pa.types.is_integer(target):
        bits = _INTEGER_BITS[target]
        return lambda text: _integer(text, bits)
    if pa.types.is_floating(target):
        return lambda text: _float(text, target)
    if pa.types.is_decimal(target):
        return lambda text: _decimal(text, target.precision, target.scale)
    if pa.types.is_date32(target):
        return _date
    return lambda text: _timestamp(text, zoned=target.tz is not None)


def _boolean(text: str) -> bool | None:
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _integer(text: str, bits: int) -> int | None:
    if not _INTEGER.fullmatch(text.strip()):
        return None
    number = int(text)
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def _float(text: str, target: pa.DataType) -> float | None:
    word = text.strip()
    if word.lower() in _FLOAT_WORDS:
        return float(word)
    if not _NUMBER.fullmatch(word):
        return None
    number = float(word)
    largest = 3.4028235677973366e38 if target == pa.float32() else float("inf")
    return number if abs(number) < largest else None


def _decimal(text: str, precision: int, scale: int) -> Decimal | None:
    if not _NUMBER.fullmatch(text.strip()):
        return None
    try:
        number = Decimal(text.strip())
        _, digits, exponent = number.as_tuple()
        if not any(digits):
            return Decimal(0)
        kept = len(digits) + int(exponent) + scale
        # Digits behind the scale must be zeros.
        if kept > precision or any(digits[max(kept, 0) :]):
            return None
        return number.quantize(Decimal(1).scaleb(-scale), context=_DIGITS)
    except InvalidOperation:
        return None


def _date(text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text.strip()) if _DATE.fullmatch(text.strip()) else None
    except ValueError:
        return None


def _timestamp(text: str, *, zoned: bool) -> dt.datetime | None:
    match = _TIME.fullmatch(text.strip())
    if match is None or (match["zone"] is not None) != (zoned and match["time"] is not None):
        return None
    try:
        clock = (match["time"] or "00:00")[:15]
        found = dt.datetime.fromisoformat(f"{match['day']}T{clock}{match['zone'] or ''}")
        return found.astimezone(dt.UTC) if zoned and found.tzinfo is not None else None if zoned else found
    except (ValueError, OverflowError):
        return None
