"""Numbers, text, bytes and nested values become their pinned types."""

from __future__ import annotations

import base64
import math
import struct
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.debezium.declared import parse_column
from connectors.debezium.options import OutOfRange
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.values import parse_float, physical_type, to_pinned
from tests.unit.debezium.columns import cells, outcome, pinned


def unscaled(number: int) -> bytes:
    """As Java's BigInteger writes it: the shortest two's complement."""
    length = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return number.to_bytes(length, "big", signed=True)


@pytest.mark.parametrize(
    ("declaration", "values"),
    [
        ("boolean", [True, None, False]),
        ("int16", [-32768, None, 32767]),
        ("int32", [-(2**31), None, 2**31 - 1]),
        ("int64", [-(2**63), None, 2**63 - 1]),
        ("float64", [0.1, None, math.inf, -math.inf]),
        ("string", ["", None, "é", "NaN"]),
        ("bytes", [b"", None, b"\x00\xff"]),
        ("json", ['{"b":1,"a":2}', None]),
        ("array", ["[1,null]", None]),
        ("uuid", ["7a5f9c1e-0000-4000-8000-000000000000", None]),
    ],
)
def test_what_has_its_pinned_type_already_stays_as_it_is(declaration: str, values: list[Any]) -> None:
    assert cells(declaration, values) == values


def test_nan_and_minus_zero_stay() -> None:
    nan, zero = to_pinned(pa.array([math.nan, -0.0]), parse_column("x", "float64")).values.to_pylist()
    assert (math.isnan(nan), math.copysign(1, zero)) == (True, -1)


def test_the_upper_half_of_an_unsigned_bigint_is_not_negative() -> None:
    assert cells("uint64", [-1, 0, None, 2**63 - 1]) == [Decimal(2**64 - 1), Decimal(0), None, Decimal(2**63 - 1)]


def test_other_widths_of_text_and_numbers_are_taken() -> None:
    assert outcome(to_pinned(pa.array(["a"], pa.large_string()), parse_column("x", "string"))) == (["a"], 0, [], None)
    assert outcome(to_pinned(pa.array([7, None], pa.int32()), parse_column("x", "int16"))) == ([7, None], 0, [], None)
    assert outcome(to_pinned(pa.nulls(2), parse_column("x", "decimal(10,2)"))) == ([None, None], 0, [], None)


def test_integers_that_their_schema_cannot_hold_are_bad_rows() -> None:
    wide = pa.array([1, 40_000, None, -40_000], pa.int32())
    assert outcome(to_pinned(wide, parse_column("x", "int16"))) == (
        [1, None, None, None],
        0,
        [1, 3],
        "not an int16: 40000",
    )
    unsigned = pa.array([1, 2**63, None], pa.uint64())
    assert outcome(to_pinned(unsigned, parse_column("x", "timestamp(us)"), OutOfRange.NULL))[2:] == (
        [1],
        "not an int64: 9223372036854775808",
    )
    days = pa.array([2**40, 10_000_000, 0], pa.int64())
    assert outcome(to_pinned(days, parse_column("x", "date"), OutOfRange.DEAD_LETTER))[2:] == (
        [0, 1],
        "not an int32: 1099511627776",
    )


@pytest.mark.parametrize(
    ("text", "value"), [("NaN", math.nan), ("Infinity", math.inf), ("-Infinity", -math.inf), (1, 1.0), (0.5, 0.5)]
)
def test_floats_are_numbers_or_the_converters_words(text: str | float, value: float) -> None:
    assert struct.pack("d", parse_float(text)) == struct.pack("d", value)


def test_other_words_are_no_floats() -> None:
    with pytest.raises(ValueError, match="not a number, NaN, Infinity or -Infinity: '1e5'"):
        parse_float("1e5")


@pytest.mark.parametrize("number", [0, 1, -1, 127, 128, -128, -129, 255, 256, 2**63 - 1, -(2**63), 2**63, 10**38 - 1])
def test_unscaled_bytes_of_any_length_become_decimals(number: int) -> None:
    for value in (number, -number):
        assert cells("decimal(38,0)", [unscaled(value), None, unscaled(7)]) == [Decimal(value), None, Decimal(7)]


