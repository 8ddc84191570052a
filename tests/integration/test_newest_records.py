"""When the newest record of a topic was written, asked of a real broker."""

from __future__ import annotations

import time

import pytest

from connectors.errors import Transient
from connectors.kafka.config import KafkaConfig
from connectors.kafka.newest_records import newest_timestamps
from connectors.kafka.topics import Admin, TopicDescription, describe_topics
from streaming.demo.workload import Record
from tests.support.cluster import Cluster

pytestmark = pytest.mark.kafka


def record(topic: str, partition: int = 0) -> Record:
    return Record(topic, partition, b"k", b"v", ())


def test_the_newest_of_all_partitions_and_nothing_of_a_topic_without_records(cluster: Cluster) -> None:
    admin = Admin(KafkaConfig(cluster.bootstrap_servers))
    topic, empty = cluster.topic("a", 2), cluster.topic("empty")
    before = time.time_ns() // 1_000_000
    cluster.send(record(topic), record(topic, 1))
    first = newest_timestamps(admin, describe_topics(admin, [topic, empty]))
    assert first.keys() == {topic}
    assert before <= first[topic] <= time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 <= first[topic]:
        pass
    cluster.send(record(topic))
    assert newest_timestamps(admin, describe_topics(admin, [topic]))[topic] > first[topic]
    assert newest_timestamps(admin, {}) == {}


def test_a_broker_that_does_not_answer_is_an_error_that_passes(unused_port: int) -> None:
    admin = Admin(KafkaConfig(f"127.0.0.1:{unused_port}"), timeout=1)
    with pytest.raises(Transient):
        newest_timestamps(admin, {"orders": TopicDescription("id", {0: (0, 1)})})
