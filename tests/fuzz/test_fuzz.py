"""A fixed handful of the cases that ``make fuzz`` makes without end, and values of every type."""

from __future__ import annotations

import os
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.debezium.options import OutOfRange
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.semantics import PHYSICAL_TYPES
from connectors.debezium.types import pinned_type
from connectors.debezium.values import physical_type, to_pinned
from tests.fuzz import hostile
from tests.fuzz.__main__ import failure
from tests.fuzz.contract import check_decoding
from tests.fuzz.cuts import check_cuts
from tests.fuzz.documents import check_documents, documents
from tests.fuzz.landing import MOST_LANDED, check_landing
from tests.fuzz.mutation import case

RUN = 20_260_131
CHUNK = 40


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.mark.parametrize("start", range(0, 120, CHUNK))
def test_every_record_has_one_fate_whatever_it_holds(start: int) -> None:
    for number in range(start, start + CHUNK):
        check_decoding(case(RUN, number))


@pytest.mark.parametrize("start", range(0, 80, CHUNK))
def test_no_records_fate_depends_on_what_stands_beside_it_or_came_before(start: int) -> None:
    for number in range(start, start + CHUNK):
        check_cuts(case(RUN, number))


@pytest.mark.parametrize("start", range(0, 80, CHUNK))
def test_the_job_lands_sets_aside_or_parks_whatever_comes(start: int) -> None:
    for number in range(start, start + CHUNK):
        check_landing(case(RUN, number, MOST_LANDED))


def test_a_document_that_is_whole_is_read() -> None:
    for body, read in documents():
        read(body)


def test_a_broken_document_is_told_in_the_bridge_s_own_words() -> None:
    for number in range(160):
        check_documents(RUN, number)


def test_two_broken_promises_are_two_findings() -> None:
    def first() -> None:
        raise AssertionError("one")

    def second() -> None:
        raise AssertionError("two")

    def place(attempt: Callable[[], None]) -> str:
        return (failure(attempt) or "").partition(": ")[0]

    assert len({place(first), place(second)}) == 2


PARAMETERS = (
    (),
    *((("connect.decimal.precision", "10"), ("length", length), ("scale", "2")) for length in ("1", "9", "2147483647")),
    (("scale", "1000000000"),),
)
VALUES: dict[str, st.SearchStrategy[object]] = {
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "string": st.text(max_size=40) | st.sampled_from(hostile.TEXTS),
    "bytes": st.binary(max_size=40),
    "double": st.floats(),
}


@pytest.mark.parametrize(
    "meaning", [name for name, kind in PHYSICAL_TYPES.items() if kind.value in VALUES] + [None], ids=str
)
@settings(max_examples=10, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_a_value_is_converted_clamped_or_bad(meaning: str | None, data: st.DataObject) -> None:
    kind = PHYSICAL_TYPES[meaning] if meaning is not None else data.draw(st.sampled_from(list(ConnectType)[:9]))
    # A decimal without a scale is a schema that cannot be used.
    known = PARAMETERS[1:] if meaning is not None and meaning.endswith("Decimal") else PARAMETERS
    parameters = data.draw(st.sampled_from(known))
    field = Field("column", kind, semantic=meaning, parameters=parameters)
    values = VALUES.get(kind.value, st.booleans() if kind is ConnectType.BOOLEAN else st.integers(-128, 127))
    cells = data.draw(st.lists(st.none() | values, max_size=6))
    array = pa.array(cells, physical_type(field))
    for rule in OutOfRange:
        converted = to_pinned(array, field, rule)
        converted.values.validate(full=True)
        assert (converted.values.type, len(converted.values)) == (pinned_type(field), len(cells))
        told = set(converted.bad.tolist())
        for place, cell in enumerate(cells):
            if cell is not None and place not in told and not converted.clamped:
                assert converted.values[place].is_valid
