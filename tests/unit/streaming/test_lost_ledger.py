"""A lost ledger is made again from the zone: whatever was lost when, the tables end as if nothing had happened."""

from __future__ import annotations

import io
import itertools
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from rich.console import Console

from connectors.landing_zone.errors import InvalidZoneError, LedgerWholeError
from connectors.landing_zone.ledger.apply import Stamp
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import SNAPSHOT_COPY
from connectors.landing_zone.ledger.lost import RebuiltLedger, rebuilt_ledger
from connectors.landing_zone.ledger.lost_table import Proof
from connectors.landing_zone.ledger.owner import ensure_owner
from connectors.landing_zone.ledger.remains import newest_copy, put_in_place
from connectors.landing_zone.ledger.state import LedgerState, TableStatus
from connectors.landing_zone.ledger.version_file import encode, read_version
from connectors.landing_zone.recovery import inspect_tables, recover
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.requests import Action, Request
from connectors.landing_zone.verify import verify_zone
from streaming.demo.workload import Record
from streaming.driver.publishing import settle, table_metadata, waiting_files
from streaming.lifecycle.pausing import Resume
from streaming.plan import TableOptions
from streaming.policies import FileFormat
from streaming.settings import BridgeSettings, settings_of
from streaming.zones.rebuilding_ledger import needs_person, rebuild_ledger, show_rebuild
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table
from tests.unit.streaming.landed_shop import job, row
from tests.unit.streaming.settings_builder import settings_text

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


