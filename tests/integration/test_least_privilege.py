"""The bridge runs with exactly the Kafka ACLs of docs/how-to/least-privilege.md, and says which one is missing."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from pyspark.sql import SparkSession

from connectors.debezium.events import BadRecord
from connectors.errors import BridgeError, Transient
from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig
from connectors.kafka.dead_letters import DeadLetterConfig, DeadLetterProducer, ensure_topic
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import DeadLetterRefusedError, KafkaAccessError, TopicNotFoundError
from connectors.kafka.letters import read_dead_letters
from connectors.kafka.signals import SnapshotKind, SnapshotSignal, notifications_since, send_signal
from connectors.kafka.topics import Admin, describe_topics
from streaming.demo.workload import Record
from streaming.kafka_options import kafka_config
from streaming.task.results import TaskFailedError
from tests.support.acls import add_acls, remove_acls
from tests.support.bridge import QUICK_BROKER, Bridge
from tests.support.cluster import Cluster
from tests.support.patient_broker import PATIENT
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "least-privilege.md"
PASSWORD = "geheim"
TOPIC, LETTERS, GROUP = "shop.public.orders", "cdc-bridge-dead-letters", "cdc-bridge-shop"
SECONDS = 30
_ROW = re.compile(r"^\| (?P<operation>[A-Z_]+) \| (?P<kind>topic|group) \| (?P<what>[^|]+) \| (?P<when>[^|]+) \|", re.M)


@dataclass(frozen=True)
class Grant:
    """A row of the page's table: an operation on what kind of resource."""

    operation: str
    kind: str
    what: str
    when: str

    def binding(self, name: str) -> AclBinding:
        kind = ResourceType.TOPIC if self.kind == "topic" else ResourceType.GROUP
        return AclBinding(
            kind,
            name,
            ResourcePatternType.LITERAL,
            "User:bridge",
            "*",
            AclOperation[self.operation],
            AclPermissionType.ALLOW,
        )


SIGNALS, NOTIFICATIONS, MADE = "shop-signals", "shop-notifications", "made-by-the-bridge"
NAMES = {
    "source topics": TOPIC,
    "dead-letter topic": LETTERS,
    "`kafka.commit_group`": GROUP,
    "dead-letter topic, before its first use": MADE,
    "dead-letter topic, for `dead-letters list`, `show` and `replay`": LETTERS,
    "source topics, for `check`": TOPIC,
    "the connector's signal topic (`source.signals.topic`)": SIGNALS,
    "the connector's notification topic": NOTIFICATIONS,
}


def page_grants() -> list[Grant]:
    rows = _ROW.finditer(PAGE.read_text())
    return [Grant(**{name: text.strip() for name, text in row.groupdict().items()}) for row in rows]


def needed() -> list[Grant]:
    """What a run needs that reads topics, sends dead letters and commits a group's offsets."""
    return [grant for grant in page_grants() if grant.what in NAMES and grant.when.startswith("always")]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path]) -> Iterator[EmbeddedBroker]:
    prefix = "listener.name.client."
    login = "org.apache.kafka.common.security.plain.PlainLoginModule"
    properties = {
        "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT",
        f"{prefix}sasl.enabled.mechanisms": "PLAIN",
        f"{prefix}plain.sasl.jaas.config": f'{login} required user_bridge="{PASSWORD}";',
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        # The brokers themselves, and the test, come without a name.
        "super.users": "User:ANONYMOUS",
    }
    folder = tmp_path_factory.mktemp("authorized")
    with EmbeddedBroker(folder, broker_jars, properties=PATIENT | properties, jvm_options=QUICK_BROKER) as running:
        yield running


@pytest.fixture(scope="module")
def cluster(broker: EmbeddedBroker) -> Cluster:
    """As a user who may do everything: one topic with a row and a record that cannot be decoded."""
    admin = AdminClient({"bootstrap.servers": broker.internal_bootstrap_servers})
    names = (TOPIC, LETTERS, SIGNALS, NOTIFICATIONS)
    for future in admin.create_topics([NewTopic(name, 1, 1) for name in names]).values():
        future.result(SECONDS)
    made = Cluster(broker.internal_bootstrap_servers)
    made.send(Record(SIGNALS, 0, b"shop", b'{"id": "id-0"}', ()))
    made.send(Table(TOPIC).create({"id": 1, "name": "a"}, lsn=1), Record(TOPIC, 0, None, b"{nonsense}", ()))
    return made


@contextmanager
def granted(broker: EmbeddedBroker, grants: list[Grant]) -> Iterator[None]:
    """Grant exactly these to the bridge's user."""
    admin = AdminClient({"bootstrap.servers": broker.internal_bootstrap_servers})
    add_acls(admin, [grant.binding(NAMES[grant.what]) for grant in grants])
    try:
        yield
    finally:
        remove_acls(admin)


