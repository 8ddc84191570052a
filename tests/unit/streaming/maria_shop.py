"""A job over a MariaDB shop's topics and its schema-change topic, without Kafka and Spark."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from connectors.debezium.options import DecodeOptions
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Parked, Rebuild, RebuildKind, TableState, TableStatus
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.workload import Record
from streaming.driver.batch import BatchReport
from streaming.lifecycle.catching_up import CatchUp
from streaming.plan import JobOptions, TableOptions
from streaming.reporting.status import TableReport, status_of
from streaming.reporting.status_view import Status, show_status
from tests.support.mariadb_events import MariaTable, ddl
from tests.support.plain_job import Log, PlainJob

ORDERS, CUSTOMERS = MariaTable(), MariaTable("customers")
TABLE = "shop.orders"
AWAY = ddl("RENAME TABLE orders TO renamed", ("ALTER", "renamed"), pos=20)


def row(key: int, name: str = "a") -> dict[str, Any]:
    return {"id": key, "name": name}


def drop_orders(pos: int) -> Record:
    return ddl("DROP TABLE `orders`", ("DROP", "orders"), pos=pos)


class Shop:
    """A job over the shop's topics, to which records are given batch by batch."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.log = Log()
        self.reports: list[BatchReport] = []
        job = JobOptions(
            fingerprint="test",
            decode=DecodeOptions(),
            zone=StorageLocation(f"file://{folder}/zone"),
            defaults=TableOptions(schema_template="{database}", **options),
        )
        self.job = PlainJob(folder, job, self.log)

    @property
    def plain(self) -> PlainJob:
        """The job, as other shops call it."""
        return self.job

    def land(self, *records: Record) -> BatchReport:
        """Land the records as one batch."""
        return self.job.receive(*records)

    def state(self, table: str = TABLE) -> TableState:
        return self.job.ledger.state.tables[table]

    def stop(self) -> tuple[str, dict[str, dict[int, int]], RebuildKind | None] | None:
        """Why the orders stand still, where they go on, and how they are to be rebuilt."""
        parked = self.state().parked
        return None if parked is None else (parked.reason, parked.resume, parked.rebuild)

    def empty_folder(self) -> None:
        """Remove what the mirrored table has."""
        for path in Path(self.job.job.zone.url.removeprefix("file://"), "shop.schema/orders").iterdir():
            path.unlink()

    def stand_still(self, status: TableStatus, offset: int, rebuild: Rebuild | None = None) -> None:
        """Let the orders pass over what comes from this offset on."""
        parked = Parked("paused", "m", "r", ORDERS.topic, 0, offset, resume={ORDERS.topic: {0: offset}})
        stopped = msgspec.structs.replace(self.state(), status=status, parked=parked, rebuild=rebuild)
        self.job.ledger.commit(Draft(tables={TABLE: stopped}))

    def catch_up(self) -> None:
        """Let the orders land what they passed over."""
        step = CatchUp(self.job.opened(), self.job.job, self.job.outside(), 1_000, lambda report: None)
        while step(TABLE):
            pass

    def keys(self, table: str = TABLE) -> list[int]:
        return sorted(line["id"] for line in self.job.rows(table))


def report(shop: Shop, table: str = TABLE) -> TableReport:
    """What ``cdc-bridge status`` says of a table."""
    return next(one for one in status_of(shop.job.ledger.state, None, 0).tables if one.name == table)


def shown(shop: Shop) -> str:
    """What ``cdc-bridge status`` prints."""
    console = Console(width=200, record=True, file=io.StringIO())
    show_status(Status(status_of(shop.job.ledger.state, None, 0), None), console)
    return console.export_text()
