"""A job without Spark and Kafka whose tables a test lets stand still and go on again."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from connectors.errors import BridgeError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Rebuild, TableState, TableStatus
from connectors.landing_zone.requests import Action, Answer, Request, new_request
from streaming.demo.workload import Record
from streaming.driver.batch import BatchReport
from streaming.driver.checkpoint import Offsets
from streaming.driver.query import Retries
from streaming.lifecycle.catching_up import CatchUp
from streaming.lifecycle.chores import Chores, Handler, Pace
from streaming.lifecycle.pausing import Pause, Resume
from streaming.plan import TableOptions
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, job, row

NAME = "public.orders"
OTHER = Table("shop.public.users", "users")


@dataclass
class Shop:
    """One bridge; Kafka's log may be shared with another one.

    Attributes:
        chunk: offsets of a chunk of a catch-up.
        policies: of all tables, as :class:`~streaming.plan.TableOptions` names them.
    """

    folder: Path
    log: Log = field(default_factory=Log)
    chunk: int = 1_000
    policies: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    reports: list[BatchReport] = field(default_factory=list)
    failures: list[BridgeError] = field(default_factory=list)
    clock: float = 0.0

    def __post_init__(self) -> None:
        self.restart()

    def restart(self, **policies: Any) -> None:
        """Begin a new driver over the same zone, with some policies changed."""
        self.policies |= policies
        self.plain = PlainJob(
            self.folder, job(self.folder, defaults=TableOptions(**self.policies), **self.options), self.log
        )
        opened, outside = self.plain.opened(), self.plain.outside()
        self.resuming = Resume(opened, self.plain.job, outside, sleep=lambda seconds: None)
        self.catch_up = CatchUp(opened, self.plain.job, outside, self.chunk, self.reports.append)
        self.chores = Chores(
            opened,
            {Action.PAUSE: Pause(opened.ledger), Action.RESUME: self.resuming},
            (self.catch_up,),
            Pace(interval=0.0, retries=Retries(2, 1.0, 60.0), gives_up=True),
            on_failure=lambda error, pause: self.failures.append(error),
            clock=lambda: self.clock,
            now_ms=lambda: 5,
        )

    @property
    def table(self) -> TableState:
        return self.plain.ledger.state.tables[NAME]

    def status(self) -> TableStatus:
        return self.table.status

    def send(self, *records: Record) -> None:
        for record in records:
            self.log.append(record)

    def land(self) -> BatchReport:
        """A micro-batch up to the end of Kafka's log."""
        start: Offsets = {topic: dict(each.partitions) for topic, each in self.plain.ledger.state.topics.items()}
        return self.plain.run_batch(start, self.log.ends())

    def receive(self, *records: Record) -> BatchReport:
        self.send(*records)
        return self.land()

    def pause(self) -> Answer:
        return Pause(self.plain.ledger)(self.request(Action.PAUSE))

    def resume(self) -> Answer:
        return self.resuming(self.request(Action.RESUME))

    def chores_of_request(self, action: Action, table: str = NAME) -> Answer:
        """What the driver answers to a request, at once."""
        handlers: dict[Action, Handler] = {Action.PAUSE: Pause(self.plain.ledger), Action.RESUME: self.resuming}
        return handlers[action](self.request(action, table))

    def request(self, action: Action, table: str = NAME) -> Request:
        return new_request(action, now_ms=1, by="ann@home", table=table)

    def catch_up_wholly(self) -> int:
        """Land chunk after chunk; returns how many steps that took."""
        steps = 0
        while self.catch_up(NAME):
            steps += 1
        return steps

    def files(self) -> dict[str, bytes]:
        zone = self.folder / "zone"
        return {
            str(path.relative_to(zone)): path.read_bytes()
            for path in sorted(zone.rglob("*"))
            if path.is_file() and path.relative_to(zone).parts[0][0] != "_"
        }

    def rows(self) -> list[dict[str, Any]]:
        return sorted(self.plain.rows(NAME), key=lambda row: int(row["id"]))


def loaded(folder: Path) -> Shop:
    """A shop that streams: two rows of the orders and one of the users have landed."""
    shop = Shop(folder)
    shop.receive(ORDERS.read(row(1), 10), ORDERS.create(row(2), 11), OTHER.read(row(1), 10))
    return shop


def paused_in(folder: Path, rebuild: Rebuild) -> Shop:
    """A shop whose table a person has paused at this point of its rebuild."""
    shop = loaded(folder)
    shop.pause()
    shop.plain.ledger.commit(Draft(tables={NAME: replace(shop.table, rebuild=rebuild)}))
    return shop
