"""A job without Spark and Kafka that sets records aside, and lands them once their cause is mended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from connectors.debezium.events import BadRecord, RawRecords
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.kafka.dead_letters import DeadLetterProducer
from connectors.kafka.letters import DeadLetter
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import TableState
from connectors.landing_zone.requests import Action, Answer, Part, new_request
from streaming.dead_letters.coordinates import Coordinates
from streaming.demo.encoding import Encoding
from streaming.demo.workload import Record
from streaming.driver.batch import BatchReport
from streaming.driver.checkpoint import Offsets
from streaming.lifecycle.dead_letter_replay import LETTERS, DeadLetterReplay
from streaming.lifecycle.letter_topics import LetterTopics
from streaming.plan import TableOptions
from tests.support.partition_runs import partition_runs
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table, declared, raw_batch
from tests.unit.streaming.landed_shop import LETTERS as LETTERS_TOPIC
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, job, row

NAME = "public.orders"
BAD = replace(ORDERS, encoding=Encoding.JSON)
"""Its records tell no types: they decode once the settings declare the columns."""


class Letters(DeadLetterProducer):
    """Dead letters that stay in memory."""

    def __init__(self, sent: list[DeadLetter], log: Log) -> None:
        self._sent = sent
        self._log = log

    def send(self, bad: BadRecord) -> None:
        record = self._log.partitions[bad.topic][bad.partition][bad.offset]
        whole = replace(bad, key=record.key, value=record.value, headers=record.headers)
        self._sent.append(DeadLetter(whole, LETTERS_TOPIC.bridge, 0, len(self._sent), 1_000))

    def flush(self) -> None:
        pass


@dataclass
class Shop:
    """One bridge over a log; ``mended``: the columns are declared by now.

    Attributes:
        options: of all tables; decoding: of all tables, once they are declared.
        copies: whether the zone gets copies of the ledger's state.
        read: how many records the replays have read, by topic and partition.
    """

    folder: Path
    options: dict[str, Any] = field(default_factory=dict)
    decoding: dict[str, Any] = field(default_factory=dict)
    job_options: dict[str, Any] = field(default_factory=dict)
    mended: bool = False
    copies: bool = False
    log: Log = field(default_factory=Log)
    letters: list[DeadLetter] = field(default_factory=list)
    reports: list[BatchReport] = field(default_factory=list)
    read: dict[tuple[str, int], int] = field(default_factory=dict)
    moment_offsets: dict[tuple[str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self, **options: Any) -> None:
        """A new driver over the same zone."""
        self.options |= options
        decoding: TableDecoding = replace(declared() if self.mended else TableDecoding(), **self.decoding)
        chosen = job(
            self.folder,
            decode=DecodeOptions(rules=TableRules(tables=(("*", decoding),))),
            defaults=TableOptions(**self.options),
            **self.job_options,
        )
        self.plain = PlainJob(
            self.folder, chosen, self.log, dead_letters=Letters(self.letters, self.log), copies=self.copies
        )

    def mend(self, **options: Any) -> None:
        """Declare the columns."""
        self.mended = True
        self.restart(**options)

    @property
    def table(self) -> TableState:
        return self.plain.ledger.state.tables[NAME]

    def receive(self, *records: Record) -> BatchReport:
        """Land the records as one micro-batch."""
        for record in records:
            self.log.append(record)
        start: Offsets = {topic: dict(each.partitions) for topic, each in self.plain.ledger.state.topics.items()}
        return self.plain.run_batch(start, self.log.ends())

    def replay(self, *offsets: int | Coordinates | str) -> Answer:
        """Ask for letters; a number is an offset of the orders' first partition."""
        named = [str(Coordinates(TOPIC, 0, each) if isinstance(each, int) else each) for each in offsets]
        request = new_request(Action.REPLAY_DEAD_LETTER, now_ms=1, by="ann@home", arguments={LETTERS: " ".join(named)})
        return self.handler()(request)

    def handler(self) -> DeadLetterReplay:
        return DeadLetterReplay(self.plain.opened(), self.plain.job, self.kafka(), self.reports.append)

    def part(self, offset: int | Coordinates) -> Part:
        """What becomes of one letter."""
        [part] = self.replay(offset).parts.values()
        return part

    def kafka(self) -> LetterTopics:
        return LetterTopics(
            letters=lambda: list(self.letters),
            topics=self.log.describe,
            since=self._since,
            records=self._records,
            schemas=lambda: None,
        )

    def rows(self) -> list[dict[str, Any]]:
        return sorted(self.plain.rows(NAME), key=lambda row: int(row["id"]))

    def _since(self, topic: str, description: TopicDescription, moment: int) -> Mapping[int, int]:
        return {number: self.moment_offsets.get((topic, number), 0) for number in description.partitions}

    def _records(self, topic: str, partition: int, start: int, end: int) -> Iterator[RawRecords]:
        records = self.log.partitions[topic][partition][start:end]
        self.read[topic, partition] = self.read.get((topic, partition), 0) + len(records)
        yield from partition_runs([raw_batch((record, start + place) for place, record in enumerate(records))])


def keyless(table: Table) -> Table:
    return replace(table, key=())


def one_left_out(folder: Path) -> Shop:
    """A row, one whose creation was set aside at offset 1, and another row; the cause is mended."""
    shop = Shop(folder)
    shop.receive(ORDERS.create(row(1), 10), BAD.create(row(2), 11), ORDERS.create(row(3), 12))
    assert [letter.record.reason for letter in shop.letters] == ["no column types"]
    shop.mend()
    return shop


def at(partition: int, offset: int) -> Coordinates:
    return Coordinates(TOPIC, partition, offset)


def letter_of(shop: Shop, like: DeadLetter, offset: int) -> DeadLetter:
    """A letter of a record that landed."""
    record = shop.log.partitions[TOPIC][0][offset]
    bad = replace(like.record, offset=offset, key=record.key, value=record.value, headers=record.headers)
    return replace(like, record=bad, offset=like.offset + 1)
