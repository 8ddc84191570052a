"""What is to be read, and by what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from connectors.debezium.events import RawRecords

BATCH_RECORDS = 10_000
TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class PartitionRange:
    """Records of one partition, from offset ``start`` up to ``end``, exclusive."""

    topic: str
    partition: int
    start: int
    end: int


class RecordReader(Protocol):
    """Reads ranges over connections that it keeps until it is closed. Not for several threads."""

    def read(
        self, ranges: Sequence[PartitionRange], *, batch: int = BATCH_RECORDS, timeout: float = TIMEOUT_SECONDS
    ) -> Iterator[RawRecords]:
        """The records of the ranges, one range after the other, each in offset order, headers included.

        Offsets without a record (transaction markers, aborted or compacted records) are left out, so there may be fewer
        records than a range is long.

        Args:
            batch: records that come at a time at most.
            timeout: seconds without any progress until it gives up.

        Raises:
            RecordsGoneError: Kafka does not hold a ``start``: retention has removed it, or it was never written.
            TopicNotFoundError: there is no such topic or partition.
            UnreadableBatchError: a batch is damaged, or has more bytes than librdkafka takes once it is decompressed.
            BrokerUnavailableError: no broker answered, or an ``end`` is not committed within ``timeout``.
            KafkaAccessError: the broker refuses these credentials.
        """
        ...

    def close(self) -> None:
        """End the connections."""
        ...
