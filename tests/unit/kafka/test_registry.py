"""Writer schemas by id, asked of a real HTTP server on the loopback interface."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.reduction import ForkingPickler

import pytest

from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.wire import QUESTIONS_AT_ONCE, SchemaIdKind
from connectors.kafka.embedded_registry import GLOBAL_ID_OFFSET, EmbeddedRegistry, SchemaReference
from connectors.kafka.registry import Registry, RegistryConfig, RegistryKind
from tests.unit.kafka.registries import COUNTRY, ORDER, apicurio, confluent

ADDRESS = '{"type":"record","name":"Address","namespace":"shop.geo","fields":[{"name":"country","type":"Country"}]}'
CUSTOMER = json.dumps(
    {
        "type": "record",
        "name": "Customer",
        "namespace": "shop",
        "fields": [
            {"name": "home", "type": "shop.geo.Address"},
            {"name": "work", "type": ["null", "shop.geo.Address"], "default": None},
        ],
    }
)


@pytest.fixture
def with_references(server: EmbeddedRegistry) -> int:
    server.register("country", COUNTRY)
    server.register("address", ADDRESS, [SchemaReference("shop.geo.Country", "country", 1)])
    return server.register("customers-value", CUSTOMER, [SchemaReference("shop.geo.Address", "address", 1)])


@pytest.mark.parametrize("kind", list(SchemaIdKind))
def test_a_schema_is_asked_for_once_whatever_its_kind_of_id(server: EmbeddedRegistry, kind: SchemaIdKind) -> None:
    schema_id = server.register("orders-value", ORDER) + (GLOBAL_ID_OFFSET if kind is SchemaIdKind.GLOBAL else 0)
    registry = Registry(apicurio(server))
    registry.avro_schema(schema_id, kind)
    asked = len(server.requests)

    assert [registry.avro_schema(schema_id, kind) for _ in range(3)] == [ORDER] * 3
    assert len(server.requests) == asked


@pytest.mark.parametrize("path", ["", "/apis/ccompat/v7", "/apis/registry/v2", "/apis/registry/v3"])
def test_an_apicurio_registry_is_asked_at_the_address_that_belongs_to_the_kind_of_id(
    server: EmbeddedRegistry, path: str
) -> None:
    schema_id = server.register("orders-value", ORDER)
    registry = Registry(apicurio(server, path))

    found = [
        registry.avro_schema(schema_id, SchemaIdKind.CONFLUENT),
        registry.avro_schema(schema_id, SchemaIdKind.CONTENT),
        registry.avro_schema(schema_id + GLOBAL_ID_OFFSET, SchemaIdKind.GLOBAL),
    ]

    assert found == [ORDER] * 3
    native = path if path.startswith("/apis/registry") else "/apis/registry/v2"
    assert server.requests == [
        f"GET /apis/ccompat/v7/schemas/ids/{schema_id}",
        f"GET {native}/ids/contentIds/{schema_id}",
        f"GET {native}/ids/contentIds/{schema_id}/references",
        f"GET {native}/ids/globalIds/{schema_id + GLOBAL_ID_OFFSET}",
        f"GET {native}/ids/globalIds/{schema_id + GLOBAL_ID_OFFSET}/references",
    ]


@pytest.mark.parametrize("kind", list(SchemaIdKind))
@pytest.mark.parametrize("path", ["/apis/registry/v2", "/apis/registry/v3"])
def test_named_types_of_other_schemas_are_written_into_the_schema(
    server: EmbeddedRegistry, with_references: int, kind: SchemaIdKind, path: str
) -> None:
    schema_id = with_references + (GLOBAL_ID_OFFSET if kind is SchemaIdKind.GLOBAL else 0)

    found = Registry(apicurio(server, path)).avro_schema(schema_id, kind)

    country = {"type": "enum", "name": "Country", "namespace": "shop.geo", "symbols": ["DE", "FR"]}
    address = {"type": "record", "name": "Address", "namespace": "shop.geo"}
    assert json.loads(found) == {
        "type": "record",
        "name": "Customer",
        "namespace": "shop",
        "fields": [
            {"name": "home", "type": address | {"fields": [{"name": "country", "type": country}]}},
            {"name": "work", "type": ["null", "shop.geo.Address"], "default": None},
        ],
    }


def test_content_ids_of_a_registry_that_only_speaks_confluents_protocol_are_asked_for_there(
    server: EmbeddedRegistry,
) -> None:
    schema_id = server.register("orders-value", ORDER)

    assert Registry(confluent(server)).avro_schema(schema_id, SchemaIdKind.CONTENT) == ORDER
    assert server.requests == [f"GET /schemas/ids/{schema_id}"]


def test_an_unknown_id_is_a_fact_about_the_record(server: EmbeddedRegistry) -> None:
    with pytest.raises(UnknownSchemaError) as raised:
        Registry(confluent(server)).avro_schema(42, SchemaIdKind.CONFLUENT)

    assert str(raised.value) == (
        "the schema registry has no Avro schema with the confluent id 42: Schema 42 not found "
        f"[schema_id=42, url={server.url}]. Remedy: check that registry.url is the registry that the connector's "
        "converter writes to, and that the schema was not deleted for good"
    )


@pytest.mark.parametrize("kind", list(SchemaIdKind))
def test_every_kind_of_id_can_be_unknown(server: EmbeddedRegistry, kind: SchemaIdKind) -> None:
    with pytest.raises(UnknownSchemaError, match=f"with the {kind} id 7:"):
        Registry(apicurio(server)).avro_schema(7, kind)


def test_a_global_id_at_a_registry_without_global_ids_says_what_to_set(server: EmbeddedRegistry) -> None:
    with pytest.raises(UnknownSchemaError, match=r"no global ids; set registry\.kind to apicurio"):
        Registry(confluent(server)).avro_schema(7, SchemaIdKind.GLOBAL)


def test_an_unknown_id_is_asked_for_again_since_a_schema_may_get_it_at_any_time(server: EmbeddedRegistry) -> None:
    registry = Registry(confluent(server))
    with pytest.raises(UnknownSchemaError):
        registry.avro_schema(1, SchemaIdKind.CONFLUENT)

    server.register("orders-value", ORDER)

    assert registry.avro_schema(1, SchemaIdKind.CONFLUENT) == ORDER
    assert server.requests == ["GET /schemas/ids/1"] * 2


def test_many_threads_may_ask_at_once(server: EmbeddedRegistry) -> None:
    texts = [json.dumps({"type": "fixed", "name": "F", "size": size}) for size in range(1, 100)]
    numbers = [server.register("sizes", text) for text in texts]
    registry = Registry(apicurio(server))

    def asked(number: int) -> list[str]:
        return [registry.avro_schema(number, kind) for kind in (SchemaIdKind.CONFLUENT, SchemaIdKind.CONTENT)]

    with ThreadPoolExecutor(QUESTIONS_AT_ONCE) as threads:
        assert list(threads.map(asked, numbers)) == [[text] * 2 for text in texts]


@pytest.mark.parametrize("path", [r".*/(contentIds|globalIds)/\d+", ".*/versions/1(/content)?"])
@pytest.mark.parametrize("api", ["/apis/registry/v2", "/apis/registry/v3"])
@pytest.mark.parametrize("kind", [SchemaIdKind.CONTENT, SchemaIdKind.GLOBAL])
def test_an_artifact_that_is_no_utf8_is_a_fact_about_the_record(
    server: EmbeddedRegistry,
    monkeypatch: pytest.MonkeyPatch,
    with_references: int,
    path: str,
    api: str,
    kind: SchemaIdKind,
) -> None:
    xml = "<?xml version='1.0' encoding='ISO-8859-1'?><n>caf\xe9</n>".encode("latin-1")
    answer = server.answer
    monkeypatch.setattr(
        server,
        "answer",
        lambda method, asked, body: (200, xml) if re.fullmatch(path, asked) else answer(method, asked, body),
    )
    schema_id = with_references + (GLOBAL_ID_OFFSET if kind is SchemaIdKind.GLOBAL else 0)

    with pytest.raises(UnknownSchemaError) as raised:
        Registry(apicurio(server, api)).avro_schema(schema_id, kind)

    assert raised.value.message.startswith(
        f"the schema registry has no Avro schema with the {kind} id {schema_id}: the artifact is not UTF-8, so no Avro "
        "schema: 'utf-8' codec can't decode byte 0xe9"
    )


def test_credentials_are_sent_and_do_not_show(server: EmbeddedRegistry) -> None:
    schema_id = server.register("orders-value", ORDER)
    config = RegistryConfig(server.url, RegistryKind.APICURIO, username="cdc", password="geheim")
    registry = Registry(config)

    registry.avro_schema(schema_id, SchemaIdKind.CONFLUENT)
    registry.avro_schema(schema_id, SchemaIdKind.CONTENT)

    assert set(server.authorizations) == {"Basic Y2RjOmdlaGVpbQ=="}
    assert "geheim" not in repr(config)


def test_the_configuration_travels_to_executors() -> None:
    config = RegistryConfig("http://a:1,http://b:2/", username="u", password="p")

    assert ForkingPickler.loads(ForkingPickler.dumps(config)) == config
    assert config.confluent_url == "http://a:1,http://b:2"
    assert config.apicurio_url is None
    assert (
        RegistryConfig("http://a", native_url="http://b/apis/registry/v3/").apicurio_url == "http://b/apis/registry/v3"
    )


def test_a_schema_that_is_not_avro_is_unknown(server: EmbeddedRegistry) -> None:
    schema_id = server.register("orders-value", '{"type":"object"}', schema_type="JSON")

    with pytest.raises(UnknownSchemaError, match="the schema is of type JSON, not Avro"):
        Registry(confluent(server)).avro_schema(schema_id, SchemaIdKind.CONFLUENT)
