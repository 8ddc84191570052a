"""A landing zone that no ledger knows is taken over: nothing renumbered, nothing written over, no doubt passed over."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from connectors.landing_zone.errors import LedgerBehindError, LedgerWholeError
from connectors.landing_zone.layout import SCRATCH_PAD
from connectors.landing_zone.ledger.copying import SNAPSHOT_COPY
from connectors.landing_zone.ledger.lost_table import Proof
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.ledger.version_file import encode
from connectors.landing_zone.requests import Action, new_request
from connectors.landing_zone.staging import staged_path
from streaming.settings.kafka import Starting
from streaming.zones.adopting import AdoptRefusedError
from streaming.zones.rebuilding_ledger import make_ledger_again
from tests.remedies.adopted_zones import ORDERS_FOLDER, PLAIN, SCHEMA, adopt, body, foreign, forget
from tests.remedies.broken_zones import carry_out, require_health
from tests.remedies.lost_files import healthy, problems, started
from tests.remedies.site import Site
from tests.unit.landing_zone.memory_storage import Crash, Fault, MemoryStorage, Request
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, USERS, World

TWO = body([{"id": 1, "name": "one"}, {"id": 2, "name": "two"}])
THREE = body([{"id": 3, "name": "three"}])
MORE = pa.schema([*SCHEMA, pa.field("more", pa.list_(pa.int64()))])
OTHER_TYPE = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.int64())])
NUMBERED = "{:020d}.parquet"


@pytest.fixture
def other_tool(tmp_path: Path) -> World:
    """Orders that another tool has landed up to the third record; the fourth has come since."""
    world = World(tmp_path)
    foreign(world, {1: TWO, 2: THREE}, read=[1])
    world.send(ORDERS.create(row(1, "one"), 10), ORDERS.create(row(2, "two"), 11), ORDERS.create(row(3, "three"), 12))
    world.send(ORDERS.update(row(1, "uno"), 13))
    return world


class TestAnotherToolsTable:
    @pytest.mark.parametrize("offset", [0, 2, 3])
    def test_goes_on_behind_its_last_number_with_upserts(self, other_tool: World, offset: int) -> None:
        world = other_tool
        before = world.files()
        with pytest.raises(LedgerBehindError, match="The ledger is empty") as raised:
            started(world)
        assert "if another tool has filled the zone, `cdc-bridge adopt CONFIG`" in raised.value.remedy

        done = adopt(world, Starting.OFFSETS, {ORDERS.topic: {0: offset}})

        assert [(one.name, one.last, one.proof, one.why) for one in done.tables] == [(NAME, 2, Proof.WORD, "")]
        assert done.written == 1_000_001
        healthy(world)
        world.send(ORDERS.delete(row(2), 20), ORDERS.create(row(4, "four"), 21))
        world.live()
        assert {path: world.zone.files[path] for path in before} == before, "nothing was written over"
        assert sorted(path for path in world.files() if path not in before) == [
            f"{ORDERS_FOLDER}/{NUMBERED.format(3)}",
            f"{ORDERS_FOLDER}/{NUMBERED.format(4)}",
        ]
        assert world.rows() == [
            {"id": 1, "name": "uno"},
            {"id": 3, "name": "three"},
            {"id": 4, "name": "four"},
        ]
        assert world.table.rows.keys() <= {"", "1", "2", "4"}, "no row lands as new"
        assert (world.table.status, problems(world)) == (TableStatus.STREAMING, [])
        started(world)
        assert world.table.status is TableStatus.STREAMING, "its metadata is as the other tool wrote it"

    def test_keeps_the_other_tools_metadata_when_the_ledger_is_lost_and_made_again(self, other_tool: World) -> None:
        world = other_tool
        adopt(world)
        world.live()
        world.zone.write(SNAPSHOT_COPY, encode(world.ledger))
        world.send(ORDERS.create(row(4, "four"), 21))
        world.live()
        world.state.files.clear()

        done = make_ledger_again(
            MemoryStorage(world.zone),
            MemoryStorage(world.state),
            look_only=False,
            now_ms=lambda: world.now_ms,
            threads=1,
        )

        assert [(one.name, one.proof, one.why) for one in done.rebuilt.tables] == [(NAME, Proof.FOOTER, "")]
        started(world)
        assert (world.table.status, problems(world)) == (TableStatus.STREAMING, [])

    def test_is_only_looked_at_in_a_dry_run(self, other_tool: World) -> None:
        before = dict(other_tool.zone.files)
        done = adopt(other_tool, look_only=True)
        assert (done.written, other_tool.zone.files, other_tool.state.files) == (None, before, {})

    def test_stands_still_when_somebody_changes_its_metadata_later(self, other_tool: World) -> None:
        adopt(other_tool)
        healthy(other_tool)
        foreign(other_tool, {}, {**PLAIN, "keyColumns": ["name"]})
        started(other_tool)
        parked = other_tool.table.parked
        assert parked is not None
        assert parked.reason == "zone:metadata_conflict"

    @pytest.mark.parametrize(
        ("files", "metadata", "why"),
        [
            ({1: TWO, 3: THREE}, PLAIN, "number 2 is missing, so the replicator does not get past it"),
            ({}, PLAIN, "it has no numbered file, so nobody can tell which number comes next"),
            ({1: TWO}, None, "it has no _metadata.json, so its rows have no key"),
            ({1: TWO}, {"fileDetectionStrategy": "SequentialFileName"}, "it has no key, so that a row which is read"),
            ({1: TWO}, {**PLAIN, "keyColumns": ["name"]}, "its key is name, and that of the records is id"),
            ({1: TWO}, {**PLAIN, "fileDetectionStrategy": "LastUpdateTimeFileDetection"}, "its files are taken by"),
            ({1: TWO}, {**PLAIN, "FileFormat": "CSV"}, "its files are delimited text, which does not say"),
            ({1: TWO, 2: body([{"id": 1}], OTHER_TYPE)}, PLAIN, "column name is string in one file and int64 in"),
            ({1: body([{"id": 1}], MORE)}, PLAIN, "column more: not a landing-file type: list<"),
            ({1: body([{"name": "n"}], pa.schema([SCHEMA.field("name")]))}, PLAIN, "its files lack the key column id"),
            ({1: b"PAR"}, PLAIN, "the file is not valid Parquet"),
            ({1: TWO}, "{", "the table's metadata is not valid JSON"),
        ],
    )
    def test_that_leaves_a_doubt_stands_still_until_it_is_filled_anew(
        self, tmp_path: Path, files: dict[int, bytes], metadata: object, why: str
    ) -> None:
        world = World(tmp_path)
        foreign(world, files, metadata if isinstance(metadata, dict) else None)
        if metadata == "{":
            world.zone.write(f"{ORDERS_FOLDER}/_metadata.json", b"{")
        world.send(ORDERS.create(row(1, "one"), 10))
        (found,) = adopt(world).tables
        assert found.state is not None
        parked = found.state.parked
        assert parked is not None
        assert (found.proof, parked.reason) == (Proof.NONE, "not_adopted")
        assert found.why.startswith(why)
        assert parked.message == f"the table was there before the ledger, and cannot be taken over: {found.why}"
        assert parked.remedy == f"`cdc-bridge resync CONFIG {NAME}`"

    def test_that_stood_still_streams_after_its_remedy(self, tmp_path: Path) -> None:
        world = World(tmp_path)
        foreign(world, {1: TWO, 3: THREE})
        world.send(ORDERS.create(row(1, "one"), 10))
        adopt(world)
        healthy(world)
        assert world.table.status is TableStatus.PARKED
        resume = new_request(Action.RESUME, now_ms=1, by="ann@home", table=NAME)
        world.ask(resume)
        world.driver().drain()
        refused = world.answered(resume)
        assert (refused.accepted, refused.remedy) == (False, f"`cdc-bridge resync CONFIG {NAME}`")
        world.snapshot = (ORDERS.reread(row(1, "one"), 40), ORDERS.reread(row(5, "five"), 40))
        world.ask()
        healthy(world)
        assert (world.table.status, world.table.generation) == (TableStatus.STREAMING, 2)
        assert world.rows() == [{"id": 1, "name": "one"}, {"id": 5, "name": "five"}]
        assert problems(world) == []

    def test_with_a_hole_before_the_files_that_wait_stands_still(self, tmp_path: Path) -> None:
        world = World(tmp_path)
        foreign(world, {**dict.fromkeys(range(1, 6), TWO), 8: TWO, 9: THREE}, read=range(1, 6))
        world.send(ORDERS.create(row(1, "one"), 10))
        (found,) = adopt(world).tables
        assert (found.proof, found.why) == (
            Proof.NONE,
            "number 6 is missing, so the replicator does not get past it",
        )

    @pytest.mark.parametrize("read", [(), (6, 7), (6, 7, 8, 9)], ids=["cleaned up", "read", "all read"])
    def test_goes_on_where_only_what_was_read_has_gone(self, tmp_path: Path, read: tuple[int, ...]) -> None:
        """The replicator's cleanup removes what was read from the lowest number up, and leaves the last one."""
        world = World(tmp_path)
        foreign(world, {**dict.fromkeys(read, TWO), 8: TWO, 9: THREE}, read=read)
        world.send(ORDERS.create(row(1, "one"), 10))
        (found,) = adopt(world).tables
        assert (found.proof, found.last, found.why) == (Proof.WORD, 9, "")

    def test_with_a_number_twice_stands_still(self, other_tool: World) -> None:
        other_tool.zone.write(f"{ORDERS_FOLDER}/{NUMBERED.format(1)}", THREE)
        (found,) = adopt(other_tool).tables
        assert found.why == "number 1 is there twice"

    def test_that_no_record_names_is_left_alone(self, other_tool: World) -> None:
        foreign(other_tool, {7: TWO}, folder="public.schema/forgotten")
        done = adopt(other_tool)
        assert [(one.name, one.state is None) for one in done.tables] == [("public.forgotten", True), (NAME, False)]
        assert "public.forgotten" not in other_tool.ledger.tables
        healthy(other_tool)
        assert other_tool.table.status is TableStatus.STREAMING


