"""A second initial snapshot of a table that is empty at the source has no row, and only a notification tells of it."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.state import SnapshotIdentity, TableState, TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.lifecycle.debezium import rows_scanned
from streaming.lifecycle.empty_snapshots import EmptyScan, empty_scans, left_behind
from streaming.policies import OnResnapshot, TableMode
from tests.support.records import Table
from tests.unit.landing_zone.memory_storage import Crash
from tests.unit.streaming.landed_shop import TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, World, dies_at
from tests.unit.streaming.told_runs import run_id, scan, snapshot, told

FIRST, SECOND, THIRD = run_id(1_000), run_id(20_000), run_id(30_000)
ORDERS, USERS = Table(TOPIC, run=FIRST), Table("shop.public.users", "users", run=FIRST)
ORDERS_AGAIN, USERS_AGAIN = Table(TOPIC, run=SECOND), Table("shop.public.users", "users", run=SECOND)


def users(ms: int, rows: int) -> Any:
    return scan(ms, rows, "public.users")


@pytest.fixture
def shop(world: World) -> World:
    """Two tables that the first run has loaded and streamed."""
    world.told += snapshot(1_100, scan(1_101, 2), users(1_102, 1))
    world.send(ORDERS.read(row(1), 10), ORDERS.read(row(2), 10), USERS.read(row(1), 10))
    world.send(ORDERS.update(row(1, "uno"), 20), USERS.create(row(2), 21))
    world.live()
    return world


def emptied(world: World) -> None:
    """The connector is made anew when the orders are empty at the source; its snapshot has rows of the users only."""
    world.told += snapshot(20_100, scan(20_101, 0), users(20_102, 1))
    world.send(USERS_AGAIN.read(row(1), 90))


def folders(world: World) -> set[str]:
    """The tables that the replicator finds."""
    return {path.split("/")[-2] for path in world.files()}


class TestRebuild:
    def test_the_rows_that_were_deleted_unseen_are_gone(self, shop: World) -> None:
        emptied(shop)
        shop.live()
        assert (folders(shop), shop.table.generation, shop.table.status) == ({"users"}, 2, TableStatus.STREAMING)
        assert shop.rows("public.users") == [row(1)]
        assert [signal.collection for _, signal in shop.signals.values()] == ["public.orders"]

    def test_rows_of_the_new_run_stay_whenever_they_are_read(self, shop: World) -> None:
        emptied(shop)
        shop.send(ORDERS_AGAIN.create(row(7), 91))
        shop.snapshot = (ORDERS_AGAIN.reread(row(7), 95),)
        shop.live()
        shop.send(ORDERS_AGAIN.create(row(8), 96))
        shop.live()
        assert (shop.rows(), shop.table.generation) == ([row(7), row(8)], 2)

    def test_a_table_that_still_loads_is_rebuilt_too(self, world: World) -> None:
        world.told += snapshot(1_100)
        world.send(ORDERS.read(row(1), 10), USERS.read(row(1), 10))
        world.live()
        assert world.table.status is TableStatus.LOADING
        emptied(world)
        world.live()
        assert (folders(world), world.table.generation) == ({"users"}, 2)

    def test_an_event_of_the_table_itself_shows_the_run(self, shop: World) -> None:
        shop.told += snapshot(20_100, scan(20_101, 0))
        shop.live()
        assert shop.table.generation == 1, "nothing says yet that it is not a blocking snapshot of the first run"
        shop.snapshot = (ORDERS_AGAIN.reread(row(7), 95),)
        shop.send(ORDERS_AGAIN.create(row(7), 91))
        shop.live()
        assert (shop.rows(), shop.table.generation) == ([row(7)], 2)

    def test_once_over_any_number_of_starts(self, shop: World) -> None:
        emptied(shop)
        shop.live()
        shop.send(ORDERS_AGAIN.create(row(7), 91))
        for _ in range(3):
            shop.live()
        assert (shop.rows(), shop.table.generation, len(shop.signals)) == ([row(7)], 2, 1)

    def test_again_after_the_next_such_snapshot(self, shop: World) -> None:
        emptied(shop)
        shop.live()
        shop.send(ORDERS_AGAIN.create(row(7), 91))
        shop.live()
        shop.told += snapshot(30_100, scan(30_101, 0))
        shop.send(Table(TOPIC, run=THIRD).create(row(9), 191))
        shop.snapshot = (Table(TOPIC, run=THIRD).reread(row(9), 195),)
        shop.live()
        assert (shop.rows(), shop.table.generation) == ([row(9)], 3)

    def test_a_start_that_is_read_twice_hides_nothing(self, shop: World) -> None:
        driver = shop.driver()
        debezium = shop.debezium()

        def heard() -> Mapping[int, int]:
            ends = {0: len(shop.told)}
            if len(shop.told) == 4:  # the start comes right behind the question where the topic ends
                shop.told.append(told(Progress.STARTED, 20_100))
            return ends

        driver.emptied._told._debezium = dataclasses.replace(debezium, heard=heard)
        driver.do_chores()
        shop.told += [scan(20_101, 0), users(20_102, 1), told(Progress.COMPLETED, 20_110)]
        shop.send(USERS_AGAIN.read(row(1), 90))
        driver.drain()
        assert [signal.collection for _, signal in shop.signals.values()] == ["public.orders"]
        shop.live()
        assert (folders(shop), shop.table.generation) == ({"users"}, 2)

    def test_it_comes_out_the_same_if_the_driver_dies_on_the_way(self, shop: World) -> None:
        emptied(shop)
        with pytest.raises(Crash):
            shop.driver(dies_at("delete_folder", "orders")).drain()
        shop.live()
        assert (folders(shop), shop.table.generation, len(shop.signals)) == ({"users"}, 2, 1)

    def test_without_signals_the_table_parks_with_its_rows_and_says_why(self, shop: World) -> None:
        shop.takes_signals = False
        emptied(shop)
        shop.live()
        parked = shop.table.parked
        assert parked is not None
        assert (parked.reason, parked.rebuild, parked.resume) == ("second_snapshot", None, {TOPIC: {0: 3}})
        assert parked.message == (
            "a second initial snapshot found the table empty at the source, and rows had landed before it; those whose "
            "deletes were not sent by then are still in the mirror; it is not rebuilt, since the settings do not say "
            "how Debezium takes signals, so no snapshot can be asked for"
        )
        assert parked.remedy.startswith("set source.signals.topic")
        assert len(shop.rows()) == 2


class TestOtherPolicies:
    def test_park_stops_the_table_once(self, shop: World) -> None:
        shop.policies = {"on_resnapshot": OnResnapshot.PARK}
        emptied(shop)
        shop.live()
        parked = shop.table.parked
        assert parked is not None
        assert (parked.reason, parked.rebuild, shop.table.status) == ("second_snapshot", None, TableStatus.PARKED)
        assert parked.remedy == (
            "`cdc-bridge resync CONFIG public.orders`; or set policies.on_resnapshot to upsert, which accepts that "
            "rows stay that no longer exist at the source, and `cdc-bridge resume CONFIG public.orders`"
        )
        shop.send(ORDERS_AGAIN.create(row(7), 91))
        shop.ask(new_request(Action.RESUME, now_ms=2, by="ann@home", table=NAME))
        shop.live()
        assert (shop.table.status, [one["id"] for one in shop.rows()]) == (TableStatus.STREAMING, [1, 2, 7])

    def test_upsert_lets_the_rows_stay_and_says_so_once(self, shop: World, caplog: pytest.LogCaptureFixture) -> None:
        shop.policies = {"on_resnapshot": OnResnapshot.UPSERT}
        emptied(shop)
        with caplog.at_level(logging.WARNING):
            shop.live()
            shop.live()
        assert (shop.table.status, shop.table.generation, len(shop.rows())) == (TableStatus.STREAMING, 1, 2)
        [said] = [one.getMessage() for one in caplog.records if "found the table empty" in one.getMessage()]
        assert said.startswith("public.orders: a second initial snapshot found the table empty at the source")
        assert said.endswith("they stay, as policies.on_resnapshot says")

    def test_a_history_goes_on(self, world: World) -> None:
        world.policies = {"mode": TableMode.HISTORY}
        world.told += snapshot(1_100, scan(1_101, 1))
        world.send(ORDERS.create(row(1), 10), USERS.create(row(1), 10))
        world.live()
        emptied(world)
        world.live()
        assert (world.table.generation, world.table.status) == (1, TableStatus.STREAMING)


class TestNothingIsDone:
    def test_the_first_snapshot_finds_tables_empty(self, world: World) -> None:
        world.told += snapshot(1_100, scan(1_101, 0), users(1_102, 1))
        world.send(USERS.read(row(1), 10), ORDERS.create(row(1), 20))
        world.live()
        world.live()
        assert (world.rows(), world.table.generation, world.signals) == ([row(1)], 1, {})

    def test_a_blocking_snapshot_finds_the_table_empty(self, shop: World) -> None:
        shop.told += snapshot(2_000, scan(2_001, 0))
        shop.send(ORDERS.create(row(7), 30))
        shop.live()
        assert (len(shop.rows()), shop.table.generation) == (3, 1)

    def test_a_run_that_went_on_from_its_offsets_asks_for_one_that_finds_the_table_empty(self, shop: World) -> None:
        shop.told += [told(Progress.SKIPPED, 20_050), *snapshot(20_100, scan(20_101, 0))]
        shop.send(ORDERS_AGAIN.create(row(7), 30))
        shop.live()
        assert (len(shop.rows()), shop.table.generation) == (3, 1)

    def test_a_blocking_one_that_retention_has_made_the_first_that_is_told(self, shop: World) -> None:
        shop.told[:] = snapshot(900_000, scan(900_001, 0))
        shop.send(ORDERS_AGAIN.create(row(7), 30))
        shop.live()
        assert (len(shop.rows()), shop.table.generation) == (3, 1)

    def test_a_resync_after_it_has_removed_the_rows_already(self, shop: World) -> None:
        shop.told += snapshot(20_100, scan(20_101, 0))
        shop.ask()
        shop.live()
        shop.send(ORDERS_AGAIN.create(row(7), 91))
        shop.live()
        assert (shop.rows(), shop.table.generation) == ([row(7)], 2)

    def test_what_is_told_cannot_be_read(self, shop: World, caplog: pytest.LogCaptureFixture) -> None:
        driver = shop.driver()

        def heard() -> Mapping[int, int]:
            raise BrokerUnavailableError("no broker answered", remedy="wait")

        watching = driver.emptied
        watching._told._debezium = dataclasses.replace(shop.debezium(), heard=heard)
        with caplog.at_level(logging.WARNING):
            assert (watching.suspects(), watching.suspects()) == (frozenset(), frozenset())
        [said] = [one.getMessage() for one in caplog.records]
        assert said == "what Debezium tells of its snapshots cannot be read: no broker answered; wait"


class TestLeftBehind:
    SCAN = EmptyScan(20_000, scan(20_101, 0))
    TABLE = TableState(("shop", "public", "orders"), "orders", rows={"4": 1}, streamed_runs=(FIRST,))

    @pytest.mark.parametrize(
        ("changes", "behind"),
        [
            ({}, True),
            ({"streamed_runs": (FIRST, SECOND)}, True),
            ({"streamed_runs": (), "snapshot": SnapshotIdentity("", FIRST, "")}, True),
            ({"streamed_runs": (), "heard_ms": 20_100}, True),
            ({"rows": {}}, False),
            ({"rows": {"4": 0}}, False),
            ({"streamed_runs": ()}, False),
            ({"streamed_runs": (SECOND, THIRD)}, False),
            ({"snapshot": SnapshotIdentity("", SECOND, "")}, False),
            ({"snapshot": SnapshotIdentity("", THIRD, "")}, False),
            ({"heard_ms": 20_101}, False),
            ({"source": ("shop", "public", "order")}, False),
            ({"sources": (("shop", "public", "orders"), ("mall", "public", "orders"))}, False),
        ],
    )
    def test_a_table_has_rows_of_before(self, changes: dict[str, Any], behind: bool) -> None:
        table = msgspec.structs.replace(self.TABLE, **changes)
        assert left_behind(table, [self.SCAN], f"public.{table.source[2]}") == (self.SCAN if behind else None)

    @pytest.mark.parametrize("named", ["public.orders", "shop.public.orders"])
    def test_some_connectors_name_the_database_too(self, named: str) -> None:
        assert left_behind(self.TABLE, [EmptyScan(20_000, scan(20_101, 0, named))], "public.orders") is not None

    def test_the_latest_of_several_is_found_and_what_is_told_later_is_not_taken_for_known(self) -> None:
        later = EmptyScan(30_000, scan(30_101, 0))
        assert left_behind(self.TABLE, [later, self.SCAN], "public.orders") == later

    def test_only_scans_that_came_off_without_a_row_count(self) -> None:
        empty = scan(20_101, 0)
        failed = dataclasses.replace(empty, details={**empty.details, "status": "SQL_EXCEPTION"})
        told_so = dataclasses.replace(empty, details={**empty.details, "status": "EMPTY"})
        says = [told(Progress.STARTED, 20_100), scan(20_102, 3), failed, empty, told_so]
        assert [rows_scanned(one) for one in says] == [None, 3, None, 0, 0]
        assert empty_scans(says, [SECOND, "run-1"]) == [EmptyScan(20_000, empty), EmptyScan(20_000, told_so)]
