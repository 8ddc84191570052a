"""When the first record from an offset on was written, asked of a real broker."""

from __future__ import annotations

import time

import pytest

from connectors.kafka.config import KafkaConfig
from connectors.kafka.first_records import first_timestamps
from streaming.demo.workload import Record
from tests.support.cluster import Cluster

pytestmark = pytest.mark.kafka


def record(topic: str, partition: int = 0) -> Record:
    return Record(topic, partition, b"k", b"v", ())


def test_each_place_gets_the_time_of_its_first_record_and_several_offsets_of_a_partition_too(cluster: Cluster) -> None:
    before = time.time_ns() // 1_000_000
    topic, other = cluster.topic("a", 2), cluster.topic("b")
    cluster.send(record(topic), record(topic), record(topic, 1), record(other))
    between = time.time_ns() // 1_000_000 + 1
    while time.time_ns() // 1_000_000 <= between:
        pass
    cluster.send(record(topic))
    places = [(topic, 0, 0), (topic, 0, 2), (topic, 1, 0), (other, 0, 0)]
    found = first_timestamps(KafkaConfig(cluster.bootstrap_servers), places, timeout=20)
    assert found.keys() == set(places)
    assert before <= found[topic, 0, 0] <= between < found[topic, 0, 2]


def test_an_aborted_transaction_is_passed_over(cluster: Cluster) -> None:
    topic = cluster.topic()
    cluster.send_transactions(([record(topic)], False), ([record(topic)], True))
    assert list(first_timestamps(KafkaConfig(cluster.bootstrap_servers), [(topic, 0, 0)], timeout=20)) == [
        (topic, 0, 0)
    ]


def test_what_kafka_does_not_hold_is_left_out(cluster: Cluster) -> None:
    topic, empty = cluster.topic(), cluster.topic("empty")
    cluster.send(record(topic), record(topic), record(topic))
    cluster.expire(topic, 0, before=2)
    config = KafkaConfig(cluster.bootstrap_servers)
    began = time.monotonic()
    assert first_timestamps(config, [(topic, 0, 0), (topic, 0, 3), (empty, 0, 0)], timeout=20) == {}
    assert time.monotonic() - began < 15
    assert first_timestamps(config, [(topic, 0, 2)], timeout=20).keys() == {(topic, 0, 2)}
    assert first_timestamps(config, [], timeout=20) == {}


def test_a_broker_that_does_not_answer_costs_no_more_than_the_time_given(unused_port: int) -> None:
    began = time.monotonic()
    assert first_timestamps(KafkaConfig(f"127.0.0.1:{unused_port}"), [("orders", 0, 0)], timeout=1) == {}
    assert time.monotonic() - began < 15