@given(st.lists(st.none() | st.integers(1 - 10**38, 10**38 - 1), max_size=12))
def test_any_decimals_are_read_back(numbers: list[int | None]) -> None:
    column = [None if number is None else unscaled(number) for number in numbers]
    expected = [None if number is None else Decimal(f"{number}e-2") for number in numbers]
    assert cells("decimal(38,2)", column) == expected


@given(st.lists(st.integers(-(10**10) - 3, 10**10 + 3), max_size=12))
def test_numbers_with_more_digits_than_promised_are_bad_rows(numbers: list[int]) -> None:
    converted = pinned("decimal(10,2)", [unscaled(number) for number in numbers])
    bad = [row for row, number in enumerate(numbers) if abs(number) >= 10**10]
    assert converted.bad.tolist() == bad
    assert [row for row, value in enumerate(converted.values.to_pylist()) if value is None] == bad


def test_a_decimal_too_long_for_its_schema_is_named_under_every_rule() -> None:
    for rule in OutOfRange:
        assert outcome(pinned("decimal(4,2)", [unscaled(12345), unscaled(1234), b""], rule)) == (
            [None, Decimal("12.34"), None],
            0,
            [0, 2],
            "decimal with more than 4 digits: b'09'",
        )


@pytest.mark.parametrize("precision", [1, 10, 18, 19, 38])
def test_the_first_number_with_one_digit_more_is_bad(precision: int) -> None:
    edge = 10**precision
    column = [unscaled(number) for number in (edge, -edge, edge - 1, 1 - edge)]
    assert pinned(f"decimal({precision},0)", column).values.to_pylist() == [
        None,
        None,
        Decimal(edge - 1),
        Decimal(1 - edge),
    ]


def test_padded_bytes_longer_than_a_decimal_are_read() -> None:
    column = [b"\x00" * 20 + b"\x05", b"\xff" * 20 + b"\xfb", unscaled(10**40)]
    assert outcome(pinned("decimal(10,2)", column))[:3] == ([Decimal("0.05"), Decimal("-0.05"), None], 0, [2])


def test_decimals_of_fixed_length_are_read() -> None:
    array = pa.array([(5).to_bytes(8, "big"), (-5).to_bytes(8, "big", signed=True)], pa.binary(8))
    expected = [Decimal("0.05"), Decimal("-0.05")]
    assert to_pinned(array, parse_column("x", "decimal(18,2)")).values.to_pylist() == expected


@pytest.mark.parametrize(
    ("number", "scale", "text"),
    [
        (12345, 2, "123.45"),
        (-5, 3, "-0.005"),
        (5, 0, "5"),
        (5, -3, "5000"),
        (0, -3, "0"),
        (0, 2, "0.00"),
        (-(10**40), 2, "-" + "1" + "0" * 38 + ".00"),
        (1, 30, "0." + "0" * 29 + "1"),
    ],
)
def test_decimals_that_no_decimal_holds_are_plain_text(number: int, scale: int, text: str) -> None:
    assert cells("variable_decimal", [{"scale": scale, "value": unscaled(number)}, None]) == [text, None]
    assert cells(f"decimal(64,{scale})", [unscaled(number), None]) == [text, None]


def test_a_decimal_of_5000_digits_is_plain_text() -> None:
    assert cells("variable_decimal", [{"scale": 1, "value": unscaled(10**5000)}]) == ["1" + "0" * 4999 + ".0"]


def test_variable_decimals_without_scale_or_value_or_with_an_absurd_scale_are_bad_rows() -> None:
    column = [{"scale": None, "value": b"\x01"}, {"scale": 1, "value": None}, {"scale": 2**31 - 1, "value": b"\x01"}]
    assert outcome(pinned("variable_decimal", [*column, None])) == (
        [None] * 4,
        0,
        [0, 1, 2],
        "not a decimal: {'scale': None, 'value': b'\\x01'}",
    )


