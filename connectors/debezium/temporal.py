"""Dates and timestamps that arrive as numbers.

Units come from the semantic name: days, or milli-, micro- or nanoseconds since 1970-01-01, without a zone (Debezium
documentation, "Temporal types"). A landing file holds the years 1 to 9999; beyond them, infinity included, the range
rule decides. Digits below the microsecond are cut off, downwards.
"""

from __future__ import annotations

import enum
from typing import assert_never

import numpy as np
import pyarrow as pa

from connectors.debezium.converted import (
    Column,
    Converted,
    Int64s,
    apply_range,
    arrow_integers,
    integer_cells,
    with_bad,
)
from connectors.debezium.options import OutOfRange

FIRST_DAY = -719_162
"""0001-01-01 in days since 1970-01-01."""

LAST_DAY = 2_932_896
"""9999-12-31 in days since 1970-01-01."""

MICROS_PER_DAY = 86_400_000_000

FIRST_MICRO = FIRST_DAY * MICROS_PER_DAY
"""0001-01-01T00:00:00 in microseconds since 1970-01-01."""

LAST_MICRO = (LAST_DAY + 1) * MICROS_PER_DAY - 1
"""9999-12-31T23:59:59.999999 in microseconds since 1970-01-01."""

# PostgreSQL's infinity as a date, after the connector's calendar arithmetic has overflowed: from the stream, and from a
# snapshot by a connector whose own clock is behind UTC+1, or not. Minus infinity is below the range as it comes.
_POSTGRES_DATE_INFINITY = (-2_147_472_692, -622_191_234, -622_191_233)

_INT64 = np.iinfo(np.int64)
# PostgreSQL's last 29 years: the connector counts their whole seconds up to int64's end and no further, then adds the
# fraction, which wraps around. Its minus infinity lies 22 s above int64's smallest number, nothing else near it; that
# number itself is some connector's minus infinity.
_WRAPPED_MICROS = (_INT64.min + 1, _INT64.min + 999_998)
_OUTSIDE = "outside the years 0001 to 9999"


class TimeUnit(enum.Enum):
    """The unit of a number that stands for a time."""

    MILLIS = enum.auto()
    MICROS = enum.auto()
    NANOS = enum.auto()


def dates(days: Column, rule: OutOfRange) -> Converted:
    """``date32`` from int32 days since 1970-01-01; PostgreSQL's infinite dates are out of range on their own side."""
    if _within(days, FIRST_DAY, LAST_DAY):
        return Converted(days.view(pa.date32()))
    values, present = integer_cells(days)
    values = np.where(np.isin(values, _POSTGRES_DATE_INFINITY), LAST_DAY + 1, values)
    ranged = apply_range(values, present, FIRST_DAY, LAST_DAY, rule)
    converted = arrow_integers(ranged.values, ranged.present, pa.date32())
    return with_bad(converted, ranged.clamped, ranged.outside, f"date {_OUTSIDE}", days)


def timestamps(ticks: Column, unit: TimeUnit, rule: OutOfRange) -> Converted:
    """``timestamp[us]`` from int64 ticks since 1970-01-01T00:00; infinity of any unit is out of range."""
    kind = pa.timestamp("us")
    if unit is TimeUnit.MICROS and _within(ticks, FIRST_MICRO, LAST_MICRO):
        return Converted(ticks.view(kind))
    values, present = integer_cells(ticks)
    ranged = apply_range(_micros(values, unit), present, FIRST_MICRO, LAST_MICRO, rule)
    converted = arrow_integers(ranged.values, ranged.present, kind)
    return with_bad(converted, ranged.clamped, ranged.outside, f"timestamp {_OUTSIDE}", ticks)


def _micros(ticks: Int64s, unit: TimeUnit) -> Int64s:
    """Microseconds; a number too large for them stays outside the range on its own side."""
    match unit:
        case TimeUnit.MILLIS:
            return np.clip(ticks, FIRST_MICRO // 1000 - 1, LAST_MICRO // 1000 + 1) * 1000
        case TimeUnit.MICROS:
            first, last = _WRAPPED_MICROS
            return np.where((ticks >= first) & (ticks <= last), LAST_MICRO + 1, ticks)
        case TimeUnit.NANOS:
            # All of int64's nanoseconds lie between the years 1677 and 2262; its two ends stand for infinity.
            micros = ticks // 1000
            micros = np.where(ticks == _INT64.max, LAST_MICRO + 1, micros)
            return np.where(ticks == _INT64.min, FIRST_MICRO - 1, micros)
    assert_never(unit)


def _within(numbers: Column, low: int, high: int) -> bool:
    """True when no number is outside the bounds; also of an array without any number."""
    values = (numbers.drop_null() if numbers.null_count else numbers).to_numpy()
    return not len(values) or bool(low <= values.min() and values.max() <= high)
