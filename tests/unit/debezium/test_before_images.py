"""Deletes and key changes that hold the row before, for tables that keep deleted rows; and events without a key."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded, Op
from connectors.debezium.options import DecodeOptions, EnvelopeForm, TableDecoding, TableRules
from tests.unit.debezium.builders import COLUMNS, PLACEHOLDER, Event, Message, SchemaRegistry, event, only, records

KEEPING = TableDecoding(before_images=True)
Encode = Callable[[Event, SchemaRegistry], Message]
ENCODINGS: dict[str, tuple[Encode, TableDecoding]] = {
    "json": (lambda one, _: one.json(), TableDecoding(declared=COLUMNS)),
    "json with schema": (lambda one, _: one.json_with_schema(), TableDecoding()),
    "avro": (lambda one, registry: one.avro(registry), TableDecoding()),
    "learned json": (lambda one, _: one.json(), TableDecoding(learn=True)),
}


@pytest.fixture(params=ENCODINGS)
def decode(request: pytest.FixtureRequest) -> Callable[..., Decoded]:
    encode, base = ENCODINGS[request.param]
    registry = SchemaRegistry()

    def run(*sent: Event, **asked: Any) -> Decoded:
        decoding = replace(base, **({"before_images": True} | asked))
        options = DecodeOptions(rules=TableRules(tables=(("*", decoding),)))
        return Decoder(options, registry).decode(records(*(encode(one, registry) for one in sent)))

    return run


def test_a_delete_holds_the_row_before_and_its_key(decode: Callable[..., Decoded]) -> None:
    chunk = only(
        decode(
            event("c", after={"id": 1, "name": "a"}),
            event("d", before={"id": 1, "name": "a"}),
            event("c", after={"id": 2, "name": "b"}),
            event("d", before={"id": 2, "name": None}),
        )
    )
    assert chunk.rows.to_pydict() == {"id": [1, 1, 2, 2], "name": ["a", "a", "b", None]}


def test_a_delete_without_a_before_image_holds_its_key(decode: Callable[..., Decoded]) -> None:
    chunk = only(decode(event("c", after={"id": 1, "name": "a"}), event("d", key={"id": 1})))
    assert chunk.rows.to_pydict() == {"id": [1, 1], "name": ["a", None]}


def test_only_deletes_are_there(decode: Callable[..., Decoded]) -> None:
    assert only(decode(event("d", before={"id": 1, "name": "a"}))).rows.to_pylist() == [{"id": 1, "name": "a"}]


def test_a_value_that_the_row_before_lacks_is_null_and_not_the_placeholder(decode: Callable[..., Decoded]) -> None:
    chunk = only(decode(event("c", after={"id": 1, "name": "a"}), event("d", before={"id": 1, "name": PLACEHOLDER})))
    assert chunk.rows.column("name").to_pylist() == ["a", None]
    assert chunk.unavailable == {}


def test_a_key_change_holds_the_whole_row_before(decode: Callable[..., Decoded]) -> None:
    chunk = only(
        decode(
            event("u", before={"id": 1, "name": "a"}, after={"id": 2, "name": "b"}),
            event("u", before={"id": 2, "name": PLACEHOLDER}, after={"id": 3, "name": "c"}),
        )
    )
    assert chunk.key_changed.tolist() == [0, 1]
    assert chunk.old_keys is not None
    assert chunk.old_keys.to_pylist() == [{"id": 1, "name": "a"}, {"id": 2, "name": None}]


def test_without_asking_a_delete_holds_its_key_and_a_key_change_the_old_key(decode: Callable[..., Decoded]) -> None:
    chunk = only(
        decode(
            event("u", before={"id": 1, "name": "a"}, after={"id": 2, "name": "b"}),
            event("d", before={"id": 2, "name": "b"}),
            before_images=False,
        )
    )
    assert chunk.rows.to_pylist() == [{"id": 2, "name": "b"}, {"id": 2, "name": None}]
    assert chunk.old_keys is not None
    assert chunk.old_keys.to_pylist() == [{"id": 1}]


def test_events_that_stand_for_themselves_need_no_key(decode: Callable[..., Decoded]) -> None:
    sent = (
        event("c", after={"id": 1, "name": "a"}, key=None),
        event("d", before={"id": 1, "name": "a"}, key=None),
    )
    chunk = only(decode(*sent, append=True))
    assert (chunk.rows.to_pylist(), chunk.ops.tolist(), chunk.schema.key) == (
        [{"id": 1, "name": "a"}] * 2,
        [Op.CREATE, Op.DELETE],
        (),
    )
    assert [bad.reason for bad in decode(*sent).bad] == ["missing key"]


def test_a_key_column_that_the_row_lacks_matters_only_to_a_table_with_a_key(decode: Callable[..., Decoded]) -> None:
    sent = event("c", after={"id": 1, "name": "a"})
    assert only(decode(sent, append=True, keys=("id", "nowhere"))).schema.key == ("id",)
    assert [bad.reason for bad in decode(sent, keys=("id", "nowhere")).bad] == ["missing key"]


def test_a_flattened_delete_holds_the_row_that_it_was_rewritten_from() -> None:
    decoding = TableDecoding(declared=COLUMNS, before_images=True, keys=("id",))
    options = DecodeOptions(envelope=EnvelopeForm.FLATTENED, rules=TableRules(tables=(("*", decoding),)))
    rows = [{"id": 1, "name": "a", "__deleted": "true"}, {"id": 2, "name": PLACEHOLDER, "__deleted": "true"}]
    for key in (b'{"id": 1}', None):
        sent = [Message(key and json.dumps({"id": row["id"]}).encode(), json.dumps(row).encode()) for row in rows]
        chunk = only(Decoder(options).decode(records(*sent)))
        assert chunk.rows.to_pylist() == [{"id": 1, "name": "a"}, {"id": 2, "name": None}]
