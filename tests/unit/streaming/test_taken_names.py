"""Tables at the source that take a name which another one has had, over whole micro-batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import RebuildKind, TableStatus
from streaming.demo.workload import Record
from streaming.policies import OnTruncate, TableMode
from tests.support.mariadb_events import ddl
from tests.unit.streaming.maria_shop import AWAY, CUSTOMERS, ORDERS, TABLE, Shop, drop_orders, report, row

RENAMED = (
    "shop.orders: renamed to shop.renamed at the source: its mirror stays as it is and gets no more changes; the rows "
    "that change from now on land under the new name; `cdc-bridge resync CONFIG TABLE` fills that table"
)


def swap(pos: int) -> tuple[Record, ...]:
    """What Debezium sends of ``RENAME TABLE orders TO spare, customers TO orders, spare TO customers``."""
    return (
        ddl("RENAME TABLE orders TO spare", pos=pos),
        ddl("RENAME TABLE customers TO orders", ("ALTER", "orders"), pos=pos),
        ddl("RENAME TABLE spare TO customers", ("ALTER", "customers"), pos=pos),
    )


class TestTakenNames:
    def test_two_tables_that_swap_names_stop_where_they_do(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5), CUSTOMERS.read(row(2), 5))
        told = shop.land(ORDERS.create(row(3), 10), *swap(20), ORDERS.create(row(4), 30), CUSTOMERS.create(row(5), 31))
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 2}}, None)
        customers = shop.state("shop.customers")
        assert customers.parked is not None
        assert customers.parked.reason == "recreated"
        assert (shop.keys(), shop.keys("shop.customers")) == ([1, 3], [2])
        assert [note.partition("; ")[0] for note in told.notes] == [
            "shop.orders: renamed to shop.customers at the source: its mirror stays as it is and gets no more changes",
            "shop.orders: another table has its name at the source now: shop.customers was renamed to it",
            "shop.customers: renamed to shop.orders at the source: its mirror stays as it is and gets no more changes",
            "shop.customers: another table has its name at the source now: shop.orders was renamed to it",
        ]

    @pytest.mark.parametrize("apart", [True, False])
    def test_a_copy_that_takes_the_tables_place_stops_it_before_any_row_says_so(
        self, tmp_path: Path, apart: bool
    ) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        records = (
            ddl("RENAME TABLE orders TO `_orders_old`", ("ALTER", "_orders_old"), pos=20),
            ddl("RENAME TABLE `_orders_new` TO orders", ("ALTER", "orders"), pos=20),
        )
        if apart:
            shop.land(records[0])
            assert report(shop).renamed == "shop._orders_old"
            shop.land(records[1])
        else:
            shop.land(*records)
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 1}}, None)
        parked = shop.state().parked
        assert parked is not None
        assert parked.message == (
            "the source renamed shop._orders_new to the table's name in place of this one, which is shop._orders_old "
            "now, so mirrored rows may be of the table that had the name before"
        )
        assert report(shop).renamed == "", "another table has the name"

    @pytest.mark.parametrize("rows", [True, False])
    @pytest.mark.parametrize(
        ("policy", "stop", "keys"),
        [
            (OnTruncate.PARK, ("recreated", {ORDERS.topic: {0: 1}}, None), [1]),
            (OnTruncate.REBUILD, ("recreated", {ORDERS.topic: {0: 1}}, RebuildKind.SNAPSHOT), [1]),
            (OnTruncate.IGNORE, None, [1, 4]),
        ],
    )
    def test_the_policy_of_truncates_decides(
        self, tmp_path: Path, policy: OnTruncate, stop: Any, keys: list[int], rows: bool
    ) -> None:
        shop = Shop(tmp_path, on_truncate=policy)
        shop.land(ORDERS.read(row(1), 5))
        taken = ddl("RENAME TABLE other TO orders", ("ALTER", "orders"), pos=20)
        shop.land(drop_orders(15), taken, *([ORDERS.create(row(4), 30)] if rows else []))
        assert shop.stop() == stop
        assert shop.keys() == (keys if rows else [1])

    @pytest.mark.parametrize("apart", [True, False])
    def test_a_table_that_gets_its_own_name_back_is_not_told_as_another_one(self, tmp_path: Path, apart: bool) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        if apart:
            shop.land(AWAY)
        back = ddl("RENAME TABLE renamed TO orders", ("ALTER", "orders"), pos=30)
        told = shop.land(*([] if apart else [AWAY]), back)
        assert told.notes == (
            "shop.orders: renamed to shop.renamed at the source and back again; rows that changed in between are not "
            "in this mirror",
        )
        parked = shop.state().parked
        assert parked is not None
        assert (parked.reason, parked.message) == (
            "recreated",
            "the source renamed the table to shop.renamed, and shop.renamed to the table's name again, so rows that "
            "changed in between are not in this mirror",
        )

    def test_one_of_several_that_share_a_mirror_gets_its_name_back(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        shared = msgspec.structs.replace(shop.state(), sources=(shop.state().source, ("mall", None, "orders")))
        shop.job.ledger.commit(Draft(tables={TABLE: shared}))
        told = shop.land(AWAY, ddl("RENAME TABLE renamed TO orders", ("ALTER", "orders"), pos=30))
        assert [note.partition(";")[0] for note in told.notes] == [
            "shop.orders: renamed to shop.renamed at the source and back again"
        ]

    def test_a_table_that_takes_the_name_of_one_that_left_is_another_one(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5), CUSTOMERS.read(row(2), 5))
        told = shop.land(AWAY, ddl("RENAME TABLE customers TO orders", ("ALTER", "orders"), pos=30))
        assert told.notes[:2] == (
            RENAMED,
            "shop.orders: another table has its name at the source now: shop.customers was renamed to it",
        )
        parked = shop.state().parked
        assert parked is not None
        assert parked.message.startswith(
            "the source renamed shop.customers to the table's name in place of this one, which is shop.renamed now,"
        )

    def test_swapped_tables_are_others_although_their_names_are_alike(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5), CUSTOMERS.read(row(2), 5))
        shop.land(*swap(20))
        parked = shop.state().parked
        assert parked is not None
        assert parked.message.startswith(
            "the source renamed shop.customers to the table's name in place of this one, which is shop.customers now,"
        )

    @pytest.mark.parametrize("cut", [1, 2])
    def test_a_swap_that_a_batchs_end_cuts_is_told_by_its_last_names(self, tmp_path: Path, cut: int) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5), CUSTOMERS.read(row(2), 5))
        shop.land(*swap(20)[:cut])
        shop.land(*swap(20)[cut:])
        orders, customers = shop.state(), shop.state("shop.customers")
        assert orders.dropped is not None
        assert customers.dropped is not None
        assert (orders.dropped.renamed, orders.dropped.taken_by) == ("shop.customers", "shop.customers")
        assert (customers.dropped.renamed, customers.dropped.taken_by) == ("shop.orders", "shop.orders")
        assert orders.parked is not None
        assert "which is shop.customers now" in orders.parked.message

    def test_a_history_goes_on(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, mode=TableMode.HISTORY)
        shop.land(ORDERS.create(row(1), 5))
        shop.land(*swap(20), ORDERS.create(row(3), 30))
        assert (shop.stop(), shop.keys()) == (None, [1, 3])

    def test_one_told_of_too_late_stops_the_table_too(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(ORDERS.create(row(2), 30))
        shop.land(*swap(20))
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 2}}, None)

    def test_a_table_that_goes_on_by_a_persons_word_is_not_stopped_again(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(*swap(20))
        going_on = msgspec.structs.replace(shop.state(), status=TableStatus.STREAMING, parked=None)
        shop.job.ledger.commit(Draft(tables={TABLE: going_on}))
        shop.land(*swap(20), ORDERS.create(row(3), 30))
        assert (shop.stop(), shop.keys()) == (None, [1, 3])
