"""PostgreSQL's dates, times and intervals."""

from __future__ import annotations

import datetime as dt
from typing import Any

from tests.rig import types_differences as differences
from tests.rig.differences import Difference
from tests.rig.types_kinds import (
    TIMES,
    clocks,
    dates,
    instants,
    intervals,
    micros,
    moments,
    plain,
)
from tests.rig.types_model import Beyond, Column, Deviation, Kind, Phase

_BEFORE, _AFTER = Beyond.BEFORE, Beyond.AFTER
_TEXT = plain("string")


def _snapshot(difference: Difference, sql: str, lands: object) -> Deviation:
    return Deviation(difference, sql, lands, Phase.SNAPSHOT)


_AT = dt.datetime
_TIMESTAMPS: tuple[tuple[str, Any], ...] = (
    ("'4713-01-01 00:00:00 BC'", _BEFORE),
    ("'0001-12-31 23:59:59.999999 BC'", _BEFORE),
    ("'0001-01-01 00:00:00'", _AT(1, 1, 1)),
    ("'1582-10-10 12:00:00'", _AT(1582, 10, 10, 12)),
    ("'1969-12-31 23:59:59.999999'", _AT(1969, 12, 31, 23, 59, 59, 999999)),
    ("'2016-12-31 23:59:60'", _AT(2017, 1, 1)),
    ("'2024-03-31 02:30:00.123456'", _AT(2024, 3, 31, 2, 30, 0, 123456)),
    ("'9999-12-31 23:59:59.999999'", _AT(9999, 12, 31, 23, 59, 59, 999999)),
    ("'10000-01-01'", _AFTER),
    ("'294276-12-31 23:59:59.999999'", _AFTER),
    ("'infinity'", _AFTER),
    ("'-infinity'", _BEFORE),
)
_FINITE_BEYOND = (
    "'4713-01-01 00:00:00 BC'",
    "'0001-12-31 23:59:59.999999 BC'",
    "'10000-01-01'",
    "'294276-12-31 23:59:59.999999'",
    "'0044-03-15 12:00:00 BC'",
    "'294276-12-31 23:59:59'",
)


def _nanoseconds(values: tuple[tuple[str, Any], ...]) -> tuple[Deviation, ...]:
    """Years that 64 bits of nanoseconds do not reach; infinity they do, by their two ends."""
    return tuple(
        Deviation(differences.NANOSECONDS_NULL, sql, None, when=lambda modes: modes[TIMES] == "nanoseconds")
        for sql, _ in values
        if sql in _FINITE_BEYOND
    )


_SECONDS = (
    ("'0001-01-01 00:00:00'", _AT(1, 1, 1)),
    ("'9999-12-31 23:59:59'", _AT(9999, 12, 31, 23, 59, 59)),
    ("'0044-03-15 12:00:00 BC'", _BEFORE),
    ("'294276-12-31 23:59:59'", _AFTER),
    ("'infinity'", _AFTER),
    ("'-infinity'", _BEFORE),
)

DAYS: tuple[Column, ...] = (
    Column(
        "c_date",
        "date",
        dates(),
        (
            ("'4713-01-01 BC'", _BEFORE),
            ("'0001-12-31 BC'", _BEFORE),
            ("'0001-01-01'", dt.date(1, 1, 1)),
            ("'1582-10-04'", dt.date(1582, 10, 4)),
            ("'1582-10-10'", dt.date(1582, 10, 10)),
            ("'1969-12-31'", dt.date(1969, 12, 31)),
            ("'2024-02-29'", dt.date(2024, 2, 29)),
            ("'9999-12-31'", dt.date(9999, 12, 31)),
            ("'10000-01-01'", _AFTER),
            ("'5874897-12-31'", _AFTER),
            ("'infinity'", _AFTER),
            ("'-infinity'", _BEFORE),
        ),
        (
            _snapshot(differences.BC_SNAPSHOT, "'4713-01-01 BC'", dt.date(4713, 1, 1)),
            _snapshot(differences.BC_SNAPSHOT, "'0001-12-31 BC'", dt.date(1, 12, 31)),
            _snapshot(differences.CALENDAR_GAP, "'1582-10-10'", dt.date(1582, 10, 20)),
        ),
    ),
    Column(
        "c_time",
        "time",
        clocks(),
        (
            ("'00:00:00'", 0),
            ("'23:59:59.999999'", micros(23, 59, 59, 999999)),
            ("'24:00:00'", micros(24)),
            ("'12:34:56.789012'", micros(12, 34, 56, 789012)),
            ("'23:59:60'", micros(24)),
            ("'01:02:03.1'", micros(1, 2, 3, 100000)),
        ),
    ),
    Column("c_time_0", "time(0)", clocks(), (("'23:59:59'", micros(23, 59, 59)), ("'24:00:00'", micros(24)))),
    Column("c_time_3", "time(3)", clocks(), (("'00:00:00.001'", 1000), ("'23:59:59.999'", micros(23, 59, 59, 999000)))),
    Column(
        "c_timetz",
        "timetz",
        Kind(_TEXT.type, _TEXT.value, difference=lambda modes: differences.TIMETZ_UTC),
        (
            ("'00:00:00+00'", "00:00:00Z"),
            ("'23:59:59.999999+02'", "21:59:59.999999Z"),
            ("'24:00:00-05'", "05:00:00Z"),
            ("'12:34:56.789-15:59'", "04:33:56.789000Z"),
            ("'01:00:00+05:30'", "19:30:00Z"),
        ),
    ),
    Column("c_timestamp", "timestamp", moments(), _TIMESTAMPS, _nanoseconds(_TIMESTAMPS)),
    Column("c_timestamp_0", "timestamp(0)", moments(), _SECONDS, _nanoseconds(_SECONDS)),
    Column(
        "c_timestamp_3",
        "timestamp(3)",
        moments(),
        (
            ("'1969-12-31 23:59:59.999'", _AT(1969, 12, 31, 23, 59, 59, 999000)),
            ("'9999-12-31 23:59:59.999'", _AT(9999, 12, 31, 23, 59, 59, 999000)),
            ("'infinity'", _AFTER),
            ("'-infinity'", _BEFORE),
        ),
    ),
    Column(
        "c_timestamptz",
        "timestamptz",
        instants(),
        (
            *((sql, truth) for sql, truth in _TIMESTAMPS if sql not in ("'2016-12-31 23:59:60'",)),
            ("'2016-12-31 23:59:60+00'", _AT(2017, 1, 1)),
            ("'2024-03-31 01:30:00 Europe/Berlin'", _AT(2024, 3, 31, 0, 30)),
            ("'2024-10-27 02:30:00.5 Europe/Berlin'", _AT(2024, 10, 27, 1, 30, 0, 500000)),
        ),
    ),
    Column("c_timestamptz_0", "timestamptz(0)", instants(), _SECONDS),
    Column(
        "c_interval",
        "interval",
        intervals(),
        (
            ("'0'", (0, "P0Y0M0DT0H0M0S")),
            ("'1 year 2 mons 3 days 04:05:06.789012'", (37091106789012, "P1Y2M3DT4H5M6.789012S")),
            ("'-1 mon'", (-2629800000000, "P0Y-1M0DT0H0M0S")),
            ("'178000000 years'", (2**63 - 1, "P178000000Y0M0DT0H0M0S")),
            ("'-178000000 years'", (-(2**63), "P-178000000Y0M0DT0H0M0S")),
            ("'1 microsecond'", (1, "P0Y0M0DT0H0M0.000001S")),
            ("'-1 day +02:00'", (-79200000000, "P0Y0M-1DT2H0M0S")),
        ),
    ),
)
