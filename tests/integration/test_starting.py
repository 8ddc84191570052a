"""Where a bridge starts on a real broker, and what lag tools see of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from confluent_kafka import Producer

from connectors.errors import BridgeError
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.group_offsets import commit_group_offsets
from connectors.kafka.time_offsets import offsets_at
from connectors.kafka.topics import Admin, describe_topics
from connectors.landing_zone.ledger.state import LedgerState, TopicOffsets
from streaming.driver.beginning import StartingOffsetError
from streaming.driver.lag_group import LagGroup
from tests.integration.conftest import TopicMaker
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table

pytestmark = pytest.mark.kafka

SECONDS = 30


def test_the_first_record_at_a_time_is_found_per_partition(kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic(partitions=2)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for second in range(5):
        producer.produce(topic, b"value", partition=0, timestamp=1_700_000_000_000 + second * 1_000)
    assert producer.flush(SECONDS) == 0
    admin = Admin(kafka)
    described = describe_topics(admin, [topic])[topic]
    assert offsets_at(admin, topic, described, 1_700_000_002_000) == {0: 2, 1: 0}
    assert offsets_at(admin, topic, described, 1_700_000_001_001) == {0: 2, 1: 0}
    assert offsets_at(admin, topic, described, 1_700_000_009_000) == {0: 5, 1: 0}


class TestGroup:
    def test_offsets_are_set_for_a_group_that_is_not_there_yet(self, kafka: KafkaConfig, new_topic: TopicMaker) -> None:
        topic = new_topic(partitions=2)
        admin = Admin(kafka)
        group = f"group-{topic}"
        commit_group_offsets(admin, group, {topic: {0: 7, 1: 0}})
        commit_group_offsets(admin, group, {topic: {1: 9}})
        commit_group_offsets(admin, group, {})
        assert Cluster(kafka.bootstrap_servers).group_offsets(group) == {topic: {0: 7, 1: 9}}

    def test_only_what_has_moved_is_set_and_a_failure_is_told_and_made_good(
        self, kafka: KafkaConfig, new_topic: TopicMaker, unused_port: int
    ) -> None:
        topic = new_topic()
        failures: list[BridgeError] = []
        away = Admin(KafkaConfig(f"127.0.0.1:{unused_port}"), timeout=0.5)
        group = LagGroup(away, f"group-{topic}", failures.append)
        state = LedgerState("l", 1, 1, "w", topics={topic: TopicOffsets("id", {0: 4})})
        group.follow(state)
        assert [type(failure) for failure in failures] == [BrokerUnavailableError]
        group.admin = Admin(kafka)
        group.follow(state)
        group.follow(state)
        assert Cluster(kafka.bootstrap_servers).group_offsets(group.group) == {topic: {0: 4}}
        assert len(failures) == 1

    def test_a_topic_that_is_gone_keeps_no_other_from_being_told(self, kafka: KafkaConfig, cluster: Cluster) -> None:
        topic = cluster.topic()
        cluster.send(*(Table(topic).create({"id": key}, key) for key in range(4)))
        group = f"group-{topic}"
        commit_group_offsets(Admin(kafka), group, {"a-topic-that-is-gone": {0: 1}, topic: {0: 3, 7: 1}})
        assert cluster.group_offsets(group) == {topic: {0: 3}}


@pytest.mark.spark
class TestBridge:
    def test_lag_tools_see_the_ledgers_offsets(self, bridge: Callable[..., Bridge], cluster: Cluster) -> None:
        topic = cluster.topic(partitions=2)
        orders = Table(topic)
        cluster.send(*(orders.at(key % 2).create({"id": key}, key) for key in range(1, 8)))
        group = f"lag-{cluster.prefix}"
        lagging = bridge(kafka__commit_group=group)
        lagging.run()
        expected = {name: known.partitions for name, known in lagging.ledger.topics.items()}
        assert expected == {topic: {0: 3, 1: 4}}
        assert cluster.group_offsets(group) == expected
        cluster.send(orders.create({"id": 8}, 8))
        lagging.run()
        assert cluster.group_offsets(group) == {topic: {0: 4, 1: 4}}

    @pytest.mark.parametrize(
        ("settings", "expected"),
        [
            ({"kafka__starting": "latest"}, [6]),
            ({"kafka__starting": "timestamp", "kafka__starting_timestamp": "2023-11-14T22:13:22Z"}, [2, 3, 6]),
        ],
        ids=["latest", "timestamp"],
    )
    def test_a_late_start_leaves_out_what_came_before(
        self, bridge: Callable[..., Bridge], cluster: Cluster, settings: dict[str, str], expected: list[int]
    ) -> None:
        topic = cluster.topic(partitions=2, retention_ms="-1")
        orders = Table(topic)
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
        for key in range(4):
            record = orders.at(key % 2).create({"id": key}, key)
            place = {"partition": record.partition, "timestamp": 1_700_000_000_000 + key * 1_000}
            producer.produce(topic, record.value, record.key, **place)
        assert producer.flush(SECONDS) == 0
        starting = bridge(**settings)
        starting.run()
        cluster.send(orders.at(0).create({"id": 6}, 6))
        starting.changes.pop("kafka__starting_timestamp", None)
        starting.run(kafka__starting="earliest")
        assert [row["id"] for row in starting.rows()] == expected
        assert starting.ledger.topics[topic].partitions == {0: 3, 1: 2}

    def test_a_start_at_offsets_leaves_out_what_came_before(
        self, bridge: Callable[..., Bridge], cluster: Cluster
    ) -> None:
        topic = cluster.topic()
        other = replace(Table(cluster.topic("users")), name="users")
        orders = Table(topic)
        cluster.send(*(orders.create({"id": key}, key) for key in range(5)), other.create({"id": 1}, 1))
        starting = bridge(kafka__starting="offsets", kafka__starting_offsets={topic: {"0": 3}})
        starting.run()
        assert [row["id"] for row in starting.rows()] == [3, 4]
        assert [row["id"] for row in starting.rows("public.users")] == [1]
        cluster.send(orders.create({"id": 5}, 5))
        starting.run()
        assert [row["id"] for row in starting.rows()] == [3, 4, 5]
        with pytest.raises(StartingOffsetError, match="which holds the offsets from 0 to 6"):
            bridge("late", kafka__starting="offsets", kafka__starting_offsets={topic: {"0": 7}}).run()