@pytest.mark.parametrize("wire", ["string", "number"])
def test_decimals_may_come_as_digits(wire: str) -> None:
    column = ["1.5", "-0.01", "1E+3", "1.500", None, "12345678.90"]
    expected = ["1.50", "-0.01", "1000.00", "1.50", None, "12345678.90"]
    assert cells(f"decimal(10,2) as {wire}", column) == [None if text is None else Decimal(text) for text in expected]


def test_digits_that_do_not_fit_are_bad_rows_and_the_others_are_kept() -> None:
    column = ["1.505", "123456789", "NaN", "1_0", "", "1E+300", "1E+999999999", "2.5000000000", "0E+7", None]
    values = [None] * 7 + [Decimal("2.50"), Decimal("0.00"), None]
    reason = "not a decimal of 10 digits, 2 of them after the point: '1.505'"
    assert outcome(pinned("decimal(10,2) as string", column)) == (values, 0, [0, 1, 2, 3, 4, 5, 6], reason)


def test_digits_of_wide_decimals_become_plain_text_and_special_values_stay() -> None:
    column = ["1E+3", "-1.5e-3", "NaN", "POSITIVE_INFINITY", "9" * 60, None]
    assert cells("decimal(64,2) as string", column) == ["1000", "-0.0015", "NaN", "POSITIVE_INFINITY", "9" * 60, None]
    assert outcome(pinned("decimal(64,2) as string", ["ten"])) == ([None], 0, [0], "not a decimal: 'ten'")


def test_a_decimal_whose_schema_says_bytes_may_be_delivered_as_digits() -> None:
    for kind in (pa.string(), pa.large_string()):
        converted = to_pinned(pa.array(["1.5", None], kind), parse_column("x", "decimal(10,2)"))
        assert outcome(converted) == ([Decimal("1.50"), None], 0, [], None)


def test_binary_text_is_decoded() -> None:
    body = bytes([0, 255, 254, 62, 63])
    assert cells("bytes(base64)", [base64.b64encode(body).decode(), None, ""]) == [body, None, b""]
    url = base64.urlsafe_b64encode(body).decode()
    assert cells("bytes(base64url)", [url, url.rstrip("="), None]) == [body, body, None]
    assert cells("bytes(hex)", [body.hex(), body.hex().upper(), None]) == [body, body, None]


@pytest.mark.parametrize(
    ("declaration", "text", "what"),
    [
        ("bytes(base64)", "A", "not base64"),
        ("bytes(base64)", "é", "not base64"),
        ("bytes(base64url)", "A*==", "not base64"),
        ("bytes(hex)", "abc", "not hexadecimal"),
    ],
)
def test_text_that_holds_no_bytes_is_a_bad_row(declaration: str, text: str, what: str) -> None:
    good = {"bytes(hex)": "01"}.get(declaration, "AQ==")
    assert outcome(pinned(declaration, [good, text, None])) == ([b"\x01", None, None], 0, [1], f"{what}: {text!r}")


def test_bits_are_digits_with_the_most_significant_first() -> None:
    assert cells("bits(12)", [b"\x05\x08", b"\x00\x00", None]) == ["100000000101", "000000000000", None]


def test_bits_have_their_columns_length_though_the_connector_leaves_out_leading_zero_bytes() -> None:
    assert cells("bits(12)", [b"\x01", b"", b"\x01\x00"]) == ["000000000001", "000000000000", "000000000001"]
    assert cells("bits(64)", [b"\x01"]) == ["1".rjust(64, "0")]


@pytest.mark.parametrize("parameters", [(), (("length", "2147483647"),)])
def test_bits_without_a_length_are_whole_bytes(parameters: tuple[tuple[str, str], ...]) -> None:
    unlimited = Field("x", ConnectType.BYTES, semantic="io.debezium.data.Bits", parameters=parameters)
    assert to_pinned(pa.array([b"\x05\x08", b""]), unlimited).values.to_pylist() == ["0000100000000101", ""]