class TestTheBridgesOwnZoneWithoutLedgerAndCopy:
    @pytest.fixture
    def own(self, tmp_path: Path) -> World:
        world = World(tmp_path)
        world.send(ORDERS.read(row(1, "one"), 10), USERS.read(row(1), 10))
        world.live()
        world.send(ORDERS.update(row(1, "uno"), 20), USERS.create(row(2), 21))
        world.live()
        forget(world)
        return world

    def test_goes_on_exactly_where_the_last_files_end(self, own: World) -> None:
        before = own.files()
        own.send(ORDERS.create(row(3, "three"), 30))
        done = adopt(own)
        assert {one.name: one.proof for one in done.tables} == {NAME: Proof.FOOTER, OTHER_NAME: Proof.FOOTER}
        healthy(own)
        assert own.rows() == [{"id": 1, "name": "uno"}, {"id": 3, "name": "three"}]
        assert len(own.files()) == len(before) + 1, "what has landed does not land again"
        assert problems(own) == []

    def test_goes_on_where_kafka_holds_no_record_of_it_any_more(self, own: World) -> None:
        own.log.earliest[USERS.topic, 0] = len(own.log.partitions[USERS.topic][0])
        assert {one.name: one.proof for one in adopt(own).tables} == {NAME: Proof.FOOTER, OTHER_NAME: Proof.FOOTER}
        own.send(USERS.create(row(3), 40))
        healthy(own)
        assert [one["id"] for one in own.rows(OTHER_NAME)] == [1, 2, 3]

    def test_nothing_that_is_staged_can_appear_behind_the_look(self, own: World) -> None:
        """A rename that a driver of the lost ledger has sent may still be on its way; a sleeping one sends it yet."""
        staged = staged_path(2, ORDERS_FOLDER, 3, "late", "parquet")
        own.zone.write(staged, own.zone.files[f"{ORDERS_FOLDER}/{NUMBERED.format(2)}"])
        adopt(own, look_only=True)
        assert staged in own.zone.files

        def stages(request: Request) -> None:
            if request.writes and request.path.endswith(".json"):
                own.zone.write(staged.replace("late", "later"), own.zone.files[f"{ORDERS_FOLDER}/{NUMBERED.format(2)}"])

        adopt(own, hook=stages)

        assert [path for path in own.zone.files if path.startswith(f"{SCRATCH_PAD}/")] == []
        own.send(ORDERS.create(row(3, "three"), 30))
        healthy(own)
        assert own.rows() == [{"id": 1, "name": "uno"}, {"id": 3, "name": "three"}]

    def test_stands_still_where_the_declared_position_would_leave_records_out(self, own: World) -> None:
        own.send(ORDERS.create(row(3, "three"), 30), ORDERS.create(row(4, "four"), 31))
        done = adopt(own, Starting.LATEST)
        whys = {one.name: one.why for one in done.tables}
        assert whys == {
            NAME: f"the declared position is behind where its last file ends, in {ORDERS.topic}/0",
            OTHER_NAME: "",
        }

    def test_stands_still_where_the_topic_is_another_one(self, own: World) -> None:
        own.log.ids[ORDERS.topic] = "another"
        whys = {one.name: one.why for one in adopt(own).tables}
        assert whys[NAME] == f"{ORDERS.topic} is another topic by now than the one its last file knows"

    def test_stands_still_where_the_last_file_says_that_it_has_another_number(self, own: World) -> None:
        last = own.zone.files[f"{ORDERS_FOLDER}/{NUMBERED.format(2)}"]
        own.zone.write(f"{ORDERS_FOLDER}/{NUMBERED.format(3)}", last)
        (orders, users) = adopt(own).tables
        assert (orders.proof, orders.why) == (Proof.NONE, f"file 3 says that it is file 2 of {NAME}")
        assert orders.state is not None
        assert orders.state.parked is not None
        assert (orders.state.parked.reason, users.proof) == ("not_adopted", Proof.FOOTER)

    @pytest.mark.parametrize("kept", [True, False], ids=["its records are there", "its records are gone"])
    def test_stands_still_where_the_last_file_says_that_it_is_another_tables(self, own: World, kept: bool) -> None:
        number = NUMBERED.format(2)
        own.zone.write(f"{ORDERS_FOLDER}/{number}", own.zone.files[f"public.schema/users/{number}"])
        if not kept:
            own.log.earliest[ORDERS.topic, 0] = len(own.log.partitions[ORDERS.topic][0])
        (orders, users) = adopt(own).tables
        if kept:
            assert (orders.proof, orders.why) == (Proof.NONE, f"file 2 says that it is file 2 of {OTHER_NAME}")
        else:
            assert (orders.state, orders.why) == (None, "no record in Kafka names the source table that lands here")
        assert (users.proof, users.state is None) == (Proof.FOOTER, False)

    def test_is_not_adopted_where_a_copy_knows_more(self, own: World, tmp_path: Path) -> None:
        world = World(tmp_path / "more")
        world.work.mkdir()
        world.send(ORDERS.create(row(1, "one"), 10))
        started(world)
        world.live()
        world.state.files.clear()
        with pytest.raises(AdoptRefusedError) as raised:
            adopt(world)
        assert raised.value.remedy == (
            "`cdc-bridge ledger rebuild CONFIG --dry-run` shows what can be made again of it"
        )


