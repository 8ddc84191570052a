"""Debezium events of a table of 16 columns by the million, and what has to be landed of them.

A table of R rows gets R creates, then R updates, again and again: record n is revision n // R of row n % R. So the rows
that land say by themselves whether one is missing, comes twice, or comes out of order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from connectors.kafka.config import KafkaConfig
from connectors.kafka.topics import Admin

COLUMNS = {
    "id": "int64",
    "revision": "int64",
    **{f"text_{number}": "string" for number in range(5)},
    **{f"number_{number}": "int64" for number in range(4)},
    "price": "decimal(12,2)",
    "ratio": "float64",
    "active": "boolean",
    "made": "timestamp(us)",
    "seen": "timestamptz",
}
"""As ``tables.defaults.declared`` of the settings."""

_TEXTS = ",".join(f'"text_{number}":"value %d of column {number}, as long as many are"' for number in range(5))
_NUMBERS = ",".join(f'"number_{number}":%d' for number in range(4))
_EVENT = (
    f'{{"before":null,"after":{{"id":%d,"revision":%d,{_TEXTS},{_NUMBERS},"price":"AMqe","ratio":%.6f,"active":%s,'
    '"made":%d,"seen":"2026-03-01T08:00:00.123456Z"},"source":{"version":"3.6.1.Final","connector":"postgresql",'
    '"name":"bench","ts_ms":%d,"snapshot":"false","db":"bench","sequence":"[\\"%d\\",\\"%d\\"]","schema":"public",'
    '"table":"%s","txId":%d,"lsn":%d,"xmin":null},"op":"%s","ts_ms":%d}'
)
_BEGAN_MS = 1_760_000_000_000


@dataclass(frozen=True)
class WideTable:
    """A topic of events of one table.

    Attributes:
        prefix: Debezium's ``topic.prefix``; the topic is ``<prefix>.public.<name>``.
        rows: of the table; every ``rows`` records update each of them once.
    """

    prefix: str
    name: str
    rows: int
    partitions: int = 1

    @property
    def topic(self) -> str:
        return f"{self.prefix}.public.{self.name}"

    def records(self, begin: int, end: int) -> Iterator[tuple[bytes, bytes, int]]:
        """Key, value and partition of the records ``[begin, end)``; a row keeps its partition."""
        for record in range(begin, end):
            revision, row = divmod(record, self.rows)
            lsn = 1_000 + record * 100
            made = _BEGAN_MS + record
            texts = range(row * 31, row * 31 + 5)
            numbers = (row % 100_003, record % 1_009, row * 7_919 % 65_537, record)
            truth = "true" if row % 3 == 0 else "false"
            after = (row, revision, *texts, *numbers, row / 3, truth, made * 1_000)
            source = (made, lsn - 50, lsn, self.name, record, lsn)
            value = _EVENT % (*after, *source, "u" if revision else "c", made + 100)
            yield b'{"id":%d}' % row, value.encode(), row % self.partitions


def create_topics(tables: list[WideTable], bootstrap_servers: str) -> None:
    """Make the topics and wait until they are there."""
    client = Admin(KafkaConfig(bootstrap_servers)).client
    wanted = [NewTopic(table.topic, table.partitions, 1) for table in tables]
    for future in client.create_topics(wanted).values():
        future.result()


def bulk_producer(bootstrap_servers: str) -> Producer:
    """A producer that is made for many records a second."""
    return Producer(
        {
            "bootstrap.servers": bootstrap_servers,
            "linger.ms": 50,
            "compression.type": "lz4",
            "queue.buffering.max.messages": 500_000,
            "enable.idempotence": True,
            "log_level": 3,
        }
    )


def produce(producer: Producer, table: WideTable, begin: int, end: int) -> int:
    """Send the records ``[begin, end)`` and return the bytes of their values; the caller flushes."""
    size = 0
    for key, value, partition in table.records(begin, end):
        while True:
            try:
                producer.produce(table.topic, value=value, key=key, partition=partition)
                break
            except BufferError:
                producer.poll(0.1)
        size += len(value)
    producer.poll(0)
    return size


@dataclass(frozen=True)
class Judgement:
    """How the rows that landed differ from what was sent.

    Attributes:
        lost: records of which no row landed; doubled: rows beyond the first of a record; disordered: rows that follow
            a later revision of their row.
    """

    records: int
    lost: int
    doubled: int
    disordered: int

    @property
    def right(self) -> bool:
        return not (self.lost or self.doubled or self.disordered)


def judge(table: WideTable, records: int, ids: numpy.ndarray, revisions: numpy.ndarray) -> Judgement:
    """Compare the landed rows of a table with its first ``records`` records.

    Args:
        ids: int64 of shape (landed rows,), in the order of the files and of the rows in them.
        revisions: int64 of the same shape.
    """
    landed = revisions * table.rows + ids
    distinct = numpy.unique(landed)
    lost = records - int(numpy.count_nonzero((distinct >= 0) & (distinct < records)))
    by_row = numpy.argsort(ids, kind="stable")
    backwards = (numpy.diff(revisions[by_row]) < 0) & (numpy.diff(ids[by_row]) == 0)
    return Judgement(records, lost, len(landed) - len(distinct), int(numpy.count_nonzero(backwards)))
