"""A table without a key is rebuilt by a blocking snapshot, and none of its rows lands twice."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from msgspec.structs import replace

from connectors.kafka.signals import INITIAL_SNAPSHOT, SnapshotKind
from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Dropped, Rebuild, RebuildKind, Relation, TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.lifecycle.connector_runs import ToldSnapshots
from streaming.lifecycle.filling import Filling
from streaming.policies import OnKeyChange, OnMissingKey
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, World
from tests.unit.streaming.told_runs import scan, told

GONE = Dropped(0, f"{99:016x}{99:016x}", generation=1)


class TestKeyless:
    @pytest.fixture(autouse=True)
    def _append(self, world: World) -> None:
        world.policies = {"on_missing_key": OnMissingKey.APPEND}

    keyless = Table(TOPIC, key=())

    def test_a_blocking_snapshot_fills_it_and_what_came_before_is_in_it(self, world: World) -> None:
        keyless = self.keyless
        world.send(keyless.read(row(1), 10), keyless.create(row(2), 20))
        world.live()
        world.ask()
        world.driver().drain()
        [(_, signal)] = world.signals.values()
        assert signal.kind is SnapshotKind.BLOCKING
        world.send(keyless.create(row(3), 30))
        world.snapshot = (keyless.read(row(1), 40), keyless.read(row(2), 40), keyless.read(row(3), 40))
        world.live()
        world.send(keyless.create(row(4), 50))
        world.live()
        assert world.rows() == [row(1), row(2), row(3), row(4)]
        assert world.table.status is TableStatus.STREAMING

    def test_a_partition_that_is_added_while_the_snapshot_fills_it_stops_it_before_a_row_is_missing(
        self, world: World
    ) -> None:
        keyless = self.keyless
        world.send(keyless.read(row(1), 10), keyless.create(row(2), 20))
        world.live()
        world.ask()
        world.driver().drain()
        world.snapshot = (keyless.read(row(1), 40), keyless.read(row(2), 40))
        world.log.partitions[TOPIC][1] = []
        # The snapshot's rows come in partition 0, and what is committed behind it in the new one.
        world.send(keyless.at(1).create(row(3), 50))
        world.live()
        assert (world.table.status, world.table.parked and world.table.parked.reason) == (
            TableStatus.PARKED,
            "snapshot_failed",
        )
        assert world.table.parked is not None
        assert world.table.parked.message.startswith("it has no key and several partitions feed it, or may")
        assert world.table.parked.remedy == (
            f"declare key columns for the table in the settings, restart, then `cdc-bridge resync CONFIG {NAME}`"
        )

    def test_a_blocking_snapshot_that_nobody_asked_for_parks_it_before_a_row_is_doubled(self, world: World) -> None:
        keyless = self.keyless
        world.send(keyless.read(row(1), 10), keyless.create(row(2), 20))
        world.live()
        world.send(keyless.read(row(1), 40), keyless.read(row(2), 40), keyless.create(row(3), 41))
        world.live()
        assert world.table.parked is not None
        assert (world.table.parked.reason, world.table.parked.offset) == ("second_snapshot", 2)
        assert world.rows() == [row(1), row(2)]

    def test_a_second_initial_snapshot_rebuilds_it_although_it_has_streamed(self, world: World) -> None:
        keyless, again = self.keyless, Table(TOPIC, key=(), run="run-2")
        world.send(keyless.read(row(1), 10), keyless.create(row(2), 20))
        world.live()
        world.send(again.read(row(2), 40), again.create(row(3), 41))
        world.live()
        assert (world.table.generation, world.rows()) == (2, [row(2), row(3)])

    def test_one_that_is_paused_while_it_waits_for_its_snapshot_takes_it_up_when_it_goes_on(self, world: World) -> None:
        world.policies = {"on_missing_key": OnMissingKey.APPEND}
        keyless = Table(TOPIC, key=())
        world.send(keyless.read(row(1), 10), keyless.create(row(3), 20))
        world.live()
        world.ask()
        world.driver().drain()
        assert world.table.status is TableStatus.FILLING
        world.ask(new_request(Action.PAUSE, now_ms=2, by="ann@home", table=NAME))
        world.driver().drain()
        world.send(keyless.create(row(4), 25))  # the blocking snapshot, which begins behind it, contains it
        world.snapshot = (keyless.read(row(1), 30), keyless.read(row(3), 30), keyless.read(row(4), 30))
        world.answer_signals()
        world.driver().drain()
        world.ask(new_request(Action.RESUME, now_ms=3, by="ann@home", table=NAME))
        world.live()
        assert (world.table.status, world.table.parked) == (TableStatus.STREAMING, None)
        assert world.rows() == [row(1), row(3), row(4)]

    @pytest.mark.parametrize("paused", [True, False])
    def test_it_does_not_begin_anew_while_its_snapshot_may_be_on_its_way(self, world: World, paused: bool) -> None:
        keyless = self.keyless
        world.send(keyless.read(row(1), 10), keyless.create(row(2), 20))
        world.live()
        world.ask()
        world.driver().drain()
        world.send(keyless.read(row(1), 30))  # the blocking snapshot has begun
        world.driver().drain()
        if paused:
            world.ask(new_request(Action.PAUSE, now_ms=2, by="ann@home", table=NAME))
            world.driver().drain()
        before, files = world.table, world.files()
        again = new_request(Action.RESYNC, now_ms=3, by="ann@home", table=NAME, arguments={"restart": "yes"})
        world.ask(again)
        world.driver().do_chores()
        answer = world.answered(again)
        assert (answer.accepted, answer.message) == (
            False,
            f"{NAME} has no key, and Debezium has not said yet that the snapshot which it was asked for is over: the "
            "rows of a second one would land beside those of the first",
        )
        assert answer.remedy.startswith("wait until `cdc-bridge status CONFIG` shows the table streaming")
        assert (world.table, world.files()) == (before, files)

        world.answer_signals()  # Debezium says now that it is over
        later = new_request(Action.RESYNC, now_ms=4, by="ann@home", table=NAME, arguments={"restart": "yes"})
        world.ask(later)
        world.driver().do_chores()
        answer = world.answered(later)
        assert answer.accepted

    def test_it_waits_until_the_snapshot_that_loads_it_is_over_and_says_so_once(
        self, world: World, caplog: pytest.LogCaptureFixture
    ) -> None:
        keyless = self.keyless
        world.told += [told(Progress.STARTED, 1_100)]
        world.send(keyless.read(row(1), 10), keyless.read(row(2), 10))
        world.live()
        world.ask()
        driver = world.driver()
        with caplog.at_level(logging.WARNING):
            driver.drain()
            driver.drain()
        assert (world.table.status, world.signals, world.rows()) == (TableStatus.DELETING, {}, [row(1), row(2)])
        [said] = [one.getMessage() for one in caplog.records]
        assert said == "public.orders: its rebuild waits until the snapshot that the connector makes is over"

        world.send(keyless.read(row(3), 10), keyless.read(row(4), 10))
        world.told += [scan(1_900, 4), told(Progress.COMPLETED, 1_910)]
        world.snapshot = tuple(keyless.read(row(number), 30) for number in (1, 2, 3, 4))
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(1), row(2), row(3), row(4)])

    def test_a_driver_asks_every_two_seconds_whether_that_is_over(self, world: World) -> None:
        world.told += [told(Progress.STARTED, 1_100)]
        world.send(self.keyless.read(row(1), 10))
        world.live()
        table, rebuild, seconds = world.table, Rebuild(RebuildKind.SNAPSHOT, "resync", keyless=True), [0.0]
        debezium = world.debezium()
        filling, seen = Filling(world.job, debezium, clock=lambda: seconds[0]), ToldSnapshots(debezium)
        assert filling.held_up(NAME, table, rebuild, seen)
        world.told += [told(Progress.COMPLETED, 1_200)]
        seconds[0] = 1.9
        assert filling.held_up(NAME, table, rebuild, seen)
        seconds[0] = 2.0
        assert not filling.held_up(NAME, table, rebuild, seen)

    def test_an_empty_snapshot_lets_what_was_passed_over_land(self, world: World) -> None:
        keyless = self.keyless
        world.send(keyless.create(row(1), 20))
        world.live()
        world.ask()
        world.driver().drain()
        world.answer_signals()
        world.send(keyless.create(row(3), 60))
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(3)])


class TestDroppedKey:
    """Debezium makes no incremental snapshot of a table without key, so one that has lost its key gets none."""

    keyless = Table(TOPIC, key=())

    def begun(self, world: World, **policies: Any) -> World:
        """A table with a key that streams, and what a snapshot of it without key has."""
        world.policies = {"on_missing_key": OnMissingKey.APPEND, **policies}
        world.send(ORDERS.read(row(1), 10), ORDERS.create(row(2), 20))
        world.live()
        world.snapshot = tuple(self.keyless.read(row(number), 40) for number in (1, 2, 3))
        return world

    def test_a_blocking_snapshot_rebuilds_the_table_as_one_that_appends(self, world: World) -> None:
        self.begun(world, on_key_change=OnKeyChange.REBUILD)
        world.send(self.keyless.create(row(3), 30))
        world.live()
        world.send(self.keyless.create(row(3), 50))
        world.live()
        assert [signal.kind for _, signal in world.signals.values()] == [SnapshotKind.BLOCKING]
        assert (world.table.status, world.table.generation, world.table.keys) == (TableStatus.STREAMING, 2, ())
        assert world.rows() == [row(1), row(2), row(3), row(3)]

    def test_a_rebuild_that_is_begun_anew_asks_for_the_same(self, world: World) -> None:
        self.begun(world, on_key_change=OnKeyChange.REBUILD).release_wait = 60.0
        world.send(self.keyless.create(row(3), 30))
        world.driver().drain()
        assert world.table.status is TableStatus.DELETING
        world.ask(new_request(Action.RESYNC, now_ms=3, by="ann@home", table=NAME, arguments={"restart": "yes"}))
        world.driver().drain()
        world.release_wait = 0.0
        world.live()
        assert [signal.kind for _, signal in world.signals.values()] == [SnapshotKind.BLOCKING]
        assert world.rows() == [row(1), row(2), row(3)]

    def test_so_does_a_resync_of_the_table_that_has_parked(self, world: World) -> None:
        self.begun(world)
        world.send(self.keyless.create(row(3), 30))
        world.live()
        assert world.table.parked is not None
        assert world.table.parked.reason == "missing_key"
        world.ask()
        world.live()
        assert [signal.kind for _, signal in world.signals.values()] == [SnapshotKind.BLOCKING]
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(1), row(2), row(3)])

    @pytest.mark.parametrize(
        ("left", "told"),
        [
            ({"dropped": GONE}, "dropped the table"),
            ({"dropped": replace(GONE, renamed="shop.renamed")}, "renamed the table to shop.renamed"),
            ({"relation": Relation("77/5", 12, "public.renamed")}, "renamed the table to public.renamed"),
        ],
    )
    def test_a_table_that_the_source_has_dropped_or_renamed_keeps_its_rows(
        self, world: World, left: dict[str, Any], told: str
    ) -> None:
        """Debezium sends what it decodes after that without key."""
        self.begun(world, on_key_change=OnKeyChange.REBUILD)
        driver = world.driver()
        driver.ledger.commit(Draft(tables={NAME: replace(world.table, **left)}))
        world.send(self.keyless.create(row(3), 30))
        world.live()
        parked = world.table.parked
        assert parked is not None
        assert (parked.reason, world.signals, world.rows()) == ("missing_key", {}, [row(1), row(2)])
        assert parked.message.endswith(f"it is not rebuilt, since the source has {told}")

    def test_without_notifications_it_stays_parked_and_its_rows_stay(self, world: World) -> None:
        self.begun(world, on_key_change=OnKeyChange.REBUILD).notifies = False
        world.send(self.keyless.create(row(3), 30))
        world.live()
        parked = world.table.parked
        assert parked is not None
        assert (parked.reason, world.signals, world.rows()) == ("missing_key", {}, [row(1), row(2)])
        assert parked.remedy.startswith("set source.notifications_topic")

    def test_a_resync_before_any_record_shows_it_fails_and_the_next_one_asks_for_a_blocking_snapshot(
        self, world: World
    ) -> None:
        self.begun(world)
        world.ask()
        world.driver().drain()
        [(identity, (_, signal))] = world.signals.items()
        assert signal.kind is SnapshotKind.INCREMENTAL
        world.notify(
            Progress.TABLE_SCAN_COMPLETED, identity, scanned_collection="public.orders", status="NO_PRIMARY_KEY"
        )
        world.driver().drain()
        assert world.table.parked is not None
        assert world.table.parked.reason == "snapshot_failed"
        world.signals.clear()
        world.ask(new_request(Action.RESYNC, now_ms=3, by="ann@home", table=NAME))
        world.live()
        assert [signal.kind for _, signal in world.signals.values()] == [SnapshotKind.BLOCKING]
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(1), row(2), row(3)])


def test_a_blocking_snapshot_of_another_table_is_not_taken_for_ours(world: World) -> None:
    world.policies = {"on_missing_key": OnMissingKey.APPEND}
    keyless = Table(TOPIC, key=())
    world.send(keyless.read(row(1), 10))
    world.live()
    world.ask()
    world.driver().drain()
    world.notify(Progress.STARTED, "x", INITIAL_SNAPSHOT)
    world.notify(
        Progress.TABLE_SCAN_COMPLETED,
        "x",
        INITIAL_SNAPSHOT,
        scanned_collection="public.users",
        status="SUCCEEDED",
    )
    world.notify(Progress.COMPLETED, "x", INITIAL_SNAPSHOT)
    world.driver().drain()
    rebuild = world.table.rebuild
    assert rebuild is not None
    assert (world.table.status, rebuild.kind, rebuild.keyless) == (TableStatus.FILLING, RebuildKind.SNAPSHOT, True)
