"""Input that is small on the wire and large, deep or endless when it is read becomes a dead letter, and no more."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from connectors.debezium import json_codec, record_key
from connectors.debezium.decoder import Decoder
from connectors.debezium.embedded_schema import EmbeddedSchemas
from connectors.debezium.events import Decoded
from connectors.debezium.json_layout import EnvelopeLayout
from connectors.debezium.options import DecodeOptions
from connectors.debezium.schema import ConnectType, Field
from tests.unit.debezium.builders import (
    COLUMNS,
    DECLARED,
    ID,
    LEARNING,
    Message,
    SchemaRegistry,
    avro_envelope,
    event,
    records,
)

DEEP = b"[" * 50_000 + b"]" * 50_000
DECIMAL = "org.apache.kafka.connect.data.Decimal"
GOOD = event("c", after={"id": 1, "name": "a"})
SOURCE = json.dumps(GOOD.source).encode()
MOST_BYTES = 64 * 1024 * 1024


def decoded(*messages: Message, rules: Any = DECLARED, registry: SchemaRegistry | None = None) -> Decoded:
    """What the messages come to, within a bounded amount of memory."""
    tracemalloc.start()
    try:
        found = Decoder(DecodeOptions(rules=rules), registry).decode(records(*messages))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES
    return found


def fates(found: Decoded) -> tuple[list[int], list[tuple[int, str]]]:
    """Offsets of the rows, and offsets and reasons of what is bad."""
    landed = sorted(int(offset) for chunk in found.chunks for offset in chunk.offsets)
    return landed, [(bad.offset, bad.reason) for bad in found.bad]


@pytest.mark.parametrize(
    "value",
    [
        DEEP,
        b'{"a":' * 50_000,
        b'{"schema":' + DEEP + b',"payload":1}',
        b'{"schema":{"type":"struct","fields":' + DEEP + b'},"payload":{}}',
        b'{"op":"c","source":' + SOURCE + b',"after":{"id":1,"name":' + DEEP + b"}}",
        b'{"op":"c","source":' + SOURCE + b',"after":{"id":1,"other":' + DEEP + b"}}",
        b'{"op":"c","source":' + DEEP + b',"after":{"id":1}}',
        b'{"op":' + DEEP + b',"source":' + SOURCE + b"}",
        b'{"ddl":"x","databaseName":"d","tableChanges":' + DEEP + b"}",
    ],
    ids=range(9),
)
@pytest.mark.parametrize("rules", [DECLARED, LEARNING], ids=["declared", "learned"])
def test_a_value_nested_without_end_is_set_aside_alone(value: bytes, rules: Any) -> None:
    landed, bad = fates(decoded(GOOD.json(), Message(b'{"id":1}', value), GOOD.json(), rules=rules))
    assert landed == [0, 2]
    assert [offset for offset, _ in bad] == [1]
    assert "unforeseen" not in {reason for _, reason in bad}


def test_a_key_nested_without_end_is_set_aside_alone() -> None:
    keys = (DEEP, b'{"schema":' + DEEP + b',"payload":{}}', b'{"id":' + DEEP + b"}")
    found = decoded(*(Message(key, GOOD.json().value) for key in keys), GOOD.json())
    assert fates(found) == ([3], [(number, "unreadable key") for number in range(3)])


def test_a_schema_nested_deeper_than_any_real_one_is_set_aside() -> None:
    node: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        node = {"type": "array", "items": node}
    body = json.dumps({"schema": node, "payload": []}).encode()
    assert fates(decoded(Message(None, body)))[1] == [(0, "unusable schema")]


@pytest.mark.parametrize(
    "number", ["1e999999999", "-1e999999999", "1e-999999999", "9" * 200_000, "1e99999999999999999999"]
)
def test_a_decimal_without_measure_is_not_written_out(number: str) -> None:
    scale = (("connect.decimal.precision", "10"), ("scale", "2"))
    columns = (ID, Field("price", ConnectType.BYTES, semantic=DECIMAL, parameters=scale))
    whole = event("c", after={"id": 1, "price": "@"}).json_with_schema(columns)
    body = (whole.value or b"").replace(b'"@"', number.encode())
    landed, bad = fates(decoded(Message(whole.key, body)))
    assert (landed, [offset for offset, _ in bad]) == ([], [0])


def test_numbers_without_measure_in_a_nested_value_stay_as_they_are() -> None:
    columns = (ID, Field("tags", ConnectType.ARRAY, children=(Field("items", ConnectType.STRING),)))
    whole = event("c", after={"id": 1, "tags": "@"}).json_with_schema(columns)
    body = (whole.value or b"").replace(b'"@"', b"[1e999999999]")
    [chunk] = decoded(Message(whole.key, body)).chunks
    assert chunk.rows.to_pylist() == [{"id": 1, "tags": "[1e999999999]"}]


def envelope_with(kind: Any) -> dict[str, Any]:
    """An envelope's Avro schema with one more column."""
    schema = avro_envelope(COLUMNS, GOOD.source or {})
    schema["fields"][0]["type"][1]["fields"].append({"name": "bomb", "type": kind})
    return schema


