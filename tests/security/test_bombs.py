"""Input that is small on the wire and large, deep or endless when it is read becomes a dead letter, and no more."""

from __future__ import annotations

import contextlib
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from connectors.debezium import avro_registry, json_codec, record_key
from connectors.debezium.avro_registry import MOST_UNKNOWN
from connectors.debezium.bodies import Bodies
from connectors.debezium.decoder import Decoder
from connectors.debezium.embedded_schema import EmbeddedSchemas
from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.events import Decoded
from connectors.debezium.isolated import MOST_SET_ASIDE
from connectors.debezium.json_layout import EnvelopeLayout
from connectors.debezium.key_members import ExactMembers
from connectors.debezium.options import DecodeOptions
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.wire import SchemaIdKind
from connectors.kafka.embedded_registry import EmbeddedRegistry, SchemaReference
from connectors.kafka.registry import Registry, RegistryConfig, RegistryKind
from tests.support.json_kernel import built
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


@pytest.mark.parametrize("members", [200, 2_000])
def test_keys_of_many_members_do_not_fill_the_memory(members: int) -> None:
    names = tuple(f"c{number}" for number in range(members))
    key = ("{" + ",".join(f'"{name}":0' for name in names) + "}").encode()
    keys = Bodies.of_texts([key] * (4_000_000 // members))
    # What is a Python object of each key is no matter here.
    keys.listed()
    check = ExactMembers(names, built())
    tracemalloc.start()
    try:
        assert check.have_all(keys)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 * 1024 * 1024


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


HALF = "\ud800"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda schema: schema["fields"].append({"name": HALF, "type": ["null", "string"]}),
        lambda schema: schema["fields"].append({"name": "e", "type": {"type": "enum", "name": "E", "symbols": [HALF]}}),
        lambda schema: schema["fields"].append({"name": "p", "type": {"type": "int", "connect.parameters": {HALF: 1}}}),
        lambda schema: schema["fields"].append(
            {"name": "q", "type": {"type": "int", "connect.parameters": {"a": HALF}}}
        ),
        lambda schema: schema["fields"].append({"name": "n", "type": {"type": "int", "connect.name": HALF}}),
        lambda schema: schema.update(name=HALF),
        lambda schema: schema.update(doc=HALF),
    ],
    ids=["field", "symbol", "parameter", "value", "semantic", "record", "doc"],
)
def test_a_schema_with_half_a_surrogate_pair_sets_aside_its_own_records(spoil: Any) -> None:
    registry = SchemaRegistry()
    good = GOOD.avro(registry)
    # The row's own columns, in the Value that before defines.
    schema = avro_envelope(COLUMNS, GOOD.source or {})
    value = schema["fields"][0]["type"][1]
    spoil(value)
    bombs = [naming(registry.register(schema | {"doc": number})) for number in range(MOST_SET_ASIDE + 1)]
    flat = [naming(registry.register(value | {"aliases": [str(number)]})) for number in range(MOST_SET_ASIDE + 1)]
    landed, bad = fates(decoded(*bombs, *flat, good, registry=registry))
    assert landed == [len(bombs) + len(flat)]
    assert {reason for _, reason in bad} == {"unusable schema"}


def test_rows_of_a_schema_with_half_a_surrogate_pair_are_set_aside_however_many_there_are() -> None:
    registry = SchemaRegistry()
    columns = (*COLUMNS, Field(HALF, ConnectType.STRING))
    whole = event("c", after={"id": 1, "name": "a", HALF: "b"})
    landed, bad = fates(
        decoded(*[whole.avro(registry, columns)] * (MOST_SET_ASIDE + 1), GOOD.avro(registry), registry=registry)
    )
    assert landed == [MOST_SET_ASIDE + 1]
    assert {reason for _, reason in bad} == {"unusable schema"}


