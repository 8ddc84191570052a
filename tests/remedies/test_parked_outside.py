"""A table that people, Kafka, the source's log or a lost ledger stopped, through its remedy to one that streams."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.errors import Terminal
from connectors.landing_zone.requests import Action
from streaming.lifecycle.recreated_topics import park_recreated
from streaming.lifecycle.retention import park_behind_retention
from streaming.lifecycle.stopping import stop_table
from streaming.policies import OnDrop, OnTruncate
from streaming.zones.rebuilding_ledger import make_ledger_again
from tests.remedies.lost_files import healthy
from tests.remedies.parked_tables import ask_for, carry_on, land, require_parked, require_refused, require_streaming
from tests.remedies.parks import documented
from tests.support.mariadb_events import MariaTable, ddl
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, USERS, Scratch, World
from tests.unit.streaming.test_rebuild_drops import scanned

MARIA = "shop.orders"
MARIA_ORDERS = MariaTable()
DROP = ddl("DROP TABLE `orders`", ("DROP", "orders"), pos=20)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two rows of a table that streams, and what a snapshot of it would bring later on."""
    made = World(tmp_path)
    land(made, ORDERS.read(row(1), 10), USERS.read(row(1), 10), ORDERS.create(row(2), 11))
    made.snapshot = (ORDERS.reread(row(1), 80), ORDERS.reread(row(9), 80))
    return made


@pytest.fixture
def maria(tmp_path: Path) -> World:
    """Two rows of a table whose source tells of its statements."""
    made = World(tmp_path, policies={"schema_template": "{database}"})
    land(made, MARIA_ORDERS.read(row(1), 5), MARIA_ORDERS.create(row(2), 10))
    return made


class TestRecreated:
    @pytest.fixture
    def recreated(self, maria: World) -> World:
        land(maria, DROP)
        land(maria, MARIA_ORDERS.create(row(7), 30), MARIA_ORDERS.create(row(8), 31))
        return maria

    def test_the_rows_may_stay(self, recreated: World) -> None:
        remedy = require_parked(recreated, "recreated", MARIA)
        recreated.policies["on_truncate"] = OnTruncate.IGNORE
        carry_on(recreated, remedy, Action.RESUME, MARIA)
        require_streaming(recreated, [row(1), row(2), row(7), row(8)], MARIA)

    def test_the_table_begins_anew(self, recreated: World) -> None:
        recreated.takes_signals = False
        carry_on(recreated, require_parked(recreated, "recreated", MARIA), Action.RESYNC, MARIA)
        require_streaming(recreated, [row(7), row(8)], MARIA)


def test_dropped(maria: World) -> None:
    """There is nothing to do: the mirror goes, and a table of that name that is made later begins anew."""
    maria.policies["on_drop"] = OnDrop.DROP
    maria.release_wait = 60.0
    maria.send(DROP)
    maria.driver().land()
    require_parked(maria, "dropped", MARIA)
    maria.release_wait = 0.0
    healthy(maria)
    assert maria.files() == {}
    land(maria, MARIA_ORDERS.create(row(7), 30), MARIA_ORDERS.create(row(8), 31))
    require_streaming(maria, [row(7), row(8)], MARIA)


class TestColumnReplaced:
    @pytest.fixture
    def replaced(self, maria: World) -> World:
        """The second column is dropped, and another one gets its name."""
        land(
            maria,
            ddl("ALTER TABLE orders DROP name", ("ALTER", "orders"), pos=20, columns=("id",)),
            ddl("ALTER TABLE orders ADD name text", ("ALTER", "orders"), pos=21, columns=("id", "name")),
        )
        land(maria, MARIA_ORDERS.create(row(7, "seven"), 30))
        return maria

    def test_the_values_may_stay(self, replaced: World) -> None:
        remedy = require_parked(replaced, "column_replaced", MARIA)
        replaced.policies["on_truncate"] = OnTruncate.IGNORE
        carry_on(replaced, remedy, Action.RESUME, MARIA)
        require_streaming(replaced, [row(1), row(2), row(7, "seven")], MARIA)

    def test_the_table_begins_anew(self, replaced: World) -> None:
        remedy = require_parked(replaced, "column_replaced", MARIA)
        asked = ask_for(replaced, remedy, Action.RESYNC, MARIA)
        replaced.driver().drain()
        replaced.send(*(MARIA_ORDERS.read(row(key, f"new {key}"), 80) for key in (1, 2, 7)))
        scanned(replaced)
        replaced.live()
        assert replaced.answered(asked).accepted
        require_streaming(replaced, [row(key, f"new {key}") for key in (1, 2, 7)], MARIA)


