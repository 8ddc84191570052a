"""Both clients fetch a token with client credentials and log in to a real broker that validates it."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from py4j.java_gateway import JVMView
from py4j.protocol import Py4JJavaError

from connectors.errors import BridgeError
from connectors.kafka.config import KafkaConfig, OAuth, SaslMechanism, Security, SecurityProtocol
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import KafkaAccessError
from connectors.kafka.reading.ranges import PartitionRange
from connectors.kafka.topics import Admin
from tests.integration.conftest import ReaderMaker
from tests.integration.java_client import java_topics
from tests.support.authority import Authority
from tests.support.bridge import QUICK_BROKER
from tests.support.patient_broker import PATIENT

pytestmark = pytest.mark.kafka

CLIENT, SECRET, SCOPE = "cdc-bridge", 'ge"he\\im', "kafka"
BEARER = "org.apache.kafka.common.security.oauthbearer"

Form = dict[str, list[str]]
"""A request's form: names to values."""


def unpadded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def big_endian(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8)


class IdentityProvider:
    """A token endpoint for one client, and the keys that its tokens are signed with."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(65537, 2048)
        self.asked: list[Form] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> IdentityProvider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def keys(self) -> dict[str, object]:
        numbers = self._key.public_key().public_numbers()
        key = {"kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig"}
        return {"keys": [key | {"n": unpadded(big_endian(numbers.n)), "e": unpadded(big_endian(numbers.e))}]}

    def token(self) -> dict[str, object]:
        now = int(time.time())
        header = {"alg": "RS256", "kid": "1", "typ": "JWT"}
        claims = {"sub": CLIENT, "aud": "kafka", "scope": SCOPE, "iat": now, "exp": now + 600}
        signed = ".".join(unpadded(json.dumps(part).encode()) for part in (header, claims))
        signature = self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return {"access_token": f"{signed}.{unpadded(signature)}", "token_type": "Bearer", "expires_in": 600}

    def handler(self, asked: list[Form] | None = None) -> type[BaseHTTPRequestHandler]:
        """Answers requests, and tells them to ``asked``: to the provider's own list unless it is given."""
        provider = self
        told = self.asked if asked is None else asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(200, provider.keys())

            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                told.append(form)
                expected = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
                if self.headers.get("Authorization") == f"Basic {expected}":
                    self._answer(200, provider.token())
                else:
                    self._answer(401, {"error": "invalid_client"})

            def _answer(self, status: int, content: object) -> None:
                body = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is printed."""

        return Handler


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as running:
        yield running


@pytest.fixture(scope="module")
def broker(
    tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path], provider: IdentityProvider
) -> Iterator[EmbeddedBroker]:
    prefix = "listener.name.client.oauthbearer."
    properties = {
        "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "listener.name.client.sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{prefix}sasl.jaas.config": f"{BEARER}.OAuthBearerLoginModule required;",
        f"{prefix}sasl.server.callback.handler.class": f"{BEARER}.OAuthBearerValidatorCallbackHandler",
        f"{prefix}sasl.oauthbearer.jwks.endpoint.url": f"{provider.url}/keys",
        f"{prefix}sasl.oauthbearer.expected.audience": "kafka",
    }
    allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={provider.url}/keys"
    folder = tmp_path_factory.mktemp("oauth")
    with EmbeddedBroker(
        folder, broker_jars, properties=PATIENT | properties, jvm_options=[allowed, *QUICK_BROKER]
    ) as running:
        yield running


def cluster(
    broker: EmbeddedBroker, provider: IdentityProvider, secret: str, url: str = "", trusted: Path | None = None
) -> KafkaConfig:
    ca_file = None if trusted is None else str(trusted)
    credentials = OAuth(f"{url or provider.url}/token", CLIENT, secret, SCOPE, ca_file=ca_file)
    security = Security(SecurityProtocol.SASL_PLAINTEXT, SaslMechanism.OAUTHBEARER, oauth=credentials)
    return KafkaConfig(broker.bootstrap_servers, security)


def test_both_clients_log_in_with_client_credentials(
    broker: EmbeddedBroker, provider: IdentityProvider, jvm: JVMView
) -> None:
    config = cluster(broker, provider, SECRET)
    provider.asked.clear()

    assert Admin(config).topic_names() == []
    assert java_topics(jvm, config) == set()

    assert [(form["grant_type"], form["scope"]) for form in provider.asked] == [(["client_credentials"], [SCOPE])] * 2


def test_records_are_read_with_client_credentials_and_not_with_a_wrong_secret(
    broker: EmbeddedBroker, provider: IdentityProvider, reader_of: ReaderMaker, capfd: pytest.CaptureFixture[str]
) -> None:
    internal = {"bootstrap.servers": broker.internal_bootstrap_servers, "log_level": 0}
    admin = AdminClient(internal)
    admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(30)
    producer = Producer(internal)
    producer.produce("orders", b"v")
    assert producer.flush(30) == 0
    capfd.readouterr()

    [records] = reader_of(cluster(broker, provider, SECRET)).read([PartitionRange("orders", 0, 0, 1)], timeout=20)
    with pytest.raises(KafkaAccessError, match="Kafka refuses access while reading records: ") as raised:
        list(reader_of(cluster(broker, provider, "wrong")).read([PartitionRange("orders", 0, 0, 1)], timeout=5.0))

    admin.delete_topics(["orders"])["orders"].result(30)
    assert records.values.to_pylist() == [b"v"]
    assert capfd.readouterr() == ("", "")
    assert SECRET not in repr(raised.value)


@dataclass(frozen=True)
class TlsEndpoint:
    """Where the token is given over TLS, and what was asked there: no other test's client knows the port."""

    port: int
    asked: list[Form]


