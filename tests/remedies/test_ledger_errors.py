"""What is wrong with the ledger or its offsets, from the error through its remedy to a table that streams."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

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
from connectors.landing_zone.ledger import version_file
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import FORMAT, TableState, TableStatus
from connectors.landing_zone.ledger.version_file import path_of
from connectors.landing_zone.publisher import Publisher
from streaming.driver.batch import DecodeAndLand
from streaming.driver.leaders import require_landed_log
from streaming.driver.publishing import ZonePublisher
from streaming.driver.startup import check_topics
from streaming.lifecycle.recreated_topics import park_recreated
from streaming.lifecycle.retention import park_behind_retention
from streaming.lifecycle.unread_topics import park_unread
from streaming.plan import BatchPlan
from streaming.task.results import Results
from streaming.zones.replaying import RebuiltSinceError
from tests.remedies.broken_zones import carry_out, require_health
from tests.remedies.inventory import told_to_do
from tests.remedies.lost_files import landed_twice, started
from tests.remedies.shell import Shell
from tests.remedies.site import Site, disk
from tests.support.cluster import Cluster
from tests.support.plain_job import local_action
from tests.support.told_commands import commands
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, USERS, Driver, World

pytestmark = pytest.mark.kafka


RUN = "cdc-bridge run CONFIG --once"


def test_fenced(world: Site) -> None:
    sleeper = world.driver()
    world.driver()
    world.send(ORDERS.create(row(9), 29), ORDERS.delete(row(9), 30))
    world.run = sleeper.land
    refused = world.shell.type(RUN)
    assert (refused.code, refused.error) == (1, FencedError.__name__)
    assert "start this one again" in refused.remedy
    world.run = None
    assert world.shell.type(RUN).code == 0
    require_health(world)


def test_zone_owned(world: Site, tmp_path: Path) -> None:
    """The settings name the state of another zone, whose ledger has such a table, too."""
    started(world)
    (tmp_path / "other").mkdir()
    other = landed_twice(World(tmp_path / "other", state=disk(tmp_path / "other-state")))
    started(other)
    world.keep_state_in(tmp_path / "other-state")
    refused = world.shell.type(RUN)
    assert (refused.code, refused.error) == (1, ZoneOwnedError.__name__)
    assert refused.remedy.startswith("set state.url to where that ledger is")
    world.keep_state_in(tmp_path / "zone-state")
    assert world.shell.type(RUN).code == 0
    require_health(world)


def test_foreign_ledger(world: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of the shop were copied for another source, and ``state.url`` was left as it is."""
    driver = world.driver()
    (tmp_path / "other").mkdir()
    other = Site(tmp_path / "other", Cluster(world.cluster.bootstrap_servers), Shell(world.shell.capsys))
    other.takes_runs(monkeypatch)
    other.keep_state_in(tmp_path / "zone-state")
    versions = dict(world.state.files)
    refused = other.shell.type(RUN)
    assert (refused.code, refused.error) == (1, ForeignLedgerError.__name__)
    assert "needs a state.url of its own" in refused.remedy
    assert world.state.files == versions
    world.send(ORDERS.create(row(9), 29), ORDERS.delete(row(9), 30))
    driver.land()
    require_health(world)
    other.keep_state_in(tmp_path / "other-state")
    landed_twice(other)
    assert other.shell.type(RUN).code == 0
    require_health(other)


def test_ledger_corrupt(world: Site) -> None:
    started(world)
    world.state.files[path_of(world.ledger.version)] = b'{"version":'
    refused = world.shell.type("cdc-bridge status CONFIG")
    assert (refused.code, refused.error) == (1, LedgerCorruptError.__name__)
    assert refused.remedy.endswith("; nothing is published until then")
    carry_out(world, refused.remedy, "ledger rebuild")
    require_health(world)


