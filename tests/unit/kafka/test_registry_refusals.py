"""A schema registry that cannot be asked decides nothing; what it refuses concerns one record, or all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.wire import SchemaIdKind
from connectors.errors import BridgeError
from connectors.kafka.embedded_registry import GLOBAL_ID_OFFSET, EmbeddedRegistry, Fault
from connectors.kafka.errors import RegistryAccessError, RegistryUnavailableError
from connectors.kafka.registry import Registry, RegistryConfig, RegistryKind
from tests.unit.kafka.registries import COUNTRY, ORDER, apicurio, confluent, refusing


@pytest.mark.parametrize("fault", [Fault.DOWN, Fault.ERROR, Fault.PAGE])
@pytest.mark.parametrize("kind", list(SchemaIdKind))
def test_a_registry_that_cannot_be_asked_decides_nothing_and_is_asked_again(
    server: EmbeddedRegistry, fault: Fault, kind: SchemaIdKind
) -> None:
    schema_id = server.register("orders-value", ORDER) + (GLOBAL_ID_OFFSET if kind is SchemaIdKind.GLOBAL else 0)
    registry = Registry(apicurio(server))
    server.fault = fault
    with pytest.raises(RegistryUnavailableError, match="the schema registry cannot be asked now"):
        registry.avro_schema(schema_id, kind)

    server.fault = Fault.NONE

    assert registry.avro_schema(schema_id, kind) == ORDER


@pytest.mark.parametrize("garbled", [b"<html>", b"{}", b'[{"artifactId":', b"\xff"])
def test_a_list_of_references_that_is_none_is_no_answer(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, garbled: bytes
) -> None:
    schema_id = server.register("orders-value", ORDER)
    registry = Registry(apicurio(server))
    answer = server.answer
    with monkeypatch.context() as patched:
        patched.setattr(
            server,
            "answer",
            lambda method, path, body: (200, garbled) if path.endswith("/references") else answer(method, path, body),
        )
        with pytest.raises(RegistryUnavailableError, match="not what a registry answers"):
            registry.avro_schema(schema_id, SchemaIdKind.CONTENT)

    assert registry.avro_schema(schema_id, SchemaIdKind.CONTENT) == ORDER


def test_an_answer_without_a_schema_is_no_answer(server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    schema_id = server.register("orders-value", ORDER)
    registry = Registry(apicurio(server))
    with monkeypatch.context() as patched:
        patched.setattr(server, "answer", lambda method, path, body: (200, b'{"status":"ok"}'))
        with pytest.raises(RegistryUnavailableError, match="not what a registry answers"):
            registry.avro_schema(schema_id, SchemaIdKind.CONFLUENT)

    assert registry.avro_schema(schema_id, SchemaIdKind.CONFLUENT) == ORDER


def test_a_failing_request_is_made_again_before_it_counts(server: EmbeddedRegistry) -> None:
    schema_id = server.register("orders-value", ORDER)
    server.fault = Fault.ERROR
    registry = Registry(RegistryConfig(server.url, RegistryKind.APICURIO, attempts=2))

    for kind in (SchemaIdKind.CONFLUENT, SchemaIdKind.CONTENT):
        with pytest.raises(RegistryUnavailableError):
            registry.avro_schema(schema_id, kind)

    assert server.requests == [
        *["GET /apis/ccompat/v7/schemas/ids/1"] * 2,
        # Whether it is this id alone.
        *["GET /apis/ccompat/v7/subjects"] * 2,
        *["GET /apis/registry/v2/ids/contentIds/1"] * 2,
    ]


def test_the_error_of_an_unavailable_registry_says_where_and_what_to_do(server: EmbeddedRegistry) -> None:
    server.fault = Fault.ERROR
    with pytest.raises(RegistryUnavailableError) as raised:
        Registry(confluent(server)).avro_schema(1, SchemaIdKind.CONFLUENT)

    assert str(raised.value) == (
        f"the schema registry cannot be asked now (HTTP 500: Error in the backend) [url={server.url}]. Remedy: check "
        "that it runs, that registry.url is its address, and registry.ca_file where it uses TLS; nothing is lost "
        "meanwhile, no record is set aside for want of its schema"
    )


@pytest.mark.parametrize("kind", list(SchemaIdKind))
def test_refused_credentials_need_a_person(server: EmbeddedRegistry, kind: SchemaIdKind) -> None:
    server.fault = Fault.UNAUTHORIZED
    with pytest.raises(RegistryAccessError, match=re.escape("the schema registry refuses access (HTTP 401)")) as raised:
        Registry(apicurio(server)).avro_schema(1, kind)

    assert raised.value.remedy == (
        "check username, password and certificates under registry, and what this user may read"
    )


@pytest.mark.parametrize("kind", list(SchemaIdKind))
def test_an_id_that_is_refused_alone_is_a_fact_about_the_record(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, kind: SchemaIdKind
) -> None:
    own = server.register("orders-value", ORDER) + (GLOBAL_ID_OFFSET if kind is SchemaIdKind.GLOBAL else 0)
    refusing(server, monkeypatch, r".*[iI]ds/7")
    registry = Registry(apicurio(server))
    registry.avro_schema(own, kind)
    asked = len(server.requests)

    with pytest.raises(UnknownSchemaError) as raised:
        registry.avro_schema(7, kind)

    assert raised.value.message.startswith(
        f"the schema registry gives other schemas, and refuses the one with the {kind} id 7: HTTP 403: "
    )
    assert "User is denied operation Read" in raised.value.message
    assert raised.value.remedy == (
        "let the user of registry read the schema's subject if it is the connector's; otherwise find out who writes "
        "such records into the topic"
    )
    # The id, and one that is known, is asked for once.
    assert [path.rpartition("/")[2] for path in server.requests[asked:]][:2] == ["7", str(own)]
    assert len(server.requests) - asked == (2 if kind is SchemaIdKind.CONFLUENT else 3)


@pytest.mark.parametrize("kind", list(SchemaIdKind))
def test_a_refused_id_is_told_from_refused_credentials_before_anything_was_read(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, kind: SchemaIdKind
) -> None:
    server.register("a-subject-of-others", COUNTRY)
    server.register("orders-value", ORDER)
    refusing(server, monkeypatch, r".*[iI]ds/7", r".*/subjects/a-subject-of-others/.*")

    with pytest.raises(UnknownSchemaError, match="refuses the one with the"):
        Registry(apicurio(server)).avro_schema(7, kind)


@pytest.mark.parametrize(
    "paths", [[".*"], [r".*/schemas/ids/.*", ".*/subjects/.*"], [r".*/schemas/ids/.*", ".*/subjects"]]
)
def test_credentials_that_read_nothing_need_a_person(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, paths: list[str]
) -> None:
    own = server.register("orders-value", ORDER)
    registry = Registry(confluent(server))
    registry.avro_schema(own, SchemaIdKind.CONFLUENT)
    refusing(server, monkeypatch, *paths)

    with pytest.raises(RegistryAccessError, match=re.escape("the schema registry refuses access (HTTP 403)")):
        registry.avro_schema(7, SchemaIdKind.CONFLUENT)


def test_credentials_that_are_revoked_after_a_refusal_need_a_person(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.register("orders-value", ORDER)
    registry = Registry(confluent(server))
    refusing(server, monkeypatch, ".*/schemas/ids/.*")
    with pytest.raises(UnknownSchemaError):
        registry.avro_schema(7, SchemaIdKind.CONFLUENT)
    refusing(server, monkeypatch, ".*")

    with pytest.raises(RegistryAccessError):
        registry.avro_schema(7, SchemaIdKind.CONFLUENT)


@pytest.mark.parametrize("status", [400, 422])
def test_a_question_that_is_refused_alone_is_a_fact_about_the_record(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    server.register("orders-value", ORDER)
    registry = Registry(confluent(server))
    refusing(server, monkeypatch, ".*/schemas/ids/7", status=status)
    with pytest.raises(UnknownSchemaError, match=f"refuses the one with the confluent id 7: HTTP {status}: "):
        registry.avro_schema(7, SchemaIdKind.CONFLUENT)

    refusing(server, monkeypatch, ".*", status=status)
    with pytest.raises(RegistryUnavailableError, match=f"HTTP {status}"):
        registry.avro_schema(7, SchemaIdKind.CONFLUENT)


@pytest.mark.parametrize("kind", list(SchemaIdKind))
@pytest.mark.parametrize("status", [408, 429, 503])
def test_a_registry_that_asks_for_patience_is_waited_for(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, kind: SchemaIdKind, status: int
) -> None:
    server.register("orders-value", ORDER)
    refusing(server, monkeypatch, r".*[iI]ds/7", status=status)

    with pytest.raises(RegistryUnavailableError, match=f"HTTP {status}"):
        Registry(apicurio(server)).avro_schema(7, kind)


@pytest.mark.parametrize("kind", [SchemaIdKind.CONFLUENT, SchemaIdKind.CONTENT])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_of_what_a_registry_says_a_line_is_repeated_and_no_credentials(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, kind: SchemaIdKind, status: int
) -> None:
    page = b"<html>\n<pre>Authorization: Basic Y2RjOmdlaGVpbQ==\n or geheim</pre>" + b"x" * 100_000
    refusing(server, monkeypatch, ".*", status=status, body=page)
    config = RegistryConfig(server.url, RegistryKind.APICURIO, username="cdc", password="geheim", attempts=1)

    with pytest.raises(BridgeError) as raised:
        Registry(config).avro_schema(1, kind)

    assert "Authorization: Basic ****" in raised.value.message
    assert len(raised.value.message) < 400
    assert not re.search(r"Y2RjOmdlaGVpbQ|geheim|\n", str(raised.value))


@pytest.mark.parametrize("kind", [RegistryKind.CONFLUENT, RegistryKind.APICURIO])
def test_an_unreadable_certificate_file_is_refused_at_once(tmp_path: Path, kind: RegistryKind) -> None:
    with pytest.raises(RegistryAccessError, match="the certificate files for the schema registry cannot be used"):
        Registry(RegistryConfig("https://registry", kind, ca_file=str(tmp_path / "none.pem")))