@pytest.fixture
def https(provider: IdentityProvider, authority: Authority) -> Iterator[TlsEndpoint]:
    """The endpoint over TLS, with a certificate for ``localhost``: ``127.0.0.1`` is another host."""

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that refuses the certificate hangs up."""

    asked: list[Form] = []
    server = Quiet(("127.0.0.1", 0), provider.handler(asked))
    server.socket = authority.issue("login", "localhost").server_context().wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield TlsEndpoint(server.server_port, asked)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


def test_both_clients_fetch_their_token_over_tls(
    broker: EmbeddedBroker, provider: IdentityProvider, https: TlsEndpoint, authority: Authority, jvm: JVMView
) -> None:
    config = cluster(broker, provider, SECRET, f"https://localhost:{https.port}", authority.certificate)

    assert Admin(config).topic_names() == []
    assert java_topics(jvm, config) == set()

    assert len(https.asked) == 2


@pytest.mark.parametrize("wrong", ["authority", "host", "nobody is trusted"])
def test_neither_client_sends_its_secret_to_an_endpoint_that_is_not_known(
    broker: EmbeddedBroker,
    provider: IdentityProvider,
    https: TlsEndpoint,
    authority: Authority,
    jvm: JVMView,
    tmp_path: Path,
    wrong: str,
) -> None:
    host = "127.0.0.1" if wrong == "host" else "localhost"
    stranger = Authority(tmp_path / "stranger", "stranger").certificate
    trusted = {"authority": stranger, "host": authority.certificate}.get(wrong)
    config = cluster(broker, provider, SECRET, f"https://{host}:{https.port}", trusted)

    with pytest.raises(BridgeError):
        Admin(config, timeout=5.0).topic_names()
    with pytest.raises(Py4JJavaError, match="KafkaException"):
        java_topics(jvm, config)

    assert https.asked == []


def test_a_wrong_client_secret_is_told_apart_from_a_missing_broker(
    broker: EmbeddedBroker, provider: IdentityProvider
) -> None:
    with pytest.raises(KafkaAccessError, match="Kafka refuses access while listing topics: "):
        Admin(cluster(broker, provider, "wrong"), timeout=5.0).topic_names()
