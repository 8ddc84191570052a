"""A schema id that the registry fails at while it gives others concerns the records that name it, after a minute."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.wire import SchemaIdKind
from connectors.kafka.embedded_registry import GLOBAL_ID_OFFSET, EmbeddedRegistry
from connectors.kafka.errors import RegistryUnavailableError
from connectors.kafka.registry import Registry
from tests.unit.kafka.registries import COUNTRY, ORDER, apicurio, refusing


class Clock:
    """Seconds that pass when somebody sleeps, and what happens then."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: Callable[[], object] = lambda: None

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def having_read_one(server: EmbeddedRegistry, kind: SchemaIdKind, clock: Clock) -> tuple[Registry, int]:
    """A registry that has given one schema, and the id of another one."""
    offset = GLOBAL_ID_OFFSET if kind is SchemaIdKind.GLOBAL else 0
    own = server.register("orders-value", ORDER) + offset
    registry = Registry(apicurio(server), clock=lambda: clock.now, sleep=clock.sleep)
    registry.avro_schema(own, kind)
    return registry, server.register("countries", COUNTRY) + offset


@pytest.mark.parametrize("kind", list(SchemaIdKind))
def test_an_id_that_the_registry_fails_at_for_a_minute_is_a_fact_about_the_record(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, clock: Clock, kind: SchemaIdKind
) -> None:
    registry, other = having_read_one(server, kind, clock)
    refusing(server, monkeypatch, f".*[iI]ds/{other}", status=500)

    with pytest.raises(UnknownSchemaError) as raised:
        registry.avro_schema(other, kind)

    assert clock.now == 160.0
    assert raised.value.message.startswith(
        f"the schema registry gives other schemas, and fails for a minute at the one with the {kind} id {other}: "
        "HTTP 500: "
    )
    assert raised.value.remedy == (
        "look into the registry's log why it fails at this id: if the schema is the connector's, mend it and replay "
        "the records; otherwise find out who writes such records into the topic"
    )
    # The next record that names it does not wait as long again. One after some time does: much may have changed.
    with pytest.raises(UnknownSchemaError):
        registry.avro_schema(other, kind)
    assert clock.now == 160.0
    clock.now = 1_000.0
    with pytest.raises(UnknownSchemaError):
        registry.avro_schema(other, kind)
    assert clock.now == 1_060.0


@pytest.mark.parametrize("kind", [SchemaIdKind.CONTENT, SchemaIdKind.GLOBAL])
def test_a_list_of_references_that_is_none_for_a_minute_is_a_fact_about_the_record(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, clock: Clock, kind: SchemaIdKind
) -> None:
    registry, other = having_read_one(server, kind, clock)
    refusing(server, monkeypatch, f".*/{other}/references", status=200, body=b"<html>")

    with pytest.raises(UnknownSchemaError, match="not what a registry answers"):
        registry.avro_schema(other, kind)

    assert clock.now == 160.0


@pytest.mark.parametrize("kind", list(SchemaIdKind))
def test_an_id_that_the_registry_fails_at_for_less_than_a_minute_is_read(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, clock: Clock, kind: SchemaIdKind
) -> None:
    registry, other = having_read_one(server, kind, clock)
    with monkeypatch.context() as patched:
        refusing(server, patched, f".*[iI]ds/{other}", status=500)
        clock.slept = lambda: patched.undo() if clock.now > 150 else None

        assert registry.avro_schema(other, kind) == COUNTRY

    assert clock.now == 155.0


@pytest.mark.parametrize("kind", list(SchemaIdKind))
def test_a_registry_that_fails_at_the_others_too_is_waited_for_however_long(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, clock: Clock, kind: SchemaIdKind
) -> None:
    registry, other = having_read_one(server, kind, clock)
    api = "/apis/ccompat/.*" if kind is SchemaIdKind.CONFLUENT else "/apis/registry/.*"
    refusing(server, monkeypatch, f".*[iI]ds/{other}", status=500)
    clock.slept = lambda: refusing(server, monkeypatch, api, status=500) if clock.now > 150 else None

    for _ in range(3):
        with pytest.raises(RegistryUnavailableError, match="HTTP 500"):
            registry.avro_schema(other, kind)
        clock.now += 50.0

    # Once it gives others again, the minute begins anew.
    monkeypatch.undo()
    refusing(server, monkeypatch, f".*[iI]ds/{other}", status=500)
    clock.slept, clock.now = lambda: None, 160.0
    with pytest.raises(UnknownSchemaError):
        registry.avro_schema(other, kind)
    assert clock.now == 220.0


@pytest.mark.parametrize("kind", [SchemaIdKind.CONTENT, SchemaIdKind.GLOBAL])
def test_where_no_schema_was_read_yet_one_that_the_registry_fails_at_is_waited_for(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, clock: Clock, kind: SchemaIdKind
) -> None:
    server.register("orders-value", ORDER)
    refusing(server, monkeypatch, r".*[iI]ds/7", status=500)

    with pytest.raises(RegistryUnavailableError, match="HTTP 500"):
        Registry(apicurio(server), clock=lambda: clock.now, sleep=clock.sleep).avro_schema(7, kind)
