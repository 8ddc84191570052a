"""The settings change while a table is rebuilt: the channel or the notifications go, or the table is left out."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.landing_zone.ledger.state import RebuildKind, TableState, TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.driver.startup import park_excluded
from streaming.policies import OnMissingKey, OnTruncate
from tests.support.records import Table
from tests.unit.landing_zone.memory_storage import Crash, Fault
from tests.unit.landing_zone.memory_storage import Request as StorageRequest
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, World, shop


class TestSettingsThatChangeOnTheWay:
    def filling(self, world: World, **policies: Any) -> None:
        world.policies = policies
        world.send(Table(TOPIC, key=() if policies else ("id",)).create(row(1), 1))
        world.live()
        world.ask()
        world.driver().drain()
        assert world.table.status is TableStatus.FILLING

    def test_without_the_signal_channel_the_snapshot_cannot_be_asked_for(self, world: World) -> None:
        shop(world)
        world.ask()

        def dies(request: StorageRequest) -> Fault | None:
            done = world.table.status is TableStatus.CLEARED
            return Fault.CRASH_BEFORE if done else None

        with pytest.raises(Crash):
            world.driver(dies).drain()
        world.takes_signals = False
        world.driver().drain()
        parked = world.table.parked
        assert parked is not None
        assert (world.table.status, parked.reason, world.signals) == (TableStatus.PARKED, "snapshot_failed", {})
        assert parked.message.startswith("the settings do not say how Debezium takes signals")
        world.takes_signals = True
        world.ask(new_request(Action.RESYNC, now_ms=2, by="ann@home", table=NAME))
        world.live()
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    @pytest.mark.parametrize("policies", [{}, {"on_missing_key": OnMissingKey.APPEND}], ids=["key", "no key"])
    def test_without_the_notifications_topic_the_table_waits_for_it(
        self, world: World, policies: dict[str, OnMissingKey]
    ) -> None:
        self.filling(world, **policies)
        world.notifies = False
        world.driver().drain()
        assert world.table.status is TableStatus.FILLING


class TestExcludedMeanwhile:
    """The settings leave the table out while it is rebuilt."""

    EXCLUDING: ClassVar = {"decode": DecodeOptions(rules=TableRules(exclude=(NAME,)))}

    def excluded(self, world: World) -> TableState:
        """A start with the table left out, and what it makes of it."""
        world.options = self.EXCLUDING
        driver = world.driver()
        park_excluded(driver.ledger, driver.job)
        driver.drain()
        return world.table

    def included_again(self, world: World) -> None:
        world.options = {}
        driver = world.driver()
        park_excluded(driver.ledger, driver.job)
        driver.drain()
        world.live()

    @pytest.mark.parametrize("status", [TableStatus.DELETING, TableStatus.CLEARED])
    def test_the_rebuild_goes_on_once_the_table_is_included_again(self, world: World, status: TableStatus) -> None:
        shop(world)
        _stands_at(world, status)
        assert self.excluded(world).status is status
        assert self.excluded(world).status is status
        world.send(ORDERS.delete(row(2, "stale"), 32), ORDERS.create(row(3, "three"), 33))
        self.excluded(world)
        assert not world.signals
        self.included_again(world)
        assert (world.table.status, world.table.parked) == (TableStatus.STREAMING, None)
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_rows_that_landed_before_the_snapshot_was_asked_for_are_removed_again(self, world: World) -> None:
        shop(world)
        _stands_at(world, TableStatus.CLEARED)
        world.send(ORDERS.create(row(9, "deleted while excluded"), 30))
        world.driver().land()
        assert (world.table.status, world.table.sequence) == (TableStatus.CLEARED, 1)
        assert self.excluded(world).status is TableStatus.DELETING
        world.send(ORDERS.delete(row(9, "deleted while excluded"), 31))
        self.excluded(world)
        self.included_again(world)
        assert (world.table.status, world.table.generation) == (TableStatus.STREAMING, 3)
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_one_that_is_being_filled_stands_still_and_catches_up(self, world: World) -> None:
        shop(world)
        world.ask()
        world.driver().drain()
        assert (world.table.status, world.table.parked) == (TableStatus.FILLING, None)
        table = self.excluded(world)
        assert table.parked is not None
        assert (table.status, table.parked.reason) == (TableStatus.PARKED, "excluded")
        world.answer_signals()
        self.excluded(world)
        self.included_again(world)
        assert world.table.parked == table.parked
        world.ask(new_request(Action.RESUME, now_ms=2, by="ann@home", table=NAME))
        world.live()
        assert world.table.status is TableStatus.STREAMING
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_a_policy_begins_no_rebuild_of_a_table_that_is_left_out(self, world: World) -> None:
        world.policies = {"on_truncate": OnTruncate.REBUILD}
        shop(world)
        world.send(ORDERS.truncate(30))
        world.driver().land()
        before = world.files()
        assert self.excluded(world).status is TableStatus.PARKED
        assert world.files() == before


def _stands_at(world: World, status: TableStatus) -> None:
    """Ask for a rebuild that gets no further than to this state."""
    driver = world.driver()
    driver.rebuilding.begin(NAME, RebuildKind.SNAPSHOT, "resync")
    while world.table.status is not status:
        assert driver.rebuilding(NAME)
