"""Topic sets on a broker: made once, filled as fast as a client can, read by every contender."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.topics import Admin, describe_topics
from tests.bench.traffic import Table
from tests.bench.workloads import Workload

_QUEUE, _QUEUE_BYTES = 300_000, 1 << 29
"""Records that wait in the producer, at most; it would drop what is more than twice as much."""


@dataclass(frozen=True)
class TopicSet:
    """The topics of a workload in one size.

    Attributes:
        asked: records of each table, see :meth:`Table.records`.
        value_bytes: of a record, on average.
    """

    workload: Workload
    asked: int
    prefix: str
    tables: tuple[Table, ...]

    @classmethod
    def of(cls, workload: Workload, asked: int, registry: EmbeddedRegistry) -> TopicSet:
        def register(subject: str, schema: dict[str, Any]) -> int:
            return registry.register(subject, json.dumps(schema))

        prefix = f"{workload.name.replace('-', '_')}_{asked}"
        topics = [f"{prefix}.public.t{number:03d}" for number in range(workload.tables)]
        return cls(workload, asked, prefix, tuple(Table(workload, topic, register) for topic in topics))

    @property
    def pattern(self) -> str:
        """Matches the topics and no others."""
        return rf"{self.prefix}\.public\..*"

    @property
    def records(self) -> int:
        """In all topics."""
        return sum(table.records(self.asked) for table in self.tables)

    @property
    def value_bytes(self) -> float:
        return self.tables[0].mean_size()

    @property
    def rows(self) -> int:
        """That have to land, of all tables."""
        return sum(table.expected(self.asked).rows for table in self.tables)


def create(topic_set: TopicSet, bootstrap_servers: str) -> None:
    """Make the topics, empty."""
    admin = Admin(KafkaConfig(bootstrap_servers))
    wanted = [NewTopic(table.topic, topic_set.workload.partitions, 1) for table in topic_set.tables]
    for future in admin.client.create_topics(wanted).values():
        future.result()


def fill(topic_set: TopicSet, bootstrap_servers: str) -> float:
    """Make the topics and produce the records; returns records a second.

    Raises:
        SystemExit: the broker does not hold as many records as were sent.
    """
    began = time.monotonic()
    create(topic_set, bootstrap_servers)
    producer = _producer(bootstrap_servers)
    room = min(_QUEUE, int(_QUEUE_BYTES / topic_set.value_bytes))
    for table in topic_set.tables:
        for messages in table.messages(topic_set.asked):
            while len(producer) + len(messages) > room and len(producer):
                producer.poll(0.05)
            producer.produce_batch(table.topic, messages)
    producer.flush()
    names = [table.topic for table in topic_set.tables]
    described = describe_topics(Admin(KafkaConfig(bootstrap_servers)), names).values()
    held = sum(end - begin for topic in described for begin, end in topic.partitions.values())
    if held != topic_set.records:
        raise SystemExit(f"{topic_set.prefix}: the broker holds {held} records of {topic_set.records}")
    return topic_set.records / (time.monotonic() - began)


def remove(topic_sets: Sequence[TopicSet], bootstrap_servers: str) -> None:
    """Delete the topics, whose records nobody reads any more."""
    admin = Admin(KafkaConfig(bootstrap_servers))
    names = [table.topic for topic_set in topic_sets for table in topic_set.tables]
    for future in admin.client.delete_topics(names).values():
        future.result()


def _producer(bootstrap_servers: str) -> Producer:
    return Producer(
        {
            "bootstrap.servers": bootstrap_servers,
            "linger.ms": 20,
            "batch.size": 1 << 20,
            "compression.type": "lz4",
            "queue.buffering.max.messages": 2 * _QUEUE,
            "queue.buffering.max.kbytes": 2 * _QUEUE_BYTES >> 10,
            "enable.idempotence": True,
            "log_level": 3,
        }
    )