class TestRetentionPassed:
    @pytest.fixture
    def expired(self, world: World) -> World:
        """Two of three rows were removed while no bridge ran."""
        world.send(*(ORDERS.create(row(key), 20 + key) for key in (5, 6, 7)))
        world.log.earliest[TOPIC, 0] = 4
        driver = world.driver()
        park_behind_retention(driver.ledger, world.log.describe(sorted(world.log.partitions)))
        return world

    def test_the_table_begins_anew(self, expired: World) -> None:
        remedy = require_parked(expired, "retention_passed")
        require_refused(expired, Action.RESUME)
        expired.snapshot = tuple(ORDERS.reread(row(key), 80) for key in (1, 2, 5, 6, 7))
        carry_on(expired, remedy, Action.RESYNC)
        require_streaming(expired, [row(key) for key in (1, 2, 5, 6, 7)])


def test_topic_recreated(world: World) -> None:
    world.log.partitions[TOPIC] = {0: []}
    world.log.ids[TOPIC] = "another"
    world.send(ORDERS.create(row(3), 30))
    driver = world.driver()
    park_recreated(driver.ledger, world.log.describe(sorted(world.log.partitions)))
    remedy = require_parked(world, "topic_recreated")
    require_refused(world, Action.RESUME)
    world.snapshot = tuple(ORDERS.reread(row(key), 80) for key in (1, 3))
    carry_on(world, remedy, Action.RESYNC)
    require_streaming(world, [row(1), row(3)])


def test_paused(world: World) -> None:
    """Nothing is missing of what was passed over."""
    carry_on(world, f"cdc-bridge pause CONFIG {NAME}", Action.PAUSE)
    land(world, ORDERS.update(row(1, "uno"), 20), ORDERS.create(row(3), 21))
    assert world.rows() == [row(1), row(2)]
    carry_on(world, require_parked(world, "paused"), Action.RESUME)
    require_streaming(world, [row(1, "uno"), row(2), row(3)])


class Refused(Terminal):
    """An error of one table that does not pass."""


class TestFailed:
    @pytest.fixture
    def failed(self, world: World) -> World:
        """The table fails while it catches up."""
        carry_on(world, f"cdc-bridge pause CONFIG {NAME}", Action.PAUSE)
        land(world, ORDERS.create(row(3), 20))
        stop_table(world.driver().ledger, NAME, Refused("the folder may not be written", remedy="grant it"))
        land(world, ORDERS.create(row(4), 21))
        return world

    def test_the_table_goes_on_once_the_cause_is_mended(self, failed: World) -> None:
        require_parked(failed, "failed", beneath="paused")
        carry_on(failed, documented()["failed"], Action.RESUME)
        carry_on(failed, require_parked(failed, "paused"), Action.RESUME)
        require_streaming(failed, [row(1), row(2), row(3), row(4)])

    def test_the_table_begins_anew(self, failed: World) -> None:
        failed.snapshot = tuple(ORDERS.reread(row(key), 80) for key in (1, 2, 3, 4))
        require_parked(failed, "failed", beneath="paused")
        carry_on(failed, documented()["failed"], Action.RESYNC)
        require_streaming(failed, [row(1), row(2), row(3), row(4)])


def test_ledger_rebuilt(world: World) -> None:
    """The ledger is lost with its copy, and made again from the zone."""
    world.state.files.clear()
    zone, state = Scratch(world.zone, None, world.work), Scratch(world.state, None, world.work)
    made = make_ledger_again(zone, state, look_only=False, now_ms=lambda: 0)
    assert made.written is not None
    remedy = require_parked(world, "ledger_rebuilt")
    require_refused(world, Action.RESUME)
    world.snapshot = tuple(ORDERS.reread(row(key), 80) for key in (1, 2))
    carry_on(world, remedy, Action.RESYNC)
    land(world, ORDERS.create(row(3), 90))
    require_streaming(world, [row(1), row(2), row(3)])
