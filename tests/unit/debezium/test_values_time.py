"""Dates, times and timestamps become their pinned types."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.debezium.options import OutOfRange
from tests.unit.debezium.columns import cells, outcome, pinned

EPOCH = dt.datetime(1970, 1, 1)
FIRST, LAST = dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)
FIRST_MICRO, LAST_MICRO = -62_135_596_800_000_000, 253_402_300_799_999_999
CLAMP, NULL, DEAD_LETTER = OutOfRange.CLAMP, OutOfRange.NULL, OutOfRange.DEAD_LETTER
PG_INFINITY, PG_MINUS_INFINITY = 9_223_372_036_825_200_000, -9_223_372_036_832_400_000
LONG_MAX, LONG_MIN = 2**63 - 1, -(2**63)


def utc(moment: dt.datetime) -> dt.datetime:
    return moment.replace(tzinfo=dt.UTC)


def structured(**components: Any) -> str:
    return json.dumps(components)


def test_dates_count_days() -> None:
    assert cells("date", [0, -1, 19_000, None]) == [
        dt.date(1970, 1, 1),
        dt.date(1969, 12, 31),
        dt.date(2022, 1, 8),
        None,
    ]


def test_the_first_and_the_last_day_are_in_range() -> None:
    assert cells("date", [-719_162, 2_932_896]) == [FIRST.date(), LAST.date()]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (CLAMP, ([FIRST.date(), LAST.date(), LAST.date(), FIRST.date(), None], 4, [], None)),
        (NULL, ([None] * 5, 4, [], None)),
        (DEAD_LETTER, ([None] * 5, 0, [0, 1, 2, 3], "date outside the years 0001 to 9999: -719163")),
    ],
)
def test_dates_out_of_range_follow_the_rule_and_both_postgresql_infinities_keep_their_side(
    rule: OutOfRange, expected: Any
) -> None:
    assert outcome(pinned("date", [-719_163, 2_932_897, -2_147_472_692, -2_147_472_691, None], rule)) == expected


@pytest.mark.parametrize("infinity", [-2_147_472_692, -622_191_234, -622_191_233])
def test_an_infinite_date_of_postgresql_keeps_its_side_from_snapshot_and_stream(infinity: int) -> None:
    assert outcome(pinned("date", [infinity])) == ([LAST.date()], 1, [], None)
    assert outcome(pinned("date", [-625_821_272])) == ([FIRST.date()], 1, [], None)


@pytest.mark.parametrize("wrapped", [LONG_MIN + 999_998, LONG_MIN + 1])
def test_a_postgresql_timestamp_that_the_connector_has_wrapped_around_is_late_not_early(wrapped: int) -> None:
    assert outcome(pinned("timestamp(us)", [wrapped, PG_MINUS_INFINITY])) == ([LAST, FIRST], 2, [], None)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("+292278994-08-16Z", LAST),
        ("+292269055-12-02Z", FIRST),
        ("-5877611-06-21Z", LAST),
        ("-5877611-06-22Z", FIRST),
    ],
)
def test_an_infinite_date_of_postgresql_keeps_its_side_as_iso_text(text: str, bound: dt.datetime) -> None:
    assert outcome(pinned("date(iso)", [text, "2020-01-01Z"])) == ([bound.date(), dt.date(2020, 1, 1)], 1, [], None)


@pytest.mark.parametrize(
    ("unit", "ticks", "moment"),
    [
        ("ms", 1_558_965_508_123, dt.datetime(2019, 5, 27, 13, 58, 28, 123_000)),
        ("ms", -1, dt.datetime(1969, 12, 31, 23, 59, 59, 999_000)),
        ("us", 1_558_965_508_123_456, dt.datetime(2019, 5, 27, 13, 58, 28, 123_456)),
        ("us", FIRST_MICRO, FIRST),
        ("us", LAST_MICRO, LAST),
        ("ms", FIRST_MICRO // 1000, FIRST),
        ("ns", 1_558_965_508_123_456_789, dt.datetime(2019, 5, 27, 13, 58, 28, 123_456)),
        ("ns", -1, dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
    ],
)
def test_timestamps_count_in_the_unit_of_their_schema_and_lose_what_is_below_the_microsecond(
    unit: str, ticks: int, moment: dt.datetime
) -> None:
    assert cells(f"timestamp({unit})", [None, ticks]) == [None, moment]


@pytest.mark.parametrize(
    ("unit", "above", "below"),
    [
        ("us", PG_INFINITY, PG_MINUS_INFINITY),
        ("us", LONG_MAX, LONG_MIN),
        ("us", LAST_MICRO + 1, FIRST_MICRO - 1),
        ("ms", PG_INFINITY // 1000, PG_MINUS_INFINITY // 1000),
        ("ms", LONG_MAX, LONG_MIN),
        ("ms", LAST_MICRO // 1000 + 1, FIRST_MICRO // 1000 - 1),
        ("ns", LONG_MAX, LONG_MIN),
    ],
)
def test_infinite_timestamps_follow_the_rule_in_every_unit(unit: str, above: int, below: int) -> None:
    column = f"timestamp({unit})", [above, 0, below, None]
    assert outcome(pinned(*column, CLAMP)) == ([LAST, EPOCH, FIRST, None], 2, [], None)
    assert outcome(pinned(*column, NULL)) == ([None, EPOCH, None, None], 2, [], None)
    reason = f"timestamp outside the years 0001 to 9999: {above}"
    assert outcome(pinned(*column, DEAD_LETTER)) == ([None, EPOCH, None, None], 0, [0, 2], reason)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2019-05-27T13:58:28Z", dt.datetime(2019, 5, 27, 13, 58, 28)),
        ("2019-05-27T13:58:28.1Z", dt.datetime(2019, 5, 27, 13, 58, 28, 100_000)),
        ("2019-05-27T13:58:28.123456Z", dt.datetime(2019, 5, 27, 13, 58, 28, 123_456)),
        ("2019-05-27T13:58:28.1234567Z", dt.datetime(2019, 5, 27, 13, 58, 28, 123_456)),
        ("2019-05-27T13:58:28.123456789+02:00", dt.datetime(2019, 5, 27, 11, 58, 28, 123_456)),
        ("2019-05-27T13:58Z", dt.datetime(2019, 5, 27, 13, 58)),
        ("2019-05-27 13:58:28-0430", dt.datetime(2019, 5, 27, 18, 28, 28)),
        ("2019-05-27T13:58:28+01:00[Europe/Paris]", dt.datetime(2019, 5, 27, 12, 58, 28)),
        ("2019-05-27T13:58:28+02:00:30", dt.datetime(2019, 5, 27, 11, 57, 58)),
        ("2019-05-27T24:00:00Z", dt.datetime(2019, 5, 28)),
        ("0001-01-01T00:00:00Z", FIRST),
        ("9999-12-31T23:59:59.9999999Z", LAST),
        ("2300-01-01T00:00:00.123456789Z", dt.datetime(2300, 1, 1, 0, 0, 0, 123_456)),
    ],
)
def test_zoned_timestamps_become_instants(text: str, moment: dt.datetime) -> None:
    assert cells("timestamptz", [text]) == [utc(moment)]
    assert cells("timestamptz", [None, text, "2020-01-01T00:00:00Z"]) == [
        None,
        utc(moment),
        utc(dt.datetime(2020, 1, 1)),
    ]


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("infinity", LAST),
        ("Infinity", LAST),
        ("-infinity", FIRST),
        ("+294276-12-31T23:59:59.999999Z", LAST),
        ("+999999999-12-31T23:59:59.999999999Z", LAST),
        ("-4712-01-01T00:00:00Z", FIRST),
        ("0044-03-15T00:00:00Z BC", FIRST),
        ("0000-02-29T00:00:00Z", FIRST),
        ("9999-12-31T23:59:59-01:00", LAST),
        ("0001-01-01T00:00:00+01:00", FIRST),
        ("9999-12-31T24:00:00Z", LAST),
    ],
)
def test_zoned_timestamps_out_of_range_follow_the_rule(text: str, bound: dt.datetime) -> None:
    column = "timestamptz", ["2020-01-01T00:00:00Z", text]
    instant = utc(dt.datetime(2020, 1, 1))
    assert outcome(pinned(*column, CLAMP)) == ([instant, utc(bound)], 1, [], None)
    assert outcome(pinned(*column, NULL)) == ([instant, None], 1, [], None)
    reason = f"not a timestamp of the years 0001 to 9999 with a time zone: {text!r}"
    assert outcome(pinned(*column, DEAD_LETTER)) == ([instant, None], 0, [1], reason)


@pytest.mark.parametrize(
    "text",
    [
        "2019-05-27T13:58:28",
        "2019-02-30T00:00:00Z",
        "2019-13-01T00:00:00Z",
        "2019-01-01T25:00:00Z",
        "2019-01-01T24:00:01Z",
        "2019-01-01T00:60:00Z",
        "yesterday",
        "",
    ],
)
def test_text_that_is_no_instant_is_a_bad_row_under_every_rule(text: str) -> None:
    for rule in OutOfRange:
        assert outcome(pinned("timestamptz", ["2020-01-01T00:00:00Z", text], rule)) == (
            [utc(dt.datetime(2020, 1, 1)), None],
            0,
            [1],
            f"not a timestamp of the years 0001 to 9999 with a time zone: {text!r}",
        )


def test_a_long_bad_value_is_shortened_in_the_reason() -> None:
    reason = pinned("timestamptz", ["x" * 5000]).reason
    assert reason == "not a timestamp of the years 0001 to 9999 with a time zone: '" + "x" * 99 + "..."


@given(st.lists(st.none() | st.datetimes(), max_size=8), st.sampled_from([0, 3, 6, 9]))
def test_iso_text_of_any_moment_is_read_back(moments: list[dt.datetime | None], digits: int) -> None:
    def text(moment: dt.datetime) -> str:
        fraction = f"{moment.microsecond * 1000:09d}"[:digits]
        return f"{moment.year:04d}{moment:-%m-%dT%H:%M:%S}" + (f".{fraction}" if fraction else "") + "Z"

    def kept(moment: dt.datetime) -> dt.datetime:
        return moment.replace(microsecond=moment.microsecond // 10 ** max(6 - digits, 0) * 10 ** max(6 - digits, 0))

    texts = [None if moment is None else text(moment) for moment in moments]
    expected = [None if moment is None else kept(moment) for moment in moments]
    assert cells("timestamp(iso)", texts) == expected
    assert cells("timestamptz", texts) == [None if moment is None else utc(moment) for moment in expected]


def test_the_z_of_local_iso_text_means_nothing() -> None:
    assert cells("timestamp(iso)", ["2019-07-09T02:28:57.123456Z", "2019-07-09T02:28:57"]) == [
        dt.datetime(2019, 7, 9, 2, 28, 57, 123_456),
        dt.datetime(2019, 7, 9, 2, 28, 57),
    ]
    assert outcome(pinned("timestamp(iso)", ["infinity", "soon"])) == (
        [LAST, None],
        1,
        [1],
        "not a timestamp of the years 0001 to 9999: 'soon'",
    )


def test_iso_dates_are_read_with_or_without_zone() -> None:
    assert cells("date(iso)", ["2017-09-15Z", "2017-09-16", "2017-09-17+02:00", None]) == [
        dt.date(2017, 9, 15),
        dt.date(2017, 9, 16),
        dt.date(2017, 9, 17),
        None,
    ]
    assert cells("date(iso)", ["2017-09-15Z", None]) == [dt.date(2017, 9, 15), None]


def test_iso_dates_out_of_range_follow_the_rule_and_other_text_is_bad() -> None:
    column = "date(iso)", ["infinity", "-infinity", "+10000-01-01Z", "0044-03-15 BC", "2017-02-30", "soon"]
    reason = "not a date of the years 0001 to 9999: "
    assert outcome(pinned(*column)) == (
        [LAST.date(), FIRST.date(), LAST.date(), FIRST.date(), None, None],
        4,
        [4, 5],
        reason + "'2017-02-30'",
    )
    assert outcome(pinned(*column, DEAD_LETTER)) == ([None] * 6, 0, [0, 1, 2, 3, 4, 5], reason + "'infinity'")


@pytest.mark.parametrize(
    ("declaration", "ticks", "text"),
    [
        ("time(ms)", 0, "00:00:00"),
        ("time(ms)", 45_296_007, "12:34:56.007000"),
        ("time(us)", 45_296_000_007, "12:34:56.000007"),
        ("time(us)", 86_400_000_000, "24:00:00"),
        ("time(us)", 838 * 3_600_000_000 + 3_599_000_000, "838:59:59"),
        ("time(us)", -(838 * 3_600_000_000 + 3_599_000_001), "-838:59:59.000001"),
        ("time(us)", -1, "-00:00:00.000001"),
        ("time(ns)", 45_296_000_007_999, "12:34:56.000007"),
        ("time(ns)", -999, "00:00:00"),
        ("time(ns)", 3_599_999_999_999_999, "999:59:59.999999"),
    ],
)
def test_a_time_has_one_text_whatever_its_unit(declaration: str, ticks: int, text: str) -> None:
    assert cells(declaration, [ticks, None, 0]) == [text, None, "00:00:00"]


@pytest.mark.parametrize(
    ("declaration", "ticks"),
    [("time(ms)", -(2**31)), ("time(us)", LONG_MIN), ("time(us)", 3_600_000_000_000), ("time(ns)", LONG_MAX)],
)
def test_a_time_beyond_all_clocks_is_a_bad_row(declaration: str, ticks: int) -> None:
    if declaration == "time(ms)":
        # 24.8 days: what 32 bits of milliseconds hold is always a time.
        assert cells(declaration, [ticks]) == ["-596:31:23.648000"]
        return
    expected = ([None, "00:00:00"], 0, [0], f"time beyond 999 hours: {ticks}")
    assert outcome(pinned(declaration, [ticks, 0])) == expected


@pytest.mark.parametrize(
    ("text", "local", "zoned"),
    [
        ("04:05:11.789Z", "04:05:11.789000", "04:05:11.789000Z"),
        ("04:05:11Z", "04:05:11", "04:05:11Z"),
        ("04:05:11.000000Z", "04:05:11", "04:05:11Z"),
        ("04:05:11.123456789+02:00", "04:05:11.123456", "04:05:11.123456+02:00"),
        ("04:05", "04:05:00", "04:05:00"),
        ("24:00:00", "24:00:00", "24:00:00"),
    ],
)
def test_iso_times_have_the_same_text_as_counted_ones(text: str, local: str, zoned: str) -> None:
    assert cells("time(iso)", [text, None]) == [local, None]
    assert cells("timetz", [text, None]) == [zoned, None]


def test_text_that_is_no_time_is_a_bad_row() -> None:
    expected = ([None, "01:02:03", None], 0, [0], "not an ISO 8601 time: '1:2:3'")
    assert outcome(pinned("time(iso)", ["1:2:3", "01:02:03", None])) == expected
    assert outcome(pinned("timetz", ["1:2:3", "01:02:03", None])) == expected


@given(st.lists(st.none() | st.times(), max_size=8))
def test_counted_and_written_times_agree(times: list[dt.time | None]) -> None:
    def micros(time: dt.time) -> int:
        return ((time.hour * 60 + time.minute) * 60 + time.second) * 1_000_000 + time.microsecond

    counted = cells("time(us)", [None if time is None else micros(time) for time in times])
    assert counted == [None if time is None else time.isoformat() for time in times]
    assert counted == cells("time(iso)", [None if time is None else f"{time.isoformat()}Z" for time in times])


DAY = {"year": 2019, "month": 5, "day": 27}
CLOCK = {"hour": 13, "minute": 58, "second": 28, "picoseconds": 123_456_789_012}


def test_structured_values_are_what_their_components_say() -> None:
    assert cells("io.debezium.time.StructuredDate", [structured(**DAY), None]) == [dt.date(2019, 5, 27), None]
    assert cells("io.debezium.time.StructuredTime", [structured(**CLOCK), None]) == ["13:58:28.123456", None]
    nanos = {"hour": 1, "minute": 2, "second": 3, "nanos": 5_000}
    assert cells("io.debezium.time.StructuredTime", [structured(**nanos)]) == ["01:02:03.000005"]
    moment = dt.datetime(2019, 5, 27, 13, 58, 28, 123_456)
    assert cells("io.debezium.time.StructuredTimestamp", [structured(**DAY, **CLOCK), None]) == [moment, None]


@pytest.mark.parametrize(
    ("seconds", "zone", "utc"),
    [
        (0, "Z", (13, 58, 28)),
        (None, "Z", (13, 58, 28)),
        (7200, "+02:00", (11, 58, 28)),
        (-3600, "-01:00", (14, 58, 28)),
        (3630, "+01:00:30", (12, 57, 58)),
    ],
)
def test_structured_zones_are_applied_to_instants_and_kept_by_times(
    seconds: int | None, zone: str, utc: tuple[int, int, int]
) -> None:
    offset = {"offsetSeconds": seconds, "zoneId": None}
    assert cells("io.debezium.time.StructuredZonedTime", [structured(**CLOCK, **offset)]) == [f"13:58:28.123456{zone}"]
    instant = cells("io.debezium.time.StructuredZonedTimestamp", [structured(**DAY, **CLOCK, **offset)])
    assert instant == [dt.datetime(2019, 5, 27, *utc, 123_456, tzinfo=dt.UTC)]


def test_structured_infinity_and_distant_years_follow_the_rule() -> None:
    zero = {"year": 0, "month": 0, "day": 0}
    distant = [{"specialValue": "POSITIVE_INFINITY"}, {"specialValue": "NEGATIVE_INFINITY"}, zero]
    years = [{"year": 12_345, "month": 1, "day": 1}, {"year": -44, "month": 3, "day": 15}]
    dates = [structured(**value) for value in distant + years]
    bounds = [LAST, FIRST, FIRST, LAST, FIRST]
    assert outcome(pinned("io.debezium.time.StructuredDate", dates)) == (
        [bound.date() for bound in bounds],
        5,
        [],
        None,
    )
    moments = [structured(**value, hour=0, minute=0, second=0) for value in distant + years]
    assert outcome(pinned("io.debezium.time.StructuredTimestamp", moments)) == (bounds, 5, [], None)
    instants = [utc(bound) for bound in bounds]
    assert outcome(pinned("io.debezium.time.StructuredZonedTimestamp", moments)) == (instants, 5, [], None)


def test_structured_values_without_a_component_are_bad_rows() -> None:
    for cell in (structured(year=2019, month=None, day=1), "[]", structured(specialValue="NEVER")):
        reason = f"not a date of the years 0001 to 9999: {cell!r}"
        assert outcome(pinned("io.debezium.time.StructuredDate", [cell])) == ([None], 0, [0], reason)


@pytest.mark.parametrize(
    "declaration",
    [
        *("date", "date(iso)", "time(ms)", "time(us)", "time(ns)", "time(iso)", "timetz", "timestamp(ms)"),
        *("timestamp(us)", "timestamp(ns)", "timestamp(iso)", "timestamptz", "io.debezium.time.StructuredTimestamp"),
    ],
)
def test_empty_and_all_null_columns_stay_so(declaration: str) -> None:
    assert cells(declaration, []) == []
    assert cells(declaration, [None, None]) == [None, None]