def bridge_of(folder: Path, spark: SparkSession | None, broker: EmbeddedBroker, **changes: Any) -> Bridge:
    security = {"protocol": "SASL_PLAINTEXT", "mechanism": "PLAIN", "username": "bridge", "password": PASSWORD}
    return Bridge(
        folder,
        spark,
        **{
            "kafka__bootstrap_servers": broker.bootstrap_servers,
            "kafka__topics": [TOPIC],
            "kafka__security": security,
            "kafka__commit_group": GROUP,
            "dead_letters__topic": LETTERS,
            **changes,
        },
    )


def wanted_by(resource: str) -> list[Grant]:
    """The rows of the page's table about a resource that is not needed always."""
    return [grant for grant in page_grants() if NAMES[grant.what] == resource and grant not in needed()]


@pytest.fixture
def config(broker: EmbeddedBroker, tmp_path: Path) -> KafkaConfig:
    """As the bridge's user."""
    return kafka_config(bridge_of(tmp_path, None, broker).settings)


def test_every_row_of_the_page_is_tried() -> None:
    assert {grant.what for grant in page_grants()} == NAMES.keys()


def test_a_signal_takes_the_rights_on_its_topic_that_the_page_names(
    broker: EmbeddedBroker, cluster: Cluster, config: KafkaConfig
) -> None:
    signal = SnapshotSignal("id-1", "public.orders", SnapshotKind.INCREMENTAL)
    rights = wanted_by(SIGNALS)
    for missing in rights:
        with granted(broker, [grant for grant in rights if grant != missing]), pytest.raises(BridgeError) as raised:
            send_signal(config, SIGNALS, "shop", signal)
        assert raised.value.facts["topic"] == SIGNALS or SIGNALS in raised.value.message
    with granted(broker, rights):
        assert [send_signal(config, SIGNALS, "shop", signal) for _ in range(2)] == [True, False]


def test_notifications_take_the_right_on_their_topic_that_the_page_names(
    broker: EmbeddedBroker, cluster: Cluster, config: KafkaConfig
) -> None:
    cluster.send(
        Record(NOTIFICATIONS, 0, None, b'{"id": "1", "aggregate_type": "Initial Snapshot", "type": "COMPLETED"}', ())
    )
    with pytest.raises(TopicNotFoundError):
        notifications_since(config, NOTIFICATIONS, {})
    with granted(broker, wanted_by(NOTIFICATIONS)):
        assert [each.id for each in notifications_since(config, NOTIFICATIONS, {})] == ["1"]


def test_dead_letters_take_the_right_on_their_topic_that_the_page_names(
    broker: EmbeddedBroker, cluster: Cluster, config: KafkaConfig
) -> None:
    with pytest.raises(TopicNotFoundError):
        list(read_dead_letters(config, LETTERS))
    with granted(broker, wanted_by(LETTERS)):
        assert list(read_dead_letters(config, LETTERS)) == cluster.letters(LETTERS)


def test_without_any_right_to_write_a_dead_letter_is_refused_with_what_to_do(
    broker: EmbeddedBroker, cluster: Cluster, config: KafkaConfig
) -> None:
    producer = DeadLetterProducer(DeadLetterConfig(config, LETTERS, timeout=10.0))
    with granted(broker, wanted_by(LETTERS)):
        producer.send(BadRecord(TOPIC, 0, 1, "not JSON", "line 1", None, b"{nonsense}"))
        with pytest.raises(DeadLetterRefusedError) as raised:
            producer.flush()
    assert raised.value.remedy == "let the bridge's user write to the dead-letter topic"


def takes_nothing_more(producer: DeadLetterProducer) -> bool:
    try:
        producer._producer.produce(LETTERS, b"from before")
    except KafkaException as refused:
        return bool(refused.args[0].code() == KafkaError._FATAL)
    return False


def test_a_letter_for_a_client_that_was_refused_before_it_is_told_with_its_reason(
    broker: EmbeddedBroker, cluster: Cluster, config: KafkaConfig
) -> None:
    producer = DeadLetterProducer(DeadLetterConfig(config, LETTERS, timeout=10.0))
    with granted(broker, wanted_by(LETTERS)):
        for _ in range(600):
            if takes_nothing_more(producer):
                break
            time.sleep(0.1)
        else:
            pytest.fail("the client was not refused")
        producer.send(BadRecord(TOPIC, 0, 1, "not JSON", "line 1", None, b"{nonsense}"))
        with pytest.raises(DeadLetterRefusedError) as raised:
            producer.flush()
    assert "authorization failed" in raised.value.message
    assert raised.value.remedy == "let the bridge's user write to the dead-letter topic"


