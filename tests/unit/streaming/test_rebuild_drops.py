"""The source drops a table while its rebuild waits for the snapshot, or for anything before."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.state import TableState, TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.policies import OnDrop, OnTruncate
from tests.support.mariadb_events import MariaTable, ddl
from tests.unit.landing_zone.memory_storage import Crash
from tests.unit.streaming.landed_shop import row
from tests.unit.streaming.rebuild_world import World, dies_at

ORDERS = MariaTable()
NAME = "shop.orders"
DROP = ddl("DROP TABLE `orders`", ("DROP", "orders"), pos=50)
RESYNC = new_request(Action.RESYNC, now_ms=1, by="ann@home", table=NAME)


def table(world: World) -> TableState:
    return world.ledger.tables[NAME]


def loaded(world: World, on_drop: OnDrop) -> World:
    """A table that streams."""
    world.policies |= {"schema_template": "{database}", "on_drop": on_drop}
    world.send(ORDERS.read(row(1), 5), ORDERS.create(row(2), 10))
    world.live()
    return world


def filling(world: World, on_drop: OnDrop = OnDrop.DROP) -> World:
    """The table whose snapshot has been asked for."""
    loaded(world, on_drop).ask(RESYNC)
    world.driver().drain()
    assert table(world).status is TableStatus.FILLING
    return world


def scanned(world: World, **details: Any) -> None:
    """Debezium says of the snapshot that was asked for how it ended."""
    [signal] = world.signals
    world._answered.add(signal)
    world.notify(
        Progress.TABLE_SCAN_COMPLETED, signal, scanned_collection="shop.orders", **{"status": "SUCCEEDED", **details}
    )
    world.notify(Progress.COMPLETED, signal)


def standing(world: World) -> tuple[TableStatus, int, bool]:
    """Status and generation, and whether the replicator finds a folder."""
    return table(world).status, table(world).generation, bool(world.files())


class TestTheMirrorGoesWithIt:
    def test_where_the_snapshot_was_made_before(self, world: World) -> None:
        filling(world).send(ORDERS.read(row(1), 40), ORDERS.read(row(2), 40))
        world.driver().drain()
        world.send(DROP)
        world.driver().land()
        scanned(world)
        world.live()
        assert standing(world) == (TableStatus.LOADING, 3, False)
        assert len(world.signals) == 1

    def test_where_the_snapshot_finds_no_table(self, world: World) -> None:
        filling(world).send(DROP)
        world.driver().land()
        scanned(world, status="UNKNOWN_SCHEMA")
        world.live()
        assert standing(world) == (TableStatus.LOADING, 3, False)

    def test_where_nothing_has_been_asked_for_yet(self, world: World) -> None:
        loaded(world, OnDrop.DROP)
        world.release_wait = 60.0
        world.ask(RESYNC)
        world.driver().do_chores()
        world.now_ms += 60_000

        driver = world.driver()
        while table(world).status is not TableStatus.CLEARED:
            driver.chores.run()
        world.send(DROP)
        driver.land()
        world.release_wait = 0.0
        world.live()
        assert (*standing(world), world.signals) == (TableStatus.LOADING, 3, False, {})

    def test_where_the_driver_dies_in_between(self, world: World) -> None:
        filling(world).send(ORDERS.read(row(1), 40))
        world.driver().drain()
        scanned(world)
        world.send(DROP)
        with pytest.raises(Crash):
            world.driver(dies_at("delete_folder", "orders")).drain()
        world.live()
        assert standing(world) == (TableStatus.LOADING, 3, False)

    def test_and_the_table_that_is_made_again_begins_it_anew(self, world: World) -> None:
        filling(world).send(DROP)
        world.driver().land()
        scanned(world, status="UNKNOWN_SCHEMA")
        world.live()
        world.send(ORDERS.create(row(7), 60))
        world.live()
        assert world.rows(NAME) == [row(7)]


class TestTheMirrorStays:
    def test_where_the_settings_keep_it(self, world: World) -> None:
        filling(world, OnDrop.KEEP).send(ORDERS.read(row(1), 40), DROP)
        world.driver().land()
        scanned(world)
        world.live()
        assert (standing(world), world.rows(NAME)) == ((TableStatus.STREAMING, 2, True), [row(1)])

    def test_where_it_is_kept_and_the_snapshot_finds_no_table_a_person_is_told(self, world: World) -> None:
        filling(world, OnDrop.KEEP).send(DROP)
        world.driver().land()
        scanned(world, status="UNKNOWN_SCHEMA")
        world.live()
        parked = table(world).parked
        assert parked is not None
        assert (parked.reason, parked.message, parked.remedy) == (
            "snapshot_failed",
            "the snapshot that was to fill the table failed: Debezium could not read the table: UNKNOWN_SCHEMA; the "
            "source has dropped the table meanwhile",
            f"nothing, if the table is gone for good; once it is made again, `cdc-bridge resync CONFIG {NAME}`",
        )

    @pytest.mark.parametrize("policy", [OnDrop.KEEP, OnDrop.DROP])
    def test_where_it_was_renamed_and_the_snapshot_finds_no_table_the_new_name_is_told(
        self, world: World, policy: OnDrop
    ) -> None:
        filling(world, policy).send(ddl("RENAME TABLE orders TO renamed", ("ALTER", "renamed"), pos=50))
        world.driver().land()
        scanned(world, status="UNKNOWN_SCHEMA")
        world.live()
        parked = table(world).parked
        assert parked is not None
        assert (parked.reason, parked.message, parked.remedy) == (
            "snapshot_failed",
            "the snapshot that was to fill the table failed: Debezium could not read the table: UNKNOWN_SCHEMA; the "
            "source has renamed the table to shop.renamed meanwhile",
            "`cdc-bridge resync CONFIG NEW_TABLE` for the table of the new name, whose mirror has only what changed "
            f"since; once another one of the old name is made, `cdc-bridge resync CONFIG {NAME}`",
        )

    def test_where_the_table_is_back_already(self, world: World) -> None:
        filling(world).send(DROP, ORDERS.create(row(7), 60))
        world.driver().land()
        scanned(world)
        world.live()
        assert (standing(world), world.rows(NAME)) == ((TableStatus.STREAMING, 2, True), [row(7)])

    def test_where_it_was_dropped_before_the_rebuild(self, world: World) -> None:
        loaded(world, OnDrop.KEEP).send(DROP)
        world.live()
        world.policies["on_drop"] = OnDrop.DROP
        world.ask(RESYNC)
        world.driver().drain()
        world.send(ORDERS.read(row(8), 70))
        world.driver().land()
        scanned(world)
        world.live()
        assert (standing(world), world.rows(NAME)) == ((TableStatus.STREAMING, 2, True), [row(8)])


class TestToldOnlyBehindRowsOfTheTableThatWasMadeAgain:
    def told_late(self, world: World) -> World:
        """The table that is being filled has rows from before the drop and from behind it."""
        world.send(ORDERS.create(row(3), 40), ORDERS.create(row(7), 60))
        world.driver().land()
        world.send(DROP)
        world.driver().land()
        return world

    def test_the_table_stands_still(self, world: World) -> None:
        self.told_late(filling(world, OnDrop.KEEP))
        parked = table(world).parked
        assert parked is not None
        assert (table(world).status, parked.reason, parked.rebuild, parked.resume) == (
            TableStatus.PARKED,
            "recreated",
            None,
            {ORDERS.topic: {0: 4}},
        )

    @pytest.mark.parametrize("on_drop", [OnDrop.KEEP, OnDrop.DROP])
    def test_and_waits_for_its_snapshot_again_if_its_rows_may_stay(self, world: World, on_drop: OnDrop) -> None:
        """The table is back, so its mirror does not go with the one that was dropped."""
        self.told_late(filling(world, on_drop))
        world.ask(new_request(Action.RESUME, now_ms=2, by="ann@home", table=NAME))
        world.driver().drain()
        assert table(world).status is TableStatus.FILLING
        world.send(ORDERS.read(row(7), 70))
        scanned(world)
        world.live()
        assert (table(world).status, world.rows(NAME)) == (TableStatus.STREAMING, [row(3), row(7)])

    def test_or_is_filled_anew_where_the_policy_says_so(self, world: World) -> None:
        world.policies["on_truncate"] = OnTruncate.REBUILD
        self.told_late(filling(world, OnDrop.KEEP))
        world._answered.update(world.signals)
        world.snapshot = (ORDERS.read(row(7), 70),)
        world.live()
        assert (standing(world), world.rows(NAME)) == ((TableStatus.STREAMING, 3, True), [row(7)])

    def test_kafka_does_not_tell_which_rows_are_of_the_new_table(self, world: World) -> None:
        loaded(world, OnDrop.KEEP).takes_signals = False
        world.send(ORDERS.create(row(7), 60))
        world.driver().land()
        world.send(DROP)
        world.driver().land()
        before = table(world)
        assert before.parked is not None
        assert before.parked.reason == "recreated"
        world.ask(RESYNC)
        world.driver().drain()
        assert (world.answered(RESYNC).accepted, table(world)) == (False, before)
