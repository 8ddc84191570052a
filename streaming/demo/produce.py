"""Putting the demo's workload into Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from confluent_kafka import KafkaError, Message
from confluent_kafka.admin import NewTopic

from connectors.errors import Terminal
from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig
from connectors.kafka.topics import Admin
from streaming.demo.shop import TABLES
from streaming.demo.workload import Record

_FLUSH_SECONDS = 60.0
_REPORT_EVERY = 500


class ProduceError(Terminal):
    """The demo's records could not be put into Kafka."""


def create_topics(config: KafkaConfig) -> None:
    """One topic per demo table, with as many partitions as the table says.

    Raises:
        BrokerUnavailableError, KafkaRequestError: the broker does not answer, or refuses.
    """
    admin = Admin(config)
    wanted = [NewTopic(spec.topic, num_partitions=spec.partitions, replication_factor=1) for spec in TABLES]
    for topic, future in admin.client.create_topics(wanted).items():
        admin.result(future, "creating a topic", topic=topic)


def produce(config: KafkaConfig, records: Iterable[Record], progress: Callable[[int], None]) -> int:
    """Send the records in order, each to its partition; returns how many there were.

    Args:
        progress: told now and then how many were sent since it was last told.

    Raises:
        ProduceError: Kafka did not take them all.
    """
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            failures.append(error)

    producer = Connection(config).producer({"enable.idempotence": True, "linger.ms": 20})
    count = 0
    for record in records:
        while True:
            try:
                producer.produce(
                    record.topic,
                    value=record.value,
                    key=record.key,
                    partition=record.partition,
                    headers=list(record.headers),
                    on_delivery=delivered,
                )
            except BufferError:
                producer.poll(0.1)
            else:
                break
        count += 1
        if count % _REPORT_EVERY == 0:
            producer.poll(0)
            progress(_REPORT_EVERY)
    left = producer.flush(_FLUSH_SECONDS)
    progress(count % _REPORT_EVERY)
    if left or failures:
        said = failures[0].str() if failures else f"not within {_FLUSH_SECONDS:.0f} s"
        raise ProduceError(
            f"{left + len(failures)} of the demo's {count} records did not reach Kafka: {said}",
            remedy="run the demo again; if it repeats, look at the broker's log in the demo's folder (--keep)",
            bootstrap_servers=config.bootstrap_servers,
        )
    return count
