"""What two ways of decoding have read is put together without what is void in either."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from connectors.debezium import json_reading
from connectors.debezium.bodies import Bodies
from connectors.debezium.json_images import JsonImages
from connectors.debezium.json_layout import EnvelopeLayout
from connectors.debezium.json_reading import Found, completed
from connectors.debezium.origin import Origin, RecordForm
from connectors.debezium.physical import Physical
from connectors.debezium.schema import ConnectType, Field, SourceTable

NAME = Field("name", ConnectType.STRING)
# Lives as long as what is in it.
COUNTING = pa.proxy_memory_pool(pa.default_memory_pool())


def found(*names: str | None) -> Found:
    images = JsonImages(np.ones(len(names), dtype=np.bool_), {"name": Physical(pa.array(names, pa.string()))})
    return Found({"op": [name and name[:1] for name in names]}, {"after": images})


def test_records_stay_in_their_order_and_what_failed_is_left_out() -> None:
    whole, failed = completed(found("a", "?", "c", "?", "e", "?"), 6, np.array([1, 3, 5]), found("b", "f"), [1])
    assert whole.values == {"op": ["a", "b", "c", "e", "f"]}
    assert whole.images["after"].column(NAME).values.to_pylist() == ["a", "b", "c", "e", "f"]
    assert failed == [3]


def test_parts_become_one_in_their_order() -> None:
    whole = Found.joined([found("a", "b"), found(), found("c")])
    assert whole.values == {"op": ["a", "b", "c"]}
    assert whole.images["after"].column(NAME).values.to_pylist() == ["a", "b", "c"]


def numbers(*values: int | None, arrow: bool) -> Found:
    return Found({"lsn": pa.array(values, pa.int64()) if arrow else list(values)}, {})


def test_values_of_arrow_stay_there_and_keep_their_order() -> None:
    whole, failed = completed(numbers(1, 0, 3, 0, 5, arrow=True), 5, np.array([1, 3]), numbers(4, arrow=False), [0])
    assert whole.values["lsn"].equals(pa.array([1, 3, 4, 5], pa.int64()))
    assert failed == [1]


def test_a_number_that_arrow_does_not_hold_is_not_lost() -> None:
    whole, _ = completed(numbers(1, 0, None, arrow=True), 3, np.array([1]), numbers(2**64, arrow=False), [])
    assert whole.values["lsn"] == [1, 2**64, None]


def test_what_is_void_takes_no_room_beside_what_has_been_decoded_again() -> None:
    """A text of a record that is handed over is in both, and together they could be more than Arrow takes."""
    large = "x" * 8_000_000
    most, rest = found("a", large, "c"), found(large)
    ours = pa.default_memory_pool()
    pa.set_memory_pool(COUNTING)
    try:
        whole, _ = completed(most, 3, np.array([1]), rest, [])
    finally:
        pa.set_memory_pool(ours)
    assert whole.images["after"].column(NAME).values.to_pylist() == ["a", large, "c"]
    # The column as it is joined, and as it is in order; not the void text besides.
    assert COUNTING.max_memory() < 20_000_000


def test_a_whole_before_image_is_that_of_its_own_record_however_many_are_read_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_reading, "TOGETHER", 2)
    key = Field("id", ConnectType.INT32, optional=False)
    origin = Origin(RecordForm.ENVELOPE, "postgresql", SourceTable("shop", "public", "orders"))
    layout = EnvelopeLayout(origin, (key, NAME), frozenset(["id"]))
    source = b'{"connector":"postgresql","db":"shop","schema":"public","table":"orders"}'
    texts = [
        b'{"op":"u","source":' + source + b',"before":{"id":%d,"name":"old %d"},"after":{"id":%d}}' % (n, n, n)
        for n in range(5)
    ]
    reading = layout.read(np.arange(6), Bodies.of_texts([*texts[:3], b"rubbish", *texts[3:]]))
    assert reading.failed == [3]
    assert reading.group.before.column(NAME).values.to_pylist() == [f"old {n}" for n in range(5)]
