"""What a broker demands of a bridge's user, from the error through its remedy to a bridge that lands."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from pyspark.sql import SparkSession

from connectors.errors import Terminal
from connectors.kafka.config import SecurityProtocol
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import ClientOptionsError, DeadLetterRefusedError, KafkaAccessError
from streaming import running, service
from streaming.kafka_options import source_options
from streaming.logs import log_nothing
from streaming.service import run_bridge
from streaming.settings import BridgeSettings
from tests.integration.secured_broker import PASSWORD, USER, Certificates, secured
from tests.remedies.broken_zones import require_health
from tests.remedies.shell import Printed, Shell
from tests.remedies.site import Site
from tests.support.acls import add_acls, remove_acls
from tests.support.bridge import QUICK_BROKER
from tests.support.cluster import Cluster
from tests.support.patient_broker import PATIENT
from tests.unit.streaming.landed_shop import ORDERS, row

pytestmark = pytest.mark.kafka

RUN, CHECK = "cdc-bridge run CONFIG --once", "cdc-bridge check CONFIG"
SECONDS = 30.0


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def broker(
    tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path], certificates: Certificates
) -> Iterator[EmbeddedBroker]:
    """It demands a password, looks at a certificate that is shown, and grants nothing that no ACL grants."""
    properties = secured(certificates, SecurityProtocol.SASL_SSL, "requested") | {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    folder = tmp_path_factory.mktemp("secured")
    with EmbeddedBroker(folder, broker_jars, properties=PATIENT | properties, jvm_options=QUICK_BROKER) as running:
        yield running


@pytest.fixture
def guarded(
    broker: EmbeddedBroker, certificates: Certificates, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """A bridge whose user may read its topics."""
    site = Site(tmp_path, Cluster(broker.internal_bootstrap_servers), shell)
    site.takes_runs(monkeypatch)
    security = {
        "protocol": "SASL_SSL",
        "mechanism": "PLAIN",
        "username": USER,
        "password": PASSWORD,
        "ca_file": certificates.ca,
    }
    site.set(kafka__bootstrap_servers=broker.bootstrap_servers, kafka__security=security)
    for topic in site.names:
        grant(broker, AclOperation.READ, topic)
    yield site
    log_nothing()
    remove_acls(AdminClient({"bootstrap.servers": broker.internal_bootstrap_servers}))


BROKEN = replace(ORDERS.create(row(9), 12), value=b"{")
"""A record that becomes a dead letter."""


def grant(broker: EmbeddedBroker, operation: AclOperation, topic: str) -> None:
    """As ``kafka-acls.sh --add --allow-principal User:bridge`` does."""
    binding = AclBinding(
        ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, f"User:{USER}", "*", operation, AclPermissionType.ALLOW
    )
    add_acls(AdminClient({"bootstrap.servers": broker.internal_bootstrap_servers}), [binding])


def test_dead_letter_refused_to_a_user_who_may_not_write(broker: EmbeddedBroker, guarded: Site) -> None:
    letters = guarded.cluster.own_topic("guarded-letters")
    guarded.set(dead_letters__topic=letters)
    grant(broker, AclOperation.READ, letters)
    guarded.send(ORDERS.create(row(1, "uno"), 10), BROKEN, ORDERS.create(row(3, "three"), 11))
    refused = guarded.shell.type(RUN)
    assert (refused.code, f"error: {DeadLetterRefusedError.__name__}" in refused.err) == (1, True), refused
    assert refused.remedy.startswith("let the bridge's user write to the dead-letter topic"), refused.remedy
    assert guarded.files() == {}, "nothing lands without the letter"
    grant(broker, AclOperation.WRITE, letters)
    assert guarded.shell.type(RUN).code == 0
    listed = guarded.shell.type("cdc-bridge dead-letters list CONFIG")
    assert (listed.code, f"{guarded.topic}:0:1" in listed.out) == (0, True)
    require_health(guarded)


NEEDED = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "PLAIN",
    "sasl.username": USER,
    "sasl.password": PASSWORD,
    "ssl.ca.location": "CA",
    "ssl.certificate.location": "CERTIFICATE",
    "ssl.key.location": "KEY",
}
"""What the broker asks for, in the client's own words."""
MISFITS = "connectors/kafka/client_options.py::_misfit"
"""Where each of these remedies is handed over."""
PEM_FILES = "connectors/kafka/pem.py::_blocks"
"""Where it is told what a file should hold."""


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        ({"security.protocol": None}, "use SASL_SSL"),
        ({"security.protocol": "SASL_PLAINTEXT"}, "use SSL or SASL_SSL"),
        ({"sasl.mechanism": None}, "set one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"),
        ({"sasl.mechanism": "GSSAPI"}, "use one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, or give the"),
        ({"sasl.password": None}, "add what is missing"),
        ({"ssl.key.location": None}, "give both"),
    ],
)
def test_client_options_that_do_not_fit_together(
    guarded: Site, certificates: Certificates, wrong: Mapping[str, str | None], remedy: str
) -> None:
    files = {"CA": certificates.ca, "CERTIFICATE": certificates.certificate, "KEY": certificates.key}
    needed = {name: files.get(value, value) for name, value in NEEDED.items()}
    client = {name: value for name, value in {**needed, **wrong}.items() if value is not None}
    guarded.set(kafka__security={}, kafka__client=client)
    guarded.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
    explain = f"cdc-bridge explain CONFIG --topic {guarded.topic}"
    refused = guarded.shell.type(explain)
    assert (refused.code, refused.error) == (1, ClientOptionsError.__name__), refused
    assert refused.act.startswith(remedy), f"{MISFITS} says {refused.remedy}"
    looked = guarded.shell.type(CHECK)
    assert (looked.code, refused.act in looked.told) == (1, True), looked
    guarded.set(kafka__client=needed)
    assert guarded.shell.type(CHECK).code == 0
    assert guarded.shell.follow(refused.remedy, "explain").code == 0
    assert guarded.shell.type(RUN).code == 0
    require_health(guarded)


