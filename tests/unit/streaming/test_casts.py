"""Soft casts: a value that fits its new type, and NULL for one that does not."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from streaming.landing.shaping.casts import exact_cast, soft_cast
from streaming.landing.shaping.landing_types import landing_type

DAY = dt.date(2020, 1, 2)
MIDNIGHT = dt.datetime(2020, 1, 2)
MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5, 123456)
UTC_MOMENT = MOMENT.replace(tzinfo=dt.UTC)
DECIMAL = pa.decimal128(12, 2)
TIMESTAMP, INSTANT = pa.timestamp("us"), pa.timestamp("us", tz="UTC")


def cast(values: list[Any], source: pa.DataType, target: str) -> list[Any]:
    """The cast values; the text FAILED where a value did not fit."""
    result = soft_cast(pa.array([*values, None], source), landing_type(target))
    result.values.validate(full=True)
    assert result.values.type == landing_type(target)
    failed = [False] * (len(values) + 1) if result.failed is None else result.failed.tolist()
    cells = ["FAILED" if bad else cell for cell, bad in zip(result.values.to_pylist(), failed, strict=True)]
    assert cells.pop() is None, "NULL stays NULL"
    return cells


FAILED = "FAILED"


@pytest.mark.parametrize(
    ("target", "values", "expected"),
    [
        ("bool", ["true", "T", "1", "no", "off", "2", ""], [True, True, True, False, False, FAILED, FAILED]),
        ("int16", ["7", " -7 ", "32767", "32768", "1.0", "x"], [7, -7, 32767, FAILED, FAILED, FAILED]),
        ("int64", ["9223372036854775807", "9223372036854775808"], [9223372036854775807, FAILED]),
        ("float64", ["1.5", "1e3", "-Infinity", "one"], [1.5, 1000.0, float("-inf"), FAILED]),
        ("float32", ["3.4e38", "3.5e38"], [3.3999999521443642e38, FAILED]),
        (
            "decimal(5,2)",
            ["1.5", "1.500", "1.555", "999.99", "1000", "1e2", "0e9", "NaN", "5e-1", "0.001"],
            [
                Decimal("1.50"),
                Decimal("1.50"),
                FAILED,
                Decimal("999.99"),
                FAILED,
                Decimal("100.00"),
                Decimal("0.00"),
                FAILED,
                Decimal("0.50"),
                FAILED,
            ],
        ),
        ("date", ["2020-01-02", "2020-02-30", "20200102"], [DAY, FAILED, FAILED]),
        (
            "timestamp",
            ["2020-01-02T03:04:05.123456", "2020-01-02", "2020-01-02 03:04:05Z", "2020-01-02T25:00:00"],
            [MOMENT, MIDNIGHT, FAILED, FAILED],
        ),
        (
            "timestamptz",
            ["2020-01-02T03:04:05.123456000Z", "2020-01-02 04:04:05.123456+01:00", "2020-01-02 03:04:05"],
            [UTC_MOMENT, UTC_MOMENT, FAILED],
        ),
        ("binary", ["ä"], ["ä".encode()]),
    ],
)
def test_text_is_read(target: str, values: list[Any], expected: list[Any]) -> None:
    assert cast(values, pa.string(), target) == expected


@pytest.mark.parametrize(
    ("source", "values", "expected"),
    [
        (pa.int64(), [0, 1, 2], [False, True, FAILED]),
        (DECIMAL, [Decimal("1.00"), Decimal("1.01")], [True, FAILED]),
        (pa.float64(), [1.0, 0.5, float("nan")], [True, FAILED, FAILED]),
    ],
)
def test_only_0_and_1_are_booleans(source: pa.DataType, values: list[Any], expected: list[Any]) -> None:
    assert cast(values, source, "bool") == expected


@pytest.mark.parametrize(
    ("source", "values", "expected"),
    [
        (pa.int64(), [32767, 32768], [32767, FAILED]),
        (DECIMAL, [Decimal("7.00"), Decimal("7.01"), Decimal("40000.00")], [7, FAILED, FAILED]),
        (pa.float64(), [7.0, 7.5, 1e300, float("inf"), float("nan")], [7, FAILED, FAILED, FAILED, FAILED]),
        (pa.bool_(), [True, False], [1, 0]),
        (pa.date32(), [DAY], [FAILED]),
    ],
)
def test_an_integer_is_whole_and_in_range(source: pa.DataType, values: list[Any], expected: list[Any]) -> None:
    assert cast(values, source, "int16") == expected


def test_the_largest_integers_do_not_slip_over_their_edge_as_floats() -> None:
    assert cast([2.0**63, -(2.0**63)], pa.float64(), "int64") == [FAILED, -(2**63)]


@pytest.mark.parametrize(
    ("source", "values", "expected"),
    [
        (pa.int32(), [999, 1000], [Decimal("999.00"), FAILED]),
        (
            pa.decimal128(10, 4),
            [Decimal("1.2300"), Decimal("1.2345"), Decimal("1000.0000")],
            [Decimal("1.23"), FAILED, FAILED],
        ),
        (pa.bool_(), [True], [Decimal("1.00")]),
    ],
)
def test_a_decimal_loses_no_digit(source: pa.DataType, values: list[Any], expected: list[Any]) -> None:
    assert cast(values, source, "decimal(5,2)") == expected


@pytest.mark.parametrize(
    ("source", "values", "target", "expected"),
    [
        (pa.decimal128(4, 2), ["99.99", "12.00"], "int32", [FAILED, 12]),
        (pa.decimal128(12, 2), ["9999999999.99", "5.00"], "int64", [FAILED, 5]),
        (
            pa.decimal128(38, 2),
            ["9" * 36 + ".99", "9" * 36 + ".90"],
            "decimal(38,1)",
            [FAILED, Decimal("9" * 36 + ".9")],
        ),
        (pa.decimal128(10, 4), ["999999.9999", "999999.9900"], "decimal(10,2)", [FAILED, Decimal("999999.99")]),
        (pa.decimal128(1, 0), ["1", "0", "7"], "bool", [True, False, FAILED]),
        (pa.decimal128(6, 2), ["1.00", "0.00", "9999.99"], "bool", [True, False, FAILED]),
        (pa.decimal128(38, 38), ["0", "0." + "9" * 38], "bool", [False, FAILED]),
    ],
)
def test_a_decimal_at_the_edge_of_its_precision_fits_or_fails_by_itself(
    source: pa.DataType, values: list[str], target: str, expected: list[Any]
) -> None:
    assert cast([Decimal(value) for value in values], source, target) == expected
    assert cast([], source, target) == []
    # Arrow looks at a column without NULL in another way.
    column = pa.array([Decimal(value) for value in values], source)
    alone = soft_cast(column, landing_type(target)).values.to_pylist()
    assert alone == [None if value is FAILED else value for value in expected]


def test_zeros_behind_the_scale_are_no_digits() -> None:
    texts = ["1." + "0" * 60, "0" * 60 + "1.5", "9" * 38]
    assert cast(texts, pa.string(), "decimal(5,2)") == [Decimal("1.00"), Decimal("1.50"), FAILED]


def test_a_float_becomes_the_nearest_decimal() -> None:
    floats = [1.005, 0.1 + 0.2, 999.994, 999.995, 1e300, float("inf")]
    assert cast(floats, pa.float64(), "decimal(5,2)") == [
        Decimal("1.01"),
        Decimal("0.30"),
        Decimal("999.99"),
        FAILED,
        FAILED,
        FAILED,
    ]
    assert cast([123456789012345678.0], pa.float64(), "decimal(38,10)") == [Decimal("123456789012345680.0000000000")]


def test_a_smaller_float_becomes_a_decimal_from_its_own_shortest_digits() -> None:
    assert cast([0.1, 1.005, 2.5, -0.0], pa.float32(), "decimal(5,2)") == [
        Decimal("0.10"),
        Decimal("1.01"),
        Decimal("2.50"),
        Decimal("0.00"),
    ]
    assert cast([0.1, 1e-40], pa.float32(), "decimal(20,15)") == [Decimal("0.100000000000000"), Decimal(0)]
    assert cast([3.4e38, float("nan")], pa.float32(), "decimal(38,0)") == [FAILED, FAILED]


def test_a_number_becomes_the_nearest_float_but_never_an_infinite_one() -> None:
    assert cast([2**53 + 1], pa.int64(), "float64") == [float(2**53)]
    assert cast([Decimal("1.25")], DECIMAL, "float64") == [1.25]
    assert cast([1e300, float("inf")], pa.float64(), "float32") == [FAILED, float("inf")]


def test_days_and_times_lose_no_time_of_day() -> None:
    assert cast([MOMENT, MIDNIGHT], TIMESTAMP, "date") == [FAILED, DAY]
    assert cast([DAY], pa.date32(), "timestamp") == [MIDNIGHT]
    assert cast([UTC_MOMENT], INSTANT, "timestamp") == [MOMENT]
    assert cast([MOMENT], TIMESTAMP, "timestamptz") == [UTC_MOMENT]


def test_everything_has_a_text_but_bytes_that_are_none() -> None:
    assert cast([Decimal("1.50")], DECIMAL, "string") == ["1.50"]
    assert cast([UTC_MOMENT], INSTANT, "string") == ["2020-01-02T03:04:05.123456Z"]
    assert cast([b"ok"], pa.binary(), "string") == ["ok"]
    assert cast([b"ok", b"\xff"], pa.binary(), "string") == ["ok", FAILED]


def test_a_column_that_has_the_type_already_is_untouched() -> None:
    column = pa.array([1, 2])
    assert soft_cast(column, pa.int64()).values is column


@pytest.mark.parametrize("text", ["decimal(39,2)", "decimal(5,6)", "decimal(0,0)", "money", ""])
def test_a_type_that_no_file_holds_is_told_with_those_that_are_known(text: str) -> None:
    with pytest.raises(ValueError, match=r"^is not a type to cast to: bool, .*timestamptz, or decimal\(p,s\)"):
        landing_type(text)


@pytest.mark.parametrize(
    ("source", "values", "target", "expected"),
    [
        (pa.string(), ["7", "007", "+7", " 7", "-7"], "int32", [7, None, None, None, -7]),
        (pa.string(), ["1.50", "1.5"], "decimal(5,2)", [Decimal("1.50"), None]),
        (pa.string(), ["true", "yes", "false"], "bool", [True, None, False]),
        (pa.string(), ["2020-01-02", " 2020-01-02"], "date", [DAY, None]),
        (pa.int64(), [2**53, 2**53 + 1], "float64", [2.0**53, None]),
        (pa.int64(), [5, 1000], "decimal(5,2)", [Decimal("5.00"), None]),
        (pa.float64(), [1.25, 1.254], "decimal(5,2)", [Decimal("1.25"), None]),
        (DECIMAL, [Decimal("7.00"), Decimal("7.01")], "int16", [7, None]),
        (DECIMAL, [Decimal("1.50")], "string", ["1.50"]),
        (INSTANT, [UTC_MOMENT], "timestamp", [MOMENT]),
        (TIMESTAMP, [MOMENT, MIDNIGHT], "date", [None, DAY]),
        (pa.binary(), [b"ok", b"\xff"], "string", ["ok", None]),
        (INSTANT, [UTC_MOMENT], "string", ["2020-01-02T03:04:05.123456Z"]),
        (pa.bool_(), [True, False], "int16", [1, 0]),
    ],
)
def test_an_exact_cast_takes_what_turns_back_into_itself(
    source: pa.DataType, values: list[Any], target: str, expected: list[Any]
) -> None:
    result = exact_cast(pa.array([*values, None], source), landing_type(target))
    result.values.validate(full=True)
    assert result.values.to_pylist() == [*expected, None]
    failed = [value is None for value in expected]
    found = None if result.failed is None else result.failed.tolist()
    assert found == ([*failed, False] if any(failed) else None)


def test_an_exact_cast_to_the_same_type_changes_nothing() -> None:
    column = pa.array([1.5, float("nan")])
    assert exact_cast(column, pa.float64()).values is column
