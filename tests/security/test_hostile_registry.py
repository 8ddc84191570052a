"""Schemas that a registry has, refuses or does not have spoil only the records that name them, and fill no memory."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

import pytest

from connectors.debezium import avro_registry
from connectors.debezium.avro_registry import MOST_UNKNOWN
from connectors.debezium.decoder import Decoder
from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.options import DecodeOptions
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.wire import SchemaIdKind
from connectors.kafka.embedded_registry import EmbeddedRegistry, SchemaReference
from connectors.kafka.registry import Registry, RegistryConfig, RegistryKind
from tests.security.bombs import GOOD, HALF, fates, naming
from tests.unit.debezium.builders import (
    COLUMNS,
    DECLARED,
    ID,
    Message,
    SchemaRegistry,
    event,
    records,
)


@pytest.fixture
def server() -> Iterator[EmbeddedRegistry]:
    with EmbeddedRegistry() as running:
        yield running


def asking(server: EmbeddedRegistry) -> Decoder:
    registry = Registry(RegistryConfig(server.url, RegistryKind.APICURIO, attempts=1, timeout=60))
    return Decoder(DecodeOptions(rules=DECLARED), registry)


def registered(server: EmbeddedRegistry) -> Message:
    """A good record, whose schemas the registry has."""
    schemas = SchemaRegistry()
    good = GOOD.avro(schemas)
    assert [server.register("orders", schemas.texts[number]) for number in sorted(schemas.texts)] == [*schemas.texts]
    return good


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
    registry = Registry(RegistryConfig(server.url, attempts=1, timeout=60))
    for number in range(1, 40):
        if known:
            server.register("orders", json.dumps({"type": "fixed", "name": "F", "size": number}))
        with contextlib.nullcontext() if known else pytest.raises(UnknownSchemaError):
            registry.avro_schema(number, SchemaIdKind.CONFLUENT)
        assert len(registry._found) + len(registry._unknown) <= 10
    assert registry._confluent._client._cache.schema_id_index == {}


def test_large_schemas_are_forgotten_sooner(server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connectors.kafka.registry._KEPT_CHARACTERS", 5_000)
    registry = Registry(RegistryConfig(server.url, attempts=1, timeout=60))
    for number in range(20):
        text = json.dumps({"type": "enum", "name": "E", "symbols": ["x" * 1_000 + str(number)]})
        assert registry.avro_schema(server.register("orders", text), SchemaIdKind.CONFLUENT) == text
        assert sum(map(len, registry._found.values())) <= 5_000
