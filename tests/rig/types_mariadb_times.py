"""MariaDB's dates and times."""

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
    micros,
    moments,
)
from tests.rig.types_model import Column, Deviation, Modes, Phase

_AT = dt.datetime


def _is_nanoseconds(modes: Modes) -> bool:
    return modes[TIMES] == "nanoseconds"


def _gap(sql: str, day: dt.datetime) -> tuple[Deviation, ...]:
    """A time in the gap of the calendars, from a snapshot; what nanoseconds make of it comes on top."""
    later = day + dt.timedelta(days=10)
    wrapped = moments(wraps=True).value(later, Modes("", {TIMES: "nanoseconds"})).value
    cut = moments().value(later, Modes("", {TIMES: "connect"})).value
    return (
        Deviation(differences.CALENDAR_GAP, sql, wrapped, Phase.SNAPSHOT, _is_nanoseconds),
        Deviation(differences.CALENDAR_GAP, sql, cut, Phase.SNAPSHOT, lambda modes: modes[TIMES] == "connect"),
        _snapshot(differences.CALENDAR_GAP, sql, later),
    )


def _streamed(difference: Difference, sql: str, lands: object) -> Deviation:
    return Deviation(difference, sql, lands, Phase.STREAM)


def _snapshot(difference: Difference, sql: str, lands: object) -> Deviation:
    return Deviation(difference, sql, lands, Phase.SNAPSHOT)


