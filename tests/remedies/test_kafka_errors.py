"""What a real broker refuses, from the error through its remedy to what it takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import (
    BrokerStartError,
    DeadLetterRefusedError,
    SignalRefusedError,
    TopicNotFoundError,
)
from connectors.kafka.signals import SnapshotKind, SnapshotSignal, send_signal
from connectors.kafka.topics import Admin, describe_topics
from tests.remedies.broken_zones import carry_out, require_health
from tests.remedies.site import Site
from tests.support.bridge import QUICK_BROKER
from tests.support.cluster import Cluster
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka

RUN, CHECK = "cdc-bridge run CONFIG --once", "cdc-bridge check CONFIG"
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


@pytest.mark.parametrize("corrected", [True, False])
def test_topic_not_found(site: Site, config: KafkaConfig, *, corrected: bool) -> None:
    """The name is written wrongly, or the connector has not made the topic yet."""
    site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
    missing = f"{site.cluster.prefix}.public.order"
    site.set(kafka__topics=[missing])
    with pytest.raises(TopicNotFoundError) as raised:
        describe_topics(Admin(config), [missing])
    refused = site.shell.type(CHECK)
    assert (refused.code, refused.remedy) == (1, raised.value.remedy)
    assert refused.remedy.startswith("correct kafka.topics, or create the topic or start its connector")
    if corrected:
        assert f"the nearest that exist: {site.topic}" in refused.out
        site.set(kafka__topics=site.names)
    else:
        site.cluster.topic("public.order")
    assert site.shell.type(CHECK).code == 0
    assert site.shell.type(RUN).code == 0
    require_health(site)


BROKEN = replace(ORDERS.create(row(9), 12), value=b"{")
"""A record that becomes a dead letter."""


@pytest.fixture
def with_letter(site: Site) -> Site:
    """Orders wait in Kafka, with a record among them that cannot be decoded."""
    site.send(ORDERS.create(row(1, "uno"), 10), BROKEN, ORDERS.create(row(3, "three"), 11))
    return site


def require_letter(site: Site) -> None:
    """The broken record is set aside, and all others have landed."""
    assert site.shell.type(RUN).code == 0
    listed = site.shell.type("cdc-bridge dead-letters list CONFIG")
    assert (listed.code, f"{site.topic}:0:1" in listed.out) == (0, True)
    require_health(site)


def test_dead_letter_refused(with_letter: Site, config: KafkaConfig) -> None:
    site = with_letter
    topic = site.cluster.own_topic("small-letters")
    site.set(dead_letters__topic=topic)
    limit(config, topic, SMALL)
    refused = site.shell.type(RUN)
    assert (refused.code, f"error: {DeadLetterRefusedError.__name__}" in refused.err) == (1, True)
    assert refused.remedy.startswith("raise max.message.bytes of the dead-letter topic")
    assert site.files() == {}, "nothing lands without the letter"
    limit(config, topic, "1000000")
    require_letter(site)


def test_dead_letter_refused_without_its_topic(with_letter: Site) -> None:
    """Somebody has deleted it since the bridge was started."""
    site = with_letter
    topic = site.cluster.own_topic("deleted-letters")
    site.set(dead_letters__topic=topic, kafka__client={"topic.metadata.propagation.max.ms": "100"})
    site.cluster.delete(topic)
    refused = site.shell.type(RUN)
    assert (refused.code, f"error: {DeadLetterRefusedError.__name__}" in refused.err) == (1, True), refused
    assert refused.remedy.startswith("create the dead-letter topic, or let the bridge's user create it"), refused.remedy
    assert site.files() == {}, "nothing lands without the letter"
    assert site.cluster.own_topic("deleted-letters") == topic
    require_letter(site)


HANDED_ON = "streaming/lifecycle/rebuilding.py::_refuse"
"""Where what Kafka's refusal needs becomes what the table needs."""


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
    assert parked.remedy == f"{raised.value.remedy}; then `cdc-bridge resync CONFIG {NAME}`", HANDED_ON
    limit(config, topic, "1000000")
    carry_out(world, parked.remedy, "resync")
    assert len(world.signals) == 1
    require_health(world)


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
