"""A bridge over two tables whose source's catalog a test answers for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import (
    Dropped,
    RebuildKind,
    Relation,
    TableState,
    TableStatus,
)
from connectors.source_database.relations import LogEnd
from streaming.driver.batch import BatchReport
from streaming.lifecycle.catalog_look import Finding, Gone, Look, Mirrored, Missing
from streaming.lifecycle.catalog_watch import CatalogWatch, mirrored_tables
from streaming.plan import JobOptions, TableOptions
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, job, row

NAME, USERS = "public.orders", "public.users"
OTHER = Table("shop.public.users", "users")
FIRST = Relation("77/5", 11)
END = LogEnd(100, ORDERS.base_ms + 100)
DROPPED = Dropped(0, f"{99:016x}{99:016x}", 1, END.at_ms, by_lsn=True)
LATER = LogEnd(200, ORDERS.base_ms + 200)
AGAIN = Dropped(0, f"{199:016x}{199:016x}", 2, LATER.at_ms, by_lsn=True)
THIRD = Relation("77/5", 13)

Answer = Look | Exception


@dataclass
class Source:
    """A source whose looks end when a test lets them, with what it says."""

    answers: list[Answer] = field(default_factory=list)
    asked: list[tuple[Mirrored, ...]] = field(default_factory=list)
    missing: list[Mapping[str, Missing]] = field(default_factory=list)
    waiting: list[Callable[[], None]] = field(default_factory=list)

    def __call__(self, tables: Collection[Mirrored], missing: Mapping[str, Missing]) -> Look:
        self.asked.append(tuple(tables))
        self.missing.append(missing)
        answer = self.answers.pop(0) if self.answers else Look()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> None:
        """End the look that is under way."""
        self.waiting.pop()()


class Shop:
    """A bridge over two tables, whose catalog a test answers for."""

    def __init__(self, folder: Path, **policies: Any) -> None:
        self.folder = folder
        options: JobOptions = job(folder, defaults=TableOptions(**policies))
        self.plain = PlainJob(folder, options, Log())
        self.source = Source()
        self.reports: list[BatchReport] = []
        self.clock = 1_000.0
        self.watch = self.again()
        self.plain.receive(ORDERS.read(row(1), 10), OTHER.read(row(1), 10))
        self.set(relation=FIRST)

    def again(self) -> CatalogWatch:
        return CatalogWatch(
            self.plain.opened(),
            self.plain.job,
            self.source,
            self.reports.append,
            clock=lambda: self.clock,
            start=self.source.waiting.append,
        )

    def set(self, **changes: Any) -> None:
        self.plain.ledger.commit(Draft(tables={NAME: msgspec.structs.replace(self.state(), **changes)}))

    def commit(self, table: TableState) -> None:
        """As a rebuild does: the folder's files are gone with the generation before."""
        for path in Path(self.folder, "zone/public.schema/orders").iterdir():
            path.unlink()
        deleting = msgspec.structs.replace(self.state(), status=TableStatus.DELETING)
        self.plain.ledger.commit(Draft(tables={NAME: deleting}))
        self.plain.ledger.commit(Draft(tables={NAME: table}))

    def state(self, name: str = NAME) -> TableState:
        return self.plain.ledger.state.tables[name]

    def mirrored(self, name: str = NAME) -> Mirrored:
        [found] = [one for one in mirrored_tables(self.plain.ledger.state, self.plain.job) if one.name == name]
        return found

    def look(self, *findings: Finding) -> bool:
        """A whole look that finds this; whether something was recorded."""
        self.clock += 1_000
        self.source.answers.append(Look(findings))
        assert self.watch() is False
        self.source.end()
        return self.watch()

    def drop(self) -> bool:
        return self.look(Gone(self.mirrored(), END))

    def stop(self) -> tuple[str, RebuildKind | None] | None:
        parked = self.state().parked
        return None if parked is None else (parked.reason, parked.rebuild)

    def notes(self) -> list[str]:
        return [note for report in self.reports for note in report.notes]

    def keys(self) -> list[int]:
        return sorted(int(line["id"]) for line in self.plain.rows(NAME))