def nested(levels: int) -> Any:
    kind: Any = "int"
    for _ in range(levels):
        kind = {"type": kind}
    return kind


def doubled(levels: int) -> Any:
    """A record that holds two of the one below it: 2 to the power of its levels when it is written out."""
    kind: Any = {"type": "record", "name": "R0", "fields": [{"name": "x", "type": "int"}]}
    for level in range(1, levels):
        fields = [{"name": "a", "type": kind}, {"name": "b", "type": f"R{level - 1}"}]
        kind = {"type": "record", "name": f"R{level}", "fields": fields}
    return kind


EMPTY = {"type": "record", "name": "Empty", "fields": []}


@pytest.mark.parametrize(
    "kind",
    [
        {"type": "record", "name": "Self", "fields": [{"name": "again", "type": ["null", "Self"]}]},
        {"type": "array", "items": "null"},
        {"type": "array", "items": EMPTY},
        {"type": "array", "items": {"type": "record", "name": "Outer", "fields": [{"name": "inner", "type": EMPTY}]}},
        {"type": "array", "items": {"type": "fixed", "name": "Nothing", "size": 0}},
        {"type": "fixed", "name": "Huge", "size": 2**62},
        nested(300),
        nested(900),
        doubled(40),
        {"type": "string", "connect.name": ["not", "text"]},
    ],
    ids=range(10),
)
def test_an_avro_schema_that_explodes_spoils_only_its_own_records(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # The real limit takes a second to reach, and much longer where memory is counted.
    monkeypatch.setattr("connectors.debezium.avro_schema.MAX_FIELDS", 2_000)
    registry = SchemaRegistry()
    good = GOOD.avro(registry)
    number = registry.register(envelope_with(kind))
    # An array of 2**60 items that take no bytes.
    bomb = Message(b'{"id":1}', b"\0" + number.to_bytes(4) + b"\x02\x02\x02a" + b"\x80" * 8 + b"\x20\0" + b"\0" * 40)
    landed, bad = fates(decoded(bomb, good, registry=registry))
    assert landed == [1]
    assert bad == [(0, "unusable schema")]


def test_lengths_that_a_datum_does_not_have_are_corrupt() -> None:
    registry = SchemaRegistry()
    good = GOOD.avro(registry)
    for claimed in (b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x80" * 9 + b"\x01", b"\xff" * 30):
        whole = good.value or b""
        bomb = Message(good.key, whole[:9] + claimed + whole[10:])
        landed, bad = fates(decoded(bomb, good, registry=registry))
        assert landed == [1]
        assert [offset for offset, _ in bad] == [0]


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
    for number in range(30):
        wide = tuple(Field(f"t{number}_{place}", ConnectType.INT32) for place in range(100))
        typed = event("c", after={"id": 1}, key=dict.fromkeys((field.name for field in wide), 1))
        decoder.decode(records(*(Message(key_of(20 * number + n, 100), GOOD.json().value) for n in range(20))))
        decoder.decode(records(typed.json_with_schema(key_columns=wide), typed.avro(registry, key_columns=wide)))
        kept.append(sum(len(shape.names) for shape in decoder._keys._shapes.values()))
        assert len(decoder._keys._strict) <= 1
    # Forgotten all at once, then remembered anew.
    assert (min(kept), max(kept)) == (200, 1_000)


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