@pytest.mark.parametrize("times", [1, 2])
def test_a_refusal_that_the_client_loses_among_the_deliveries_is_asked_for_again(
    broker: EmbeddedBroker, cluster: Cluster, config: KafkaConfig, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """As seen now and then: the letter comes back as purged, and what was raised beside it has no reason."""
    producer = DeadLetterProducer(DeadLetterConfig(config, LETTERS, timeout=10.0))
    served = Connection.served
    lost: list[KafkaException] = []

    def loses_the_first_ones(connection: Connection, serve: Callable[[float], int], seconds: float) -> int:
        try:
            return served(connection, serve, seconds)
        except KafkaException as refused:
            if len(lost) == times:
                raise
            lost.append(refused)
            raise KafkaException(KafkaError(KafkaError._FATAL, "without a reason")) from None

    monkeypatch.setattr(Connection, "served", loses_the_first_ones)
    with granted(broker, wanted_by(LETTERS)):
        producer.send(BadRecord(TOPIC, 0, 1, "not JSON", "line 1", None, b"{nonsense}"))
        with pytest.raises(DeadLetterRefusedError) as raised:
            producer.flush()
    assert len(lost) == times
    assert raised.value.remedy == "let the bridge's user write to the dead-letter topic"


def test_making_the_dead_letter_topic_takes_the_right_that_the_page_names(
    broker: EmbeddedBroker, config: KafkaConfig
) -> None:
    with pytest.raises(KafkaAccessError, match="the dead-letter topic does not exist, and this user may not create"):
        ensure_topic(Admin(config), MADE)
    with granted(broker, wanted_by(MADE)):
        assert ensure_topic(Admin(config), MADE)


def test_how_long_records_are_kept_takes_the_right_that_the_page_names(
    broker: EmbeddedBroker, cluster: Cluster, config: KafkaConfig
) -> None:
    def kept() -> int | None:
        return describe_topics(Admin(config), [TOPIC])[TOPIC].retention_ms

    with granted(broker, needed()):
        assert kept() is None
    with granted(broker, [*needed(), *wanted_by(TOPIC)]):
        assert kept() == -1


def test_the_page_names_what_a_run_needs() -> None:
    assert [(grant.operation, grant.kind, grant.what) for grant in needed()] == [
        ("READ", "topic", "source topics"),
        ("WRITE", "topic", "dead-letter topic"),
        ("READ", "group", "`kafka.commit_group`"),
    ]


def test_the_bridge_runs_with_exactly_these_rights(
    broker: EmbeddedBroker, cluster: Cluster, spark: SparkSession, tmp_path: Path
) -> None:
    bridge = bridge_of(tmp_path, spark, broker)
    with granted(broker, needed()):
        bridge.run()
    assert bridge.rows() == [{"id": 1, "name": "a"}]
    assert [letter.record.reason for letter in cluster.letters(LETTERS)] == ["not JSON"]
    admin = AdminClient({"bootstrap.servers": broker.internal_bootstrap_servers})
    asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP)])[GROUP].result(SECONDS)
    assert [(place.topic, place.offset) for place in asked.topic_partitions or ()] == [(TOPIC, 2)]


@pytest.mark.parametrize(
    ("without", "kind", "message"),
    [
        ("source topics", TopicNotFoundError, "the Kafka cluster has no topic shop.public.orders"),
        (
            "dead-letter topic",
            KafkaAccessError,
            "the dead-letter topic does not exist, and this user may not create it",
        ),
    ],
)
def test_without_a_right_the_start_says_which_topic_it_is_about(
    broker: EmbeddedBroker,
    cluster: Cluster,
    spark: SparkSession,
    tmp_path: Path,
    without: str,
    kind: type[BridgeError],
    message: str,
) -> None:
    with granted(broker, [grant for grant in needed() if grant.what != without]), pytest.raises(kind) as raised:
        bridge_of(tmp_path, spark, broker).run()
    assert message in raised.value.message
    assert NAMES[without] in str(raised.value)


def test_a_topic_that_may_be_described_and_not_read_is_told_at_once(
    broker: EmbeddedBroker, cluster: Cluster, spark: SparkSession, tmp_path: Path
) -> None:
    grants = [replace(grant, operation="DESCRIBE") if grant.what == "source topics" else grant for grant in needed()]
    with granted(broker, grants), pytest.raises(TaskFailedError) as raised:
        bridge_of(tmp_path, spark, broker).run()
    assert not isinstance(raised.value, Transient)
    assert raised.value.message == "Kafka refuses access while reading records: Broker: Topic authorization failed"
    assert (raised.value.facts["error"], raised.value.facts["topic"]) == (KafkaAccessError.__name__, TOPIC)
    assert "the ACLs of this user" in raised.value.remedy


def test_a_missing_right_on_the_group_for_lag_tools_stops_nothing(
    broker: EmbeddedBroker, cluster: Cluster, spark: SparkSession, tmp_path: Path
) -> None:
    bridge = bridge_of(tmp_path, spark, broker)
    with granted(broker, [grant for grant in needed() if grant.kind != "group"]):
        bridge.run()
    assert bridge.rows() == [{"id": 1, "name": "a"}]
