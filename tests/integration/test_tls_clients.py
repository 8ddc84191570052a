"""Every client of the bridge refuses a certificate of another authority, and one that is for another host.

The servers have a certificate for ``localhost``, so that ``127.0.0.1`` is another host. What counts is that nothing is
sent to a server that is refused: no request, no password, no token.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from azure.core.exceptions import AzureError
from azure.identity import ClientSecretCredential
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from py4j.java_gateway import JVMView
from py4j.protocol import Py4JJavaError

from connectors.debezium.wire import SchemaIdKind
from connectors.errors import BridgeError
from connectors.fabric.rest import FabricRest, MirroredDatabase
from connectors.kafka.config import KafkaConfig, SaslMechanism, Security, SecurityProtocol
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import KafkaAccessError
from connectors.kafka.registry import Registry, RegistryConfig, RegistryKind
from connectors.kafka.topics import Admin
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.location import RenameMode, StorageLocation
from connectors.landing_zone.storage.open import open_adls
from connectors.source_database.database import SourceDatabase
from connectors.source_database.kafka_connect import ConnectApi, ConnectLocation
from connectors.source_database.location import location_of_url
from streaming.lineage.client import open_client
from streaming.settings.lineage import Lineage
from tests.emulators.dfs_server import FILESYSTEM, EmulatorCredential
from tests.emulators.fabric_server import FabricCredential
from tests.integration.java_client import java_topics
from tests.support.authority import LOOPBACK, Authority, Issued
from tests.support.bridge import QUICK_BROKER
from tests.support.patient_broker import PATIENT

pytestmark = pytest.mark.kafka

HOST = "localhost"
GUID = "00000000-0000-0000-0000-000000000001"
LOGIN = "org.apache.kafka.common.security"
FAILURES = (BridgeError, AzureError, OSError)

Client = Callable[[str, Path], object]
"""Sends something to the server at an address (``host:port``), trusting the authorities of a file."""


@dataclass
class Server:
    """A running server: its port, and what clients have sent it after they had accepted its certificate."""

    port: int
    received: list[bytes] = field(default_factory=list)


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("stranger"), "stranger")


@pytest.fixture(scope="module")
def issued(authority: Authority) -> Issued:
    return authority.issue("server", HOST)


@pytest.fixture
def https(issued: Issued) -> Iterator[Server]:
    """Answers every request that there is nothing here."""
    received: list[bytes] = []

    class Connection(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            received.append(f"{self.path} {self.headers.get('Authorization')}".encode())
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(404)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _answer

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is printed."""

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that refuses the certificate hangs up."""

    running = Quiet((LOOPBACK, 0), Connection)
    running.socket = issued.server_context().wrap_socket(running.socket, server_side=True)
    threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield Server(running.server_port, received)
    running.shutdown()
    running.server_close()


def confluent(address: str, trusted: Path) -> object:
    config = RegistryConfig(f"https://{address}", username="u", password="p", ca_file=str(trusted), attempts=1)
    return Registry(config).avro_schema(7, SchemaIdKind.CONFLUENT)


def apicurio(address: str, trusted: Path) -> object:
    config = RegistryConfig(
        f"https://{address}", RegistryKind.APICURIO, username="u", password="p", ca_file=str(trusted), attempts=1
    )
    return Registry(config).avro_schema(7, SchemaIdKind.GLOBAL)


def connect(address: str, trusted: Path) -> object:
    return ConnectApi(ConnectLocation(f"https://{address}", "shop", "u", "p", ca_file=str(trusted))).config()


def fabric(address: str, trusted: Path) -> object:
    place = MirroredDatabase(GUID, GUID, api_url=f"https://{address}", ca_file=str(trusted), attempts=1)
    return FabricRest(place, FabricCredential()).status()


def zone(address: str, trusted: Path, rename_mode: RenameMode = RenameMode.SDK) -> AdlsStorage:
    location = StorageLocation(
        url=f"abfss://{FILESYSTEM}@onelake.dfs.fabric.microsoft.com/{GUID}/Files/LandingZone",
        ca_file=str(trusted),
        dfs_endpoint=f"https://{address}",
        blob_endpoint=f"https://{address}",
        work_folder=str(trusted.parent),
        rename_mode=rename_mode,
    )
    return open_adls(location, credential=EmulatorCredential(None), sleep=lambda _: None)


def storage(address: str, trusted: Path) -> object:
    return zone(address, trusted).put_if_absent("x", b"y")


def storage_listing(address: str, trusted: Path) -> object:
    if not zone(address, trusted).list("x"):
        raise FileNotFoundError(f"{address} lists nothing")
    return None


def storage_rename(address: str, trusted: Path) -> object:
    return zone(address, trusted)._rename("x", "y", 1)


def storage_rename_by_rest(address: str, trusted: Path) -> object:
    return zone(address, trusted, RenameMode.REST)._rename("x", "y", 1)


def lineage(address: str, trusted: Path) -> object:
    settings = Lineage.model_validate({"url": f"https://{address}", "api_key": "k", "ca_file": str(trusted)})
    event = RunEvent(
        eventTime="2026-01-31T08:00:00Z",
        producer="https://example.com",
        run=Run(runId="01941f29-7c00-7000-8000-000000000001"),
        job=Job(namespace="test", name="test"),
        eventType=RunState.START,
    )
    return open_client(settings).emit(event)


HTTP_CLIENTS: dict[str, Client] = {
    "registry": confluent,
    "registry of Apicurio": apicurio,
    "Kafka Connect": connect,
    "Fabric": fabric,
    "storage": storage,
    "storage, listing": storage_listing,
    "storage, rename": storage_rename,
    "storage, rename without the library": storage_rename_by_rest,
    "lineage": lineage,
}


def tried(client: Client, address: str, trusted: Path) -> str:
    """What the client says about its failure; each of these servers lets no client succeed."""
    with pytest.raises(FAILURES) as raised:
        client(address, trusted)
    return str(raised.value)


@pytest.mark.parametrize("name", HTTP_CLIENTS)
def test_a_client_over_http_verifies_authority_and_host(
    https: Server, authority: Authority, stranger: Authority, name: str
) -> None:
    client = HTTP_CLIENTS[name]

    tried(client, f"{HOST}:{https.port}", stranger.certificate)
    tried(client, f"{LOOPBACK}:{https.port}", authority.certificate)
    assert https.received == []

    tried(client, f"{HOST}:{https.port}", authority.certificate)
    assert https.received != []


def test_the_identity_is_asked_for_tokens_only_where_its_authority_is_known(
    https: Server, authority: Authority, stranger: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(host: str, trusted: Path) -> None:
        # There is no setting for it: a proxy's authority is added for the whole process.
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(trusted))
        with pytest.raises(AzureError):
            ClientSecretCredential(
                GUID, GUID, "secret", authority=f"https://{host}:{https.port}", disable_instance_discovery=True
            ).get_token("https://storage.azure.com/.default")

    ask(HOST, stranger.certificate)
    ask(LOOPBACK, authority.certificate)
    assert https.received == []
    ask(HOST, authority.certificate)
    assert https.received != []


def greeting_of_mysql() -> bytes:
    """The server's first packet: protocol 10, and that it takes TLS (MySQL, "Protocol::HandshakeV10")."""
    capabilities = 0x0008_8A00 | 0x0000_0800
    body = (
        b"\x0a8.0.30\0" + struct.pack("<I", 1) + b"12345678\0" + struct.pack("<HBHH", capabilities & 0xFFFF, 45, 2, 8)
    )
    body += bytes([21]) + bytes(10) + b"123456789012\0mysql_native_password\0"
    return len(body).to_bytes(3, "little") + b"\0" + body


