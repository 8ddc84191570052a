"""A bridge without Spark and Kafka: folders and a log of records that outlive its drivers, and these drivers.

A :class:`Driver` starts as the job does: it claims the zone, rolls forward, looks at Kafka, and lands what is there in
micro-batches, by the product's own functions and on real folders. It dies where a test lets it; another one goes on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import BadRecord
from connectors.debezium.wire import SchemaLookup
from connectors.kafka.dead_letters import DeadLetterProducer
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.partner import partner_events
from connectors.landing_zone.replay import ReplayedTable, open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.protocol import Storage
from streaming.demo.workload import Record
from streaming.driver import startup
from streaming.driver.batch import BatchReport, DecodeAndLand, run_batch
from streaming.driver.checkpoint import Offsets, Planned
from streaming.driver.opening import claim_and_compare
from streaming.driver.startup import OpenZone
from streaming.lifecycle.catching_up import CatchUp
from streaming.lifecycle.outside import Outside, Ranges
from streaming.lifecycle.pausing import Resume
from streaming.plan import JobOptions, TableOptions
from streaming.task.worker import Worker
from tests.support.plain_job import Log, local_action
from tests.support.records import Table
from tests.unit.streaming.landed_shop import job

ORDERS, LINES = Table("shop.public.orders"), Table("shop.public.lines", "lines")
TABLE, OTHER = "public.orders", "public.lines"
FOLDER = "public.schema/orders"

Around = Callable[[DecodeAndLand], DecodeAndLand]
"""What a test does around the one Spark action of a micro-batch."""


class Letters(DeadLetterProducer):
    """The dead-letter topic, in memory."""

    def __init__(self) -> None:
        self.sent: list[BadRecord] = []

    def send(self, bad: BadRecord) -> None:
        self.sent.append(bad)

    def flush(self) -> None:
        """What was sent has arrived."""


@dataclass
class Place:
    """What outlives every driver.

    Attributes:
        zone, state: of all drivers that are given no others.
        policies: the defaults of all tables; options: of the job.
        schemas: the schema registry; None where no record is Avro.
    """

    folder: Path
    policies: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    schemas: SchemaLookup | None = None
    log: Log = field(default_factory=Log)
    letters: Letters = field(default_factory=Letters)
    starts: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.zone: Storage = LocalStorage(self.folder / "zone")
        self.state: Storage = LocalStorage(self.folder / "state")

    @property
    def job(self) -> JobOptions:
        return job(self.folder, **{"defaults": TableOptions(**self.policies), **self.options})

    def again(self, folder: Path) -> Place:
        """Another place that the same records come to, with nothing landed yet."""
        return replace(self, folder=folder, letters=Letters())

    def send(self, *records: Record) -> None:
        for record in records:
            self.log.append(record)

    def start(self) -> Driver:
        """A driver that has started."""
        return Driver(self)

    def land(self, *records: Record) -> BatchReport:
        """The records arrive, and a new driver lands what there is."""
        self.send(*records)
        return self.start().land()

    @property
    def ledger(self) -> LedgerState:
        return Ledger.open(self.state, now_ms=lambda: 0, sleep=no_wait).state

    def rows(self, name: str = TABLE, by: str | None = "id") -> list[dict[str, Any]]:
        """What the mirrored table contains, in the order of a column or, for None, as landed."""
        content: list[dict[str, Any]] = self.replayed(name).table.to_pylist()
        return content if by is None else sorted(content, key=lambda row: row[by])

    def replayed(self, name: str = TABLE) -> ReplayedTable:
        replayed = replay(open_zone(self.zone).table(name))
        assert replayed.stopped is None
        return replayed

    def files(self) -> dict[str, bytes]:
        """Everything that the mirrored database reads, by path: the tables' files and their metadata."""
        root = self.folder / "zone"
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file() and path.relative_to(root).parts[0][0] != "_"
        }

    def staged(self) -> list[str]:
        """What is staged, or was left behind while it was written, wherever it lies."""
        places = (self.folder / "zone" / "_scratchPad", self.folder / "state" / "_scratchPad")
        return [path.name for place in places for path in place.rglob("*") if path.is_file()]

    def parked(self, name: str = TABLE) -> str | None:
        """Why the table stands still; None if it does not."""
        parked = self.ledger.tables[name].parked
        return None if parked is None else parked.reason


class Driver:
    """One process of the job, from its start on."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.opened, _ = claim_and_compare(
            lambda: self._describe(sorted(place.log.partitions)), self._open, place.log.leaders.cut_off
        )
        self.ledger = self.opened.ledger
        self._worker = Worker(place.job, Decoder(place.job.decode, place.schemas), place.zone, place.letters)

    def land(
        self, *, since: Offsets | None = None, until: Offsets | None = None, around: Around = lambda action: action
    ) -> BatchReport:
        """One micro-batch, as Spark plans it: from where the ledger ends to the ends of the topics by default."""
        recorded = {topic: dict(each.partitions) for topic, each in self.ledger.state.topics.items()}
        planned = Planned(recorded if since is None else since, until or self._place.log.ends())
        log = self._place.log

        def ids() -> dict[str, str]:
            return {topic: log.topic_id(topic) for topic in planned.end if topic in log.partitions}

        action = around(local_action(self._place.log, self._worker, arrow_rows=100))
        return run_batch(planned, ids, log.leaders, self._place.job, self.ledger, self.opened.publisher, action)

    @property
    def resume(self) -> Resume:
        """Carries ``resume`` out."""
        return Resume(self.opened, self._place.job, self._outside(), sleep=no_wait)

    def catch_up(self) -> None:
        """Bring the tables that were let go on to where the others are."""
        chore = CatchUp(self.opened, self._place.job, self._outside(), 1_000, lambda report: None)
        for name in sorted(self.ledger.state.tables):
            while chore(name):
                pass

    def _open(self) -> OpenZone:
        place = self._place
        return startup.open_zone(
            place.zone,
            place.state,
            place.job,
            source="shop",
            writer=f"driver-{next(place.starts)}",
            host="host",
            partner=partner_events("PostgreSQL"),
            threads=1,
            sleep=no_wait,
        )

    def _outside(self) -> Outside:
        def read(ranges: Ranges) -> DecodeAndLand:
            return local_action(self._place.log, self._worker)

        log = self._place.log
        return Outside(topics=self._describe, subscribed=log.read, wanted=log.subscribed, names=(), read=read)

    def _describe(self, topics: Sequence[str]) -> Mapping[str, Any]:
        return self._place.log.describe(topics)


def row(key: int, name: str | None = "new", **more: Any) -> dict[str, Any]:
    return {"id": key, "name": name, **more}


def no_wait(seconds: float) -> None:
    """Outages pass at once."""


def waiting(place: Place) -> Place:
    """The place with two tables that have landed, and records of both that wait."""
    place.land(ORDERS.create(row(1, "one"), 1), ORDERS.create(row(2, "two"), 2), LINES.create(row(1), 3))
    place.send(ORDERS.update(row(1, "uno"), 4), ORDERS.delete(row(2), 5), LINES.create(row(2), 6))
    return place


LANDED, LANDED_OTHER = [row(1, "uno")], [row(1), row(2)]
"""What the two tables hold once all of it has landed."""