@pytest.mark.parametrize("seed", range(24))
def test_whatever_is_lost_whenever_every_event_lands_exactly_once(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    world = World(tmp_path / "a", chance)
    for batch in range(chance.randrange(1, 7)):
        world.loading = batch <= seed % 3 - 1
        world.arrive(chance.randrange(1, 12))
        world.land()
    for _ in range(chance.randrange(1, 3)):
        world.take_back(0.4)
        world.lose()
        world.rebuild()
        assert {table.status for table in world.job.ledger.state.tables.values()} <= {
            TableStatus.LOADING,
            TableStatus.STREAMING,
        }
        assert inspect_tables(world.job.zone, world.job.ledger.state.tables) == {}
        world.arrive(chance.randrange(0, 10))
        world.land()

    truth = undisturbed(world, tmp_path / "b")
    assert world.content() == truth.content()
    assert world.landed_rows() == truth.landed_rows()
    zone = open_zone(world.job.zone)
    assert [finding for finding in verify_zone(zone) if finding.severity.value == "problem"] == []


def some(tmp_path: Path, batches: int = 3) -> World:
    world = World(tmp_path, random.Random(1))
    for _ in range(batches):
        world.arrive(20)
        world.land()
    return world


def proofs(made: RebuiltLedger) -> dict[str, Proof]:
    return {one.name: one.proof for one in made.tables}


class TestGround:
    def test_reading_goes_on_where_the_copy_ended_and_tables_where_their_files_do(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        at_copy = world.copied()
        world.log.append(ORDERS.create(row(99), 1_000))
        world.land()
        assert world.copied() == at_copy, "nothing has changed that no file says"
        world.lose()
        made = world.rebuild()
        assert made.copied == at_copy.version
        assert made.state.topics == at_copy.topics
        assert set(proofs(made).values()) == {Proof.FOOTER}
        end = len(world.log.partitions["shop.orders"][0])
        assert made.state.tables["public.orders"].landed_to == {"shop.orders": {0: end}}
        assert made.state.version == made.state.commits + 1_000_000
        assert world.job.ledger.state.ledger_id == at_copy.ledger_id
        assert world.job.ledger.state.epoch == at_copy.epoch + 2, "the rebuild's claim, and that of the next start"

    def test_a_table_whose_first_file_got_no_number_loses_no_row(self, tmp_path: Path) -> None:
        world = World(tmp_path, random.Random(1))
        world.log.append(CARTS.create(row(1), 1))
        world.land()
        world.log.append(CARTS.create(row(2), 2))
        world.log.append(NOTES.create(row(3), 3))
        world.land()
        assert world.take_back(1.0) == 2
        world.lose()
        world.rebuild()
        assert [one["id"] for one in world.job.rows("public.notes")] == [3]
        assert [one["id"] for one in world.job.rows("public.carts")] == [1, 2]

    def test_a_table_that_stood_still_before_its_first_file_stands_still(self, tmp_path: Path) -> None:
        world = World(tmp_path, random.Random(1))
        world.log.append(CARTS.create(row(1), 1))
        world.log.append(NOTES.truncate(2))
        world.land()
        world.log.append(CARTS.create(row(2), 3))
        world.log.append(NOTES.create(row(3), 4))
        world.land()
        before = world.job.ledger.state.tables["public.notes"].parked
        world.lose()
        world.rebuild()
        after = world.job.ledger.state.tables["public.notes"].parked
        assert before is not None
        assert after is not None
        assert (after.reason, after.resume) == (before.reason, before.resume)

    def test_what_a_truncate_removed_stays_removed(self, tmp_path: Path) -> None:
        world = World(tmp_path, random.Random(1))
        world.log.append(LINES.create(row(2), 10))
        world.land()
        table = world.job.ledger.state.tables["public.lines"]
        truncated = replace(table, truncated=f"{9:016x}{9:016x}{1_700_000_000_009:016x}")
        world.job.ledger.commit(Draft(tables={"public.lines": truncated}))
        world.log.append(LINES.create(row(4), 20))
        world.land()
        world.lose()
        assert proofs(world.rebuild())["public.lines"] is Proof.FOOTER
        world.log.append(LINES.at(1).read(row(5), 2))
        world.land()
        assert [one["id"] for one in world.job.rows("public.lines")] == [2, 4]

    def test_the_copy_follows_what_no_file_says_and_otherwise_once_an_hour(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        clock = itertools.count(0, 1_000_000)
        world.job.ledger._now_ms = lambda: next(clock)
        before, head, copies = world.copied().version, world.job.ledger.state.version, []
        for lsn in range(2_000, 2_009):
            world.log.append(ORDERS.update(row(1), lsn))
            world.land()
            copies.append(world.copied().version)
        assert copies == [before] * 4 + [head + 5] * 4 + [head + 9], "each version is 1,000 s later"
        table = world.job.ledger.state.tables["public.orders"]
        world.job.ledger.commit(Draft(tables={"public.orders": replace(table, doubt_ms=7)}))
        assert world.copied() == world.job.ledger.state

    def test_a_copy_of_another_ledger_is_not_taken(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        world.job.zone.put(SNAPSHOT_COPY, encode(LedgerState(ledger_id="other", version=7, epoch=1, writer="w")))
        world.lose()
        assert world.rebuild().copied is None

    def test_of_a_damaged_ledger_the_readable_versions_count_and_all_are_set_aside(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        last = world.job.ledger.state.version
        folder = tmp_path / "state" / "ledger"
        (folder / f"{last:020d}.json").write_bytes(b'{"version":')
        made = world.rebuild()
        assert made.copied == last - 1
        assert set(proofs(made).values()) == {Proof.FOOTER}
        aside = tmp_path / "state" / "ledger-set-aside" / "4711"
        kept = [path.name for path in sorted(aside.iterdir())]
        assert kept == [f"{number:020d}.json" for number in range(1, last + 1)]
        assert (aside / f"{last:020d}.json").read_bytes() == b'{"version":'
        assert min(int(path.stem) for path in folder.iterdir()) == made.state.version + 1


class TestUnproven:
    @staticmethod
    def why(made: RebuiltLedger, table: str = "public.orders") -> str:
        parked = made.state.tables[table].parked
        assert parked is not None
        assert (parked.reason, parked.remedy) == ("ledger_rebuilt", f"`cdc-bridge resync CONFIG {table}`")
        begin = "the ledger was lost and made again, and what this table has landed is not proven: "
        assert parked.message.startswith(begin)
        return parked.message.removeprefix(begin)

    def test_a_file_that_says_nothing_of_itself_stops_its_table(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        (tmp_path / "zone/public.schema/orders" / f"{9:020d}.parquet").write_bytes(b"PAR1 not really")
        world.lose()
        made = world.rebuild()
        assert self.why(made).startswith("file 9 does not say where it belongs: ")
        assert made.state.tables["public.orders"].sequence == 9
        assert proofs(made)["public.orders"] is Proof.NONE
        assert made.state.tables["public.lines"].parked is None

    def test_a_file_of_another_table_stops_its_table(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        folder = tmp_path / "zone/public.schema"
        shutil.copy(folder / "lines" / f"{3:020d}.parquet", folder / "orders" / f"{4:020d}.parquet")
        world.lose()
        assert self.why(world.rebuild()) == "file 4 says that it is file 3 of public.lines"

    def test_without_a_copy_every_table_stops(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        (tmp_path / "zone" / SNAPSHOT_COPY).unlink()
        world.lose()
        made = world.rebuild()
        assert made.copied is None
        assert made.state.topics == {}
        assert {self.why(made, name) for name in made.state.tables} == {"the ledger's copy does not know it"}
        assert made.state.tables["public.orders"].sequence == 3

    def test_without_a_copy_a_table_that_no_file_tells_of_is_left_out(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        (tmp_path / "zone" / SNAPSHOT_COPY).unlink()
        for path in (tmp_path / "zone/public.schema/orders").glob("0*"):
            path.write_bytes(b"id,name\n")
        world.lose()
        made = world.rebuild()
        assert "public.orders" not in made.state.tables
        [left_out] = [one for one in made.tables if one.state is None]
        assert (left_out.name, left_out.last) == ("public.orders", 3)

    def test_a_table_that_began_anew_or_was_being_filled_since_the_copy_stops(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        state = world.copied()
        orders, lines = state.tables["public.orders"], state.tables["public.lines"]
        older = replace(orders, generation=0)
        filling = replace(lines, status=TableStatus.FILLING, sequence=1)
        copy = replace(state, tables={**state.tables, "public.orders": older, "public.lines": filling})
        world.lose()
        made = rebuilt_ledger(world.job.zone, copy, work=tmp_path)
        assert self.why(made) == "it began anew after the ledger's copy"
        assert self.why(made, "public.lines") == "it was filling at the ledger's copy, and has landed more since"

    def test_a_table_behind_the_copy_s_offsets_or_of_an_unknown_topic_stops(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        state = world.copied()
        ahead = replace(state.topics["shop.orders"], partitions={0: 10_000})
        other = replace(state.topics["shop.lines"], id="another")
        tables = {name: replace(table, sequence=1) for name, table in state.tables.items()}
        copy = replace(state, tables=tables, topics={**state.topics, "shop.orders": ahead, "shop.lines": other})
        world.lose()
        made = rebuilt_ledger(world.job.zone, copy, work=tmp_path)
        assert self.why(made) == "it was catching up when the ledger was lost"
        known = "the ledger's copy does not know shop.lines as its last file does"
        assert self.why(made, "public.lines") == known

    def test_a_text_table_goes_on_only_from_the_very_file_that_the_copy_knows(self, tmp_path: Path) -> None:
        text = TableOptions(file_format=FileFormat.DELIMITED)
        world = World(tmp_path, random.Random(1), options={"defaults": text})
        world.log.append(ORDERS.create(row(1), 1))
        world.land()
        [path] = (tmp_path / "zone/public.schema/orders").glob(f"{1:020d}.*")
        world.lose()
        assert proofs(world.rebuild()) == {"public.orders": Proof.COPY}
        path.write_bytes(path.read_bytes() + b"\n")
        world.lose()
        assert self.why(world.rebuild()).startswith("file 1 does not say where it belongs: ")

    def test_it_cannot_be_resumed(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        (tmp_path / "zone" / SNAPSHOT_COPY).unlink()
        world.lose()
        world.rebuild()
        resume = Resume(world.job.opened(), world.job.job, world.job.outside())
        answer = resume(Request("1", 0, "me", Action.RESUME, "public.orders"))
        assert not answer.accepted
        assert answer.message.startswith("nobody knows what public.orders has landed: the ledger was lost")
        assert answer.remedy == "`cdc-bridge resync CONFIG public.orders`"


class TestCommand:
    @pytest.fixture
    def settings(self, tmp_path: Path) -> BridgeSettings:
        state = {"url": f"file://{tmp_path}/state"}
        return settings_of(settings_text(landing_zone__url=f"file://{tmp_path}/zone", state=state), "bridge.yaml")

    def test_what_it_would_be_and_what_it_is(self, tmp_path: Path, settings: BridgeSettings) -> None:
        world = some(tmp_path)
        version = world.copied().version
        (tmp_path / "zone/public.schema/orders" / f"{9:020d}.parquet").write_bytes(b"")
        world.lose()

        looked = rebuild_ledger(settings, look_only=True)
        assert looked.written is None
        assert not (tmp_path / "state").exists()
        done = rebuild_ledger(settings, look_only=False, now_ms=lambda: 4_711)

        assert done.written == version + 1_000_001
        values = done.values()
        assert (values["written_version"], values["copied_version"]) == (version + 1_000_001, version)
        [orders] = [one for one in done.rebuilt.tables if one.name == "public.orders"]
        assert needs_person(orders)
        console = Console(file=io.StringIO(), width=300)
        show_rebuild(done, console)
        said = console.file.getvalue()
        assert f"4 tables, 1 of them need a person; from the copy of version {version}; the ledger begins again" in said
        [line] = [line for line in said.splitlines() if line.startswith("public.orders")]
        assert line.split()[:5] == ["public.orders", "9", "-", "stands", "still"]

    def test_a_whole_ledger_is_left_alone(self, tmp_path: Path, settings: BridgeSettings) -> None:
        world = some(tmp_path)
        with pytest.raises(LedgerWholeError) as raised:
            rebuild_ledger(settings, look_only=False)
        version = world.job.ledger.state.version
        assert raised.value.message == f"the ledger is not lost: it is at version {version}, last written by run"
        assert raised.value.remedy == "nothing was changed; `cdc-bridge status CONFIG` shows why a table stands still"

    def test_two_people_who_do_it_at_the_same_time(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        world.lose()
        made = world.rebuild()
        shutil.rmtree(tmp_path / "state/ledger")
        put_in_place(world.job.state, made.state, STAMP)
        with pytest.raises(LedgerWholeError, match="somebody else has made it again"):
            put_in_place(world.job.state, made.state, Stamp("other", "host", 1, 5_000))

    def test_a_zone_that_no_ledger_has_owned(self, tmp_path: Path, settings: BridgeSettings) -> None:
        with pytest.raises(InvalidZoneError, match="no ledger has ever owned this landing zone"):
            rebuild_ledger(settings, look_only=False)