def test_a_zone_with_a_ledger_is_not_adopted(other_tool: World) -> None:
    adopt(other_tool)
    with pytest.raises(LedgerWholeError):
        adopt(other_tool)


def test_an_empty_zone_is_not_adopted(tmp_path: Path) -> None:
    with pytest.raises(AdoptRefusedError, match="holds no table"):
        adopt(World(tmp_path))


@pytest.mark.kafka
def test_a_position_has_to_be_declared(site: Site) -> None:
    """All the way: a bridge is started on another tool's zone, which is then adopted."""
    foreign(site, {1: body([{"id": 1, "name": "one"}]), 2: THREE}, read=[1])
    site.send(ORDERS.create(row(1, "one"), 10), ORDERS.create(row(3, "three"), 11), ORDERS.update(row(1, "uno"), 12))
    site.send(USERS.create(row(1), 13))
    run = "cdc-bridge run CONFIG --once"
    started = site.shell.type(run)
    assert (started.code, started.error) == (1, LedgerBehindError.__name__)
    refused = site.shell.follow(started.remedy, "adopt")
    assert (refused.code, refused.error) == (1, AdoptRefusedError.__name__)
    assert refused.remedy.startswith("set kafka.starting: earliest if Kafka still has everything")
    site.set(kafka__starting="earliest")
    assert "nothing was written" in carry_out(site, refused.remedy, "adopt").out
    carry_out(site, started.remedy, "adopt")
    assert site.shell.type(run).code == 0
    require_health(site)


def test_it_may_be_killed_at_any_write_and_run_again(other_tool: World) -> None:
    zone, killed = dict(other_tool.zone.files), 0
    while True:
        left = [killed]

        def dies(request: Request, left: list[int] = left) -> Fault | None:
            left[0] -= request.writes
            return Fault.CRASH_BEFORE if left[0] < 0 else None

        other_tool.zone.files.clear()
        other_tool.zone.files.update(zone)
        other_tool.state.files.clear()
        try:
            adopt(other_tool, hook=dies)
        except Crash:
            killed += 1
            with pytest.raises(LedgerBehindError):
                started(other_tool)
            adopt(other_tool)
            healthy(other_tool)
            assert other_tool.table.status is TableStatus.STREAMING
        else:
            break
    assert killed == 2, "the owner, then the ledger"
