"""What others refuse that a start needs, from the error through its remedy to what they give."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.wire import SchemaIdKind
from connectors.errors import Terminal
from connectors.fabric.errors import FabricDeniedError, FabricNotFoundError
from connectors.fabric.rest import FabricRest, MirroredDatabase
from connectors.java import JavaError, find_java
from connectors.kafka import jars
from connectors.kafka.client_options import java_options
from connectors.kafka.config import KafkaConfig, options
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.errors import ClientOptionsError, JarDigestError, JarsError, RegistryAccessError
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.kafka.registry import Registry, RegistryConfig
from connectors.source_database.kafka_connect import (
    ConnectAccessError,
    ConnectApi,
    ConnectLocation,
    ConnectorNotFoundError,
)
from streaming.health.server import AddressInUseError, AddressNotOursError, StatusServer
from tests.emulators.fabric_server import ITEM, WORKSPACE, FabricCredential, FabricServer, golden
from tests.unit.kafka.test_jars import PINS, no_network, write_jars
from tests.unit.landing_zone.storages import Timeline
from tests.unit.source_database.connect_server import ConnectServer
from tests.unit.test_java import install

ORDER = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"}]}'


def remedy_of(error: pytest.ExceptionInfo[Terminal]) -> str:
    return error.value.remedy


class TestRegistry:
    @pytest.fixture
    def server(self) -> Iterator[EmbeddedRegistry]:
        with EmbeddedRegistry() as running:
            yield running

    def test_unknown_schema(self, server: EmbeddedRegistry) -> None:
        registry = Registry(RegistryConfig(server.url, attempts=1, timeout=60))
        with pytest.raises(UnknownSchemaError) as raised:
            registry.avro_schema(1, SchemaIdKind.CONFLUENT)
        assert remedy_of(raised).startswith("check that registry.url is the registry")
        server.register("orders-value", ORDER)
        assert registry.avro_schema(1, SchemaIdKind.CONFLUENT) == ORDER

    def test_registry_access(self, server: EmbeddedRegistry, tmp_path: Path) -> None:
        server.register("orders-value", ORDER)
        missing = RegistryConfig(server.url, attempts=1, timeout=60, ca_file=str(tmp_path / "gone.pem"))
        with pytest.raises(RegistryAccessError) as raised:
            Registry(missing).avro_schema(1, SchemaIdKind.CONFLUENT)
        assert remedy_of(raised).startswith("check ca_file, certificate_file and key_file under registry")
        whole = RegistryConfig(server.url, attempts=1, timeout=60)
        assert Registry(whole).avro_schema(1, SchemaIdKind.CONFLUENT) == ORDER


@pytest.fixture(scope="module")
def fabric() -> Iterator[FabricServer]:
    with FabricServer() as running:
        yield running


class TestFabric:
    @pytest.mark.parametrize(
        ("status", "kind", "remedy"),
        [
            (403, FabricDeniedError, "give the bridge's identity 'Read' on the mirrored database"),
            (404, FabricNotFoundError, "check fabric.workspace_id and fabric.item_id"),
        ],
    )
    def test_refusal(self, fabric: FabricServer, status: int, kind: type[Terminal], remedy: str) -> None:
        timeline = Timeline()
        place = MirroredDatabase(
            WORKSPACE, ITEM, api_url=fabric.url, ca_file=str(fabric.certificate), read_timeout=60.0
        )
        asked = FabricRest(place, FabricCredential(), clock=timeline.clock, now=lambda: 0.0, sleep=timeline.sleep)
        fabric.instead += [golden("error.403.json", status)]
        with pytest.raises(kind) as raised:
            asked.status()
        assert remedy_of(raised).startswith(remedy)
        assert asked.status().database is not None


class TestConnect:
    @pytest.fixture
    def server(self) -> Iterator[ConnectServer]:
        with ConnectServer() as running:
            yield running

    @pytest.mark.parametrize(
        ("status", "kind", "remedy"),
        [
            (401, ConnectAccessError, "check username and password under source.connect"),
            (404, ConnectorNotFoundError, "correct source.connect.connector, or create the connector"),
        ],
    )
    def test_refusal(self, server: ConnectServer, status: int, kind: type[Terminal], remedy: str) -> None:
        asked = ConnectApi(ConnectLocation(server.url, "shop"), timeout=60)
        server.answers["/connectors/shop/config"] = (status, {})
        with pytest.raises(kind) as raised:
            asked.config()
        assert remedy_of(raised) == remedy
        server.answers["/connectors/shop/config"] = (200, {"topic.prefix": "shop"})
        assert asked.config() == {"topic.prefix": "shop"}


def test_java(tmp_path: Path) -> None:
    environ = {"JAVA_HOME": str(tmp_path / "jvm"), "PATH": ""}
    with pytest.raises(JavaError) as raised:
        find_java(environ, ())
    assert remedy_of(raised).startswith("install Java 17 or 21")
    java = install(tmp_path / "jvm")
    assert find_java(environ, ()) == java


class TestJars:
    @pytest.fixture
    def environ(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
        monkeypatch.setattr(jars, "pinned_jars", lambda _: PINS)
        return {"CDC_BRIDGE_JARS": str(tmp_path / "jars")}

    def test_no_network(self, environ: dict[str, str]) -> None:
        with pytest.raises(JarsError) as raised:
            resolve_jars(JarSet.BROKER, environ=environ, fetch=no_network)
        assert remedy_of(raised).startswith("check the network")
        assert len(resolve_jars(JarSet.BROKER, environ=environ, fetch=write_jars)) == len(PINS)

    def test_other_bytes(self, environ: dict[str, str]) -> None:
        first, *_ = resolve_jars(JarSet.BROKER, environ=environ, fetch=write_jars)
        first.write_bytes(b"another")
        with pytest.raises(JarDigestError) as raised:
            resolve_jars(JarSet.BROKER, environ=environ, fetch=write_jars)
        assert remedy_of(raised).startswith("delete the folder so that it is fetched again")
        for path in first.parent.iterdir():
            path.unlink()
        first.parent.rmdir()
        assert resolve_jars(JarSet.BROKER, environ=environ, fetch=write_jars)[0] == first


def test_client_options() -> None:
    with pytest.raises(ClientOptionsError) as raised:
        java_options(KafkaConfig("localhost:9092", client=options({"security.protocol": "tls"})))
    assert "SASL_SSL" in remedy_of(raised)
    assert java_options(KafkaConfig("localhost:9092", client=options({"security.protocol": "ssl"})))


def test_address_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(AddressInUseError) as raised:
            StatusServer("127.0.0.1", taken.getsockname()[1], {})
        assert remedy_of(raised).endswith("or to 0 for any that is free")
    StatusServer("127.0.0.1", 0, {}).close()


def test_address_of_another_machine() -> None:
    with pytest.raises(AddressNotOursError) as raised:
        StatusServer("192.0.2.1", 0, {})
    assert remedy_of(raised).startswith("set http.host to an address of this machine (127.0.0.1")
    StatusServer("127.0.0.1", 0, {}).close()
