"""Dates and timestamps that arrive as ISO 8601 text.

``ZonedTimestamp`` is an instant with ``Z`` or an offset and 0 to 9 fractional digits; ``IsoTimestamp`` and ``IsoDate``
are local and end in a ``Z`` that means nothing. PostgreSQL adds ``infinity``, years before 1 (``-4712-...``, also with
``BC``) and beyond 9999 (``+294276-...``), for which the range rule decides.

Arrow's own parser takes whole columns; only rows that it refuses are read one by one.
"""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.converted import (
    Bools,
    Column,
    Converted,
    Int64s,
    apply_range,
    arrow_integers,
    integer_cells,
    present_cells,
    with_bad,
)
from connectors.debezium.options import OutOfRange
from connectors.debezium.temporal import FIRST_DAY, FIRST_MICRO, LAST_DAY, LAST_MICRO, MICROS_PER_DAY

_INSTANT = pa.timestamp("us", tz="UTC")
_LOCAL = pa.timestamp("us")
_EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()

_DATE_AND_TIME = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d"
_SIX_DIGITS, _NINE_DIGITS = r"(\.\d{1,6})?", r"\.\d{7,9}"
_ZONE = r"(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)"
_SHORTEST, _LONGEST = len("2020-01-01T00:00"), len("2020-01-01T00:00:00.000000Z")

# PostgreSQL's infinite dates after the connector's calendar arithmetic: minus infinity from a snapshot is a year far
# behind PostgreSQL's last one, 5874897, and infinity from the stream is one day before minus infinity.
_SNAPSHOT_MINUS_INFINITY_YEAR = 292_269_055
_STREAM_INFINITY = (-5_877_611, 6, 21)

_INFINITY = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)
_DATE = re.compile(r"(?P<year>[+-]?\d{4,10})-(?P<month>\d{2})-(?P<day>\d{2})(?:Z|[+-]\d{2}:?\d{2})?(?P<era> BC)?")
_TIMESTAMP = re.compile(
    r"(?P<year>[+-]?\d{4,10})-(?P<month>\d{2})-(?P<day>\d{2})"
    r"[T ](?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<fraction>\d{1,9}))?)?"
    r" ?(?P<zone>Z|[+-]\d{2}(?::?\d{2}){0,2})?(?:\[[^\]]*\])?(?P<era> BC)?"
)


def instants(array: Column, rule: OutOfRange) -> Converted:
    """``timestamp[us, UTC]`` from text with ``Z`` or an offset; text without one is bad: its instant is unknown."""
    return _timestamps(array, zoned=True, rule=rule)


def local_timestamps(array: Column, rule: OutOfRange) -> Converted:
    """``timestamp[us]`` from local text; a final ``Z`` is ignored, any other offset is applied."""
    return _timestamps(pc.utf8_rtrim(array, "Z"), zoned=False, rule=rule)


def iso_dates(array: Column, rule: OutOfRange) -> Converted:
    """``date32`` from local dates; a final ``Z`` or offset is ignored."""
    trimmed = pc.utf8_rtrim(array, "Z")
    try:
        days, present = integer_cells(trimmed.cast(pa.date32()).cast(pa.int32()))
        unread = np.zeros(len(array), dtype=np.bool_)
    except pa.ArrowInvalid:
        days, present, unread = _one_by_one(trimmed, _days)
    ranged = apply_range(days, present, FIRST_DAY, LAST_DAY, rule)
    values = arrow_integers(ranged.values, ranged.present, pa.date32())
    return with_bad(values, ranged.clamped, ranged.outside | unread, "not a date of the years 0001 to 9999", array)


def _timestamps(array: Column, *, zoned: bool, rule: OutOfRange) -> Converted:
    kind = _INSTANT if zoned else _LOCAL
    micros, present, unread = _read(array, zoned=zoned)
    ranged = apply_range(micros, present, FIRST_MICRO, LAST_MICRO, rule)
    values = arrow_integers(ranged.values, ranged.present, kind)
    what = "not a timestamp of the years 0001 to 9999"
    if zoned:
        what += " with a time zone"
    return with_bad(values, ranged.clamped, ranged.outside | unread, what, array)


