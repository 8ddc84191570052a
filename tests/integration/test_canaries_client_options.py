"""Secrets among the options of Kafka's two clients stay where they were put: `kafka.client` and `kafka.spark`.

As :mod:`tests.integration.test_canaries`. These settings take any text, so nothing but an option's name says that it is
a secret. Each client has a user, a password and a certificate of its own here; none comes from `kafka.security`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import (
    PKCS12Certificate,
    PKCS12PrivateKeyTypes,
    load_pkcs12,
    serialize_java_truststore,
    serialize_key_and_certificates,
)
from cryptography.x509 import load_pem_x509_certificate

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.jaas import plain_login
from tests.integration.canary_commands import Way, said, start
from tests.integration.canary_run import followed, look
from tests.integration.canary_settings import demanded, looked_at
from tests.support.authority import Authority
from tests.support.bridge import QUICK_BROKER
from tests.support.canaries import Evidence, canary, searched_folders
from tests.support.cluster import Cluster
from tests.support.patient_broker import PATIENT
from tests.support.records import Table
from tests.support.started import StartedPrograms
from tests.unit.streaming.settings_builder import settings_text

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

READER, PLANNER = "client password", "spark password"
KEY, STORES = "client key password", ("client keystore password", "spark keystore password")
TRUST = "spark truststore password"
REFUSED = ("refused client password", "refused spark password")
MISPLACED = "password that is no text"
SECRETS = (READER, PLANNER, KEY, *STORES, TRUST, *REFUSED, MISPLACED)

WAYS = (
    Way("run {pem} --once", 0, "version 2:"),
    Way("run {planner} --once", 1, "Kafka refuses Spark access"),
    Way("check {right} --json", 0, "kafka"),
    Way("check {reader}", 1, "Kafka refuses access"),
    Way("status {right}", 0, "Ledger version"),
    Way("explain {right} --topic {topic} --offset 0", 0, "public.orders"),
    Way("dead-letters list {reader}", 1, "Kafka refuses access"),
    Way("ledger log {broken}", 1, "sasl.password"),
)
"""What is asked once a bridge has ended."""


@pytest.fixture(scope="module")
def broker(
    tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path], authority: Authority
) -> Iterator[EmbeddedBroker]:
    properties = demanded(authority, {"reader": canary(READER), "planner": canary(PLANNER)})
    folder = tmp_path_factory.mktemp("broker")
    with EmbeddedBroker(folder, broker_jars, properties=PATIENT | properties, jvm_options=QUICK_BROKER) as running:
        yield running


class Logins:
    """What lets the two clients in: for each a key and a certificate, behind passwords.

    Attributes:
        private: a folder that nobody else is to read.
    """

    def __init__(self, private: Path, authority: Authority) -> None:
        self.private = private
        self._authority = authority
        self._shown = authority.issue("client", password=canary(KEY))
        self.pem = self._shown.key.read_text()

    def client(self, password: str = READER) -> dict[str, str]:
        """librdkafka's options, with a key store."""
        return {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "reader",
            "sasl.password": canary(password),
            "ssl.ca.location": str(self._authority.certificate),
            "ssl.keystore.location": self._store(STORES[0]),
            "ssl.keystore.password": canary(STORES[0]),
            # It tells all of its options, and how it logs in.
            "debug": "conf,security",
        }

    def client_with_pem(self) -> dict[str, str]:
        """librdkafka's options with the key itself."""
        stored = ("ssl.keystore.location", "ssl.keystore.password")
        return {
            **{name: value for name, value in self.client().items() if name not in stored},
            "ssl.key.pem": self.pem,
            "ssl.key.password": canary(KEY),
            "ssl.certificate.pem": self._shown.certificate.read_text(),
        }

    def spark(self, password: str = PLANNER) -> dict[str, str]:
        """Java's options, with a key store and a trust store."""
        return {
            **self.planner(password),
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.location": self._store(STORES[1]),
            "ssl.keystore.password": canary(STORES[1]),
            "ssl.key.password": canary(STORES[1]),
            "ssl.truststore.type": "PKCS12",
            "ssl.truststore.location": self._trust_store(),
            "ssl.truststore.password": canary(TRUST),
        }

    def planner(self, password: str = PLANNER) -> dict[str, str]:
        """Java's options for a user and its password, whose key is the other client's."""
        return {"sasl.jaas.config": plain_login("planner", canary(password))}

    def _store(self, name: str) -> str:
        issued = self._authority.issue(name.replace(" ", "-"))
        # Of all kinds of private keys PKCS#12 takes those that an authority signs.
        key = cast(PKCS12PrivateKeyTypes, load_pem_private_key(issued.key.read_bytes(), None))
        certificate = load_pem_x509_certificate(issued.certificate.read_bytes())
        locked = BestAvailableEncryption(canary(name).encode())
        return self._written(name, serialize_key_and_certificates(b"own", key, certificate, None, locked))

    def _trust_store(self) -> str:
        trusted = PKCS12Certificate(load_pem_x509_certificate(self._authority.certificate.read_bytes()), b"authority")
        locked = BestAvailableEncryption(canary(TRUST).encode())
        return self._written(TRUST, serialize_java_truststore([trusted], locked))

    def _written(self, name: str, content: bytes) -> str:
        path = self.private / f"{name.replace(' ', '-')}.p12"
        path.write_bytes(content)
        return str(path)


