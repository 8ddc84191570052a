"""One spelling for values that a database and a landing file write in several ways."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from streaming.reconciling import spelling


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("04:05:06", "04:05:06"),
        ("04:05:06.7", "04:05:06.700000"),
        ("04:05", "04:05:00"),
        ("24:00:00", "24:00:00"),
        ("-838:59:59.000000", "-838:59:59"),
        ("-00:00:00", "00:00:00"),
        ("11:00:00.1234567", "11:00:00.123456"),
    ],
)
def test_times_are_as_the_bridge_writes_them(text: str, spelled: str) -> None:
    assert spelling.clock(text) == spelled


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("13:51:30.123789+02", "11:51:30.123789Z"),
        ("01:00:00+05:30", "19:30:00Z"),
        ("23:30:00-01", "00:30:00Z"),
        ("11:51:30Z", "11:51:30Z"),
    ],
)
def test_times_with_an_offset_are_compared_in_utc(text: str, spelled: str) -> None:
    assert spelling.clock_in_utc(text) == spelled


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("1.50", "1.5"),
        ("100", "100"),
        ("-0.000", "0"),
        ("1E+3", "1000"),
        ("12345678901234567890123456789012345678901.10", "12345678901234567890123456789012345678901.1"),
        ("NaN", None),
        ("-Infinity", None),
        ("POSITIVE_INFINITY", None),
    ],
)
def test_decimals_are_plain_and_without_needless_zeros(text: str, spelled: str | None) -> None:
    assert spelling.decimal(text) == spelled


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"b": 1.50, "a": [true, null]}', '{"a":[true,null],"b":1.5}'),
        ("1e2", "100"),
        ('"\\u00e9"', '"é"'),
        ("no json", "no json"),
    ],
)
def test_json_is_compared_parsed(one: str, other: str) -> None:
    assert spelling.parsed_json(one) == spelling.parsed_json(other)


@pytest.mark.parametrize(("one", "other"), [("1", '"1"'), ("0.1", "0.10000000000000001"), ("{}", "[]"), ("1", "true")])
def test_different_json_stays_different(one: str, other: str) -> None:
    assert spelling.parsed_json(one) != spelling.parsed_json(other)


@pytest.mark.parametrize(
    ("text", "element", "landed"),
    [
        ("{1,NULL,-3}", int, "[1,null,-3]"),
        ("{}", int, "[]"),
        ("[0:1]={4,5}", int, "[4,5]"),
        ("{t,f}", bool, "[true,false]"),
        ("{1.5,NaN,-Infinity}", float, '[1.5,"NaN","-Infinity"]'),
        ('{a,"b \\"c\\\\,{}","NULL",NULL,""}', str, '["a","b \\"c\\\\,{}","NULL",null,""]'),
        ("{{1,2},{3,4}}", int, "[null,null]"),
        ('{{"}"},{"\\""}}', str, "[null,null]"),
    ],
)
def test_arrays_are_json_as_debezium_sends_them(text: str, element: type[int], landed: str) -> None:
    assert spelling.json_of_array(text, element) == spelling.parsed_json(landed)


def test_arrays_of_single_precision_have_their_shortest_digits() -> None:
    landed = "[1.100000023841858, null, 2.0, true]"
    assert spelling.json_of_floats(landed) == spelling.parsed_json("[1.1, null, 2, true]")


@pytest.mark.parametrize(
    ("text", "landed"),
    [
        ('"a"=>"1", "b"=>NULL', '{"b":null,"a":"1"}'),
        ('"q\\"k"=>"v\\\\"', '{"q\\"k":"v\\\\"}'),
        ("", "{}"),
    ],
)
def test_hstore_is_a_json_object(text: str, landed: str) -> None:
    assert spelling.json_of_hstore(text) == spelling.parsed_json(landed)


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("P-1M", -2_629_800_000_000),
        ("P1Y2M3DT4H5M6.789S", 37_091_106_789_000),
        ("PT0S", 0),
        ("PT-0.000001S", -1),
        ("P178000000Y", 9_223_372_036_854_775_807),
        ("P-178000000Y", -9_223_372_036_854_775_808),
    ],
)
def test_intervals_have_debeziums_microseconds(text: str, micros: int) -> None:
    assert spelling.interval_micros(text) == micros


def test_intervals_as_text_are_compared_by_months_days_and_microseconds() -> None:
    assert spelling.interval("P1Y2M3DT4H5M6.78S") == "14 3 14706780000"
    assert spelling.interval("P14M3DT14706.78S") == spelling.interval("P1Y2M3DT4H5M6.78S")
    assert spelling.interval("P0Y0M0DT0H0M0S") == spelling.interval("PT0S")


@pytest.mark.parametrize(
    ("spell", "text"),
    [
        (spelling.clock, "noon"),
        (spelling.clock_in_utc, "11:00:00"),
        (spelling.decimal, "1,5"),
        (spelling.interval, "1 day"),
        (spelling.json_of_hstore, "a=>b"),
        (lambda text: spelling.json_of_array(text, int), "1,2"),
        (lambda text: spelling.json_of_array(text, int), '{"1}'),
        (lambda text: spelling.json_of_array(text, int), "{{1,2}"),
        (lambda text: spelling.json_of_array(text, int), '{{"1}}'),
    ],
)
def test_what_cannot_be_read_is_refused(spell: Callable[[str], object], text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        spell(text)
