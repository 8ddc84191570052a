"""A key lands exactly or not at all: two rows of the source never become one because a file holds less."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from connectors.debezium import semantics
from connectors.debezium.declared import parse_column
from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.debezium.exact_keys import exact_keys
from connectors.debezium.options import DecodeOptions, InexactKeys, OutOfRange, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.values import physical_type
from tests.unit.debezium.builders import Event, event, only, records

MOMENT = Field("id", ConnectType.INT64, optional=False, semantic=semantics.MICRO_TIMESTAMP)
INFINITY, LAST = 9223372036825200000, 253402300799999999
STRUCT = {"hour": 1, "minute": 2, "second": 3}


def decoded(*events: Event, options: DecodeOptions | None = None) -> Decoded:
    return Decoder(options or DecodeOptions()).decode(
        records(
            *(one.json_with_schema((MOMENT, Field("until", MOMENT.type, semantic=MOMENT.semantic))) for one in events)
        )
    )


def row(key: int, until: int = 0) -> dict[str, Any]:
    return {"id": key, "until": until}


def test_a_key_beyond_the_range_is_bad_and_not_taken_for_the_last_one_within() -> None:
    found = decoded(event("c", after=row(LAST)), event("c", after=row(INFINITY)), event("d", before=row(INFINITY)))
    detail = "key column id: timestamp outside the years 0001 to 9999: 9223372036825200000"
    assert [(bad.offset, bad.reason, bad.detail) for bad in found.bad] == [
        (1, "inexact key", detail),
        (2, "inexact key", detail),
    ]
    [chunk] = found.chunks
    assert chunk.offsets.tolist() == [0]
    assert chunk.clamped == 0


def test_a_key_that_leaves_the_range_is_bad_as_a_whole() -> None:
    found = decoded(event("u", before=row(INFINITY), after=row(LAST)), event("u", before=row(1), after=row(INFINITY)))
    assert [(bad.offset, bad.reason) for bad in found.bad] == [(0, "inexact key"), (1, "inexact key")]


@pytest.mark.parametrize("rule", [OutOfRange.CLAMP, OutOfRange.NULL])
def test_other_columns_follow_the_range_rule_as_before(rule: OutOfRange) -> None:
    chunk = only(decoded(event("c", after=row(1, INFINITY)), options=DecodeOptions(out_of_range=rule)))
    assert chunk.clamped == 1


def test_the_nearest_key_lands_where_the_settings_ask_for_it() -> None:
    nearest = DecodeOptions(inexact_keys=InexactKeys.NEAREST)
    chunk = only(decoded(event("c", after=row(INFINITY)), options=nearest))
    assert chunk.rows.column("id").cast(pa.int64()).to_pylist() == [LAST]
    assert chunk.clamped == 1


def test_rows_that_are_only_appended_need_no_exact_key() -> None:
    rules = TableRules(tables=(("*", TableDecoding(append=True)),))
    assert only(decoded(event("c", after=row(INFINITY)), options=DecodeOptions(rules=rules))).clamped == 1


@pytest.mark.parametrize(
    ("declaration", "exact", "fine"),
    [
        ("timestamp(ns)", 1_000, 1_001),
        ("time(ns)", -1_000, -1_001),
        ("timestamptz", "2024-01-01T00:00:00.123456000Z", "2024-01-01T00:00:00.1234561Z"),
        ("io.debezium.time.IsoTimestamp", "2024-01-01T00:00:00.123456Z", "2024-01-01T00:00:00.123456789Z"),
        ("io.debezium.time.IsoTime", "00:00:00.123456Z", "00:00:00.000000001Z"),
        ("timetz", "00:00:00.123456+02:00", "00:00:00.12345678+02:00"),
        (
            "io.debezium.time.StructuredTime",
            json.dumps({**STRUCT, "picoseconds": 123_456_000_000}),
            json.dumps({**STRUCT, "picoseconds": 123_456_700_000}),
        ),
        ("io.debezium.time.StructuredTime", json.dumps(STRUCT), json.dumps({**STRUCT, "nanos": 1})),
    ],
)
def test_digits_that_would_be_cut_off_make_a_key_bad(declaration: str, exact: Any, fine: Any) -> None:
    field = parse_column("x", declaration)
    converted, wrong = exact_keys(pa.array([exact, fine, None], physical_type(field)), field)
    assert converted.bad.tolist() == []
    assert [(place, one.reason.value, one.detail) for place, one in wrong] == [
        (1, "inexact key", f"digits below the microsecond, which a landing file cannot hold: {fine!r}")
    ]


def test_what_no_rule_can_carry_is_no_matter_of_exactness() -> None:
    field = parse_column("x", "timestamptz")
    _, wrong = exact_keys(pa.array(["infinity", "tomorrow"]), field)
    assert [(place, one.reason.value) for place, one in wrong] == [(0, "inexact key"), (1, "value out of range")]


def test_text_that_is_no_structured_time_has_no_digits_to_lose() -> None:
    field = parse_column("x", "io.debezium.time.StructuredTime")
    _, wrong = exact_keys(pa.array(["{}", "12:00"], physical_type(field)), field)
    assert {one.reason.value for _, one in wrong} == {"value out of range"}
