"""The embedded registry speaks Confluent's protocol as Confluent's own client expects it."""

from __future__ import annotations

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient, SchemaRegistryError

from connectors.kafka.embedded_registry import EmbeddedRegistry

FIRST = '{"type":"record","name":"Order","fields":[]}'
SECOND = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'


@pytest.fixture(params=["", "/apis/ccompat/v7"])
def client(server: EmbeddedRegistry, request: pytest.FixtureRequest) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": f"{server.url}{request.param}", "max.retries": 0, "timeout": 60})


def test_schemas_are_registered_once_and_found_again(client: SchemaRegistryClient) -> None:
    ids = [client.register_schema("orders-value", Schema(text, "AVRO")) for text in (FIRST, SECOND, FIRST)]
    elsewhere = client.register_schema("others-value", Schema(SECOND, "AVRO"))

    assert ids == [1, 2, 1]
    assert elsewhere == 2
    assert client.get_subjects() == ["orders-value", "others-value"]
    assert client.get_versions("orders-value") == [1, 2]
    assert client.get_schema(2).schema_str == SECOND
    latest = client.get_latest_version("orders-value")
    assert (latest.version, latest.schema_id, latest.schema.schema_str) == (2, 2, SECOND)
    assert client.get_version("orders-value", 1).schema.schema_str == FIRST
    assert client.lookup_schema("orders-value", Schema(SECOND, "AVRO")).version == 2


def test_references_are_kept(client: SchemaRegistryClient) -> None:
    client.register_schema("order", Schema(FIRST, "AVRO"))
    reference = SchemaReference("Order", "order", 1)

    schema_id = client.register_schema("orders", Schema('{"type":"array","items":"Order"}', "AVRO", [reference]))

    assert client.get_schema(schema_id).references == [reference]


def test_what_is_not_there_is_answered_as_confluent_does(client: SchemaRegistryClient) -> None:
    client.register_schema("orders-value", Schema(FIRST, "AVRO"))
    questions = [
        lambda: client.get_schema(9),
        lambda: client.get_version("orders-value", 9),
        lambda: client.get_versions("nothing"),
        lambda: client.lookup_schema("orders-value", Schema(SECOND, "AVRO")),
        client.get_compatibility,
    ]

    for question in questions:
        with pytest.raises(SchemaRegistryError) as raised:
            question()
        assert (raised.value.http_status_code, raised.value.error_code) == (404, 40403)


def test_a_registry_that_was_never_started_can_be_stopped() -> None:
    EmbeddedRegistry().stop()
