"""Reading a bounded range of one partition beside the query: for ``explain``, dead letters and checks."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.debezium.events import RawRecords
from connectors.kafka.config import KafkaConfig
from connectors.kafka.reading.open import open_reader
from connectors.kafka.reading.ranges import BATCH_RECORDS, TIMEOUT_SECONDS, PartitionRange


def read_records(
    config: KafkaConfig,
    topic: str,
    partition: int,
    start: int,
    end: int,
    *,
    batch: int = BATCH_RECORDS,
    timeout: float = TIMEOUT_SECONDS,
) -> Iterator[RawRecords]:
    """The committed records of ``[start, end)``, over a connection of their own.

    Raises:
        BridgeError: as :meth:`connectors.kafka.reading.ranges.RecordReader.read`.
    """
    if start >= end:
        return
    reader = open_reader(config)
    try:
        yield from reader.read([PartitionRange(topic, partition, start, end)], batch=batch, timeout=timeout)
    finally:
        reader.close()
