"""A lost ledger is made again from the zone: whatever was lost when, the tables end as if nothing had happened."""

from __future__ import annotations

import io
import random
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from connectors.landing_zone.errors import InvalidZoneError, LedgerWholeError
from connectors.landing_zone.ledger.apply import Stamp
from connectors.landing_zone.ledger.log import SNAPSHOT_COPY
from connectors.landing_zone.ledger.lost import RebuiltLedger, rebuilt_ledger
from connectors.landing_zone.ledger.lost_table import Proof
from connectors.landing_zone.ledger.owner import ensure_owner
from connectors.landing_zone.ledger.remains import newest_copy, put_in_place
from connectors.landing_zone.ledger.state import LedgerState, TableStatus
from connectors.landing_zone.ledger.version_file import encode
from connectors.landing_zone.recovery import inspect_tables, recover
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.verify import verify_zone
from streaming.demo.workload import Record
from streaming.driver.publishing import settle, table_metadata, waiting_files
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

    def __post_init__(self) -> None:
        for table in TABLES:
            self.log.partitions[table.topic] = {number: [] for number in range(WHOLE.get(table.topic, 1))}
        self.job = self.started()
        ensure_owner(self.job.zone, self.job.ledger.state.ledger_id, "shop")

    def started(self) -> PlainJob:
        """A driver that has claimed the zone and rolled forward what was pending."""
        made = PlainJob(self.folder, job(self.folder), self.log)
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

    def copy(self) -> None:
        self.job.zone.put(SNAPSHOT_COPY, encode(self.job.ledger.state))

    def take_back(self, table: str) -> None:
        """Let a crash have come before the table's newest file got its number."""
        file = self.job.ledger.state.pending.get(table)
        if file is not None:
            staged = self.folder / "zone" / file.staged
            staged.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(self.folder / "zone" / file.target, staged)
            if file.sequence == 1:
                shutil.rmtree((self.folder / "zone" / file.target).parent)

    def lose(self) -> None:
        shutil.rmtree(self.folder / "state")

    def rebuild(self, earliest: Mapping[str, dict[int, int]] | None = None) -> RebuiltLedger:
        zone, state = self.job.zone, self.job.state
        (self.folder / "work").mkdir(exist_ok=True)
        copy = newest_copy(zone, state, self.job.ledger.state.ledger_id)
        made = rebuilt_ledger(zone, copy, earliest=dict(earliest or {}), work=self.folder / "work")
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
        if chance.random() < 0.3:
            world.copy()
    for table in list(world.job.ledger.state.pending):
        if chance.random() < 0.4:
            world.take_back(table)
    for _ in range(chance.randrange(1, 3)):
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
    def test_with_a_copy_reading_goes_on_where_it_ended_and_tables_where_their_files_do(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        world.copy()
        at_copy = world.job.ledger.state
        world.log.append(ORDERS.create(row(99), 1_000))
        world.land()
        world.lose()
        made = world.rebuild()
        assert made.copied == at_copy.version
        assert made.state.topics == at_copy.topics
        assert proofs(made) == {
            "public.carts": Proof.COPY,
            "public.lines": Proof.COPY,
            "public.notes": Proof.COPY,
            "public.orders": Proof.FOOTER,
        }
        assert made.state.tables["public.orders"].starts == {
            "shop.orders": {0: len(world.log.partitions["shop.orders"][0])}
        }
        assert made.state.version == at_copy.version + 1_000
        assert world.job.ledger.state.ledger_id == at_copy.ledger_id
        assert world.job.ledger.state.epoch == at_copy.epoch + 2, "the rebuild's claim, and that of the next start"

    def test_without_one_reading_begins_at_the_first_record_that_any_table_may_lack(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        ends = {table: dict(state.starts) for table, state in world.job.ledger.state.tables.items()}
        assert set(map(str, ends.values())) == {"{}"}
        world.log.append(CARTS.create(row(99), 1_000))
        world.land()
        world.lose()
        made = world.rebuild()
        both = len(world.log.partitions["shop.both"][0])
        assert made.copied is None
        assert made.state.topics["shop.both"].partitions == {0: both - 1}
        assert made.state.tables["public.carts"].starts == {"shop.both": {0: both}}
        assert made.state.tables["public.notes"].starts == {"shop.both": {0: both - 1}}
        assert "shop.lines" not in made.state.merging

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
        assert [path.name for path in sorted(aside.iterdir())] == [
            f"{number:020d}.json" for number in range(1, last + 1)
        ]
        assert (aside / f"{last:020d}.json").read_bytes() == b'{"version":'
        assert min(int(path.stem) for path in folder.iterdir()) == made.state.version + 1


class TestUnproven:
    def test_a_file_that_says_nothing_of_itself_stops_its_table(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        world.copy()
        (tmp_path / "zone/public.schema/orders" / f"{9:020d}.parquet").write_bytes(b"PAR1 not really")
        world.lose()
        made = world.rebuild()
        table = world.job.ledger.state.tables["public.orders"]
        assert (table.status, table.sequence) == (TableStatus.PARKED, 9)
        assert table.parked is not None
        assert table.parked.reason == "ledger_rebuilt"
        assert table.parked.message.startswith(
            "the ledger was lost and made again, and what this table has landed is not proven: "
            "file 9 does not say where it belongs: "
        )
        assert table.parked.remedy == "`cdc-bridge resync CONFIG public.orders`"
        assert proofs(made)["public.orders"] is Proof.NONE
        assert world.job.ledger.state.tables["public.lines"].status is not TableStatus.PARKED

    def test_a_file_of_another_table_stops_its_table(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        world.copy()
        folder = tmp_path / "zone/public.schema"
        shutil.copy(folder / "lines" / f"{3:020d}.parquet", folder / "orders" / f"{4:020d}.parquet")
        world.lose()
        world.rebuild()
        parked = world.job.ledger.state.tables["public.orders"].parked
        assert parked is not None
        assert parked.message.endswith("file 4 says that it is file 3 of public.lines")

    def test_without_a_copy_a_table_that_no_file_tells_of_is_left_out(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        for path in (tmp_path / "zone/public.schema/orders").glob("0*"):
            path.write_bytes(b"id,name\n")
        world.lose()
        made = world.rebuild()
        assert "public.orders" not in made.state.tables
        [left_out] = [one for one in made.tables if one.state is None]
        assert (left_out.name, left_out.last) == ("public.orders", 3)

    def test_records_that_kafka_has_removed_stop_the_table_alone(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        end = len(world.log.partitions["shop.orders"][0])
        world.arrive(10)
        world.lose()
        made = world.rebuild({"shop.orders": {0: end + 1}})
        table = made.state.tables["public.orders"]
        assert table.parked is not None
        assert table.parked.message.endswith("Kafka has removed records that came after its last file")
        assert table.parked.resume == {"shop.orders": {0: end}}
        assert made.state.topics["shop.orders"].partitions == {0: end + 1}
        assert {name for name, one in made.state.tables.items() if one.parked is not None} == {"public.orders"}

    def test_a_topic_that_was_made_again_stops_the_tables_that_the_earlier_one_fed(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        world.copy()
        world.log.ids["shop.both"] = "second"
        world.log.partitions["shop.both"] = {0: [CARTS.create(row(50), 2_000)]}
        state = world.job.ledger.state
        topics = {name: known for name, known in state.topics.items() if name != "shop.both"}
        world.job.ledger._state = type(state)(
            **{**{f: getattr(state, f) for f in state.__struct_fields__}, "topics": topics}
        )
        world.land()
        world.lose()
        made = world.rebuild()
        assert made.state.topics["shop.both"].id == "second"
        notes = made.state.tables["public.notes"].parked
        assert notes is not None
        assert notes.message.endswith("shop.both was made again after the ledger's copy")
        assert made.state.tables["public.carts"].parked is None


class TestCommand:
    @pytest.fixture
    def settings(self, tmp_path: Path) -> BridgeSettings:
        state = {"url": f"file://{tmp_path}/state"}
        return settings_of(settings_text(landing_zone__url=f"file://{tmp_path}/zone", state=state), "bridge.yaml")

    def test_what_it_would_be_and_what_it_is(self, tmp_path: Path, settings: BridgeSettings) -> None:
        world = some(tmp_path)
        world.copy()
        version = world.job.ledger.state.version
        (tmp_path / "zone/public.schema/orders" / f"{9:020d}.parquet").write_bytes(b"")
        world.lose()

        looked = rebuild_ledger(settings, look_only=True, describe=dict)
        assert looked.written is None
        assert not (tmp_path / "state").exists()
        done = rebuild_ledger(settings, look_only=False, describe=dict, now_ms=lambda: 4_711)

        assert done.written == version + 1_001
        values = done.values()
        assert (values["written_version"], values["copied_version"]) == (version + 1_001, version)
        [orders] = [one for one in done.rebuilt.tables if one.name == "public.orders"]
        assert needs_person(orders)
        console = Console(file=io.StringIO(), width=300)
        show_rebuild(done, console)
        said = console.file.getvalue()
        assert f"4 tables, 1 of them need a person; from the copy of version {version}; the ledger begins again" in said
        assert "public.orders  9          -                  stands still (ledger_rebuilt): the ledger was lost" in said

    def test_a_whole_ledger_is_left_alone(self, tmp_path: Path, settings: BridgeSettings) -> None:
        world = some(tmp_path)
        with pytest.raises(LedgerWholeError) as raised:
            rebuild_ledger(settings, look_only=False, describe=dict)
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
            rebuild_ledger(settings, look_only=False, describe=dict)
