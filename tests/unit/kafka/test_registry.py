"""Writer schemas by id, asked of a real HTTP server on the loopback interface."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest

from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.wire import QUESTIONS_AT_ONCE, SchemaIdKind
from connectors.errors import BridgeError
from connectors.kafka.embedded_registry import GLOBAL_ID_OFFSET, EmbeddedRegistry, Fault, SchemaReference
from connectors.kafka.errors import RegistryAccessError, RegistryUnavailableError
from connectors.kafka.registry import Registry, RegistryConfig, RegistryKind

ORDER = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"}]}'
ADDRESS = '{"type":"record","name":"Address","namespace":"shop.geo","fields":[{"name":"country","type":"Country"}]}'
COUNTRY = '{"type":"enum","name":"Country","namespace":"shop.geo","symbols":["DE","FR"]}'
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
def server() -> Iterator[EmbeddedRegistry]:
    with EmbeddedRegistry() as running:
        yield running


@pytest.fixture
def with_references(server: EmbeddedRegistry) -> int:
    server.register("country", COUNTRY)
    server.register("address", ADDRESS, [SchemaReference("shop.geo.Country", "country", 1)])
    return server.register("customers-value", CUSTOMER, [SchemaReference("shop.geo.Address", "address", 1)])


def confluent(server: EmbeddedRegistry, **other: float) -> RegistryConfig:
    return RegistryConfig(server.url, attempts=1, timeout=60, **other)


def apicurio(server: EmbeddedRegistry, path: str = "") -> RegistryConfig:
    return RegistryConfig(f"{server.url}{path}", RegistryKind.APICURIO, attempts=1, timeout=60)


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


def refusing(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, *paths: str, status: int = 403, body: object = None
) -> None:
    """Let the registry refuse what is under these paths, and answer everything else."""
    answer = server.answer
    said = body or {"error_code": 40301, "message": "User is denied operation Read"}

    def guarded(method: str, path: str, content: bytes) -> tuple[int, object]:
        return (status, said) if any(re.fullmatch(one, path) for one in paths) else answer(method, path, content)

    monkeypatch.setattr(server, "answer", guarded)


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