@pytest.mark.parametrize("length", ["83886081", "1" + "0" * 30, "9" * 10_000])
def test_bits_of_a_length_that_no_database_has_are_bad_rows(length: str) -> None:
    endless = Field("x", ConnectType.BYTES, semantic="io.debezium.data.Bits", parameters=(("length", length),))
    found = outcome(to_pinned(pa.array([b"\x05", None]), endless))
    assert found == ([None, None], 0, [0], "of a column with more than 83886080 bits: b'\\x05'")


@pytest.mark.parametrize(("length", "digits"), [("0012", "000000000101"), ("²", "00000101"), ("-1", "00000101")])
def test_bits_of_a_length_that_is_no_number_are_whole_bytes(length: str, digits: str) -> None:
    declared = Field("x", ConnectType.BYTES, semantic="io.debezium.data.Bits", parameters=(("length", length),))
    assert to_pinned(pa.array([b"\x05"]), declared).values.to_pylist() == [digits]


def test_bits_beyond_the_length_are_a_bad_row() -> None:
    assert outcome(pinned("bits(3)", [b"\x07", b"\x08"])) == (["111", None], 0, [1], "more than 3 bits: b'\\x08'")


def point(x: float, y: float, *, srid: int | None = None, order: str = "<") -> bytes:
    head = struct.pack(f"{order}I", 1) if srid is None else struct.pack(f"{order}Ii", 1 | 0x2000_0000, srid)
    return (b"\x01" if order == "<" else b"\x00") + head + struct.pack(f"{order}dd", x, y)


def test_a_point_without_well_known_binary_is_built_from_its_coordinates() -> None:
    column = [
        {"x": 1.0, "y": 2.0, "wkb": None, "srid": None},
        {"x": 1.0, "y": 2.0, "wkb": None, "srid": 4326},
        {"x": 9.0, "y": 9.0, "wkb": point(1, 2), "srid": 0},
        None,
    ]
    assert cells("point", column) == [point(1, 2), point(1, 2, srid=4326), point(1, 2), None]


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_geometry_with_a_reference_system_is_extended_well_known_binary(order: str) -> None:
    plain, extended = point(1, 2, order=order), point(1, 2, srid=4326, order=order)
    column = [{"wkb": plain, "srid": None}, {"wkb": plain, "srid": 4326}, {"wkb": extended, "srid": 4326}, None]
    assert cells("geometry", column) == [plain, extended, extended, None]


def test_what_is_no_geometry_is_a_bad_row() -> None:
    column = [{"wkb": None, "srid": 1}, {"wkb": b"\x01", "srid": None}, {"wkb": b"\x07" * 9, "srid": None}]
    assert outcome(pinned("geometry", column)) == (
        [None] * 3,
        0,
        [0, 1, 2],
        "not a well-known binary geometry: {'wkb': None, 'srid': 1}",
    )
    assert outcome(pinned("point", [{"x": 1.0, "y": None, "wkb": None, "srid": None}]))[2] == [0]


@pytest.mark.parametrize(
    "declaration",
    [
        *("boolean", "int16", "uint64", "float64", "string", "bytes", "bytes(base64)", "bits(9)", "decimal(10,2)"),
        *("decimal(64,2)", "decimal(10,2) as string", "variable_decimal", "geometry", "point", "array"),
    ],
)
def test_empty_and_all_null_columns_stay_so(declaration: str) -> None:
    assert cells(declaration, []) == []
    assert cells(declaration, [None, None]) == [None, None]


def test_a_struct_that_is_null_hides_the_values_in_it() -> None:
    field = parse_column("x", "point")
    kinds = list(physical_type(field))
    cells_of = zip([[1.0], [2.0], [None], [4326]], kinds, strict=True)
    members = [pa.array(values, kind.type) for values, kind in cells_of]
    hidden = pa.StructArray.from_arrays(members, fields=kinds, mask=pa.array([True]))
    assert outcome(to_pinned(hidden, field)) == ([None], 0, [], None)
