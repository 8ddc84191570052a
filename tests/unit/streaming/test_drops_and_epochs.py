"""Drops where a table begins with rows from behind one, and where its partitions are not of one epoch.

A tail that Kafka Connect sends again opens an epoch in each partition in which it is long. The source's log has not
begun anew, and what comes behind a drop is behind it in every partition.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connectors.landing_zone.ledger.state import RebuildKind
from streaming.demo.workload import Record
from streaming.policies import OnDrop, OnTruncate
from tests.support.mariadb_events import MariaTable, ddl
from tests.unit.streaming.maria_shop import ORDERS, TABLE, Shop, drop_orders, row
from tests.unit.streaming.rebuilt_shop import do_chores

OTHER = MariaTable(partition=1)


def made(pos: int) -> Record:
    return ddl("CREATE TABLE orders", ("CREATE", "orders"), pos=pos, columns=("id", "name"))


def chores(shop: Shop) -> None:
    """Rebuild what is to be rebuilt."""
    do_chores(shop, TABLE)


class TestTheFirstRowsOfATable:
    """With ``on_drop: drop`` they lie behind a drop of the same batch, of which no row was in this generation."""

    def test_of_one_that_was_empty_since_an_earlier_drop(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 10))
        shop.land(drop_orders(20), made(21))
        chores(shop)
        shop.land(drop_orders(30), made(31), ORDERS.create(row(3), 32))
        chores(shop)
        shop.land(ORDERS.create(row(4), 40))
        assert (shop.keys(), shop.stop()) == ([3, 4], None)

    def test_of_one_that_nobody_knew(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(drop_orders(30), made(31), ORDERS.create(row(3), 32))
        chores(shop)
        shop.land(ORDERS.create(row(4), 40))
        assert (shop.keys(), shop.stop()) == ([3, 4], None)

    def test_of_a_copy_that_a_statement_makes_anew(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        copied = ddl(
            "CREATE OR REPLACE TABLE orders LIKE template", ("CREATE", "orders"), pos=30, columns=("id", "name")
        )
        shop.land(copied, ORDERS.create(row(3), 31))
        chores(shop)
        assert (shop.keys(), shop.stop()) == ([3], None)

    def test_they_go_with_the_next_drop(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(drop_orders(30), made(31), ORDERS.create(row(3), 32))
        shop.land(drop_orders(40))
        chores(shop)
        assert shop.state().sequence == 0


def torn(folder: Path, again: int, **options: object) -> Shop:
    """Six records of partition 0 come again, and of partition 1 so many; a lasting fall has three."""
    shop = Shop(folder, **options)
    shop.job.job = replace(shop.job.job, lasting_fall=3)
    shop.land(ORDERS.read(row(0), 10), OTHER.read(row(1), 11))
    tail = [ORDERS.update(row(0, f"u{number}"), 100 + 10 * number) for number in range(6)]
    other = [OTHER.update(row(1, f"u{number}"), 101 + 10 * number) for number in range(6)]
    shop.land(*tail, *other)
    shop.land(*tail, *other[6 - again :])
    shop.land(ORDERS.update(row(0, "v"), 1_000), OTHER.update(row(1, "v"), 1_001))
    epochs = {number: each.epoch for number, each in shop.state().partitions[ORDERS.topic].items()}
    assert epochs == {0: 1, 1: int(again > 3)}
    return shop


@pytest.mark.parametrize("again", [6, 2], ids=["both partitions", "one partition"])
class TestARepeatOpensAnEpochIn:
    def test_the_new_table_s_row_stops_the_mirror(self, tmp_path: Path, again: int) -> None:
        shop = torn(tmp_path, again)
        shop.land(drop_orders(2_000), made(2_001), OTHER.create(row(3), 2_002))
        stop = shop.stop()
        assert stop is not None
        assert (shop.keys(), stop[0], stop[2]) == ([0, 1], "recreated", None)

    def test_the_new_table_s_row_is_in_the_mirror_that_is_built_anew(self, tmp_path: Path, again: int) -> None:
        shop = torn(tmp_path, again, on_truncate=OnTruncate.REBUILD)
        shop.land(drop_orders(2_000), made(2_001), OTHER.create(row(3), 2_002))
        stop = shop.stop()
        assert stop is not None
        assert (stop[0], stop[2]) == ("recreated", RebuildKind.KAFKA)
        chores(shop)
        shop.land(ORDERS.create(row(4), 2_003), OTHER.create(row(5), 2_004))
        assert (shop.keys(), shop.stop()) == ([3, 4, 5], None)

    def test_the_mirror_goes_with_the_old_table_and_the_new_one_s_row_stays(self, tmp_path: Path, again: int) -> None:
        shop = torn(tmp_path, again, on_drop=OnDrop.DROP)
        shop.land(drop_orders(2_000), made(2_001), OTHER.create(row(3), 2_002))
        chores(shop)
        shop.land(ORDERS.create(row(4), 2_003), OTHER.create(row(5), 2_004))
        chores(shop)
        assert (shop.keys(), shop.stop()) == ([3, 4, 5], None)

    def test_a_row_that_landed_before_its_drop_was_told_is_seen(self, tmp_path: Path, again: int) -> None:
        shop = torn(tmp_path, again)
        shop.land(OTHER.create(row(3), 2_002))
        shop.land(drop_orders(2_000), made(2_001))
        stop = shop.stop()
        assert stop is not None
        assert (stop[0], shop.state().tainted) == ("recreated", True)

    def test_rows_from_before_the_drop_go_with_it(self, tmp_path: Path, again: int) -> None:
        shop = torn(tmp_path, again, on_drop=OnDrop.DROP)
        shop.land(OTHER.create(row(2), 1_900), drop_orders(2_000))
        chores(shop)
        shop.land(made(2_001), ORDERS.create(row(4), 2_003))
        chores(shop)
        assert (shop.keys(), shop.stop()) == ([4], None)