@pytest.fixture
def started(broker: EmbeddedBroker, guarded: Site, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A bridge whose `run` is the whole of it, in the Spark of this process."""
    monkeypatch.setattr(running, "run_bridge", partial(run_bridge, spark=spark))
    letters = guarded.cluster.own_topic("letters-of-starts")
    grant(broker, AclOperation.WRITE, letters)
    guarded.set(retry={"attempts": 0}, dead_letters__topic=letters)
    return guarded


def refused_start(site: Site, kind: type[Terminal], remedy: str) -> Printed:
    """A start ends with this, and lands nothing."""
    files = site.files()
    refused = site.shell.type(RUN)
    assert (refused.code, refused.error) == (1, kind.__name__), refused
    assert refused.act.startswith(remedy), refused.remedy
    assert site.files() == files
    return refused


@pytest.mark.spark
def test_client_options_that_only_java_refuses(
    started: Site, certificates: Certificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client's key and certificate, and an option that librdkafka alone knows: each is put right before the next."""
    site, refused = started, partial(refused_start, started, ClientOptionsError)
    site.send(ORDERS.create(row(1, "uno"), 10))
    key, certificate = tmp_path / "client.key", tmp_path / "client.pem"
    security = dict(site._changes["kafka__security"])
    site.set(kafka__security={**security, "certificate_file": str(certificate), "key_file": str(key)})
    whole = Path(certificates.certificate).read_text()
    certificate.write_text(whole)

    found = load_pem_private_key(Path(certificates.key).read_bytes(), None)
    old_form = found.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    key.write_bytes(old_form)
    told = refused("convert it: openssl pkcs8 -topk8 -in ")
    [command] = re.findall("openssl pkcs8 .+ key.pem", told.act)
    assert command.split()[-1] == "key.pem", f"{PEM_FILES} says {told.act}"
    subprocess.run([*shlex.split(command), "-nocrypt"], cwd=tmp_path, check=True)
    key = tmp_path / "key.pem"
    site.set(kafka__security={**security, "certificate_file": str(certificate), "key_file": str(key)})

    certificate.write_text(whole.replace("CERTIFICATE-----", "X509 CERTIFICATE-----").replace("X509 X509", "X509"))
    refused("name the client's certificate in PEM form")
    certificate.write_text(whole)

    converted = key.read_bytes()
    encrypted = found.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"forgotten"))
    key.write_bytes(old_form + encrypted)
    refused("check key_password (or its file) and key_file under kafka.security")
    key.write_bytes(converted)

    def renewed(settings: BridgeSettings, *, once: bool) -> dict[str, str]:
        key.unlink()
        return source_options(settings, once=once)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(service, "source_options", renewed)
        refused("check the path in the settings and the file's permissions")
    key.write_bytes(converted)

    site.set(kafka__client={"ssl.sigalgs.list": "RSA+SHA256"})
    told = refused("say the same for Java under kafka.spark, or remove the option")
    site.set(kafka__client={})
    site.send(ORDERS.create(row(3, "three"), 11))
    assert site.shell.follow(told.remedy, "run").code == 0
    assert site.rows() == [row(1, "uno"), row(3, "three")]
    site.require_shown_health()


@pytest.mark.spark
def test_kafka_access_to_a_dead_letter_topic_that_is_not_there(broker: EmbeddedBroker, started: Site) -> None:
    """It is created for the bridge; the bridge gets the right to do so; or another one is named."""
    admin = AdminClient({"bootstrap.servers": broker.internal_bootstrap_servers})

    def refused(letters: str) -> Printed:
        started.set(dead_letters__topic=letters)
        told = (
            f"create it: kafka-topics.sh --create --topic {letters} --config retention.ms=-1; or grant CREATE on it; "
        )
        return refused_start(started, KafkaAccessError, f"{told}or let dead_letters.topic name one that exists")

    def lands(told: Printed, key: int, *rows: dict[str, object]) -> None:
        """The same command lands this row behind those."""
        started.send(ORDERS.create(row(key), 10 * key))
        assert started.shell.follow(told.remedy, "run").code == 0
        assert started.rows() == [*rows, row(key)]

    created, granted, missing = (f"{started.cluster.prefix}-{name}" for name in ("created", "granted", "missing"))
    for topic in (created, granted):
        grant(broker, AclOperation.WRITE, topic)
    told = refused(created)
    admin.create_topics([NewTopic(created, config={"retention.ms": "-1"})])[created].result(SECONDS)
    lands(told, 1)
    told = refused(granted)
    grant(broker, AclOperation.CREATE, granted)
    lands(told, 2, row(1))
    assert granted in admin.list_topics(timeout=SECONDS).topics
    told = refused(missing)
    started.set(dead_letters__topic=created)
    lands(told, 3, row(1), row(2))
    started.require_shown_health()
