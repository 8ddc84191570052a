"""What is remembered of schemas, keys and layouts is bounded, however many different ones come."""

from __future__ import annotations

import json

import pytest

from connectors.debezium import json_codec, record_key
from connectors.debezium.decoder import Decoder
from connectors.debezium.embedded_schema import EmbeddedSchemas
from connectors.debezium.json_layout import EnvelopeLayout
from connectors.debezium.options import DecodeOptions
from connectors.debezium.record_key import KeyShape
from connectors.debezium.schema import ConnectType, Field
from tests.security.bombs import GOOD, decoded, fates
from tests.unit.debezium.builders import (
    DECLARED,
    ID,
    Message,
    SchemaRegistry,
    event,
    records,
)


def test_another_schema_in_every_record_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connectors.debezium.embedded_schema._KEPT_BYTES", 20_000)
    known = EmbeddedSchemas()
    for number in range(300):
        schema = {"type": "struct", "fields": [{"field": "x" * 500 + str(number), "type": "string"}]}
        known.split("topic", json.dumps({"schema": schema, "payload": {}}).encode())
    assert sum(map(len, known._texts)) <= 20_000
    assert sum(len(prefixes) for prefixes in known._prefixes.values()) <= 64


def test_other_fields_in_every_key_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_key, "_KEPT_SHAPES", 50)
    decoder = Decoder(DecodeOptions(rules=DECLARED))
    for number in range(200):
        decoder.decode(records(Message(json.dumps({f"k{number}": 1}).encode(), None)))
        assert len(decoder._keys._shapes) <= 50
        assert len(decoder._keys._strict) <= 50
    [chunk] = decoder.decode(records(GOOD.json())).chunks
    assert chunk.schema.key == ("id",)


def key_of(number: int, fields: int) -> bytes:
    """A key with fields that no key of another number has."""
    return json.dumps({f"k{number}_{place}": 1 for place in range(fields)}).encode()


def test_very_many_other_fields_in_every_key_do_not_fill_the_memory() -> None:
    landed, bad = fates(decoded(*(Message(key_of(n, 1_000), GOOD.json().value) for n in range(200)), GOOD.json()))
    assert landed == [200]
    assert {reason for _, reason in bad} == {"missing key"}


def test_keys_of_many_fields_are_forgotten_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_key, "_KEPT_FIELDS", 1_000)
    registry = SchemaRegistry()
    decoder = Decoder(DecodeOptions(rules=DECLARED), registry)
    kept: list[int] = []
    keep = decoder._keys._keep

    def counted(identity: object, shape: KeyShape) -> KeyShape:
        kept_shape = keep(identity, shape)
        kept.append(sum(len(each.names) for each in decoder._keys._shapes.values()))
        return kept_shape

    monkeypatch.setattr(decoder._keys, "_keep", counted)
    for number in range(30):
        wide = tuple(Field(f"t{number}_{place}", ConnectType.INT32) for place in range(100))
        typed = event("c", after={"id": 1}, key=dict.fromkeys((field.name for field in wide), 1))
        decoder.decode(records(*(Message(key_of(20 * number + n, 100), GOOD.json().value) for n in range(20))))
        decoder.decode(records(typed.json_with_schema(key_columns=wide), typed.avro(registry, key_columns=wide)))
        assert len(decoder._keys._strict) <= 1
    # Counted whenever a key is remembered: up to the bound, then forgotten all at once and remembered anew.
    assert len(kept) >= 30 * 22
    assert kept == [100 * (1 + number % 10) for number in range(len(kept))]


def test_keys_are_read_the_same_whatever_was_forgotten_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[tuple[str, ...]] = [("id",), ("id", "name"), ("id", "name"), ("id",), ("name",), ("id",)]
    batch = records(*(event("c", after={"id": n, "name": "a"}, key=key).json() for n, key in enumerate(keys)))
    remembering = Decoder(DecodeOptions(rules=DECLARED))
    monkeypatch.setattr(record_key, "_KEPT_FIELDS", 1)
    forgetting = Decoder(DecodeOptions(rules=DECLARED))
    for _ in range(2):
        found = [
            [(chunk.schema.key, chunk.rows.to_pylist()) for chunk in decoder.decode(batch).chunks]
            for decoder in (remembering, forgetting)
        ]
        assert found[0] == found[1]
        assert [key for key, _ in found[0]] == [("id",), ("id", "name"), ("id",), ("name",), ("id",)]


def test_a_topic_whose_keys_were_forgotten_for_another_topics_is_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_key, "_KEPT_FIELDS", 1)
    decoder = Decoder(DecodeOptions(rules=DECLARED))
    named = event("c", after={"id": 2, "name": "a"}, key=("name",))
    for _ in range(2):
        [chunk] = decoder.decode(records(GOOD.json(), topic="one")).chunks
        assert chunk.schema.key == ("id",)
        [chunk] = decoder.decode(records(named.json(), topic="other")).chunks
        assert chunk.schema.key == ("name",)


def test_layouts_of_another_schema_in_every_record_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_codec, "_KEPT_COLUMNS", 200)
    decoder = Decoder(DecodeOptions())
    kept: list[int] = []
    for number in range(60):
        columns = (ID, *(Field(f"c{number}_{place}", ConnectType.STRING) for place in range(20)))
        [chunk] = decoder.decode(records(event("c", after={"id": number}).json_with_schema(columns))).chunks
        assert chunk.rows.column("id").to_pylist() == [number]
        layouts = [layout for layout in decoder._json._layouts.values() if isinstance(layout, EnvelopeLayout)]
        kept.append(sum(len(layout.fields) for layout in layouts))
        assert len(decoder._json._latest) <= len(layouts)
    # Forgotten all at once, then remembered anew.
    assert (kept[-1], max(kept)) == (126, 189)


def test_layouts_do_not_remember_what_keys_name_beside_the_columns() -> None:
    decoder = Decoder(DecodeOptions(rules=DECLARED))
    for number in range(20):
        decoder.decode(records(Message(key_of(number, 3), GOOD.json().value)))
    assert len(decoder._json._layouts) == 1
