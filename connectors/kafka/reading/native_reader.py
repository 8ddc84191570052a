"""Reading straight into columns, without an object for each record."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from confluent_kafka import KafkaException

from connectors.debezium.events import RawRecords
from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig
from connectors.kafka.reading.columns import raw_records
from connectors.kafka.reading.handle import Handle
from connectors.kafka.reading.library import Library
from connectors.kafka.reading.problems import Patience, passes, unreadable
from connectors.kafka.reading.ranges import BATCH_RECORDS, TIMEOUT_SECONDS, PartitionRange

AHEAD = 8
"""Partitions that are fetched at a time: the one that is read and those that follow."""
AHEAD_SMALL = 32
"""As many where their ranges hold few records."""
_FEW = 1_000
"""Records of all ranges that are fetched at a time."""
BATCH_BYTES = 32 << 20
"""Bytes after which a batch gets no further records."""
_TOGETHER = 500
"""Messages that are taken out of librdkafka's queue at a time."""
_WAIT_MILLISECONDS = 50
_OPTIONS = {
    "enable.partition.eof": "true",
    # Where the settings name a group, nothing is committed for it; the second is of the simple consumer.
    "enable.auto.commit": "false",
    "auto.commit.enable": "false",
    "auto.offset.reset": "error",
    "check.crcs": "true",
    # A partition that is started has to wait for the request before, which brings nothing where all are read.
    "fetch.wait.max.ms": "5",
    "fetch.queue.backoff.ms": "2",
}
# What the settings say of these wins. What is fetched of a partition beyond its range is fetched for nothing, so little
# is fetched ahead; the less it is, the longer one partition waits for a broker that is far away.
_FETCHING = {
    "fetch.message.max.bytes": str(2 << 20),
    "queued.min.messages": "20000",
    "queued.max.messages.kbytes": "2048",
}


def client_options(configured: Mapping[str, str], isolation: str) -> dict[str, str]:
    """librdkafka's options of a reader, in the order in which they are set: of two names of one option the later wins.

    Args:
        configured: what the settings make of the connection.
    """
    return {**_FETCHING, **configured, **_OPTIONS, "isolation.level": isolation}


class NativeReader:
    """A :class:`~connectors.kafka.reading.ranges.RecordReader` on librdkafka's own functions."""

    def __init__(self, config: KafkaConfig, library: Library, *, isolation: str = "read_committed") -> None:
        self._library = library
        self._connection = Connection(config)
        self._handle = Handle(library, self._connection, client_options(self._connection.options, isolation))

    def read(
        self, ranges: Sequence[PartitionRange], *, batch: int = BATCH_RECORDS, timeout: float = TIMEOUT_SECONDS
    ) -> Iterator[RawRecords]:
        waiting = deque(each for each in ranges if each.start < each.end)
        started: deque[PartitionRange] = deque()
        try:
            while waiting or started:
                while waiting and _has_room(started, waiting[0]):
                    at = waiting[0]
                    self._handle.start(at.topic, at.partition, at.start)
                    started.append(waiting.popleft())
                at = started[0]
                yield from self._read(at, batch, timeout)
                done = started.popleft()
                self._handle.stop(done.topic, done.partition)
        except KafkaException as problem:
            self._handle.serve()
            where = {"topic": at.topic, "partition": at.partition}
            raise self._connection.failure(problem, "reading records", **where) from problem
        finally:
            for each in started:
                self._handle.stop(each.topic, each.partition)

    def close(self) -> None:
        self._handle.close()

    def _read(self, wanted: PartitionRange, most: int, timeout: float) -> Iterator[RawRecords]:
        taking = _Taking(self._library, self._handle, wanted, most)
        patience = Patience(self._connection, wanted, timeout)
        while taking.position < wanted.end:
            before = taking.position
            try:
                taking.fill()
                yield from taking.records()
            finally:
                taking.drop()
            self._handle.serve()
            if taking.error:
                error = self._handle.error(taking.error)
                if not passes(error):
                    raise unreadable(error, self._connection, wanted, taking.position)
            if taking.position > before:
                patience.renew()
            else:
                patience.check()


def _has_room(started: Collection[PartitionRange], wanted: PartitionRange) -> bool:
    """Whether a further range may be fetched beside those that are."""
    if any((one.topic, one.partition) == (wanted.topic, wanted.partition) for one in started):
        return False  # a partition is fetched from one place at a time
    few = sum(one.end - one.start for one in (*started, wanted)) <= _FEW
    return len(started) < (AHEAD_SMALL if few else AHEAD)


class _Taking:
    """Messages of one range, as many as make a batch, until their columns are made.

    Attributes:
        position: the offset before which all records have been seen.
        error: what librdkafka said of the partition at the last :meth:`fill`; 0 where it was nothing.
    """

    def __init__(self, library: Library, handle: Handle, wanted: PartitionRange, most: int) -> None:
        self._library = library
        self._handle = handle
        self._wanted = wanted
        self._most = most
        self._messages: Any = library.messages.ffi.new("kafka_message *[]", most)
        self._first = self._count = 0
        self.position = wanted.start
        self.error = 0

    def fill(self) -> None:
        """Take what there is, and wait for something only where there is nothing."""
        ffi, lib = self._library.messages.ffi, self._library.messages.lib
        wanted, seen = self._wanted, ffi.new("kafka_seen *", {"next": self.position})
        self._first = 0
        while not seen.error and seen.next < wanted.end and self._count < self._most and seen.bytes < BATCH_BYTES:
            room = self._messages + self._count
            if self._count:
                most, wait = min(_TOGETHER, self._most - self._count, wanted.end - seen.next), 0
            else:
                # librdkafka would wait for all of them.
                most, wait = 1, _WAIT_MILLISECONDS
            taken = self._handle.take(wanted.topic, wanted.partition, room, most, wait)
            self._count += lib.kafka_keep(self._library.functions, room, taken, wanted.end, seen)
            if not taken:
                break
        self.position = seen.next
        self.error = seen.error

    def records(self) -> Iterator[RawRecords]:
        """What the messages hold, in parts of no more than :data:`BATCH_BYTES`, or of one record."""
        ffi, lib = self._library.messages.ffi, self._library.messages.lib
        while self._count:
            messages, sizes = self._messages + self._first, ffi.new("kafka_sizes *")
            rows = lib.kafka_measure(self._library.functions, messages, self._count, BATCH_BYTES, sizes)
            part = raw_records(self._library, self._wanted.topic, self._wanted.partition, messages, rows, sizes)
            self._give_back(rows)
            yield part

    def drop(self) -> None:
        """Give the messages back of which no columns were made."""
        self._give_back(self._count)

    def _give_back(self, count: int) -> None:
        self._library.messages.lib.kafka_destroy(self._library.functions, self._messages + self._first, count)
        self._first += count
        self._count -= count