def _read(array: Column, *, zoned: bool) -> tuple[Int64s, Bools, Bools]:
    """Microseconds, cells that hold some, and cells that cannot be read; whole columns first."""
    zone = "UTC" if zoned else None
    if _look_regular(array):
        # A cast that fails costs more than all the rest: it is tried only on what looks regular.
        with contextlib.suppress(pa.ArrowInvalid):
            micros, present = integer_cells(array.cast(pa.timestamp("us", tz=zone)).view(pa.int64()))
            return micros, present, np.zeros(len(array), dtype=np.bool_)
    micros, unread = np.zeros(len(array), dtype=np.int64), present_cells(array).copy()
    for text, outside in (("infinity", LAST_MICRO + 1), ("-infinity", FIRST_MICRO - 1)):
        equal: Any = pc.equal(array, text)
        rows = _rows(equal, unread)
        micros[rows], unread[rows] = outside, False
    suffix = _ZONE if zoned else ""
    for fraction, unit, ticks in ((_SIX_DIGITS, pa.timestamp("us", tz=zone), 1), (_NINE_DIGITS, _nanos(zone), 1000)):
        matching: Any = pc.match_substring_regex(array, f"^{_DATE_AND_TIME}{fraction}{suffix}$")
        rows = _rows(matching, unread)
        # It fails on a day that the month does not have, and on nanoseconds before 1677 or after 2262.
        with contextlib.suppress(pa.ArrowInvalid):
            micros[rows] = integer_cells(array.take(rows).cast(unit).cast(pa.int64()))[0] // ticks
            unread[rows] = False
    rows = np.flatnonzero(unread)
    micros[rows], _, unread[rows] = _one_by_one(array.take(rows), lambda text: _micros(text, zoned=zoned))
    return micros, present_cells(array) & ~unread, unread


def _look_regular(array: Column) -> bool:
    """Whether no text is shorter or longer than a whole timestamp is; also of an array without any text."""
    lengths: Any = pc.min_max(pc.binary_length(array)).as_py()
    return lengths["min"] is None or (lengths["min"] >= _SHORTEST and lengths["max"] <= _LONGEST)


def _nanos(zone: str | None) -> pa.DataType:
    return pa.timestamp("ns", tz=zone)


def _rows(matches: Column, among: Bools) -> Int64s:
    return np.flatnonzero(matches.fill_null(False).to_numpy(zero_copy_only=False) & among)


def _one_by_one(array: Column, read: Callable[[str], int | None]) -> tuple[Int64s, Bools, Bools]:
    texts = array.to_pylist()
    numbers = [None if text is None else read(text) for text in texts]
    values = np.array([0 if number is None else number for number in numbers], dtype=np.int64)
    present = np.array([number is not None for number in numbers], dtype=np.bool_)
    unread = np.array([text is not None for text in texts], dtype=np.bool_) & ~present
    return values, present, unread


def _days(text: str) -> int | None:
    """Days since 1970-01-01, one beyond the range for everything beyond it; ``None`` for text that is no date."""
    infinity = _INFINITY.fullmatch(text)
    if infinity:
        return FIRST_DAY - 1 if infinity[1] == "-" else LAST_DAY + 1
    match = _DATE.fullmatch(text)
    return None if match is None else _day_number(match)


def _micros(text: str, *, zoned: bool) -> int | None:
    """Microseconds since 1970-01-01T00:00, one beyond the range for everything beyond it; ``None`` for other text."""
    infinity = _INFINITY.fullmatch(text)
    if infinity:
        return FIRST_MICRO - 1 if infinity[1] == "-" else LAST_MICRO + 1
    match = _TIMESTAMP.fullmatch(text)
    if match is None or (zoned and match["zone"] is None):
        return None
    day = _day_number(match)
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    whole_day = (hour, minute, second) == (24, 0, 0)
    if day is None or minute > 59 or second > 59 or (hour > 23 and not whole_day):
        return None
    if not FIRST_DAY <= day <= LAST_DAY:
        return FIRST_MICRO - 1 if day < FIRST_DAY else LAST_MICRO + 1
    seconds = (hour * 60 + minute) * 60 + second - _offset_seconds(match["zone"])
    return day * MICROS_PER_DAY + seconds * 1_000_000 + int((match["fraction"] or "0").ljust(6, "0")[:6])


def _day_number(match: re.Match[str]) -> int | None:
    year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    if (year, month, day) == _STREAM_INFINITY:
        return LAST_DAY + 1
    if match["era"] or year < 1 or year == _SNAPSHOT_MINUS_INFINITY_YEAR:
        return FIRST_DAY - 1
    if year > 9999:
        return LAST_DAY + 1
    try:
        return datetime.date(year, month, day).toordinal() - _EPOCH_ORDINAL
    except ValueError:
        return None


def _offset_seconds(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "").ljust(6, "0")
    seconds = (int(digits[:2]) * 60 + int(digits[2:4])) * 60 + int(digits[4:6])
    return -seconds if zone[0] == "-" else seconds
