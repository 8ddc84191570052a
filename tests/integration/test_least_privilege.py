"""The bridge runs with exactly the Kafka ACLs of docs/how-to/least-privilege.md, and says which one is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from pyspark.sql import SparkSession

from connectors.errors import BridgeError
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import KafkaAccessError, TopicNotFoundError
from streaming.demo.workload import Record
from tests.support.bridge import QUICK_JAVA, Bridge
from tests.support.cluster import Cluster
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


NAMES = {"source topics": TOPIC, "dead-letter topic": LETTERS, "`kafka.commit_group`": GROUP}


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
    with EmbeddedBroker(folder, broker_jars, properties=properties, jvm_options=[QUICK_JAVA]) as running:
        yield running


@pytest.fixture(scope="module")
def cluster(broker: EmbeddedBroker) -> Cluster:
    """As a user who may do everything: one topic with a row and a record that cannot be decoded."""
    admin = AdminClient({"bootstrap.servers": broker.internal_bootstrap_servers})
    for future in admin.create_topics([NewTopic(name, 1, 1) for name in (TOPIC, LETTERS)]).values():
        future.result(SECONDS)
    made = Cluster(broker.internal_bootstrap_servers)
    made.send(Table(TOPIC).create({"id": 1, "name": "a"}, lsn=1), Record(TOPIC, 0, None, b"{nonsense}", ()))
    return made


@contextmanager
def granted(broker: EmbeddedBroker, grants: list[Grant]) -> Iterator[None]:
    """Grant exactly these to the bridge's user."""
    admin = AdminClient({"bootstrap.servers": broker.internal_bootstrap_servers})
    for future in admin.create_acls([grant.binding(NAMES[grant.what]) for grant in grants]).values():
        future.result(SECONDS)
    try:
        yield
    finally:
        kinds = (ResourceType.ANY, None, ResourcePatternType.ANY)
        everything = AclBindingFilter(*kinds, None, None, AclOperation.ANY, AclPermissionType.ANY)
        for future in admin.delete_acls([everything]).values():
            future.result(SECONDS)


def bridge_of(folder: Path, spark: SparkSession, broker: EmbeddedBroker, **changes: Any) -> Bridge:
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
    with granted(broker, grants), pytest.raises(KafkaAccessError) as raised:
        bridge_of(tmp_path, spark, broker).run()
    assert raised.value.message == "Kafka refuses Spark access: Not authorized to access topics: [shop.public.orders]"
    assert "the ACLs of this user" in raised.value.remedy


def test_a_missing_right_on_the_group_for_lag_tools_stops_nothing(
    broker: EmbeddedBroker, cluster: Cluster, spark: SparkSession, tmp_path: Path
) -> None:
    bridge = bridge_of(tmp_path, spark, broker)
    with granted(broker, [grant for grant in needed() if grant.kind != "group"]):
        bridge.run()
    assert bridge.rows() == [{"id": 1, "name": "a"}]