@pytest.mark.parametrize("framing", ["confluent", "content"])
def test_a_referenced_schema_with_half_a_surrogate_pair_sets_aside_its_own_records(
    server: EmbeddedRegistry, framing: str
) -> None:
    good = registered(server)
    server.register("half", json.dumps({"type": "record", "name": "H", "fields": [{"name": HALF, "type": "int"}]}))
    text = json.dumps({"type": "record", "name": "R", "fields": [{"name": "h", "type": "H"}]})
    number = server.register("whole", text, [SchemaReference("H", "half", 1)])
    headers = () if framing == "confluent" else (("apicurio.value.contentId", number.to_bytes(8)),)
    found = asking(server).decode(records(Message(b'{"id":1}', naming(number).value, headers), good))
    assert fates(found) == ([1], [(0, "unknown schema id")])
    (found.bad[0].detail + found.bad[0].reason).encode()


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


@pytest.fixture
def server() -> Iterator[EmbeddedRegistry]:
    with EmbeddedRegistry() as running:
        yield running


def asking(server: EmbeddedRegistry) -> Decoder:
    registry = Registry(RegistryConfig(server.url, RegistryKind.APICURIO, attempts=1, timeout=5))
    return Decoder(DecodeOptions(rules=DECLARED), registry)


def registered(server: EmbeddedRegistry) -> Message:
    """A good record, whose schemas the registry has."""
    schemas = SchemaRegistry()
    good = GOOD.avro(schemas)
    assert [server.register("orders", schemas.texts[number]) for number in sorted(schemas.texts)] == [*schemas.texts]
    return good


def naming(number: int) -> Message:
    """Six bytes that name a schema."""
    return Message(b'{"id":1}', b"\0" + number.to_bytes(4) + b"\0")


