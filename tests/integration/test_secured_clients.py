"""Both clients log in to a real broker that demands it: librdkafka, and Kafka's Java client as Spark uses it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from py4j.java_gateway import JVMView
from pyspark.sql import SparkSession

from connectors.kafka.config import KafkaConfig, SaslMechanism, Security, SecurityProtocol
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import KafkaAccessError
from connectors.kafka.raw import read_records
from connectors.kafka.reading.ranges import PartitionRange
from connectors.kafka.topics import Admin
from tests.integration.conftest import Json, ReaderMaker
from tests.integration.java_client import java_topics
from tests.integration.secured_broker import PASSWORD, USER, Certificates, secured, settings_section
from tests.support.acls import add_acls
from tests.support.bridge import QUICK_BROKER, Bridge
from tests.support.cluster import Cluster
from tests.support.patient_broker import PATIENT
from tests.support.records import Table

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def sasl_broker(
    tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path], certificates: Certificates
) -> Iterator[EmbeddedBroker]:
    properties = secured(certificates, SecurityProtocol.SASL_SSL, "none") | {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "allow.everyone.if.no.acl.found": "true",
    }
    with EmbeddedBroker(
        tmp_path_factory.mktemp("sasl"), broker_jars, properties=PATIENT | properties, jvm_options=QUICK_BROKER
    ) as broker:
        admin = AdminClient({"bootstrap.servers": broker.internal_bootstrap_servers})
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            known = UserScramCredentialUpsertion(USER, ScramCredentialInfo(mechanism, 4096), PASSWORD.encode())
            for future in admin.alter_user_scram_credentials([known]).values():
                future.result(30)
        yield broker


@pytest.fixture(scope="module")
def mutual_tls_broker(
    tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path], certificates: Certificates
) -> Iterator[EmbeddedBroker]:
    properties = secured(certificates, SecurityProtocol.SSL, "required")
    with EmbeddedBroker(
        tmp_path_factory.mktemp("mutual-tls"), broker_jars, properties=PATIENT | properties, jvm_options=QUICK_BROKER
    ) as broker:
        yield broker


def login(broker: EmbeddedBroker, certificates: Certificates, mechanism: SaslMechanism, password: str) -> KafkaConfig:
    return KafkaConfig(
        broker.bootstrap_servers,
        Security(SecurityProtocol.SASL_SSL, mechanism, USER, password, ca_file=certificates.ca),
    )


@pytest.mark.parametrize("mechanism", [SaslMechanism.PLAIN, SaslMechanism.SCRAM_SHA_256, SaslMechanism.SCRAM_SHA_512])
def test_both_clients_log_in_with_user_and_password_over_tls(
    sasl_broker: EmbeddedBroker, certificates: Certificates, jvm: JVMView, mechanism: SaslMechanism
) -> None:
    config = login(sasl_broker, certificates, mechanism, PASSWORD)

    assert Admin(config).topic_names() == []
    assert java_topics(jvm, config) == set()


def test_a_wrong_password_is_told_apart_from_a_missing_broker(
    sasl_broker: EmbeddedBroker, certificates: Certificates
) -> None:
    config = login(sasl_broker, certificates, SaslMechanism.SCRAM_SHA_512, "wrong")

    with pytest.raises(KafkaAccessError) as raised:
        Admin(config, timeout=5.0).topic_names()
    with pytest.raises(KafkaAccessError):
        list(read_records(config, "orders", 0, 0, 1, timeout=5.0))

    assert raised.value.message.startswith("Kafka refuses access while listing topics: ")
    assert raised.value.facts == {"bootstrap_servers": sasl_broker.bootstrap_servers}
    assert raised.value.remedy == (
        "check user, password, certificates and mechanism under kafka.security, and the ACLs of this user on the broker"
    )
    assert Admin(login(sasl_broker, certificates, SaslMechanism.SCRAM_SHA_512, PASSWORD)).topic_names() == []


@pytest.mark.spark
def test_a_bridge_that_is_refused_lands_once_its_password_is_renewed(
    sasl_broker: EmbeddedBroker, certificates: Certificates, spark: SparkSession, tmp_path: Path, as_json: Json
) -> None:
    """As the remedy of KafkaAccessError has it: from the refusal that `check` and a start tell to rows."""
    cluster = Cluster(sasl_broker.internal_bootstrap_servers)
    orders = Table(cluster.topic())
    try:
        cluster.send(orders.create({"id": 1, "name": "uno"}, 10))
        made = Bridge(
            tmp_path,
            spark,
            kafka__bootstrap_servers=sasl_broker.bootstrap_servers,
            kafka__topics=[orders.topic],
            kafka__security=settings_section(certificates, "wrong"),
            tables={"on_bad_record": "fail"},
        )
        code, checks = as_json("check", made.write_settings())
        [problem] = [check for check in checks if check["verdict"] == "problem"]
        with pytest.raises(KafkaAccessError) as raised:
            made.run()
        assert (code, problem["subject"], problem["remedy"]) == (1, "kafka", raised.value.remedy)
        assert raised.value.remedy.startswith("check user, password, certificates and mechanism under kafka.security")

        renewed = settings_section(certificates, PASSWORD)
        code, _ = as_json("check", made.write_settings(kafka__security=renewed))
        assert code == 0
        made.run(kafka__security=renewed)
        assert made.rows() == [{"id": 1, "name": "uno"}]
    finally:
        cluster.delete(orders.topic)


def test_a_refused_client_does_not_wait_until_its_time_is_up(
    sasl_broker: EmbeddedBroker, certificates: Certificates
) -> None:
    admin = Admin(login(sasl_broker, certificates, SaslMechanism.PLAIN, "wrong"), timeout=90.0)
    began = time.monotonic()

    with pytest.raises(KafkaAccessError):
        admin.topic_names()

    assert time.monotonic() - began < 45


def test_an_authority_that_did_not_sign_the_broker_is_told(
    sasl_broker: EmbeddedBroker, tmp_path: Path, certificates: Certificates
) -> None:
    config = login(sasl_broker, Certificates(tmp_path), SaslMechanism.PLAIN, PASSWORD)

    with pytest.raises(KafkaAccessError, match=r"(?i)certificate"):
        Admin(config, timeout=5.0).topic_names()


@pytest.mark.parametrize("files", ["one file", "two files"])
def test_both_clients_show_their_certificate(
    mutual_tls_broker: EmbeddedBroker, certificates: Certificates, jvm: JVMView, files: str
) -> None:
    names = (
        (certificates.both, certificates.both) if files == "one file" else (certificates.certificate, certificates.key)
    )
    security = Security(SecurityProtocol.SSL, ca_file=certificates.ca, certificate_file=names[0], key_file=names[1])
    config = KafkaConfig(mutual_tls_broker.bootstrap_servers, security)

    assert Admin(config).topic_names() == []
    assert java_topics(jvm, config) == set()


@pytest.mark.spark
def test_a_bridge_lands_whose_certificate_is_all_that_it_shows(
    mutual_tls_broker: EmbeddedBroker, certificates: Certificates, spark: SparkSession, tmp_path: Path
) -> None:
    cluster = Cluster(mutual_tls_broker.internal_bootstrap_servers)
    orders = Table(cluster.topic())
    security = {"protocol": SecurityProtocol.SSL.value, "ca_file": certificates.ca}
    shown = {"certificate_file": certificates.certificate, "key_file": certificates.key}
    try:
        cluster.send(orders.create({"id": 1, "name": "uno"}, 10))
        made = Bridge(
            tmp_path,
            spark,
            kafka__bootstrap_servers=mutual_tls_broker.bootstrap_servers,
            kafka__topics=[orders.topic],
            kafka__security=security,
        )
        with pytest.raises(KafkaAccessError):
            made.run()
        made.run(kafka__security=security | shown)
        assert made.rows() == [{"id": 1, "name": "uno"}]
    finally:
        cluster.delete(orders.topic)


def test_a_missing_client_certificate_is_refused(mutual_tls_broker: EmbeddedBroker, certificates: Certificates) -> None:
    config = KafkaConfig(mutual_tls_broker.bootstrap_servers, Security(SecurityProtocol.SSL, ca_file=certificates.ca))

    with pytest.raises(KafkaAccessError):
        Admin(config, timeout=5.0).topic_names()


@pytest.fixture
def topic(sasl_broker: EmbeddedBroker) -> Iterator[str]:
    """A topic with one record; gone afterwards."""
    internal = {"bootstrap.servers": sasl_broker.internal_bootstrap_servers, "log_level": 0}
    admin = AdminClient(internal)
    admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(30)
    producer = Producer(internal)
    producer.produce("orders", b"v")
    assert producer.flush(30) == 0
    yield "orders"
    admin.delete_topics(["orders"])["orders"].result(30)


def refusal(
    reader_of: ReaderMaker, config: KafkaConfig, capfd: pytest.CaptureFixture[str], topic: str = "orders"
) -> KafkaAccessError:
    """What a reader says; librdkafka says nothing of its own, and nobody the password."""
    capfd.readouterr()
    with pytest.raises(KafkaAccessError) as raised:
        list(reader_of(config).read([PartitionRange(topic, 0, 0, 1)], timeout=5.0))
    assert capfd.readouterr() == ("", "")
    assert PASSWORD not in repr(raised.value)
    assert raised.value.message.startswith("Kafka refuses access while reading records: ")
    assert raised.value.facts.items() >= (
        {"bootstrap_servers": config.bootstrap_servers, "topic": topic, "partition": 0}.items()
    )
    return raised.value


@pytest.mark.parametrize("mechanism", [SaslMechanism.PLAIN, SaslMechanism.SCRAM_SHA_256, SaslMechanism.SCRAM_SHA_512])
def test_records_are_read_with_user_and_password_over_tls(
    sasl_broker: EmbeddedBroker,
    certificates: Certificates,
    reader_of: ReaderMaker,
    topic: str,
    mechanism: SaslMechanism,
    capfd: pytest.CaptureFixture[str],
) -> None:
    good = login(sasl_broker, certificates, mechanism, PASSWORD)
    wrong = login(sasl_broker, certificates, mechanism, "wrong")

    [records] = reader_of(good).read([PartitionRange(topic, 0, 0, 1)], timeout=20)

    assert records.values.to_pylist() == [b"v"]
    assert "Authentication failed" in refusal(reader_of, wrong, capfd).message


def test_a_reader_refuses_a_broker_whose_authority_is_not_known(
    sasl_broker: EmbeddedBroker,
    tmp_path: Path,
    certificates: Certificates,
    reader_of: ReaderMaker,
    capfd: pytest.CaptureFixture[str],
) -> None:
    config = login(sasl_broker, Certificates(tmp_path), SaslMechanism.PLAIN, PASSWORD)

    assert "certificate" in refusal(reader_of, config, capfd).message


def test_a_reader_without_a_certificate_is_refused(
    mutual_tls_broker: EmbeddedBroker,
    certificates: Certificates,
    reader_of: ReaderMaker,
    capfd: pytest.CaptureFixture[str],
) -> None:
    security = Security(SecurityProtocol.SSL, ca_file=certificates.ca)

    refusal(reader_of, KafkaConfig(mutual_tls_broker.bootstrap_servers, security), capfd)


def test_a_reader_without_the_right_to_a_topic_is_refused(
    sasl_broker: EmbeddedBroker,
    certificates: Certificates,
    reader_of: ReaderMaker,
    topic: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    admin = AdminClient({"bootstrap.servers": sasl_broker.internal_bootstrap_servers, "log_level": 0})
    user = f"User:{USER}"
    # The name and what it holds are two rights; either may be missing.
    for operation in (AclOperation.READ, AclOperation.DESCRIBE):
        denied = AclBinding(
            ResourceType.TOPIC,
            topic,
            ResourcePatternType.LITERAL,
            user,
            "*",
            operation,
            AclPermissionType.DENY,
        )
        add_acls(admin, [denied])

        config = login(sasl_broker, certificates, SaslMechanism.PLAIN, PASSWORD)
        assert "Topic authorization failed" in refusal(reader_of, config, capfd, topic).message
