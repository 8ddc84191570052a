"""A ledger that is not where the settings say, or that others write to, from the error to a table that streams."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.debezium.decoder import Decoder
from connectors.landing_zone.errors import (
    FencedError,
    ForeignLedgerError,
    LedgerBehindError,
    LedgerCorruptError,
    LedgerWholeError,
    ZoneOwnedError,
)
from connectors.landing_zone.ledger.history import read_version
from connectors.landing_zone.ledger.owner import OWNER_FILE
from connectors.landing_zone.ledger.version_file import path_of
from streaming.driver.batch import run_batch
from streaming.driver.checkpoint import Planned
from streaming.driver.startup import OpenZone, open_zone
from streaming.resolving.decision import Decision
from streaming.settings import load_settings
from streaming.task.worker import Worker
from tests.remedies.broken_zones import carry_out, require_health
from tests.remedies.lost_files import FOREIGN, PARTNER, landed_twice, no_sleep, started, take
from tests.remedies.meanwhile import while_read
from tests.remedies.shell import Printed, require_refused
from tests.remedies.site import Site, disk
from tests.support.plain_job import local_action
from tests.support.records import Table
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, USERS, Scratch, World

pytestmark = pytest.mark.kafka

RUN = "cdc-bridge run CONFIG --once"
CHECK = "cdc-bridge check CONFIG"
REBUILD = "cdc-bridge ledger rebuild CONFIG"


def begins(site: Site) -> OpenZone:
    """A start of the bridge, as the settings say whose it is, that keeps copies of its ledger in the zone."""
    zone, state = Scratch(site.zone, None, site.work), Scratch(site.state, None, site.work)
    name, writer = load_settings(site.config).name, f"start-{next(site.starts)}"
    return open_zone(
        zone, state, site.job, source=name, writer=writer, host="host", partner=PARTNER, threads=1, sleep=no_sleep
    )


def lands(site: Site, opened: OpenZone) -> None:
    """A bridge that has begun carries what waits in Kafka."""
    log, ledger = site.log, opened.ledger
    planned = Planned({topic: dict(each.partitions) for topic, each in ledger.state.topics.items()}, site.to_read())
    ids = {topic: log.topic_id(topic) for topic in planned.end}
    action = local_action(log, Worker(site.job, Decoder(site.job.decode), opened.zone), tasks=1)
    run_batch(planned, lambda: ids, log.leaders, site.job, ledger, opened.publisher, action)


def test_fenced_by_a_ledger_that_was_made_again_elsewhere(world: Site, tmp_path: Path) -> None:
    """Somebody takes the state for lost and makes it again in another place, while a bridge runs with it."""
    sleeper = begins(world)
    world.keep_state_in(tmp_path / "again")
    assert world.shell.type(REBUILD).code == 0
    assert world.shell.type(RUN).code == 0
    world.keep_state_in(tmp_path / "zone-state")
    world.send(Table(ORDERS.topic, "lines").create(row(1), 50))
    files = world.files()
    world.run = lambda: lands(world, sleeper)
    refused = world.shell.type(RUN)
    remedy = (
        "it was made again in, or copied to, another state storage while this driver ran: set state.url to that one"
    )
    require_refused(refused, FencedError, remedy, "state: memory:///zone")
    assert world.files() == files, "nothing was published"
    world.run = None
    world.keep_state_in(tmp_path / "again")
    assert world.shell.type(RUN).code == 0
    shown = world.shell.follow(refused.remedy, "status")
    assert (shown.code, shown.told, f"{NAME}  streaming" in shown.out) == (0, [], True)
    require_health(world)
    assert world.rows("public.lines") == [row(1)]


def test_fenced_by_a_bridge_that_goes_on_while_a_file_is_looked_at(site: Site, tmp_path: Path) -> None:
    landed_twice(site)
    file = take(site, FOREIGN)
    started(site)
    decide = f"cdc-bridge resolve CONFIG {NAME} --decide {Decision.SET_ASIDE.value}"
    before = site.files()
    with while_read(tmp_path / "zone" / file.target, lambda: started(site)):
        refused = site.shell.type(decide)
    stop = "nothing was changed; stop every bridge of this zone and run the command again"
    require_refused(refused, FencedError, stop, f"table: {NAME}")
    assert site.files() == before
    assert site.shell.follow(refused.remedy, "resolve").code == 0
    require_health(site)
    assert site.table.sequence == 3


def test_foreign_ledger_of_a_source_whose_name_was_changed(world: Site, tmp_path: Path) -> None:
    """And of another source, whose settings were copied with the places of the first one."""
    world.set(name="store")
    files, versions = world.files(), dict(world.state.files)
    world.run = lambda: begins(world)
    refused = world.shell.type(RUN)
    own = "another source needs a state.url, and a landing_zone.url, of its own; if it is the same source under another"
    require_refused(refused, ForeignLedgerError, own, "state: memory:///zone")
    assert refused.act.endswith("name, set name back to shop")
    looked = world.shell.type(CHECK)
    assert (looked.code, refused.act in looked.told) == (1, True)
    assert (world.files(), dict(world.state.files)) == (files, versions)

    (tmp_path / "store").mkdir()
    zone, state = world.zone, world.state
    world.set(landing_zone__url=f"file://{tmp_path / 'store' / 'zone'}")
    world.zone = disk(tmp_path / "store" / "zone")
    world.keep_state_in(tmp_path / "store" / "state")
    assert world.shell.type(RUN).code == 0, "another source, at its own places"
    assert world.ledger.source == "store"

    world.zone = zone
    world.set(name="shop", landing_zone__url=f"file://{tmp_path / 'zone'}")
    world.keep_state_in(tmp_path / "zone-state")
    world.run = None
    assert world.state.files.keys() == state.files.keys()
    assert world.shell.type(CHECK).code == 0
    assert world.shell.type(RUN).code == 0
    require_health(world)


@pytest.mark.parametrize("lost", [False, True])
def test_ledger_behind_the_copy_of_a_newer_one(world: Site, lost: bool) -> None:
    """One from before a table was paused was put back; the newest one is found, or it is lost."""
    started(world)
    old = dict(world.state.files)
    carry_out(world, f"`cdc-bridge pause CONFIG {NAME}`", "pause")
    carry_out(world, f"`cdc-bridge resume CONFIG {NAME}`", "resume")
    started(world)
    newest = dict(world.state.files)
    world.state.files.clear()
    world.state.files.update(old)
    files = world.files()
    refused = world.shell.type(RUN)
    require_refused(refused, LedgerBehindError, "an older ledger was put back: set state.url to the newest one; if it")
    assert (world.files(), dict(world.state.files)) == (files, old), "nothing was written"
    if lost:
        carry_out(world, refused.remedy, "ledger rebuild")
    else:
        world.state.files.clear()
        world.state.files.update(newest)
    assert world.shell.type(RUN).code == 0
    require_health(world)


@pytest.mark.parametrize("lost", [False, True])
def test_ledger_behind_because_it_is_another_one_without_a_table(world: Site, tmp_path: Path, lost: bool) -> None:
    """The settings name an empty folder; the ledger is elsewhere, or it is lost."""
    started(world)
    versions = dict(world.state.files)
    world.keep_state_in(tmp_path / "empty")
    if lost:
        disk(tmp_path / "zone-state").files.clear()
    files = world.files()
    refused = world.shell.type(RUN)
    elsewhere = "set state.url to where this zone's ledger is, or put it back there from a backup; if it is lost, stop"
    require_refused(refused, LedgerBehindError, elsewhere, "folder: public.schema/orders")
    assert (world.files(), dict(world.state.files)) == (files, {}), "nothing was written"
    looked = world.shell.type(CHECK)
    assert (looked.code, len([told for told in looked.told if told.startswith(elsewhere[:20])])) == (1, 1)
    if lost:
        carry_out(world, refused.remedy, "ledger rebuild")
    else:
        world.keep_state_in(tmp_path / "zone-state")
        assert dict(world.state.files) == versions
    assert world.shell.type(RUN).code == 0
    require_health(world)


@pytest.mark.parametrize("lost", [False, True])
def test_zone_owned_before_anything_has_landed(site: Site, tmp_path: Path, lost: bool) -> None:
    """The zone of a bridge that was started in vain so far; then the settings name an empty folder as its state."""
    started(site)
    site.keep_state_in(tmp_path / "empty")
    if lost:
        disk(tmp_path / "zone-state").files.clear()
    site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
    refused = site.shell.type(RUN)
    elsewhere = "set state.url to where that ledger is, or put it back there from a backup; if it is lost, stop every"
    require_refused(refused, ZoneOwnedError, elsewhere, f"file: {OWNER_FILE}")
    assert dict(site.state.files) == {}, "nothing was written"
    if lost:
        carry_out(site, refused.remedy, "ledger rebuild")
    else:
        site.keep_state_in(tmp_path / "zone-state")
    assert site.shell.type(RUN).code == 0
    require_health(site)


def test_ledger_corrupt_without_a_whole_state(world: Site) -> None:
    """Somebody has removed the oldest versions, which nothing else has; they are in a backup."""
    newest = world.driver()
    world.send(USERS.create(row(3), 50))
    newest.land()
    state, head = MemoryStorage(world.state), world.ledger.version
    whole = max(number for number in range(1, head + 1) if read_version(state, number).snapshot is not None)
    assert whole < head
    backup = {path: world.state.files.pop(path) for path in map(path_of, range(1, whole + 1))}
    refused = world.shell.type("cdc-bridge status CONFIG")
    put_back = "put the missing or damaged versions back from a backup of the state storage; without one, stop every"
    require_refused(refused, LedgerCorruptError, put_back, "of the ledger holds the whole state")
    world.state.files.update(backup)
    assert world.shell.type("cdc-bridge status CONFIG").code == 0
    require_health(world)


def test_ledger_corrupt_because_of_another_ones_driver(world: Site, tmp_path: Path) -> None:
    """It has died, and what it had sent arrives late, in a state storage in which another ledger has begun."""
    started(world)
    next_one = path_of(world.ledger.version + 1)
    (tmp_path / "other").mkdir()
    other = landed_twice(World(tmp_path / "other"))
    while next_one not in other.state.files:
        other.driver().land()
    world.state.files[next_one] = other.state.files[next_one]
    refused = world.shell.type("cdc-bridge status CONFIG")
    stop = "stop that driver and every other one of this state storage, move this file and those of higher numbers out"
    require_refused(refused, LedgerCorruptError, stop, f"file: {next_one}")
    del world.state.files[next_one]
    assert world.shell.follow(refused.remedy, "run").code == 0
    require_health(world)


def test_ledger_whole_because_somebody_else_has_made_it_again_meanwhile(world: Site, tmp_path: Path) -> None:
    """Two people make the lost ledger again at once."""
    started(world)
    world.state.files.clear()
    done: list[Printed] = []
    with while_read(tmp_path / "zone" / OWNER_FILE, lambda: done.append(world.shell.type_apart(REBUILD)), reading=2):
        refused = world.shell.type(REBUILD)
    assert [one.code for one in done] == [0], done
    require_refused(refused, LedgerWholeError, "`cdc-bridge status CONFIG` shows it; nothing was changed")
    shown = world.shell.follow(refused.remedy, "status")
    assert (shown.code, shown.told, f"{NAME}  streaming" in shown.out) == (0, [], True)
    require_health(world)
