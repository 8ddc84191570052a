"""What is wrong with the ledger or its offsets, from the error through its remedy to a table that streams."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from connectors.kafka.errors import RecordsGoneError
from connectors.landing_zone.errors import (
    FencedError,
    ForeignLedgerError,
    InvalidDraftError,
    LedgerCorruptError,
    LedgerFormatError,
    LedgerWholeError,
    OffsetGapError,
    VersionNotKeptError,
    ZoneOwnedError,
)
from connectors.landing_zone.ledger.history import read_version
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import FORMAT, TableState, TableStatus
from connectors.landing_zone.ledger.version_file import path_of
from connectors.landing_zone.publisher import Publisher
from connectors.landing_zone.requests import Action, new_request
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver.batch import DecodeAndLand
from streaming.driver.leaders import require_landed_log
from streaming.driver.publishing import ZonePublisher
from streaming.driver.startup import check_topics
from streaming.lifecycle.catching_up import ranges_to_land, require_records
from streaming.lifecycle.recreated_topics import park_recreated
from streaming.lifecycle.retention import park_behind_retention
from streaming.lifecycle.unread_topics import park_unread
from streaming.plan import BatchPlan
from streaming.task.results import Results
from streaming.zones.rebuilding_ledger import make_ledger_again
from streaming.zones.replaying import RebuiltSinceError, ReplayRequest, replay_zone
from tests.remedies.broken_zones import METADATA, carry_out, require_health
from tests.remedies.inventory import told_to_do
from tests.remedies.lost_files import landed_twice, started
from tests.support.plain_job import local_action
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, USERS, Driver, World


def test_fenced(world: World) -> None:
    sleeper = world.driver()
    world.driver()
    world.send(ORDERS.create(row(9), 29), ORDERS.delete(row(9), 30))
    with pytest.raises(FencedError) as raised:
        sleeper.land()
    assert "start this one again" in raised.value.remedy
    require_health(world)


def test_zone_owned(world: World, tmp_path: Path) -> None:
    started(world)
    (tmp_path / "other").mkdir()
    other = landed_twice(World(tmp_path / "other"))
    started(other)
    world.state, own = other.state, world.state
    with pytest.raises(ZoneOwnedError) as raised:
        started(world)
    assert raised.value.remedy.startswith("set state.url to where that ledger is")
    world.state = own
    require_health(world)


def test_foreign_ledger(world: World, tmp_path: Path) -> None:
    """The settings of the shop were copied for another source, and ``state.url`` was left as it is."""
    driver = world.driver()
    (tmp_path / "other").mkdir()
    other = World(tmp_path / "other")
    own, other.state = other.state, world.state
    versions = dict(world.state.files)
    with pytest.raises(ForeignLedgerError) as raised:
        started(other)
    assert "needs a state.url of its own" in raised.value.remedy
    assert world.state.files == versions
    world.send(ORDERS.create(row(9), 29), ORDERS.delete(row(9), 30))
    driver.land()
    require_health(world)
    other.state = own
    started(landed_twice(other))
    require_health(other)


def test_ledger_corrupt(world: World) -> None:
    started(world)
    head = world.ledger.version
    world.state.files[path_of(head)] = b'{"version":'
    with pytest.raises(LedgerCorruptError) as raised:
        started(world)
    assert "`cdc-bridge ledger rebuild CONFIG`" in raised.value.remedy
    zone, state = MemoryStorage(world.zone), MemoryStorage(world.state)
    make_ledger_again(zone, state, look_only=False, now_ms=lambda: 7, threads=1)
    require_health(world)


def test_ledger_format(world: World) -> None:
    head = world.ledger.version
    written = world.state.files[path_of(head)]
    newer = re.sub(rb'"format": ?1\b', b'"format": %d' % (FORMAT + 1), written)
    assert newer != written
    world.state.files[path_of(head)] = newer
    with pytest.raises(LedgerFormatError) as raised:
        started(world)
    assert raised.value.remedy.startswith("go on with the release that wrote it")
    world.state.files[path_of(head)] = written
    require_health(world)


def test_ledger_whole(world: World) -> None:
    started(world)
    with pytest.raises(LedgerWholeError) as raised:
        make_ledger_again(
            MemoryStorage(world.zone), MemoryStorage(world.state), look_only=False, now_ms=lambda: 7, threads=1
        )
    assert raised.value.remedy.startswith("nothing was changed; `cdc-bridge status CONFIG`")
    require_health(world)


def test_version_not_kept(world: World) -> None:
    state, head = MemoryStorage(world.state), world.ledger.version
    with pytest.raises(VersionNotKeptError) as raised:
        read_version(state, head + 1)
    asked = re.fullmatch(r"ask for a version from (\d+) to (\d+)", raised.value.remedy)
    assert asked is not None
    assert [read_version(state, int(number)).version for number in asked.groups()] == [1, head]


class Forgetful(ZonePublisher):
    """Leaves what a version has bound where it waits."""

    def publish_pending(self, ledger: Ledger) -> None:
        """Nothing is published."""


def test_invalid_draft(world: World) -> None:
    """A publisher that forgets a file: the next batch would bind the number behind it."""
    driver = world.driver()
    driver.publisher = Forgetful(Publisher(driver.zone, 1), driver.job)
    world.send(ORDERS.create(row(9), 29))
    driver.land()
    world.send(ORDERS.delete(row(9), 30))
    head, files = world.ledger.version, world.files()
    with pytest.raises(InvalidDraftError) as raised:
        driver.land()
    assert (world.ledger.version, world.files()) == (head, files), "nothing was written"
    assert raised.value.remedy == "publish and confirm the pending file first; a restart does it"
    require_health(world)


def test_invalid_draft_that_comes_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect that drafts the table's first generation wrongly, in whatever process."""

    def wrong(state: TableState) -> TableState:
        return replace(state, sequence=state.sequence + 1) if state.generation == 1 else state

    def defective(driver: Driver) -> DecodeAndLand:
        action = local_action(driver._world.log, driver._worker, tasks=1)

        def act(plan: BatchPlan) -> Results:
            results = action(plan)
            tables = (replace(one, state=wrong(one.state)) for one in results.tables)
            return dataclasses.replace(results, tables=tuple(tables))

        return act

    monkeypatch.setattr(Driver, "_action", defective)
    world.send(ORDERS.create(row(9), 29), ORDERS.delete(row(9), 30))
    files = world.files()
    for _ in range(2):
        driver = world.driver()
        head = world.ledger.version
        with pytest.raises(InvalidDraftError, match=NAME) as raised:
            driver.land()
        assert (world.ledger.version, world.files()) == (head, files), "nothing was written"
    assert "restart the bridge: nothing was written" in raised.value.remedy
    carry_out(world, told_to_do("InvalidDraftError").replace("bridge.yaml TABLE", f"CONFIG {NAME}"), "resync")
    require_health(world)


