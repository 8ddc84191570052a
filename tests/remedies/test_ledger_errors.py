"""What is wrong with the ledger or its offsets, from the error through its remedy to a table that streams."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from connectors.kafka.errors import RecordsGoneError
from connectors.landing_zone.errors import (
    FencedError,
    ForeignLedgerError,
    InvalidDraftError,
    LedgerCorruptError,
    LedgerFormatError,
    LedgerWholeError,
    OffsetGapError,
    TopicRecreatedError,
    VersionNotKeptError,
    ZoneOwnedError,
)
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.history import read_version
from connectors.landing_zone.ledger.state import FORMAT, TableStatus
from connectors.landing_zone.ledger.version_file import path_of
from connectors.landing_zone.requests import Action, new_request
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver.planning import require_same_topic
from streaming.driver.startup import check_topics
from streaming.lifecycle.catching_up import ranges_to_land, require_records
from streaming.lifecycle.retention import park_behind_retention
from streaming.zones.rebuilding_ledger import make_ledger_again
from streaming.zones.replaying import RebuiltSinceError, ReplayRequest, replay_zone
from tests.remedies.broken_zones import METADATA, carry_out, require_health
from tests.remedies.lost_files import landed_twice, started
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, USERS, World


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


def test_invalid_draft(world: World) -> None:
    driver = world.driver()
    with pytest.raises(InvalidDraftError) as raised:
        driver.ledger.commit(Draft(dropped=(NAME,)))
    assert "restart the bridge: nothing was written" in raised.value.remedy
    require_health(world)


def test_offset_gap_at_a_start(world: World) -> None:
    world.send(ORDERS.create(row(9), 29), ORDERS.delete(row(9), 30))
    world.log.earliest[ORDERS.topic, 0] = 6
    present = world.log.describe([ORDERS.topic, "shop.public.users"])
    with pytest.raises(OffsetGapError, match="retention has removed 1 offsets"):
        check_topics(world.ledger, present)
    driver = world.driver()
    park_behind_retention(driver.ledger, present)
    check_topics(driver.ledger.state, present)
    parked = world.table.parked
    assert parked is not None
    assert parked.reason == "retention_passed"
    carry_out(world, parked.remedy, "resync")
    require_health(world)


def test_topic_recreated(world: World, tmp_path: Path) -> None:
    world.send(USERS.create(row(1), 10))
    world.driver().drain()
    world.log.ids[ORDERS.topic] = "another"
    present = world.log.describe([ORDERS.topic, "shop.public.users"])
    with pytest.raises(TopicRecreatedError) as raised:
        check_topics(world.ledger, present)
    assert raised.value.remedy.startswith("leave the topic out (kafka.topics)")
    with pytest.raises(TopicRecreatedError):
        require_same_topic(ORDERS.topic, world.ledger.topics[ORDERS.topic], "another")
    anew = world.log.partitions.pop(ORDERS.topic)
    check_topics(world.ledger, {topic: found for topic, found in present.items() if topic != ORDERS.topic})
    world.send(USERS.create(row(2), 11))
    world.driver().drain()
    assert (world.ledger.tables[OTHER_NAME].status, world.rows(OTHER_NAME)) == (
        TableStatus.STREAMING,
        [row(1), row(2)],
    )
    assert "carry its tables with a second bridge" in raised.value.remedy
    (tmp_path / "second").mkdir()
    second = World(tmp_path / "second")
    second.log.partitions[ORDERS.topic] = anew
    second.driver().drain()
    assert second.table.status is TableStatus.STREAMING
    assert second.rows() == world.rows()


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
