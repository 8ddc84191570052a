"""A table that was dropped, made again and dropped once more before the bridge read of the first drop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import RebuildKind
from streaming.demo.workload import Record
from streaming.landing.generation import place_text
from streaming.policies import OnDrop, OnTruncate, TableMode
from tests.support.mariadb_events import MariaTable, ddl, in_log
from tests.unit.streaming.maria_shop import ORDERS, TABLE, Shop, drop_orders, report, row
from tests.unit.streaming.rebuild_world import World

FIRST, LAST = place_text((1, 20), 1_700_000_000_020), f"{1:016x}{30:016x}"
OTHER = MariaTable(partition=1)
RENAMED = ddl("RENAME TABLE orders TO renamed", ("ALTER", "renamed"), pos=30)
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


def test_a_mirror_that_begins_behind_several_has_rows_of_the_last_table_alone(tmp_path: Path) -> None:
    """Of the table between the last two drops, too; and those of the batch's later pieces."""
    shop = Shop(tmp_path)
    shop.job.arrow_rows = 1
    second, third = ORDERS.create(row(2), 25), ORDERS.create(row(5), 35)
    drops = (drop_orders(5), drop_orders(20), drop_orders(30), drop_orders(38))
    shop.land(*drops, ORDERS.create(row(1), 10), second, third, ORDERS.create(row(4), 40))
    assert (shop.keys(), shop.stop()) == ([4], None)
    assert shop.job.ledger.state.counters["skipped.superseded"] == 3


def test_the_first_one_is_remembered_beyond_the_batch_that_began_the_mirror(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.land(ORDERS.create(row(1), 10), drop_orders(20), drop_orders(30))
    shop.land(BETWEEN)
    assert (shop.keys(), shop.stop()) == ([1], ("recreated", {ORDERS.topic: {0: 1}}, None))


class TestToldLate:
    """A row of the second table has landed when both drops are told; of the third one nothing has."""

    def told(self, folder: Path, **policies: Any) -> Shop:
        shop = Shop(folder, **policies)
        shop.land(ORDERS.read(row(1), 5), BETWEEN)
        shop.land(drop_orders(20), MADE, drop_orders(30))
        return shop

    @pytest.mark.parametrize("policy", list(OnTruncate))
    def test_a_mirror_that_is_dropped_with_its_table_is_so(self, tmp_path: Path, policy: OnTruncate) -> None:
        shop = self.told(tmp_path, on_drop=OnDrop.DROP, on_truncate=policy)
        assert shop.stop() == ("dropped", {ORDERS.topic: {0: 2}}, RebuildKind.KAFKA)

    def test_the_table_is_known_to_be_gone(self, tmp_path: Path) -> None:
        shop = self.told(tmp_path, on_truncate=OnTruncate.IGNORE)
        assert (report(shop).dropped, shop.stop(), shop.state().tainted) == (True, None, True)

    def test_so_is_a_history(self, tmp_path: Path) -> None:
        shop = self.told(tmp_path, mode=TableMode.HISTORY, on_drop=OnDrop.DROP)
        assert shop.stop() == ("dropped", {ORDERS.topic: {0: 2}}, RebuildKind.KAFKA)


class TestOneAfterTheOther:
    """A mirror that begins behind a drop begins behind the next one, too: no late row of an earlier table lands."""

    @pytest.fixture
    def world(self, tmp_path: Path) -> World:
        world = World(tmp_path, policies={"schema_template": "{database}"})
        world.send(ORDERS.read(row(1), 5), OTHER.read(row(9), 5))
        return world

    def test_where_nothing_has_landed_in_between(self, world: World) -> None:
        world.policies["on_drop"] = OnDrop.DROP
        world.live()
        for place in (20, 30):
            world.send(drop_orders(place))
            world.live()
        world.send(OTHER.create(row(15), 15), OTHER.create(row(25), 25))
        world.live()
        table = world.ledger.tables[TABLE]
        assert (table.sequence, table.parked, world.ledger.counters["skipped.superseded"]) == (0, None, 2)

    def test_where_rows_of_the_table_in_between_stay(self, world: World) -> None:
        world.policies["on_truncate"] = OnTruncate.REBUILD
        world.live()
        world.send(drop_orders(20), BETWEEN)
        world.live()
        world.send(drop_orders(30))
        world.live()
        world.send(OTHER.create(row(15), 15))
        world.live()
        assert world.rows(TABLE) == [row(3, "of the second table")]


@pytest.mark.parametrize("count", [1, 2])
class TestBehindALogThatHasBegunAnew:
    """Places of the new log lie below those of the old one; times tell, each drop's own."""

    def drops(self, count: int) -> list[Record]:
        return [in_log(drop_orders(20), 1, 1), in_log(drop_orders(30), 1, 2)][:count]

    def loaded(self, folder: Path) -> Shop:
        shop = Shop(folder)
        shop.land(in_log(ORDERS.read(row(1), 5), 7, 0), in_log(ORDERS.create(row(2), 10), 7, 0))
        return shop

    def test_the_first_one_cuts(self, tmp_path: Path, count: int) -> None:
        shop = self.loaded(tmp_path)
        shop.land(*self.drops(count))
        shop.land(in_log(BETWEEN, 1, 1))
        assert (shop.keys(), shop.stop()) == ([1, 2], ("recreated", {ORDERS.topic: {0: 2}}, None))

    def test_it_is_told_late_behind_rows_of_the_second_table(self, tmp_path: Path, count: int) -> None:
        shop = self.loaded(tmp_path)
        shop.land(in_log(BETWEEN, 1, 1))
        shop.land(*self.drops(count))
        assert (shop.stop(), shop.state().tainted) == (("recreated", {ORDERS.topic: {0: 3}}, None), True)


class TestDroppedAndThenRenamed:
    """Whichever table the source renamed, it was another one."""

    def test_the_mirror_is_dropped(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(drop_orders(20), RENAMED)
        assert shop.stop() == ("dropped", {ORDERS.topic: {0: 1}}, RebuildKind.KAFKA)

    def test_nobody_says_that_the_mirrored_one_was_renamed(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(drop_orders(20), MADE, BETWEEN, RENAMED)
        parked = shop.state().parked
        assert parked is not None
        assert parked.message.startswith("the source dropped the table and made it again, so ")
