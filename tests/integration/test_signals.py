"""Signals and notifications as they lie in Kafka, and where a partition ends while a transaction is open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

import pytest
from confluent_kafka import Producer

from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import TopicNotFoundError
from connectors.kafka.raw import read_records
from connectors.kafka.signals import (
    INCREMENTAL_SNAPSHOT,
    Notification,
    SnapshotKind,
    SnapshotProgress,
    SnapshotSignal,
    collection_pattern,
    notification_ends,
    notifications_since,
    send_signal,
)
from connectors.kafka.topics import Admin
from connectors.kafka.watermarks import high_watermarks
from streaming.demo.workload import Record
from streaming.lifecycle.signalling import debezium_of
from tests.support.cluster import Cluster
from tests.unit.streaming.settings_builder import settings

pytestmark = pytest.mark.kafka

HOSTILE = (b'{"type": "\xff"}', b"[" * 100_000, b'{"aggregate_type": "Initial Snapshot", "type": []}')
"""Values that anybody may write who may write to the topic."""

SIGNAL = SnapshotSignal("id-1", collection_pattern("public", "orders"), SnapshotKind.INCREMENTAL)


@pytest.fixture
def config(cluster: Cluster) -> KafkaConfig:
    return KafkaConfig(cluster.bootstrap_servers)


def test_a_signal_is_sent_under_the_topic_prefix_and_only_once(cluster: Cluster, config: KafkaConfig) -> None:
    topic = cluster.topic("signals")
    cluster.send(*(Record(topic, 0, b"shop", value, ()) for value in HOSTILE))
    other = SnapshotSignal("id-2", "public.a", SnapshotKind.BLOCKING)
    assert [send_signal(config, topic, "shop", signal) for signal in (SIGNAL, SIGNAL, other, SIGNAL)] == [
        True,
        False,
        True,
        False,
    ]
    [records] = read_records(config, topic, 0, len(HOSTILE), len(HOSTILE) + 2)
    assert [key.as_py() for key in records.keys] == [b"shop", b"shop"]
    assert [json.loads(value.as_py()) for value in records.values] == [
        {
            "id": "id-1",
            "type": "execute-snapshot",
            "data": {"type": "INCREMENTAL", "data-collections": ["public.orders"]},
        },
        {"id": "id-2", "type": "execute-snapshot", "data": {"type": "BLOCKING", "data-collections": ["public.a"]}},
    ]


def test_a_signal_for_a_topic_that_is_not_there_says_so(config: KafkaConfig) -> None:
    with pytest.raises(TopicNotFoundError, match="the Kafka cluster has no topic no-such-topic") as raised:
        send_signal(config, "no-such-topic", "shop", SIGNAL)
    assert raised.value.remedy.startswith("correct source.signals.topic, or create the topic")


def test_a_notifications_topic_that_is_not_there_says_so(config: KafkaConfig) -> None:
    for ask in (partial(notification_ends, config, "gone"), partial(notifications_since, config, "gone", {})):
        with pytest.raises(TopicNotFoundError) as raised:
            ask()
        assert raised.value.remedy.startswith("correct source.notifications_topic, or create the topic")


def test_which_of_the_topics_that_the_settings_name_is_missing_is_known_beforehand(
    cluster: Cluster, config: KafkaConfig
) -> None:
    there = cluster.own_topic("there")

    def missing(signals: str, notifications: str) -> Mapping[str, str]:
        named = settings(
            kafka__bootstrap_servers=config.bootstrap_servers,
            source__signals={"topic": signals},
            source__notifications_topic=notifications,
        )
        return debezium_of(named, Admin(config)).missing()

    assert missing(there, there) == {}
    assert missing(there, "gone") == {"source.notifications_topic": "gone"}
    assert missing("gone", there) == {"source.signals.topic": "gone"}


def test_special_characters_of_a_name_are_escaped_in_a_signal() -> None:
    assert collection_pattern("public", "my.table (1)") == r"public.my\.table \(1\)"


def test_notifications_are_read_from_where_the_snapshot_was_asked_for(cluster: Cluster, config: KafkaConfig) -> None:
    topic = cluster.topic("notifications")
    completed = {
        "id": "id-1",
        "aggregate_type": INCREMENTAL_SNAPSHOT,
        "type": "COMPLETED",
        "additional_data": {"connector_name": "shop"},
        "timestamp": 5,
    }
    wrapped = {"schema": {"type": "struct"}, "payload": {**completed, "type": "ABORTED", "additional_data": None}}

    def send(*values: object) -> None:
        cluster.send(*(Record(topic, 0, None, json.dumps(value).encode(), ()) for value in values))

    send({**completed, "id": "earlier"})
    heard = notification_ends(config, topic)
    assert heard == {0: 1}
    send(completed, {**completed, "aggregate_type": "Capacity"}, [1], wrapped, {**completed, "type": "NEW KIND"})
    cluster.send(*(Record(topic, 0, None, value, ()) for value in (b"\x00no json", None, *HOSTILE)))

    assert notifications_since(config, topic, heard) == [
        Notification("id-1", INCREMENTAL_SNAPSHOT, SnapshotProgress.COMPLETED, {"connector_name": "shop"}, 5),
        Notification("id-1", INCREMENTAL_SNAPSHOT, SnapshotProgress.ABORTED, {}, 5),
    ]


def test_a_high_watermark_counts_what_an_open_transaction_has_sent(cluster: Cluster, config: KafkaConfig) -> None:
    topic = cluster.topic("open", 2)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": cluster.prefix})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"one", partition=1)
    producer.flush(30)
    try:
        assert high_watermarks(Admin(config), [topic]) == {topic: {0: 0, 1: 1}}
    finally:
        producer.abort_transaction(30)


def test_without_topics_there_are_no_watermarks(config: KafkaConfig) -> None:
    assert high_watermarks(Admin(config), []) == {}
