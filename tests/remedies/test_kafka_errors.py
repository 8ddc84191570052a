"""What a real broker refuses, from the error through its remedy to what it takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from connectors.debezium.events import BadRecord
from connectors.kafka.config import KafkaConfig
from connectors.kafka.dead_letters import DeadLetterConfig, DeadLetterProducer, ensure_topic
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import (
    BrokerStartError,
    DeadLetterRefusedError,
    KafkaRequestError,
    SignalRefusedError,
    TopicNotFoundError,
)
from connectors.kafka.signals import SnapshotKind, SnapshotSignal, send_signal
from connectors.kafka.topics import Admin, describe_topics
from streaming.demo.produce import ProduceError, produce
from tests.remedies.broken_zones import carry_out, require_health
from tests.remedies.site import Site
from tests.support.bridge import QUICK_BROKER
from tests.support.cluster import Cluster
from tests.support.records import Table
from tests.unit.streaming.landed_shop import row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka

SMALL = "100"
"""Bytes of a record that a topic takes at most: fewer than any has."""


@pytest.fixture
def config(cluster: Cluster) -> KafkaConfig:
    return KafkaConfig(cluster.bootstrap_servers)


def limit(config: KafkaConfig, topic: str, most: str) -> None:
    """As ``kafka-configs.sh --alter --add-config max.message.bytes=...`` does."""
    entry = ConfigEntry("max.message.bytes", most, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": config.bootstrap_servers})
    (done,) = admin.incremental_alter_configs([resource]).values()
    done.result(30)


def test_topic_not_found(cluster: Cluster, config: KafkaConfig) -> None:
    missing = f"{cluster.prefix}.orders"
    with pytest.raises(TopicNotFoundError) as raised:
        describe_topics(Admin(config), [missing])
    assert "or create the topic" in raised.value.remedy
    cluster.topic("orders")
    assert missing in describe_topics(Admin(config), re.compile(re.escape(missing)))


def test_kafka_request(cluster: Cluster, config: KafkaConfig) -> None:
    with pytest.raises(KafkaRequestError) as raised:
        ensure_topic(Admin(config), f"{cluster.prefix}.dead letters")
    assert raised.value.remedy.startswith("read the broker's reason above")
    assert "invalid" in raised.value.message.lower()
    assert ensure_topic(Admin(config), f"{cluster.prefix}.dead-letters")


def test_dead_letter_refused(cluster: Cluster, config: KafkaConfig) -> None:
    topic = cluster.topic("letters")
    limit(config, topic, SMALL)
    producer = DeadLetterProducer(DeadLetterConfig(config, topic, "shop"))
    bad = BadRecord(
        topic="shop.orders", partition=0, offset=4, key=b"key", value=bytes(500), reason="not JSON", detail="line 1"
    )
    producer.send(bad)
    with pytest.raises(DeadLetterRefusedError) as raised:
        producer.flush()
    assert raised.value.remedy.startswith("raise max.message.bytes of the dead-letter topic")
    limit(config, topic, "1000000")
    again = DeadLetterProducer(DeadLetterConfig(config, topic, "shop"))
    again.send(bad)
    again.flush()


def test_signal_refused(cluster: Cluster, config: KafkaConfig, world: Site) -> None:
    """By a limit that somebody has set on the signal topic, in the middle of a resync."""
    topic = cluster.own_topic("signals")
    world.through = lambda prefix, signal: send_signal(config, topic, prefix, signal)
    limit(config, topic, SMALL)
    with pytest.raises(SignalRefusedError) as raised:
        send_signal(config, topic, "shop", SnapshotSignal("id-1", "public.orders", SnapshotKind.INCREMENTAL))
    assert raised.value.remedy == "raise max.message.bytes of the signal topic (source.signals.topic)"
    world.ask()
    world.driver().do_chores()
    parked = world.table.parked
    assert parked is not None
    assert (parked.reason, world.signals) == ("snapshot_failed", {})
    assert parked.remedy == f"{raised.value.remedy}; then `cdc-bridge resync CONFIG {NAME}`"
    limit(config, topic, "1000000")
    carry_out(world, parked.remedy, "resync")
    assert len(world.signals) == 1
    require_health(world)


def test_produce(cluster: Cluster, config: KafkaConfig) -> None:
    topic = cluster.topic("orders")
    record = Table(topic).create(row(1), 10)
    limit(config, topic, SMALL)
    with pytest.raises(ProduceError) as raised:
        produce(config, [record], lambda count: None)
    assert raised.value.remedy.startswith("run the demo again")
    limit(config, topic, "1000000")
    assert produce(config, [record], lambda count: None) == 1


def test_broker_start(broker_jars: list[Path], tmp_path: Path) -> None:
    meta = tmp_path / "old" / "data" / "meta.properties"
    meta.parent.mkdir(parents=True)
    meta.write_text("version=99\n", encoding="utf-8")
    with pytest.raises(BrokerStartError) as raised:
        EmbeddedBroker(tmp_path / "old", broker_jars, jvm_options=QUICK_BROKER).start()
    assert "ersion" in raised.value.message, "the end of its log"
    assert raised.value.remedy == "read the log; a fresh folder helps when its data are of another version"
    with EmbeddedBroker(tmp_path / "fresh", broker_jars, jvm_options=QUICK_BROKER) as broker:
        fresh = Cluster(broker.bootstrap_servers)
        topic = fresh.topic("orders")
        fresh.send(Table(topic).create(row(1), 10))
        described = describe_topics(Admin(KafkaConfig(broker.bootstrap_servers)), [topic])[topic]
        assert described.partitions == {0: (0, 1)}
