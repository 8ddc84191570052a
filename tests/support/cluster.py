"""The tests' Kafka cluster: topics with names of their own, records put where a test wants them."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, IsolationLevel, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic, OffsetSpec

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_broker import MAX_MESSAGE_BYTES
from connectors.kafka.letters import DeadLetter, read_dead_letters
from streaming.demo.workload import Record

SECONDS = 30
WAIT_SECONDS = 120

# What librdkafka says when the broker of a run has ended goes here instead of to standard error.
_log = logging.getLogger("tests.cluster")


class Cluster:
    """One test's view of the cluster.

    Attributes:
        prefix: of all of its topics; no other test's begins so.
    """

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.prefix = f"t{uuid.uuid4().hex[:8]}"
        self._admin = AdminClient({"bootstrap.servers": bootstrap_servers}, logger=_log)
        self._producer = self._new_producer()

    def topic(self, name: str = "orders", partitions: int = 1, **settings: str) -> str:
        """Create ``<prefix>.<name>``; returns its name."""
        return self._create(f"{self.prefix}.{name}", partitions, settings)

    def own_topic(self, name: str, partitions: int = 1, **settings: str) -> str:
        """Create ``<prefix>-<name>``, which no bridge of the test reads by its pattern; returns its name."""
        return self._create(f"{self.prefix}-{name}", partitions, settings)

    def _create(self, topic: str, partitions: int, settings: Mapping[str, str]) -> str:
        config = {key.replace("_", "."): value for key, value in settings.items()}
        self._admin.create_topics([NewTopic(topic, partitions, 1, config=config)])[topic].result(SECONDS)
        _until(lambda: self._has(topic, partitions))
        return topic

    def topics(self, names: Iterable[str]) -> list[str]:
        """Create several topics of one partition at once."""
        wanted = [NewTopic(f"{self.prefix}.{name}", 1, 1) for name in names]
        for future in self._admin.create_topics(wanted).values():
            future.result(SECONDS)
        return [topic.topic for topic in wanted]

    def send(self, *records: Record) -> None:
        """Append the records; they have arrived when it returns."""
        _produce(self._producer, records)

    def send_compressed(self, *records: Record, codec: str = "zstd") -> None:
        """Append records that are small on their way only: the broker looks at the size of a compressed batch."""
        _produce(self._new_producer({"compression.type": codec, "message.max.bytes": 1_000_000_000}), records)

    def send_transactions(self, *transactions: tuple[list[Record], bool]) -> None:
        """Append the records of each transaction, which is then committed (True) or aborted; readers see it so."""
        producer = self._new_producer({"transactional.id": f"{self.prefix}-{uuid.uuid4().hex[:6]}"})
        producer.init_transactions(SECONDS)
        for records, commit in transactions:
            producer.begin_transaction()
            _produce(producer, records)
            if commit:
                producer.commit_transaction(SECONDS)
            else:
                producer.abort_transaction(SECONDS)
        places = {(record.topic, record.partition) for records, _ in transactions for record in records}
        # The broker answers the producer before it writes that the last one is over.
        _until(lambda: self._ends(places, IsolationLevel.READ_COMMITTED) == self._ends(places))

    def expire(self, topic: str, partition: int, before: int) -> None:
        """Remove the records below an offset, as retention does."""
        wanted = TopicPartition(topic, partition, before)
        for future in self._admin.delete_records([wanted]).values():
            future.result(SECONDS)

    def delete(self, topic: str) -> None:
        self._admin.delete_topics([topic])[topic].result(SECONDS)
        _until(lambda: not self._has(topic, 0))

    def widen(self, topic: str, partitions: int) -> None:
        """Raise the number of partitions."""
        self._admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(SECONDS)
        _until(lambda: self._has(topic, partitions))
        # The old one still knows the old number.
        self._producer = self._new_producer()

    def letters(self, topic: str) -> list[DeadLetter]:
        """The dead letters in a topic, by the coordinates of their records."""
        found = read_dead_letters(KafkaConfig(self.bootstrap_servers), topic)
        return sorted(found, key=lambda each: (each.record.topic, each.record.partition, each.record.offset))

    def group_offsets(self, group: str) -> dict[str, dict[int, int]]:
        """The offsets of a consumer group as a lag tool asks for them."""
        futures = self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        found: dict[str, dict[int, int]] = {}
        for place in futures[group].result(SECONDS).topic_partitions:
            found.setdefault(place.topic, {})[place.partition] = place.offset
        return found

    def _new_producer(self, more: dict[str, Any] | None = None) -> Producer:
        options = {
            "bootstrap.servers": self.bootstrap_servers,
            "message.max.bytes": MAX_MESSAGE_BYTES,
            "linger.ms": 5,
            # Else what a busy broker refuses at first comes behind what was sent after it.
            "enable.idempotence": True,
            **(more or {}),
        }
        return Producer(options, logger=_log)

    def _ends(
        self, places: Iterable[tuple[str, int]], isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    ) -> list[int]:
        asked = {TopicPartition(*place): OffsetSpec.latest() for place in sorted(places)}
        answers = self._admin.list_offsets(asked, isolation_level=isolation)
        return [answers[place].result(SECONDS).offset for place in asked]

    def _has(self, topic: str, partitions: int) -> bool:
        try:
            known = self._admin.list_topics(topic, timeout=SECONDS).topics[topic]
        except KafkaException:
            return False
        return known.error is None and len(known.partitions) >= partitions


def _produce(producer: Producer, records: Iterable[Record]) -> None:
    failures: list[str] = []

    def delivered(error: object, _: object) -> None:
        if error is not None:
            failures.append(str(error))

    for record in records:
        while True:
            try:
                producer.produce(
                    record.topic,
                    record.value,
                    record.key,
                    partition=record.partition,
                    headers=list(record.headers),
                    on_delivery=delivered,
                )
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(SECONDS) == 0
    assert failures == []


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "the cluster did not do it"
        time.sleep(0.001)
