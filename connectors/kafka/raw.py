"""Reading a bounded range of one partition beside the query: for ``explain`` and for catching a table up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from connectors.debezium.events import RawRecords
from connectors.errors import BridgeError
from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError, RecordsGoneError, TopicNotFoundError

HEADERS_TYPE = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
_POLL_SECONDS = 0.2
_OF_NO_MATTER = (KafkaError._ALL_BROKERS_DOWN, KafkaError.GROUP_AUTHORIZATION_FAILED)
"""Told beside the records: brokers that come back, and a group that the client looks for and nobody joins."""
_UNKNOWN = (KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART)


def read_records(
    config: KafkaConfig,
    topic: str,
    partition: int,
    start: int,
    end: int,
    *,
    batch: int = 10_000,
    timeout: float = 60.0,
) -> Iterator[RawRecords]:
    """The committed records of ``[start, end)`` in offset order, headers included, up to ``batch`` at a time.

    Joins no group and commits nothing. Offsets without a record (transaction markers, aborted or compacted records)
    are left out, so the whole may be fewer than ``end - start``.

    Args:
        timeout: seconds without any progress until it gives up.

    Raises:
        RecordsGoneError: Kafka does not hold ``start``: retention has removed it, or it was never written.
        TopicNotFoundError: there is no such topic or partition.
        BrokerUnavailableError: no broker answered, or ``end`` is not committed within ``timeout``.
        KafkaAccessError: the broker refuses these credentials.
    """
    if start >= end:
        return
    connection = Connection(config)
    consumer = connection.reader("cdc-bridge-side-read")
    try:
        _require(consumer, TopicPartition(topic, partition, start), timeout)
        consumer.assign([TopicPartition(topic, partition, start)])
        for messages in _bounded(consumer, connection, TopicPartition(topic, partition, start), end, batch, timeout):
            yield _raw(topic, partition, messages)
    except KafkaException as problem:
        consumer.poll(0)  # lets the client tell the reason
        raise connection.failure(problem, "reading records", topic=topic, partition=partition) from problem
    finally:
        consumer.close()


def _require(consumer: Consumer, at: TopicPartition, timeout: float) -> None:
    # An assignment of what does not exist would wait for it in silence.
    found = consumer.list_topics(at.topic, timeout=timeout).topics[at.topic]
    if found.error is not None and found.error.code() not in _UNKNOWN:
        raise KafkaException(found.error)
    if at.partition not in found.partitions:
        raise TopicNotFoundError(
            "the Kafka cluster has no such topic or partition",
            remedy="check the topic's name and the number of its partitions",
            topic=at.topic,
            partition=at.partition,
        )


def _bounded(
    consumer: Consumer, connection: Connection, at: TopicPartition, end: int, batch: int, timeout: float
) -> Iterator[list[Message]]:
    deadline = time.monotonic() + timeout
    while True:
        reached = False
        records: list[Message] = []
        for message in consumer.consume(batch, timeout=_POLL_SECONDS):
            error = message.error()
            offset = message.offset()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                if not error.retriable() and error.code() not in _OF_NO_MATTER:
                    raise _unreadable(error, connection, at)
                continue
            # The end of the partition comes as an error that carries the offset reached.
            if offset is not None and offset >= end:
                reached = True
            elif error is None:
                records.append(message)
        if records:
            deadline = time.monotonic() + timeout
            yield records
            reached = reached or records[-1].offset() == end - 1
        if reached:
            return
        if time.monotonic() > deadline:
            raise _stalled(connection, at, end, timeout)


def _raw(topic: str, partition: int, messages: list[Message]) -> RawRecords:
    return RawRecords(
        topic=topic,
        partition=partition,
        keys=pa.array([message.key() for message in messages], pa.binary()),
        values=pa.array([message.value() for message in messages], pa.binary()),
        offsets=np.array([message.offset() for message in messages], np.int64),
        timestamps=np.array([message.timestamp()[1] for message in messages], np.int64),
        headers=pa.array(
            [[{"key": name, "value": value} for name, value in headers_of(message)] for message in messages],
            HEADERS_TYPE,
        ),
    )


def headers_of(message: Message) -> tuple[tuple[str, bytes | None], ...]:
    """A record's headers in their order; names may repeat."""
    # The client types headers as a mapping too, which it only takes and never gives.
    found: Any = message.headers()
    return tuple(found or ())


def _unreadable(error: KafkaError, connection: Connection, at: TopicPartition) -> BridgeError:
    where = {"topic": at.topic, "partition": at.partition, "offset": at.offset}
    if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
        return RecordsGoneError(
            "Kafka does not hold the first offset that was asked for",
            remedy="retention has removed it, or the topic was created again: ask for a later offset, or "
            "`cdc-bridge resync CONFIG TABLE` for a table that needs it",
            **where,
        )
    return connection.failure(KafkaException(error), "reading records", **where)


def _stalled(connection: Connection, at: TopicPartition, end: int, timeout: float) -> BridgeError:
    failure = connection.failure(TimeoutError(), "reading records", topic=at.topic, partition=at.partition)
    if not isinstance(failure, BrokerUnavailableError):
        return failure
    return BrokerUnavailableError(
        f"nothing came from Kafka within {timeout:.0f} s, and the range's end is not reached",
        remedy="check the brokers; an open transaction of a producer holds committed readers back until it ends",
        topic=at.topic,
        partition=at.partition,
        end=end,
        bootstrap_servers=connection.bootstrap_servers,
    )
