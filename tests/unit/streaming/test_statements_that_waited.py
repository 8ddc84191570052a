"""Truncates and drops that waited for a lock: their time is when they began, before that of rows before them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connectors.landing_zone.ledger.state import TableState
from streaming.policies import OnDrop, OnTruncate
from tests.support.mariadb_events import begun_earlier, of_run
from tests.unit.streaming import landed_shop as shop
from tests.unit.streaming.maria_shop import ORDERS, TABLE, drop_orders, row
from tests.unit.streaming.rebuild_world import World

WAITED_MS = 5


class TestTruncate:
    """Partition 1 lags behind the truncate, which waited while a row was written that is at 19 in the log."""

    @pytest.fixture
    def world(self, tmp_path: Path) -> World:
        table = shop.ORDERS
        world = World(tmp_path, policies={"on_truncate": OnTruncate.REBUILD})
        world.send(table.at(0).create(shop.row(1), 10), table.at(1).create(shop.row(2), 11))
        truncate = replace(table, base_ms=table.base_ms - WAITED_MS).at(0).truncate(20)
        world.send(truncate, table.at(0).create(shop.row(4), 21))
        world.live()
        assert world.rows() == [shop.row(4)]
        return world

    def test_rows_from_before_it_are_superseded_though_they_seem_later(self, world: World) -> None:
        world.send(shop.ORDERS.at(1).create(shop.row(7), 19), shop.ORDERS.at(1).create(shop.row(5), 22))
        world.live()
        assert (world.rows(), world.table.status) == ([shop.row(4), shop.row(5)], "streaming")
        assert world.ledger.counters["skipped.superseded"] == 1

    def test_low_positions_of_a_later_run_are_of_a_log_that_has_begun_anew(self, world: World) -> None:
        world.send(of_run(shop.ORDERS.at(1).create(shop.row(7), 19), "run-2"))
        world.live()
        assert world.rows() == [shop.row(4), shop.row(7)]

    def test_a_rebuild_keeps_the_run_that_sent_it(self, world: World) -> None:
        assert (world.table.truncated_run, world.table.generation) == ("run-1", 2)


class TestDrop:
    @pytest.fixture
    def world(self, tmp_path: Path) -> World:
        world = World(tmp_path, policies={"on_drop": OnDrop.DROP, "schema_template": "{database}"})
        world.send(ORDERS.read(row(1), 5), ORDERS.create(row(2), 10))
        world.live()
        world.send(begun_earlier(drop_orders(20), WAITED_MS))
        world.live()
        assert (orders(world).status, orders(world).generation, orders(world).sequence) == ("loading", 2, 0)
        return world

    def test_rows_from_before_it_do_not_bring_the_mirror_back(self, world: World) -> None:
        world.send(ORDERS.create(row(7), 19))
        world.live()
        assert (orders(world).sequence, world.ledger.counters["skipped.superseded"]) == (0, 1)

    def test_low_positions_of_a_later_run_are_of_a_log_that_has_begun_anew(self, world: World) -> None:
        world.send(of_run(ORDERS.create(row(7), 19), "run-2"))
        world.live()
        assert world.rows(TABLE) == [row(7)]


def orders(world: World) -> TableState:
    return world.ledger.tables[TABLE]
