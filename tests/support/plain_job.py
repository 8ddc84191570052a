"""The job without Spark and Kafka: its own functions, called one after the other as Spark would call them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import RawRecords
from connectors.debezium.wire import SchemaLookup
from connectors.kafka.dead_letters import DeadLetterProducer
from connectors.kafka.leaders import Leading, Place
from connectors.kafka.reading.ranges import PartitionRange
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.publisher import Publisher
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from streaming.demo.workload import Record
from streaming.driver.action import share_out, with_run_files
from streaming.driver.batch import BatchReport, DecodeAndLand, run_batch
from streaming.driver.checkpoint import Offsets, Planned
from streaming.driver.leaders import Leaders
from streaming.driver.publishing import ZonePublisher
from streaming.driver.startup import OpenZone
from streaming.lifecycle.outside import Outside, Ranges
from streaming.plan import BatchPlan, JobOptions
from streaming.task.decode import decode_and_land
from streaming.task.merge import merge_and_land
from streaming.task.results import RESULT_SCHEMA, Results, read_results, together
from streaming.task.worker import Worker
from tests.support.partition_runs import partition_runs
from tests.support.records import SENT_MS, raw_batch


@dataclass
class Log:
    """Kafka as the job sees it: records by topic and partition; an offset is a place in the list.

    Attributes:
        earliest: by topic and partition, what retention has left; ids: of topics that were made anew.
        left_out: topics that the settings do not name.
        led: by topic and partition, the leader epochs and the offset at which each began; one epoch, 0, by default.
        sent_ms: Kafka's timestamps of the records, by topic, partition and offset, where it is another than
            :data:`~tests.support.records.SENT_MS`; milliseconds since 1970.
    """

    partitions: dict[str, dict[int, list[Record]]] = field(default_factory=dict)

    earliest: dict[tuple[str, int], int] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    sent_ms: dict[tuple[str, int, int], int] = field(default_factory=dict)
    led: dict[Place, list[tuple[int, int]]] = field(default_factory=dict)

    def subscribed(self, topic: str) -> bool:
        """Whether the settings have the bridge read it."""
        return topic not in self.left_out

    def read(self) -> list[str]:
        """The topics that the bridge reads."""
        return [topic for topic in sorted(self.partitions) if topic not in self.left_out]

    def topic_id(self, topic: str) -> str:
        return self.ids.get(topic, f"id-{topic}")

    def describe(self, topics: Sequence[str]) -> dict[str, TopicDescription]:
        """Those of the topics that exist."""
        return {
            topic: TopicDescription(
                self.topic_id(topic),
                {
                    number: (self.earliest.get((topic, number), 0), len(records))
                    for number, records in self.partitions[topic].items()
                },
                epochs={number: self._led((topic, number))[-1][0] for number in self.partitions[topic]},
            )
            for topic in topics
            if topic in self.partitions
        }

    def append(self, record: Record) -> None:
        self.partitions.setdefault(record.topic, {}).setdefault(record.partition, []).append(record)

    def lead_anew(self, topic: str, partition: int = 0) -> None:
        """Another replica leads, which has all records."""
        self.forget(topic, len(self.partitions[topic][partition]), partition)

    def forget(self, topic: str, offset: int, partition: int = 0) -> None:
        """Another replica leads, which has the records below an offset only."""
        del self.partitions[topic][partition][offset:]
        led = self._led((topic, partition))
        kept = [(epoch, start) for epoch, start in led if start < offset]
        self.led[topic, partition] = [*kept, (led[-1][0] + 1, offset)]

    @property
    def leaders(self) -> Leaders:
        return Leaders(self._now, self._cut_off)

    def _now(self, places: Collection[Place]) -> dict[Place, Leading]:
        return {
            (topic, partition): Leading(len(self.partitions[topic][partition]), self._led((topic, partition))[-1][0])
            for topic, partition in places
        }

    def _cut_off(self, seen: Mapping[Place, tuple[int, int]]) -> dict[Place, int | None]:
        found = {place: self._end_of(place, epoch) for place, (_, epoch) in seen.items()}
        return {place: end for place, end in found.items() if end is None or end < seen[place][0]}

    def _end_of(self, place: Place, epoch: int) -> int | None:
        """Where an epoch, or the last one before it that the log knows, ends; as a broker says it."""
        later = [start for other, start in self._led(place) if other > epoch]
        if later:
            return later[0]
        return len(self.partitions[place[0]][place[1]]) if epoch == self._led(place)[-1][0] else None

    def _led(self, place: Place) -> list[tuple[int, int]]:
        return self.led.get(place, [(0, 0)])

    def ends(self) -> Offsets:
        return {
            topic: {number: len(records) for number, records in partitions.items()}
            for topic, partitions in self.partitions.items()
        }


@dataclass
class PlainJob:
    """A driver over local folders.

    Attributes:
        tasks: into how many tasks the partitions of a batch are shared out.
        arrow_rows: records that are read at a time.
        one_machine: whether runs wait in files for their merge, instead of going through Spark.
        dead_letters: takes the records that are set aside.
        schemas: the schema registry; None where no record is Avro.
        copies: whether the zone gets copies of the ledger's state.
        read: the topics of each range that was read beside the stream.
        worker: what every task has.
    """

    folder: Path
    job: JobOptions
    log: Log
    tasks: int = 2
    arrow_rows: int = 3
    one_machine: bool = True
    dead_letters: DeadLetterProducer | None = None
    schemas: SchemaLookup | None = None
    copies: bool = False
    read: list[set[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.zone = LocalStorage(self.folder / "zone")
        self.state = LocalStorage(self.folder / "state")
        self.ledger = Ledger.open(self.state, now_ms=lambda: 0, zone=self.zone if self.copies else None)
        self.ledger.claim("run", "host")
        self.worker = Worker(self.job, Decoder(self.job.decode, self.schemas), self.zone, self.dead_letters)
        self._publisher = ZonePublisher(Publisher(self.zone, threads=1), self.job)

    def run_batch(self, start: Offsets, end: Offsets) -> BatchReport:
        """One micro-batch over this range."""
        planned = Planned(start, end)
        ids = {topic: self.log.topic_id(topic) for topic in end}
        leaders = self.log.leaders
        return run_batch(planned, lambda: ids, leaders, self.job, self.ledger, self._publisher, self._action())

    def receive(self, *records: Record) -> BatchReport:
        """The records arrive, and land as one micro-batch."""
        start = self.log.ends()
        for record in records:
            self.log.append(record)
        return self.run_batch(start, self.log.ends())

    def opened(self) -> OpenZone:
        """The zone that this driver has claimed, for its chores."""
        return OpenZone(self.zone, self.state, self.ledger, self._publisher)

    def outside(self) -> Outside:
        """Kafka, for its chores."""

        def read(ranges: Ranges) -> DecodeAndLand:
            self.read.append(set(ranges))
            return self._action()

        return Outside(
            topics=self.log.describe, subscribed=self.log.read, wanted=self.log.subscribed, names=(), read=read
        )

    def _action(self) -> DecodeAndLand:
        action = local_action(self.log, self.worker, tasks=self.tasks, arrow_rows=self.arrow_rows)
        return with_run_files(action) if self.one_machine else action

    def rows(self, table: str) -> list[dict[str, Any]]:
        """What the mirrored table contains."""
        replayed = replay(open_zone(self.zone).table(table))
        assert replayed.stopped is None
        content: list[dict[str, Any]] = replayed.table.to_pylist()
        return content


def local_action(log: Log, worker: Worker, *, tasks: int = 2, arrow_rows: int = 3) -> DecodeAndLand:
    """The one Spark action of a micro-batch, without Spark: both stages in this process, on the plan's records.

    Args:
        tasks, arrow_rows: see :class:`PlainJob`.
    """

    def action(plan: BatchPlan) -> Results:
        rows = [
            row
            for share in share_out(plan, tasks)
            for row in decode_and_land(read_log(log, share, arrow_rows), plan, worker)
        ]
        if plan.merges:
            shuffled = pa.Table.from_batches(together(rows), RESULT_SCHEMA).sort_by(
                [("table", "ascending"), ("sort_key", "ascending")]
            )
            rows = list(merge_and_land(shuffled.to_batches(arrow_rows), plan, worker))
        return read_results((row.kind, row.payload) for row in rows)

    return action


def read_log(log: Log, ranges: Iterable[PartitionRange], together: int) -> Iterator[RawRecords]:
    """The records of ranges, as a worker reads them of Kafka.

    Args:
        together: records that come at a time at most.
    """
    for each in ranges:
        records = log.partitions[each.topic][each.partition]
        for first in range(each.start, each.end, together):
            offsets = range(first, min(first + together, each.end))
            for run in partition_runs([raw_batch((records[offset], offset) for offset in offsets)]):
                sent = [log.sent_ms.get((each.topic, each.partition, offset), SENT_MS) for offset in offsets]
                yield replace(run, timestamps=np.array(sent, np.int64))
