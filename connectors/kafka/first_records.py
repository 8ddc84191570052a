"""When the first record at or behind an offset was written, for many partitions at once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig

_POLL_SECONDS = 0.2
_SMALL = {"fetch.message.max.bytes": 1024, "queued.min.messages": 1, "queued.max.messages.kbytes": 1024}
"""One record of each partition is wanted; a broker sends at least a whole batch of records all the same."""


def first_timestamps(
    config: KafkaConfig, places: Iterable[tuple[str, int, int]], *, timeout: float
) -> dict[tuple[str, int, int], int]:
    """Kafka's timestamp (milliseconds since 1970) of the first committed record at or behind each place.

    Args:
        places: topic, partition, offset; several offsets of one partition are looked at one after the other.
        timeout: seconds for all of them together. What has not come by then is left out, be it that no broker answers,
            and so is what Kafka does not hold any more and a partition that ends there.

    Raises:
        KafkaAccessError, KafkaRequestError: the broker refuses the request.
    """
    rounds = list(_rounds(places))
    if not rounds:
        return {}
    connection = Connection(config)
    consumer = connection.reader("cdc-bridge-lag", _SMALL)
    deadline = time.monotonic() + timeout
    found: dict[tuple[str, int, int], int] = {}
    try:
        for wanted in rounds:
            found |= _first(consumer, wanted, deadline)
    except KafkaException as problem:
        raise connection.failure(problem, "reading the time of records") from problem
    finally:
        consumer.close()
    return found


def _rounds(places: Iterable[tuple[str, int, int]]) -> Iterator[dict[tuple[str, int], int]]:
    """The places in as few groups as it takes to have each partition once in each."""
    rounds: list[dict[tuple[str, int], int]] = []
    for topic, partition, offset in dict.fromkeys(places):
        free = next((one for one in rounds if (topic, partition) not in one), None)
        if free is None:
            rounds.append({(topic, partition): offset})
        else:
            free[topic, partition] = offset
    yield from rounds


def _first(
    consumer: Consumer, wanted: Mapping[tuple[str, int], int], deadline: float
) -> dict[tuple[str, int, int], int]:
    consumer.assign([TopicPartition(topic, partition, offset) for (topic, partition), offset in wanted.items()])
    waiting = dict(wanted)
    found: dict[tuple[str, int, int], int] = {}
    while waiting and time.monotonic() < deadline:
        answered: list[tuple[str, int]] = []
        for message in consumer.consume(len(waiting), timeout=_POLL_SECONDS):
            error = message.error()
            if error is not None and error.code() not in (KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET):
                continue
            topic, partition = message.topic(), message.partition()
            if topic is None or partition is None or (topic, partition) not in waiting:
                continue
            if error is None:
                found[topic, partition, waiting[topic, partition]] = message.timestamp()[1]
            del waiting[topic, partition]
            answered.append((topic, partition))
        if answered:
            consumer.incremental_unassign([TopicPartition(*place) for place in answered])
    consumer.unassign()
    return found
