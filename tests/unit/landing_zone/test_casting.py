"""From one landing-file type to another, without losing what can be kept."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.landing_zone.canonical_text import canonical_text, from_canonical_text
from connectors.landing_zone.casting import can_hold, cast_rows, exact_values, ignored_values
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema, type_from_text
from tests.unit.landing_zone.typed_values import TYPES, arrays, same_values

MOMENT = datetime(2026, 3, 1, 12, 30, 0, 5)


def array(values: list[Any], text: str) -> pa.Array[Any]:
    return pa.array(values, type_from_text(text))


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("bool", True, "true"),
        ("int16", -5, "-5"),
        ("int64", 2**63 - 1, "9223372036854775807"),
        ("float", 0.1, "0.1"),
        ("double", 1e-5, "0.00001"),
        ("double", -0.0, "-0"),
        ("double", math.inf, "Infinity"),
        ("double", math.nan, "NaN"),
        ("decimal128(10,2)", Decimal("1.50"), "1.50"),
        ("string", " as it is ", " as it is "),
        ("binary", b"\x00\xff", "AP8="),
        ("date32", date(1, 1, 1), "0001-01-01"),
        ("timestamp[us]", MOMENT, "2026-03-01T12:30:00.000005"),
        ("timestamp[us,UTC]", MOMENT.replace(tzinfo=UTC), "2026-03-01T12:30:00.000005Z"),
    ],
)
def test_every_type_has_one_text(text: str, value: object, said: str) -> None:
    assert canonical_text(array([value, None], text)).to_pylist() == [said, None]


@given(arrays())
def test_a_canonical_text_is_read_back_as_the_value_that_it_was(values: pa.Array[Any]) -> None:
    assert same_values(from_canonical_text(canonical_text(values), values.type), values)


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("int32", ["012", "+1", " 1", "1 ", "1.0", "", "x", "2147483648"]),
        ("double", ["1.0", "1e0", "inf", "nan", "x", ""]),
        ("bool", ["True", "1", "yes", ""]),
        ("decimal128(10,2)", ["1.5", "1", "1.500", "1e2", "123456789.00"]),
        ("date32", ["2026-3-1", "2026-02-30", "01.03.2026"]),
        ("timestamp[us]", ["2026-03-01 12:30:00.000005", "2026-03-01", "2026-03-01T12:30:00.000005Z"]),
        ("binary", ["AP8", "AP8=\n", "ä", "!!!!"]),
    ],
)
def test_a_text_that_is_not_the_canonical_one_of_a_value_is_none(text: str, texts: list[str]) -> None:
    assert from_canonical_text(pa.array([*texts, None]), type_from_text(text)).null_count == len(texts) + 1


@pytest.mark.parametrize(
    ("source", "values", "target", "held"),
    [
        ("int64", [1, 40_000, None], "int16", [1, None, None]),
        ("double", [2.0, 2.5, math.nan, math.inf], "int32", [2, None, None, None]),
        ("double", [0.5, 0.1, math.nan], "float", [0.5, None, math.nan]),
        ("decimal128(10,2)", [Decimal("7.00"), Decimal("7.10")], "int16", [7, None]),
        ("decimal128(10,2)", [Decimal("7.10"), Decimal("12345.00")], "decimal128(5,1)", [Decimal("7.1"), None]),
        ("int64", [2**53, 2**53 + 1], "double", [2.0**53, None]),
        ("timestamp[us]", [datetime(2026, 3, 1), MOMENT], "date32", [date(2026, 3, 1), None]),
        ("date32", [date(2026, 3, 1)], "timestamp[us]", [datetime(2026, 3, 1)]),
        ("string", ["12", "x", "", None], "int32", [12, None, None, None]),
        ("int32", [12, None], "string", ["12", None]),
        ("bool", [True], "int16", [None]),
        ("timestamp[us]", [MOMENT], "timestamp[us,UTC]", [None]),
        ("binary", [b"1"], "int16", [None]),
    ],
)
def test_only_values_that_are_held_exactly_are_kept(
    source: str, values: list[Any], target: str, held: list[Any]
) -> None:
    kept = exact_values(array(values, source), type_from_text(target))
    assert kept.type == type_from_text(target)
    assert same_values(kept, array(held, target))


@given(arrays(), st.sampled_from(TYPES))
def test_what_is_kept_is_what_was_given_and_what_fits_is_kept(values: pa.Array[Any], target: str) -> None:
    kept = exact_values(values, type_from_text(target))
    back = exact_values(kept, values.type)
    present = [index for index, valid in enumerate(kept.is_valid().to_pylist()) if valid]
    assert same_values(back.take(pa.array(present, pa.int64())), values.take(pa.array(present, pa.int64())))
    if target == "string" or can_hold(kept.type, values.type):
        assert kept.null_count == values.null_count


def test_a_text_column_takes_any_type_as_canonical_text() -> None:
    schema = PinnedSchema((PinnedColumn("name", "name", "string"),))
    rows = pa.RecordBatch.from_pydict({"name": array([True, None], "bool")})
    assert cast_rows(rows, schema, {"name": "name"}).to_pydict() == {"name": ["true", None]}


def test_values_that_a_column_does_not_follow_are_counted() -> None:
    schema = PinnedSchema((PinnedColumn("id", "id", "int64"), PinnedColumn("n", "size", "int16")))
    mapping, unfollowed = {"id": "id", "n": "size"}, frozenset({"n"})
    rows = pa.RecordBatch.from_pydict({"id": array([1, 2, 3], "int64"), "size": array(["5", "many", None], "string")})
    landed = cast_rows(rows, schema, mapping, unfollowed)
    assert landed.to_pydict() == {"id": [1, 2, 3], "n": [5, None, None]}
    assert ignored_values(rows, landed, mapping, unfollowed) == {"n": 1}
    keys = rows.select(["id"])
    assert ignored_values(keys, cast_rows(keys, schema, mapping, unfollowed), mapping, unfollowed) == {}