_ZERO: Any = None
DAYS: tuple[Column, ...] = (
    Column(
        "c_date",
        "date",
        dates(),
        (
            ("'1000-01-01'", dt.date(1000, 1, 1)),
            ("'1582-10-10'", dt.date(1582, 10, 10)),
            ("'1969-12-31'", dt.date(1969, 12, 31)),
            ("'2024-02-29'", dt.date(2024, 2, 29)),
            ("'9999-12-31'", dt.date(9999, 12, 31)),
            ("'0001-01-01'", dt.date(1, 1, 1)),
            ("'0000-00-00'", _ZERO),
            ("'2024-02-00'", _ZERO),
        ),
        (
            Deviation(differences.YEAR_ONE, "'0001-01-01'", dt.date(2001, 1, 1)),
            Deviation(differences.ZERO_DATE, "'0000-00-00'", None),
            Deviation(differences.ZERO_DATE, "'2024-02-00'", None),
        ),
    ),
    Column(
        "c_date_not_null",
        "date NOT NULL DEFAULT '2000-01-01'",
        dates(),
        (("'2024-01-01'", dt.date(2024, 1, 1)), ("'0000-00-00'", _ZERO)),
        (
            Deviation(None, "NULL", dt.date(2000, 1, 1)),
            Deviation(differences.ZERO_DATE, "'0000-00-00'", dt.date(2000, 1, 1)),
        ),
    ),
    Column(
        "c_time",
        "time",
        clocks(beyond_a_day=True),
        (
            ("'-838:59:59'", -micros(838, 59, 59)),
            ("'838:59:59'", micros(838, 59, 59)),
            ("'24:00:00'", micros(24)),
            ("'23:59:59'", micros(23, 59, 59)),
        ),
    ),
    Column(
        "c_time_3",
        "time(3)",
        clocks(beyond_a_day=True),
        (("'-00:00:00.001'", -1000), ("'12:34:56.789'", micros(12, 34, 56, 789000))),
    ),
    Column(
        "c_time_6",
        "time(6)",
        clocks(beyond_a_day=True),
        (
            ("'-838:59:59.999999'", -micros(838, 59, 59, 999999)),
            ("'00:00:00.000001'", 1),
            ("'-00:00:01.5'", -1_500_000),
            ("'12:34:56.789012'", micros(12, 34, 56, 789012)),
        ),
    ),
    Column(
        "c_datetime",
        "datetime",
        moments(wraps=True),
        (
            ("'1000-01-01 00:00:00'", _AT(1000, 1, 1)),
            ("'9999-12-31 23:59:59'", _AT(9999, 12, 31, 23, 59, 59)),
            ("'2024-03-31 02:30:00'", _AT(2024, 3, 31, 2, 30)),
            ("'1582-10-10 12:00:00'", _AT(1582, 10, 10, 12)),
            ("'0001-01-01 00:00:00'", _AT(1, 1, 1)),
            ("'0000-00-00 00:00:00'", _ZERO),
        ),
        (
            Deviation(differences.YEAR_ONE, "'0001-01-01 00:00:00'", _AT(2001, 1, 1)),
            Deviation(differences.ZERO_DATE, "'0000-00-00 00:00:00'", None),
            *_gap("'1582-10-10 12:00:00'", _AT(1582, 10, 10, 12)),
        ),
    ),
    Column(
        "c_datetime_3",
        "datetime(3)",
        moments(wraps=True),
        (
            ("'9999-12-31 23:59:59.999'", _AT(9999, 12, 31, 23, 59, 59, 999000)),
            ("'1969-12-31 23:59:59.999'", _AT(1969, 12, 31, 23, 59, 59, 999000)),
        ),
    ),
    Column(
        "c_datetime_6",
        "datetime(6)",
        moments(wraps=True),
        (
            ("'9999-12-31 23:59:59.999999'", _AT(9999, 12, 31, 23, 59, 59, 999999)),
            ("'1969-12-31 23:59:59.999999'", _AT(1969, 12, 31, 23, 59, 59, 999999)),
            ("'2024-02-29 12:34:56.789012'", _AT(2024, 2, 29, 12, 34, 56, 789012)),
            ("'1000-01-01 00:00:00.000001'", _AT(1000, 1, 1, 0, 0, 0, 1)),
            ("'1582-10-10 12:00:00.5'", _AT(1582, 10, 10, 12, 0, 0, 500000)),
            ("'0000-00-00 00:00:00'", _ZERO),
        ),
        (
            Deviation(differences.ZERO_DATE, "'0000-00-00 00:00:00'", None),
            *_gap("'1582-10-10 12:00:00.5'", _AT(1582, 10, 10, 12, 0, 0, 500000)),
        ),
    ),
    Column(
        # The session that writes them has a summer time (:data:`tests.rig.mariadb.TIME_ZONE`). Its clock leaves out an
        # hour in March, for which the server takes the end of that hour, and in October it shows one twice: the server
        # takes the first.
        "c_timestamp",
        "timestamp NULL",
        instants(),
        (
            ("'1970-01-01 01:00:01'", _AT(1970, 1, 1, 0, 0, 1)),
            ("'2038-01-19 04:14:07'", _AT(2038, 1, 19, 3, 14, 7)),
            ("'2024-03-31 01:59:59'", _AT(2024, 3, 31, 0, 59, 59)),
            ("'2024-03-31 02:30:00'", _AT(2024, 3, 31, 1)),
            ("'2024-03-31 03:30:00'", _AT(2024, 3, 31, 1, 30)),
            ("'2024-10-27 02:30:00'", _AT(2024, 10, 27, 0, 30)),
            ("'2024-10-27 03:00:00'", _AT(2024, 10, 27, 2)),
            ("'0000-00-00 00:00:00'", _ZERO),
        ),
        (
            _streamed(differences.ZERO_DATE, "'0000-00-00 00:00:00'", _AT(1970, 1, 1, tzinfo=dt.UTC)),
            _snapshot(differences.ZERO_DATE, "'0000-00-00 00:00:00'", None),
        ),
    ),
    Column(
        "c_timestamp_6",
        "timestamp(6) NULL",
        instants(),
        (
            ("'1970-01-01 01:00:01.000001'", _AT(1970, 1, 1, 0, 0, 1, 1)),
            ("'2038-01-19 04:14:07.999999'", _AT(2038, 1, 19, 3, 14, 7, 999999)),
            ("'2024-10-27 01:59:59.999999'", _AT(2024, 10, 26, 23, 59, 59, 999999)),
            ("'2024-10-27 03:00:00.5'", _AT(2024, 10, 27, 2, 0, 0, 500000)),
            ("'2024-01-01 00:00:00'", _AT(2023, 12, 31, 23)),
        ),
    ),
)
