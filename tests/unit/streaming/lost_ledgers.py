"""A job whose ledger is lost and made again, for tests of what comes out of it."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from connectors.landing_zone.ledger.apply import Stamp
from connectors.landing_zone.ledger.copying import SNAPSHOT_COPY
from connectors.landing_zone.ledger.lost import RebuiltLedger, rebuilt_ledger
from connectors.landing_zone.ledger.lost_table import Proof
from connectors.landing_zone.ledger.owner import ensure_owner
from connectors.landing_zone.ledger.remains import newest_copy, put_in_place
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.ledger.version_file import read_version
from connectors.landing_zone.recovery import recover
from connectors.landing_zone.replay import open_zone, replay
from streaming.demo.workload import Record
from streaming.driver.publishing import settle, table_metadata, waiting_files
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table
from tests.unit.streaming.landed_shop import job, row

ORDERS = Table("shop.orders", "orders")
LINES = Table("shop.lines", "lines")
CARTS, NOTES = Table("shop.both", "carts"), Table("shop.both", "notes")
TABLES = (ORDERS, LINES, CARTS, NOTES)
WHOLE = {"shop.lines": 2}
STAMP = Stamp("rebuild", "host", 1, 4_711)


@dataclass
class World:
    """A job whose ledger can be lost, and every record that there is."""

    folder: Path
    random: random.Random
    log: Log = field(default_factory=Log)
    lsn: int = 0
    live: dict[str, set[int]] = field(default_factory=dict)
    loading: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for table in TABLES:
            self.log.partitions[table.topic] = {number: [] for number in range(WHOLE.get(table.topic, 1))}
        self.job = self.started()
        ensure_owner(self.job.zone, self.job.ledger.state.ledger_id, "shop")

    def started(self) -> PlainJob:
        """A driver that has claimed the zone and rolled forward what was pending."""
        made = PlainJob(self.folder, job(self.folder, **self.options), self.log, copies=True)
        pending = waiting_files(made.ledger.state)
        settle(made.ledger, recover(made.zone, pending, table_metadata(pending, made.ledger.state, made.job)))
        return made

    def record(self) -> Record:
        table = self.random.choice(TABLES)
        key = self.random.randrange(8)
        placed = table.at(key % WHOLE.get(table.topic, 1))
        self.lsn += 1
        live = self.live.setdefault(table.name, set())
        if self.loading:
            live.add(key)
            return placed.read(row(key, f"n{key}"), self.lsn)
        if key not in live:
            live.add(key)
            return placed.create(row(key, f"n{self.lsn}"), self.lsn)
        if self.random.random() < 0.3:
            live.remove(key)
            return placed.delete(row(key), self.lsn)
        return placed.update(row(key, f"n{self.lsn}"), self.lsn)

    def arrive(self, count: int) -> None:
        for _ in range(count):
            self.log.append(self.record())

    def land(self) -> None:
        """One micro-batch, from where the ledger ends."""
        known = self.job.ledger.state.topics
        start = {topic: dict(found.partitions) for topic, found in known.items()}
        self.job.run_batch(start, self.log.ends())

    def take_back(self, chance: float) -> int:
        """Let a crash have come before some files of the last version got their numbers; returns how many."""
        state = self.job.ledger.state
        last = read_version(self.job.state, state.version)
        taken = [file for file in last.files.values() if self.random.random() < chance]
        for file in taken:
            staged = self.folder / "zone" / file.staged
            staged.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(self.folder / "zone" / file.target, staged)
            if file.sequence == 1:
                shutil.rmtree((self.folder / "zone" / file.target).parent)
        return len(taken)

    def copied(self) -> LedgerState:
        return msgspec.json.decode((self.folder / "zone" / SNAPSHOT_COPY).read_bytes(), type=LedgerState)

    def write_copy(self, copy: LedgerState) -> None:
        """Put another copy in the zone's."""
        (self.folder / "zone" / SNAPSHOT_COPY).write_bytes(msgspec.json.encode(copy))

    def lose(self) -> None:
        shutil.rmtree(self.folder / "state")

    def rebuild(self) -> RebuiltLedger:
        zone, state = self.job.zone, self.job.state
        (self.folder / "work").mkdir(exist_ok=True)
        copy = newest_copy(zone, state, self.job.ledger.state.ledger_id)
        made = rebuilt_ledger(zone, copy, work=self.folder / "work")
        put_in_place(state, made.state, STAMP)
        self.job = self.started()
        return made

    def content(self) -> dict[str, list[dict[str, Any]]]:
        return {name: self.job.rows(name) for name in sorted(self.job.ledger.state.tables)}

    def landed_rows(self) -> dict[str, dict[str, int]]:
        """Rows in all files of each table: a row that landed twice would count.

        Rows of a load have no marker, or that of an upsert where other rows are in their file.
        """
        markers = {table.name: replay(table).rows_per_marker for table in open_zone(self.job.zone).tables()}
        return {
            name: {**rows, "4": rows.get("4", 0) + rows.get("", 0), "": 0} for name, rows in sorted(markers.items())
        }


def undisturbed(world: World, folder: Path) -> World:
    """The same records in one go, without a loss."""
    other = World(folder, random.Random(0))
    other.log.partitions = world.log.partitions
    other.job.log = world.log
    other.log = world.log
    other.land()
    return other


def some(tmp_path: Path, batches: int = 3) -> World:
    world = World(tmp_path, random.Random(1))
    for _ in range(batches):
        world.arrive(20)
        world.land()
    return world


def proofs(made: RebuiltLedger) -> dict[str, Proof]:
    return {one.name: one.proof for one in made.tables}
