"""Values inside arrays, maps and structs become JSON that needs no schema to be understood."""

from __future__ import annotations

import base64
from typing import Any

import pyarrow as pa
import pytest

from connectors.debezium import semantics
from connectors.debezium.declared import parse_column
from connectors.debezium.options import OutOfRange
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.values import to_pinned
from tests.unit.debezium.columns import outcome


def array_of(declaration: str) -> Field:
    return Field("x", ConnectType.ARRAY, children=(parse_column("items", declaration),))


def landed(
    field: Field, *texts: str | None, rule: OutOfRange = OutOfRange.CLAMP
) -> tuple[list[Any], int, list[int], Any]:
    return outcome(to_pinned(pa.array(texts, pa.string()), field, rule))


def b64(number: int) -> str:
    return base64.b64encode(number.to_bytes(8, "big", signed=True)).decode()


@pytest.mark.parametrize(
    ("declaration", "written", "meant"),
    [
        ("decimal(10,2)", f'["{b64(110)}",null,"{b64(-9999999999)}"]', '["1.10",null,"-99999999.99"]'),
        ("decimal(10,2)", "[1.10,null,-99999999.99,7]", '["1.10",null,"-99999999.99","7.00"]'),
        ("decimal(40,2)", f'["{b64(110)}"]', '["1.10"]'),
        ("variable_decimal", '[{"scale":1,"value":"Cw=="},null]', '["1.1",null]'),
        ("date", "[19782,null]", '["2024-02-29",null]'),
        ("date(iso)", '["2024-02-29Z"]', '["2024-02-29"]'),
        ("time(us)", "[45296789012]", '["12:34:56.789012"]'),
        ("timestamp(ms)", "[1709210096789]", '["2024-02-29T12:34:56.789000"]'),
        ("timestamp(us)", "[1709210096789012,null]", '["2024-02-29T12:34:56.789012",null]'),
        ("timestamptz", '["2024-02-29T13:34:56.5+01:00"]', '["2024-02-29T12:34:56.500000Z"]'),
        ("bits(3)", '["BQ=="]', '["101"]'),
    ],
)
def test_an_element_is_the_text_of_what_it_means(declaration: str, written: str, meant: str) -> None:
    assert landed(array_of(declaration), written, None, "[]") == ([meant, None, "[]"], 0, [], None)


@pytest.mark.parametrize(
    ("declaration", "text"),
    [
        ("float64", '[0.1,"NaN",-9.999999999E7,null]'),
        ("bytes", '["AP8=",null]'),
        ("uuid", '["ffffffff-ffff-ffff-ffff-ffffffffff00"]'),
        ("string", r'["a\\u00e9","\"",null]'),
    ],
)
def test_an_element_that_json_can_say_stays_as_it_was_written(declaration: str, text: str) -> None:
    assert landed(array_of(declaration), text) == ([text], 0, [], None)


def test_structs_and_maps_are_converted_to_their_leaves() -> None:
    price, day = parse_column("price", "decimal(10,2)"), parse_column("values", "date")
    days = Field("days", ConnectType.MAP, children=(parse_column("keys", "string"), day))
    counted = Field("counted", ConnectType.MAP, children=(parse_column("keys", "int32"), day))
    ratio = parse_column("ratio", "float64")
    row = Field("x", ConnectType.STRUCT, children=(price, days, counted, ratio))
    text = f'{{"price":"{b64(-1)}","days":{{"a":1}},"counted":[[7,0],[8,null]],"ratio":0.25,"more":[1.5]}}'
    assert landed(row, text, "{}") == (
        [
            '{"price":"-0.01","days":{"a":"1970-01-02"},"counted":[[7,"1970-01-01"],[8,null]],"ratio":0.25,"more":[1.5]}',
            "{}",
        ],
        0,
        [],
        None,
    )


def test_structured_times_in_an_array_are_read() -> None:
    day = Field("items", ConnectType.STRUCT, semantic=semantics.STRUCTURED_DATE)
    field = Field("x", ConnectType.ARRAY, children=(day,))
    assert landed(field, '[{"year":2024,"month":2,"day":29}]') == (['["2024-02-29"]'], 0, [], None)


def test_clamped_elements_are_counted() -> None:
    texts = "[2932897,0,2932898]", "[0]"
    assert landed(array_of("date"), *texts) == (
        ['["9999-12-31","1970-01-01","9999-12-31"]', '["1970-01-01"]'],
        2,
        [],
        None,
    )
    assert landed(array_of("date"), *texts, rule=OutOfRange.DEAD_LETTER)[:3] == ([None, '["1970-01-01"]'], 0, [0])


@pytest.mark.parametrize(
    ("declaration", "text"),
    [
        ("decimal(10,2)", '["no base64"]'),
        ("decimal(10,2)", "[[1]]"),
        ("variable_decimal", '["Cw=="]'),
        ("date", '["today"]'),
        ("decimal(10,2)", "[1e99999999999999999999]"),
        ("date", "[1e99999999999999999999]"),
    ],
)
def test_a_row_with_an_element_that_cannot_be_read_is_bad_and_the_others_are_kept(declaration: str, text: str) -> None:
    values, clamped, bad, reason = landed(array_of(declaration), "[null]", text, "[]")
    assert (values, clamped, bad) == (["[null]", None, "[]"], 0, [1])
    assert reason == f"a value in it cannot be read: {text!r}"


def test_a_nested_value_of_another_shape_than_its_schema_stays() -> None:
    assert landed(array_of("date"), '{"a":1.5}', "7") == (['{"a":1.5}', "7"], 0, [], None)


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        (r'["\uD83D\uDE00 \u00e9"]', '["😀 é"]'),
        (r'["\\\u20ac"]', r'["\\€"]'),
        (r'["\\u20ac"]', r'["\\u20ac"]'),
        (r'["\u0000\u001f\u0022\u005c\n"]', r'["\u0000\u001f\u0022\u005c\n"]'),
        (r'["\uD83D"]', r'["\uD83D"]'),
    ],
)
def test_characters_are_escaped_only_where_json_needs_it(escaped: str, plain: str) -> None:
    assert landed(array_of("string"), escaped, None) == ([plain, None], 0, [], None)