def test_a_schema_of_somebody_else_sets_aside_the_record_that_names_it(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = registered(server)
    answer = server.answer

    def guarded(method: str, path: str, content: bytes) -> tuple[int, object]:
        return (403, {"message": "denied"}) if path.endswith("/9") else answer(method, path, content)

    monkeypatch.setattr(server, "answer", guarded)

    landed, bad = fates(asking(server).decode(records(naming(9), good)))

    assert (landed, bad) == ([1], [(0, "unknown schema id")])


@pytest.mark.parametrize("framing", ["confluent", "content"])
def test_a_schema_that_refers_to_others_without_end_sets_aside_its_own_records(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, framing: str
) -> None:
    monkeypatch.setattr("connectors.kafka.registry_answers.MOST_REFERENCES", 20)
    good = registered(server)
    for number in range(60):
        fields = [{"name": "next", "type": f"R{number - 1}"}] if number else []
        below = [SchemaReference(f"R{number - 1}", f"r{number - 1}", 1)] if number else []
        text = json.dumps({"type": "record", "name": f"R{number}", "fields": fields})
        last = server.register(f"r{number}", text, below)
    headers = () if framing == "confluent" else (("apicurio.value.contentId", last.to_bytes(8)),)
    bomb = Message(b'{"id":1}', naming(last).value, headers)
    decoder = asking(server)

    for _ in range(2):
        found = decoder.decode(records(bomb, good))
        assert fates(found) == ([1], [(0, "unknown schema id")])
        assert "it refers to more than 20 other schemas" in found.bad[0].detail

    # Each of them is asked for once, with Apicurio's own API for what it refers to as well.
    assert len(server.requests) == 2 + (21 if framing == "confluent" else 42)


def asked(registry: SchemaRegistry) -> list[int]:
    return [number for number, _ in registry.asked]


def test_another_unknown_schema_in_every_record_is_asked_for_only_so_often() -> None:
    registry = SchemaRegistry()
    small = GOOD.avro(registry)
    registry.texts = {1_000_000 + number: text for number, text in registry.texts.items()}
    key, value = (
        b"\0" + (1_000_000 + part[4]).to_bytes(4) + part[5:] for part in (small.key or b"", small.value or b"")
    )
    good = Message(key, value)
    decoder = Decoder(DecodeOptions(rules=DECLARED), registry)
    # In a batch that comes in parts, ids of many records go before those that are named once.
    for part in range(4):
        batch = [*(naming(10 + 500 * part + number) for number in range(500)), good, good]
        found = decoder.decode(records(*batch), continued=part > 0)
        landed, bad = fates(found)
        assert landed == [500, 501]
        assert {reason for _, reason in bad} == {"unknown schema id"}
        assert len(bad) == 500
    assert len(asked(registry)) == MOST_UNKNOWN + 2
    assert found.bad[-1].detail == (
        "the registry was not asked for the confluent schema id 2009, since it did not know 200 others of the same "
        "partition's records; `cdc-bridge dead-letters replay CONFIG` asks it"
    )

    # So it does: a batch of its own asks anew.
    registry.texts[2009] = registry.texts[1_000_002]
    late = Message(key, b"\0" + (2009).to_bytes(4) + value[5:])
    assert fates(decoder.decode(records(late))) == ([0], [])


def test_keys_count_among_the_unknown_schemas() -> None:
    registry = SchemaRegistry()
    batch = [Message(naming(10 + number).value, GOOD.json().value) for number in range(500)]
    Decoder(DecodeOptions(rules=DECLARED), registry).decode(records(*batch))
    assert len(asked(registry)) == MOST_UNKNOWN


def test_many_new_schemas_at_once_are_all_asked_for() -> None:
    registry = SchemaRegistry()
    batch = [naming(900_000 + number) for number in range(MOST_UNKNOWN)]
    for number in range(300):
        columns = (*COLUMNS, Field(f"c{number}", ConnectType.STRING, optional=True))
        batch.insert(2 * number, event("c", after={"id": number, "name": "a"}).avro(registry, columns))
    found = Decoder(DecodeOptions(rules=DECLARED), registry).decode(records(*batch))
    landed, bad = fates(found)
    assert (len(landed), len(bad)) == (300, MOST_UNKNOWN)


def test_readers_of_another_schema_in_every_record_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avro_registry, "_KEPT_FIELDS", 2_000)
    registry = SchemaRegistry()
    decoder = Decoder(DecodeOptions(rules=DECLARED), registry)
    kept: list[int] = []
    for number in range(60):
        columns = (ID, *(Field(f"c{number}_{place}", ConnectType.STRING, optional=True) for place in range(20)))
        [chunk] = decoder.decode(records(event("c", after={"id": number}).avro(registry, columns))).chunks
        assert chunk.rows.column("id").to_pylist() == [number]
        kept.append(len(decoder._readers._kept))
    # Forgotten all at once, then remembered anew.
    assert max(kept) < 30 < len(asked(registry))
    assert kept[-1] > 1


@pytest.mark.parametrize("known", [True, False])
def test_what_a_registry_said_is_forgotten_before_it_fills_the_memory(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    monkeypatch.setattr("connectors.kafka.registry._KEPT_IDS", 10)
    registry = Registry(RegistryConfig(server.url, attempts=1, timeout=5))
    for number in range(1, 40):
        if known:
            server.register("orders", json.dumps({"type": "fixed", "name": "F", "size": number}))
        with contextlib.nullcontext() if known else pytest.raises(UnknownSchemaError):
            registry.avro_schema(number, SchemaIdKind.CONFLUENT)
        assert len(registry._found) + len(registry._unknown) <= 10
    assert registry._confluent._client._cache.schema_id_index == {}


def test_large_schemas_are_forgotten_sooner(server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connectors.kafka.registry._KEPT_CHARACTERS", 5_000)
    registry = Registry(RegistryConfig(server.url, attempts=1, timeout=5))
    for number in range(20):
        text = json.dumps({"type": "enum", "name": "E", "symbols": ["x" * 1_000 + str(number)]})
        assert registry.avro_schema(server.register("orders", text), SchemaIdKind.CONFLUENT) == text
        assert sum(map(len, registry._found.values())) <= 5_000