def test_ledger_format(world: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release that wrote it is played by this one, which then knows one format more."""
    head = path_of(world.ledger.version)
    newer = re.sub(rb'"format": ?1\b', b'"format": %d' % (FORMAT + 1), world.state.files[head])
    assert newer != world.state.files[head]
    world.state.files[head] = newer
    before = dict(world.state.files), dict(world.zone.files)
    for line in ("status CONFIG", "ledger rebuild CONFIG", f"resync CONFIG {NAME}", "verify ZONE --state STATE"):
        refused = world.shell.type(f"cdc-bridge {line}")
        assert (refused.code, refused.error) == (1, LedgerFormatError.__name__)
        assert refused.remedy.startswith("go on with the release that wrote it, or a newer one (")
        assert world.shell.type(*commands(refused.remedy)).out.startswith("cdc-bridge ")
    assert (world.state.files, world.zone.files) == before
    monkeypatch.setattr(version_file, "FORMAT", FORMAT + 1)
    require_health(world)


def test_ledger_whole(world: Site) -> None:
    started(world)
    refused = world.shell.type("cdc-bridge ledger rebuild CONFIG")
    assert (refused.code, refused.error) == (1, LedgerWholeError.__name__)
    status = world.shell.follow(refused.remedy, "status")
    assert (status.code, status.told, f"{NAME}  streaming" in status.out) == (0, [], True)
    require_health(world)


def test_version_not_kept(world: Site) -> None:
    head = world.ledger.version
    refused = world.shell.type(f"cdc-bridge ledger show CONFIG --version {head + 1}")
    assert (refused.code, refused.error) == (1, VersionNotKeptError.__name__)
    asked = re.fullmatch(r"ask for a version from (\d+) to (\d+)", refused.act)
    assert asked is not None
    assert asked.groups() == ("1", str(head))
    for number in asked.groups():
        assert world.shell.type(f"cdc-bridge ledger show CONFIG --version {number}").code == 0


class Forgetful(ZonePublisher):
    """Leaves what a version has bound where it waits."""

    def publish_pending(self, ledger: Ledger) -> None:
        """Nothing is published."""


def test_invalid_draft(world: Site) -> None:
    """A publisher that forgets a file: the next batch would bind the number behind it."""
    driver = world.driver()
    driver.publisher = Forgetful(Publisher(driver.zone, 1), driver.job)
    world.send(ORDERS.create(row(9), 29))
    driver.land()
    world.send(ORDERS.delete(row(9), 30))
    head, files = world.ledger.version, world.files()
    world.run = driver.land
    refused = world.shell.type(RUN)
    assert (refused.code, refused.error) == (1, InvalidDraftError.__name__)
    assert (world.ledger.version, world.files()) == (head, files), "nothing was written"
    assert refused.act == "publish and confirm the pending file first; a restart does it"
    world.run = None
    assert world.shell.follow(refused.remedy, "run").code == 0
    require_health(world)


def test_invalid_draft_that_comes_again(world: Site, monkeypatch: pytest.MonkeyPatch) -> None:
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
        refused = world.shell.type(RUN)
        assert (refused.code, refused.error, f"table: {NAME}" in refused.err) == (1, InvalidDraftError.__name__, True)
        assert world.files() == files, "nothing was written"
        assert "restart the bridge: nothing was written" in refused.remedy

    def restarted() -> None:
        """The bridge ends before the request is there, and is started again."""
        with contextlib.suppress(InvalidDraftError):
            world.live()

    told = told_to_do("InvalidDraftError").replace("bridge.yaml", "CONFIG")
    assert world.shell.follow(told, "resync", beside=restarted, TABLE=NAME).code == 0
    require_health(world)


@pytest.mark.parametrize(
    ("grown", "said", "remedy"),
    [
        (0, "the partition ends at offset 4, but offset 5 is the next one", "the topic has lost records: "),
        (
            3,
            "it is another log from offset 4 on, but offset 5 is the next one",
            "the topic has lost records, as in an unclean leader election, and those in their place would be passed",
        ),
    ],
)
def test_offset_gap_of_a_rewound_topic(world: Site, tmp_path: Path, grown: int, said: str, remedy: str) -> None:
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
    world.log.forget(world.topic, 4)
    world.send(*(ORDERS.update(row(1, str(number)), 41 + number) for number in range(grown)))
    world.run = start
    refused = world.shell.type(RUN)
    assert (refused.code, refused.error, said in refused.err) == (1, OffsetGapError.__name__, True)
    assert refused.remedy.startswith(remedy)
    assert "leave the topic out (kafka.topics, or a kafka.pattern that does not match it)" in refused.remedy
    world.log.left_out.add(world.topic)
    world.send(USERS.create(row(3), 40))
    assert world.shell.type(RUN).code == 0
    assert world.shell.type(f"cdc-bridge resync CONFIG {NAME}", beside=world.live).code == 1
    parked = world.table.parked
    assert parked is not None
    assert parked.reason == "excluded"
    assert world.ledger.tables[OTHER_NAME].status is TableStatus.STREAMING
    assert world.rows(OTHER_NAME) == [row(1), row(2), row(3)]
    assert {path: body for path, body in world.files().items() if path in files} == files
    assert "carry its tables with a second bridge" in refused.remedy
    (tmp_path / "second").mkdir()
    second = World(tmp_path / "second")
    read = [dataclasses.replace(record, topic=ORDERS.topic) for record in world.log.partitions[world.topic][0]]
    second.log.partitions[ORDERS.topic] = {0: read}
    second.send(*world.snapshot)
    second.live()
    require_health(second)


def test_records_gone(world: Site) -> None:
    """RecordsGoneError is what the driver answers."""
    assert world.shell.type(f"cdc-bridge pause CONFIG {NAME}", beside=world.live).code == 0
    world.send(ORDERS.create(row(9), 29), ORDERS.delete(row(9), 30))
    world.live()
    world.expire(6)
    refused = world.shell.type(f"cdc-bridge resume CONFIG {NAME}", beside=world.live)
    assert refused.code == 1
    assert "retention has removed what the table has to catch up from" in refused.out
    carry_out(world, refused.remedy, "resync")
    require_health(world)


def test_rebuilt_since(world: Site) -> None:
    before = world.ledger.version
    carry_out(world, f"`cdc-bridge resync CONFIG {NAME}`", "resync")
    refused = world.shell.type(f"cdc-bridge replay ZONE --version {before}")
    assert (refused.code, refused.error) == (1, RebuiltSinceError.__name__)
    log = world.shell.follow(refused.remedy, "ledger log")
    assert (log.code, f"  deleting: {NAME}\n" in log.out) == (0, True)
    newest = re.findall(r"^version (\d+)", log.out, re.MULTILINE)[0]
    replayed = world.shell.type(f"cdc-bridge replay ZONE --table {NAME} --version {newest}")
    assert (replayed.code, replayed.told, "2 rows" in replayed.out) == (0, [], True)
    require_health(world)
