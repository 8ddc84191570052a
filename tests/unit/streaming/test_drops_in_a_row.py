"""A table that was dropped, made again and dropped once more before the bridge read of the first drop."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.ledger.state import RebuildKind
from streaming.policies import OnDrop, OnTruncate
from tests.support.mariadb_events import MariaTable, ddl
from tests.unit.streaming.maria_shop import ORDERS, TABLE, Shop, drop_orders, row
from tests.unit.streaming.rebuild_world import World

FIRST, LAST = f"{1:016x}{20:016x}", f"{1:016x}{30:016x}"
MADE = ddl("CREATE TABLE orders", ("CREATE", "orders"), pos=21)
BETWEEN = ORDERS.create(row(3, "of the second table"), 22)
STOPS = [(OnTruncate.PARK, None), (OnTruncate.REBUILD, RebuildKind.KAFKA)]


@pytest.mark.parametrize(("policy", "rebuild"), STOPS)
class TestStopped:
    def test_the_second_tables_rows_do_not_land_on_the_first_ones(
        self, tmp_path: Path, policy: OnTruncate, rebuild: RebuildKind | None
    ) -> None:
        shop = Shop(tmp_path, on_truncate=policy)
        shop.land(ORDERS.read(row(1), 5), ORDERS.create(row(2), 10))
        shop.land(drop_orders(20), MADE, BETWEEN, drop_orders(30))
        assert (shop.keys(), shop.stop()) == ([1, 2], ("recreated", {ORDERS.topic: {0: 2}}, rebuild))

    def test_nor_those_that_are_read_later(
        self, tmp_path: Path, policy: OnTruncate, rebuild: RebuildKind | None
    ) -> None:
        shop = Shop(tmp_path, on_truncate=policy)
        shop.land(ORDERS.read(row(1), 5), ORDERS.create(row(2), 10))
        shop.land(drop_orders(20))
        shop.land(MADE, drop_orders(30))
        shop.land(BETWEEN)
        assert (shop.keys(), shop.stop()) == ([1, 2], ("recreated", {ORDERS.topic: {0: 2}}, rebuild))
        dropped = shop.state().dropped
        assert dropped is not None
        assert (dropped.first, dropped.position) == (FIRST, LAST)

    def test_nor_those_that_landed_before_the_drops_were_told(
        self, tmp_path: Path, policy: OnTruncate, rebuild: RebuildKind | None
    ) -> None:
        shop = Shop(tmp_path, on_truncate=policy)
        shop.land(ORDERS.read(row(1), 5), BETWEEN)
        shop.land(drop_orders(20), MADE, drop_orders(30))
        stop = shop.stop()
        assert stop is not None
        assert (stop[0], stop[2] is None) == ("recreated", rebuild is None)
        assert shop.state().tainted


def test_what_is_sent_again_of_a_drop_that_is_known_is_not_the_first(tmp_path: Path) -> None:
    shop = Shop(tmp_path, on_truncate=OnTruncate.IGNORE)
    shop.land(ORDERS.read(row(1), 5))
    shop.land(drop_orders(20), BETWEEN)
    shop.land(drop_orders(20), ORDERS.create(row(4), 25), drop_orders(30))
    dropped = shop.state().dropped
    assert dropped is not None
    assert (dropped.first, dropped.position, dropped.back) == ("", LAST, False)
    assert (shop.keys(), shop.stop()) == ([1, 3, 4], None)


def test_drops_from_before_the_snapshot_that_loaded_the_table_are_none(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.land(ORDERS.read(row(1), 25))
    shop.land(drop_orders(20), ORDERS.create(row(2), 26), drop_orders(30))
    assert (shop.keys(), shop.stop()) == ([1, 2], None)


def test_old_rows_that_may_stay_do_so_behind_each_drop(tmp_path: Path) -> None:
    shop = Shop(tmp_path, on_truncate=OnTruncate.IGNORE)
    shop.land(ORDERS.read(row(1), 5))
    report = shop.land(drop_orders(20), MADE, BETWEEN, drop_orders(30), ORDERS.create(row(4), 40))
    assert (shop.keys(), shop.stop(), shop.state().tainted) == ([1, 3, 4], None, True)
    assert sum("the rows from before stay" in note for note in report.notes) >= 1
    dropped = shop.state().dropped
    assert dropped is not None
    assert (dropped.first, dropped.position, dropped.back) == ("", LAST, True)


def test_nothing_of_either_gone_table_is_in_a_mirror_that_begins_with_the_third(tmp_path: Path) -> None:
    """In two partitions; whatever the batch's cuts are."""
    shop = Shop(tmp_path, on_truncate=OnTruncate.PARK)
    one, two = ORDERS, MariaTable(partition=1)
    shop.land(one.read(row(1), 5), two.read(row(2), 5))
    shop.land(drop_orders(20), two.create(row(6), 23), one.create(row(3), 22), drop_orders(30), one.create(row(9), 40))
    assert (shop.keys(), shop.stop()) == ([1, 2], ("recreated", {ORDERS.topic: {0: 1, 1: 1}}, None))


def test_a_mirror_that_is_built_anew_behind_them_has_the_third_tables_rows_alone(tmp_path: Path) -> None:
    world = World(tmp_path, policies={"on_truncate": OnTruncate.REBUILD, "schema_template": "{database}"})
    world.send(ORDERS.read(row(1), 5), ORDERS.create(row(2), 10))
    world.live()
    world.send(drop_orders(20), MADE, BETWEEN, drop_orders(30), ORDERS.create(row(4), 40))
    world.live()
    world.live()
    assert (world.rows(TABLE), world.ledger.tables[TABLE].status) == ([row(4)], "streaming")


def test_a_mirror_that_is_dropped_with_its_table_is_so_at_the_first_drop(tmp_path: Path) -> None:
    shop = Shop(tmp_path, on_drop=OnDrop.DROP)
    shop.land(ORDERS.read(row(1), 5), ORDERS.create(row(2), 10))
    shop.land(drop_orders(20), MADE, BETWEEN, drop_orders(30))
    assert (shop.keys(), shop.stop()) == ([1, 2], ("dropped", {ORDERS.topic: {0: 2}}, RebuildKind.KAFKA))


def test_a_gone_tables_rows_that_land_are_cut_off_at_the_last_drop(tmp_path: Path) -> None:
    shop = Shop(tmp_path, on_truncate=OnTruncate.IGNORE)
    shop.land(ORDERS.read(row(1), 5))
    shop.land(drop_orders(20), MADE, BETWEEN, drop_orders(30))
    dropped = shop.state().dropped
    assert dropped is not None
    assert (shop.keys(), dropped.first, dropped.position, dropped.back) == ([1, 3], "", LAST, False)


def test_nor_do_rows_of_the_third_table_land_on_those_of_a_second_that_begins_the_mirror(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.land(drop_orders(20), BETWEEN, drop_orders(30), ORDERS.create(row(4), 40))
    assert (shop.keys(), shop.stop()) == ([3], ("recreated", {ORDERS.topic: {0: 1}}, None))


def test_the_first_one_is_remembered_beyond_the_batch_that_began_the_mirror(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.land(ORDERS.create(row(1), 10), drop_orders(20), drop_orders(30))
    shop.land(BETWEEN)
    assert (shop.keys(), shop.stop()) == ([1], ("recreated", {ORDERS.topic: {0: 1}}, None))