@pytest.fixture(scope="module")
def logins(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Logins:
    return Logins(tmp_path_factory.mktemp("private"), authority)


@pytest.fixture(scope="module")
def evidence(
    tmp_path_factory: pytest.TempPathFactory, broker: EmbeddedBroker, logins: Logins, spark_jars: list[Path]
) -> Evidence:
    folder = tmp_path_factory.mktemp("work")
    (folder / "events").mkdir()
    found, cluster = Evidence(), Cluster(broker.internal_bootstrap_servers)
    table = Table(cluster.topic())
    cluster.send(table.create({"id": 1, "name": "a"}, lsn=1))
    programs = StartedPrograms(logins.private)
    environment = {**searched_folders(folder), **programs.environment, "CDC_BRIDGE_DEBUG": "1"}
    variants: dict[str, dict[str, Any]] = {
        "right": {"client": logins.client(), "spark": logins.spark()},
        "pem": {"client": logins.client_with_pem(), "spark": logins.planner()},
        "reader": {"client": logins.client(REFUSED[0]), "spark": logins.spark()},
        "planner": {"client": logins.client(), "spark": logins.spark(REFUSED[1])},
        "broken": {"client": {"sasl.password": [canary(MISPLACED)]}},
    }
    places: dict[str, object] = {"topic": table.topic}
    for name, options in variants.items():
        places[name] = settings = logins.private / f"{name}.yaml"
        settings.write_text(
            settings_text(
                kafka={"bootstrap_servers": broker.bootstrap_servers, "topics": [table.topic], **options},
                landing_zone__url=f"file://{folder}/{name}/zone",
                http__linger="1s",
                trigger__interval="100ms",
                retry__attempts=0,
                **looked_at(folder, {}),
            )
        )
    right = logins.private / "right.yaml"
    with followed(found, right, folder, environment) as process:
        look(found, right)
        process.terminate()
    start(found, WAYS, places, folder, environment)
    found.add_folder(folder)
    found.add("started programs", programs.lines())
    found.add_records(KafkaConfig(broker.internal_bootstrap_servers))
    return found


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_of_a_client_s_options_is_seen_nowhere(evidence: Evidence, name: str) -> None:
    assert evidence.finds(name) == []


def test_the_private_key_is_seen_nowhere(evidence: Evidence, logins: Logins) -> None:
    opened = load_pem_private_key(logins.pem.encode(), canary(KEY).encode())
    plain = opened.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    told = (b"PRIVATE KEY", *(line for pem in (logins.pem.encode(), plain) for line in pem.splitlines()[1:-1]))
    assert [place for place, content in evidence.shown.items() if any(line in content for line in told)] == []


def test_the_passwords_open_keys_and_stores(logins: Logins) -> None:
    with pytest.raises(TypeError, match="Password was not given"):
        load_pem_private_key(logins.pem.encode(), None)
    for name in (*STORES, TRUST):
        store = (logins.private / f"{name.replace(' ', '-')}.p12").read_bytes()
        load_pkcs12(store, canary(name).encode())
        with pytest.raises(ValueError, match="password"):
            load_pkcs12(store, b"another")


def test_a_bridge_has_landed_with_them_and_told_all_that_it_does(evidence: Evidence) -> None:
    assert evidence.codes["run"] == 0
    for told in (b"version 2:", b" DEBUG ", b" INFO  MicroBatchExecution", b"sasl.password = [redacted]"):
        assert told in evidence.shown["run: stderr"]
    kinds = {place.split()[1].split("/")[0] for place in evidence.shown if place.startswith("file ")}
    assert {"right", "pem", "events"} <= kinds
    assert b"spark.redaction.regex" in evidence.shown["Spark API environment"]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.typed)
def test_the_command_came_as_far_as_it_was_to(evidence: Evidence, way: Way) -> None:
    assert (evidence.codes[way.typed], way.says in said(evidence, way)) == (way.code, True), said(evidence, way)