@pytest.fixture(params=["postgresql", "mysql"])
def database(request: pytest.FixtureRequest, issued: Issued) -> Iterator[tuple[str, Server]]:
    """Speaks the server's side of a connection up to TLS, and hears the first that the client says under it."""
    kind: str = request.param
    received: list[bytes] = []

    class Connection(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            plain: socket.socket = self.request
            if kind == "mysql":
                plain.sendall(greeting_of_mysql())
                plain.recv(36)
            else:
                plain.recv(8)
                plain.sendall(b"S")
            with contextlib.suppress(OSError), issued.server_context().wrap_socket(plain, server_side=True) as secured:
                said = secured.recv(1000)
                if said:
                    received.append(said)

    running = socketserver.ThreadingTCPServer((LOOPBACK, 0), Connection)
    threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield kind, Server(running.server_address[1], received)
    running.shutdown()
    running.server_close()


def test_a_client_of_a_database_verifies_authority_and_host(
    database: tuple[str, Server], authority: Authority, stranger: Authority
) -> None:
    kind, server = database

    def ask(host: str, trusted: Path) -> None:
        url = f"{kind}://reader@{host}:{server.port}/shop"
        source = SourceDatabase(location_of_url(url, password="p", ca_file=str(trusted)))
        with pytest.raises(BridgeError), source.errors("asking"):
            source.query("SELECT 1")

    ask(HOST, stranger.certificate)
    ask(LOOPBACK, authority.certificate)
    assert server.received == []
    ask(HOST, authority.certificate)
    assert server.received != []


@pytest.fixture(scope="module")
def broker(
    tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path], issued: Issued
) -> Iterator[EmbeddedBroker]:
    prefix = "listener.name.client."
    properties = {
        "listener.security.protocol.map": "CLIENT:SASL_SSL,PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT",
        f"{prefix}sasl.enabled.mechanisms": "PLAIN",
        f"{prefix}plain.sasl.jaas.config": f'{LOGIN}.plain.PlainLoginModule required user_bridge="p";',
        f"{prefix}ssl.keystore.type": "PEM",
        f"{prefix}ssl.keystore.location": str(issued.both),
    }
    folder = tmp_path_factory.mktemp("broker")
    with EmbeddedBroker(folder, broker_jars, properties=PATIENT | properties, jvm_options=QUICK_BROKER) as running:
        yield running


def secured(host: str, broker: EmbeddedBroker, trusted: Path) -> KafkaConfig:
    security = Security(SecurityProtocol.SASL_SSL, SaslMechanism.PLAIN, "bridge", "p", ca_file=str(trusted))
    return KafkaConfig(f"{host}:{broker.port}", security)


@pytest.mark.parametrize(("host", "who"), [(HOST, "stranger"), (LOOPBACK, "authority")])
def test_both_clients_of_kafka_verify_authority_and_host(
    broker: EmbeddedBroker, jvm: JVMView, request: pytest.FixtureRequest, host: str, who: str
) -> None:
    trusted: Authority = request.getfixturevalue(who)
    config = secured(host, broker, trusted.certificate)

    with pytest.raises(KafkaAccessError, match=r"(?i)certificate"):
        Admin(config, timeout=5.0).topic_names()
    with pytest.raises(Py4JJavaError, match=r"SSL handshake failed|SslAuthenticationException"):
        java_topics(jvm, config)
