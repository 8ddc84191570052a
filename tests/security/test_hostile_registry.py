"""Schemas that a registry has, refuses or does not have spoil only the records that name them, and fill no memory."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from connectors.debezium import avro_registry
from connectors.debezium.decoder import Decoder
from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.options import DecodeOptions
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.wire import QUESTIONS_AT_ONCE, SchemaIdKind
from connectors.kafka.embedded_registry import EmbeddedRegistry, SchemaReference
from connectors.kafka.errors import RegistryUnavailableError
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


@pytest.mark.parametrize("header", ["contentId", "globalId"])
def test_an_artifact_of_somebody_else_that_is_no_utf8_sets_aside_the_record_that_names_it(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    good = registered(server)
    answer = server.answer
    xml = "<?xml version='1.0' encoding='ISO-8859-1'?><n>caf\xe9</n>".encode("latin-1")

    def with_artifact(method: str, path: str, content: bytes) -> tuple[int, object]:
        if path.endswith("/77/references"):
            return 200, []
        return (200, xml) if path.endswith("/77") else answer(method, path, content)

    monkeypatch.setattr(server, "answer", with_artifact)
    named = Message(b'{"id":1}', b"xyz", ((f"apicurio.value.{header}", (77).to_bytes(8)),))

    landed, bad = fates(asking(server).decode(records(named, good)))

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


def numbered_from(first: int, registry: SchemaRegistry, message: Message) -> Message:
    """The message, its schemas registered under other numbers."""
    registry.texts = {first + number: text for number, text in registry.texts.items()}
    key, value = (
        b"\0" + (first + part[4]).to_bytes(4) + part[5:] for part in (message.key or b"", message.value or b"")
    )
    return Message(key, value)


@pytest.mark.parametrize("parts", [("key",), ("value",), ("key", "value")])
def test_made_up_ids_set_aside_no_record_whose_schemas_the_registry_has(parts: tuple[str, ...]) -> None:
    registry = SchemaRegistry()
    good = numbered_from(1_000_000, registry, GOOD.avro(registry))
    made_up = [Message(b'{"id":1}', GOOD.json().value, ()) for _ in range(2_000)]
    for number, message in enumerate(made_up):
        # Each is named twice, so that the good record's schemas are those of fewest records.
        naming_it = naming(10 + number // 2).value
        made_up[number] = replace(message, **dict.fromkeys(parts, naming_it))

    found = Decoder(DecodeOptions(rules=DECLARED), registry).decode(records(*made_up, good))

    landed, bad = fates(found)
    assert landed == [2_000]
    assert bad == [(offset, "unknown schema id") for offset in range(2_000)]
    assert all("The registry has no such schema" in wrong.detail for wrong in found.bad)
    # Each id is asked for, once.
    assert sorted(asked(registry)) == [*range(10, 1_010), 1_000_001, 1_000_002]


def test_another_unknown_schema_in_every_record_fills_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avro_registry, "_KEPT_UNKNOWN", 400)
    registry = SchemaRegistry()
    good = numbered_from(1_000_000, registry, GOOD.avro(registry))
    decoder = Decoder(DecodeOptions(rules=DECLARED), registry)
    for part in range(8):
        batch = [*(naming(10 + 300 * part + number) for number in range(300)), naming(5), good]
        landed, bad = fates(decoder.decode(records(*batch), continued=part > 0))
        assert (landed, len(bad)) == ([301], 301)
        assert len(decoder._readers._unknown) <= 400 + 301
    # What the registry did not know is asked for again in the same batch only after it was forgotten.
    assert asked(registry).count(5) == 4
    assert len(asked(registry)) == 8 * 300 + 4 + 2


def test_many_schemas_are_asked_for_several_at_a_time() -> None:
    together = threading.Barrier(QUESTIONS_AT_ONCE, timeout=60)

    class Meeting(SchemaRegistry):
        def avro_schema(self, schema_id: int, kind: SchemaIdKind) -> str:
            together.wait()
            return super().avro_schema(schema_id, kind)

    registry = Meeting()
    batch = [naming(10 + number) for number in range(3 * QUESTIONS_AT_ONCE)]

    landed, bad = fates(Decoder(DecodeOptions(rules=DECLARED), registry).decode(records(*batch)))

    assert (landed, bad) == ([], [(offset, "unknown schema id") for offset in range(len(batch))])


def test_a_registry_that_cannot_be_asked_is_not_asked_for_all_the_others() -> None:
    class Away(SchemaRegistry):
        def avro_schema(self, schema_id: int, kind: SchemaIdKind) -> str:
            self.asked.append((schema_id, kind))
            raise RegistryUnavailableError("it cannot be asked now", remedy="wait")

    registry = Away()
    with pytest.raises(RegistryUnavailableError):
        Decoder(DecodeOptions(rules=DECLARED), registry).decode(records(*map(naming, range(10, 1_000))))

    assert len(asked(registry)) <= QUESTIONS_AT_ONCE


def test_many_new_schemas_at_once_are_all_asked_for() -> None:
    registry = SchemaRegistry()
    batch = [naming(900_000 + number) for number in range(300)]
    for number in range(300):
        columns = (*COLUMNS, Field(f"c{number}", ConnectType.STRING, optional=True))
        batch.insert(2 * number, event("c", after={"id": number, "name": "a"}).avro(registry, columns))
    found = Decoder(DecodeOptions(rules=DECLARED), registry).decode(records(*batch))
    landed, bad = fates(found)
    assert (len(landed), len(bad)) == (300, 300)


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
        assert len(registry._found) <= 10
    assert registry._confluent._client._cache.schema_id_index == {}


def test_large_schemas_are_forgotten_sooner(server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connectors.kafka.registry._KEPT_CHARACTERS", 5_000)
    registry = Registry(RegistryConfig(server.url, attempts=1, timeout=60))
    for number in range(20):
        text = json.dumps({"type": "enum", "name": "E", "symbols": ["x" * 1_000 + str(number)]})
        assert registry.avro_schema(server.register("orders", text), SchemaIdKind.CONFLUENT) == text
        assert sum(map(len, registry._found.values())) <= 5_000
