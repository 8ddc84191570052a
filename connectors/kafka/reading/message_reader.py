"""Reading with an object for each record, as ``confluent_kafka`` makes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from connectors.debezium.events import RawRecords
from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig
from connectors.kafka.headers import HEADERS_TYPE
from connectors.kafka.reading.problems import Patience, passes, require, unreadable
from connectors.kafka.reading.ranges import BATCH_RECORDS, TIMEOUT_SECONDS, PartitionRange

_POLL_SECONDS = 0.2


class MessageReader:
    """A :class:`~connectors.kafka.reading.ranges.RecordReader` that needs nothing but ``confluent_kafka``."""

    def __init__(self, config: KafkaConfig, *, isolation: str = "read_committed") -> None:
        self._connection = Connection(config)
        self._consumer = self._connection.reader("cdc-bridge-side-read", {"isolation.level": isolation})
        self._known: dict[str, frozenset[int]] = {}

    def read(
        self, ranges: Sequence[PartitionRange], *, batch: int = BATCH_RECORDS, timeout: float = TIMEOUT_SECONDS
    ) -> Iterator[RawRecords]:
        for each in ranges:
            if each.start < each.end:
                yield from self._read(each, batch, timeout)

    def close(self) -> None:
        self._consumer.close()

    def _read(self, wanted: PartitionRange, batch: int, timeout: float) -> Iterator[RawRecords]:
        try:
            if wanted.partition not in self._known.get(wanted.topic, ()):
                # An assignment of what does not exist would wait for it in silence.
                self._known[wanted.topic] = require(self._consumer, wanted, timeout)
            self._consumer.assign([TopicPartition(wanted.topic, wanted.partition, wanted.start)])
            for messages in self._bounded(wanted, batch, timeout):
                yield _raw(wanted, messages)
        except KafkaException as problem:
            self._consumer.poll(0)  # lets the client tell the reason
            raise self._connection.failure(
                problem, "reading records", topic=wanted.topic, partition=wanted.partition
            ) from problem

    def _bounded(self, wanted: PartitionRange, batch: int, timeout: float) -> Iterator[list[Message]]:
        patience = Patience(self._connection, wanted, timeout)
        position = wanted.start
        while True:
            reached = False
            records: list[Message] = []
            # It waits for as many as it is asked for, and no more than these can come.
            for message in self._consumer.consume(min(batch, wanted.end - position), timeout=_POLL_SECONDS):
                error = message.error()
                offset = message.offset()
                if error is not None and error.code() != KafkaError._PARTITION_EOF:
                    if not passes(error):
                        raise unreadable(error, self._connection, wanted, position)
                    continue
                # The end of the partition comes as an error that carries the offset reached.
                if offset is not None and offset >= wanted.end:
                    reached = True
                elif error is None:
                    records.append(message)
                    position = (offset or 0) + 1
            if records:
                patience.renew()
                yield records
                # How long the caller was busy with them is no silence of Kafka's.
                patience.renew()
                reached = reached or position == wanted.end
            if reached:
                return
            patience.check()


def _raw(wanted: PartitionRange, messages: list[Message]) -> RawRecords:
    return RawRecords(
        topic=wanted.topic,
        partition=wanted.partition,
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