@pytest.mark.parametrize(
    ("grown", "said"),
    [
        (0, "the partition ends at offset 4, but offset 5 is the next one"),
        (3, "it is another log from offset 4 on, but offset 5 is the next one"),
    ],
)
def test_offset_gap_of_a_rewound_topic(world: World, tmp_path: Path, grown: int, said: str) -> None:
    """An unclean leader has forgotten what was acknowledged, and may have taken in as much again."""

    def start() -> None:
        started(world)
        driver, present = world.driver(), world.log.describe(world.log.read())
        park_unread(driver.ledger, present, world.log.subscribed)
        park_behind_retention(driver.ledger, present)
        park_recreated(driver.ledger, present)
        check_topics(driver.ledger.state, present)
        require_landed_log(driver.ledger.state, present, world.log.leaders.cut_off)

    files = world.files()
    world.log.forget(ORDERS.topic, 4)
    world.send(*(ORDERS.update(row(1, str(number)), 41 + number) for number in range(grown)))
    with pytest.raises(OffsetGapError, match=said) as raised:
        start()
    assert "leave the topic out (kafka.topics, or a kafka.pattern that does not match it)" in raised.value.remedy
    world.log.left_out.add(ORDERS.topic)
    world.send(USERS.create(row(3), 40))
    start()
    world.ask()
    world.live()
    parked = world.table.parked
    assert parked is not None
    assert (parked.reason, world.answered().accepted) == ("excluded", False)
    assert world.ledger.tables[OTHER_NAME].status is TableStatus.STREAMING
    assert world.rows(OTHER_NAME) == [row(1), row(2), row(3)]
    assert {path: body for path, body in world.files().items() if path in files} == files
    assert "carry its tables with a second bridge" in raised.value.remedy
    (tmp_path / "second").mkdir()
    second = World(tmp_path / "second")
    second.log.partitions[ORDERS.topic] = world.log.partitions[ORDERS.topic]
    second.send(*world.snapshot)
    second.live()
    require_health(second)


def test_records_gone(world: World) -> None:
    world.ask(new_request(Action.PAUSE, now_ms=1, by="ann@home", table=NAME))
    world.driver().drain()
    world.send(ORDERS.create(row(9), 29), ORDERS.delete(row(9), 30))
    world.driver().drain()
    world.log.earliest[ORDERS.topic, 0] = 6
    ranges = ranges_to_land(world.table, world.ledger)
    with pytest.raises(RecordsGoneError) as raised:
        require_records(ranges, world.log.describe(sorted(ranges)), NAME)
    carry_out(world, raised.value.remedy, "resync")
    require_health(world)


def test_rebuilt_since(world: World, tmp_path: Path) -> None:
    before = world.ledger.version
    world.ask()
    world.live()
    zone = tmp_path / "zone"
    for disk, folder in ((world.zone, zone), (world.state, tmp_path / "zone-state")):
        for path, body in disk.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(body)
    with pytest.raises(RebuiltSinceError) as raised:
        list(replay_zone(ReplayRequest(str(zone), version=before)))
    assert raised.value.remedy.startswith("name a later version (`cdc-bridge ledger log CONFIG` shows")
    (one,) = [one.content for one in replay_zone(ReplayRequest(str(zone), table=NAME, version=world.ledger.version))]
    assert one.table.num_rows == 2
    assert LocalStorage(zone).stat(METADATA) is not None
    shutil.rmtree(zone)
