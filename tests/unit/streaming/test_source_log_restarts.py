"""Tables dropped or renamed after the source's log has begun anew: positions are low again there, but times are not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from connectors.debezium.merge_keys import LASTING_FALL
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Dropped, Rebuild, RebuildKind, TableStatus
from streaming.demo.workload import Record
from streaming.lifecycle.generations import cleared
from streaming.policies import OnDrop, OnTruncate
from tests.support.mariadb_events import MariaTable, ddl, in_log
from tests.unit.streaming.maria_shop import CUSTOMERS, ORDERS, TABLE, Shop, drop_orders, row

DAY_MS = 86_400_000


def old(record: Record) -> Record:
    """In the log of before."""
    return in_log(record, 900, 0)


def new(record: Record, days: int = 1) -> Record:
    """In the log that began anew."""
    return in_log(record, 3, days)


def new_place(pos: int) -> str:
    return f"{3:016x}{pos:016x}"


def loaded(folder: Path, **options: Any) -> Shop:
    """Tables that a snapshot has loaded, from the log of before."""
    shop = Shop(folder, **options)
    shop.land(old(ORDERS.read(row(1), 5)), old(CUSTOMERS.read(row(1), 5)))
    return shop


def reason(shop: Shop, table: str = TABLE) -> str | None:
    parked = shop.state(table).parked
    return None if parked is None else parked.reason


class TestDrops:
    @pytest.mark.parametrize("apart", [True, False])
    def test_the_new_tables_rows_do_not_land_on_the_old_ones(self, tmp_path: Path, apart: bool) -> None:
        shop = loaded(tmp_path)
        before, after = new(drop_orders(20)), new(ORDERS.create(row(7), 30))
        if apart:
            shop.land(before)
            shop.land(after)
        else:
            shop.land(before, after)
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 1}}, None)
        assert shop.keys() == [1]

    def test_rows_between_the_new_logs_begin_and_the_drop_land(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.land(
            old(ORDERS.create(row(2), 10)),
            new(ORDERS.create(row(3), 10)),
            # Times are those of statements' beginnings.
            in_log(ORDERS.create(row(4), 25), 2, 1),
            new(drop_orders(20)),
            new(ORDERS.create(row(7), 30)),
        )
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 4}}, None)
        assert shop.keys() == [1, 2, 3, 4]

    def test_a_table_that_is_gone_for_good_is_known_and_does_not_stop(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.land(new(ORDERS.create(row(2), 10)), new(drop_orders(20)))
        assert (shop.stop(), shop.keys()) == (None, [1, 2])
        assert shop.state().dropped == Dropped(0, new_place(20), 1, 1_700_000_000_020 + DAY_MS)

    def test_its_mirror_goes_where_the_settings_say_so(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path, on_drop=OnDrop.DROP)
        shop.land(new(drop_orders(20)))
        assert shop.stop() == ("dropped", {ORDERS.topic: {0: 1}}, RebuildKind.KAFKA)

    def test_one_told_of_too_late_stops_the_table(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.land(new(ORDERS.create(row(7), 30)))
        shop.land(new(drop_orders(20)))
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 2}}, None)

    def test_one_told_of_when_the_new_log_is_an_epoch_of_its_own_stops_the_table(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.land(*(new(ORDERS.create(row(key), 100 + key)) for key in range(2, LASTING_FALL + 3)))
        shop.land(new(ORDERS.create(row(5_000), 5_000)), new(drop_orders(4_000)))
        shop.land(new(drop_orders(4_000)))
        assert reason(shop) == "recreated"

    @pytest.mark.parametrize(("pos", "days"), [(20, -1), (5, 0)])
    def test_a_drop_of_the_log_before_the_snapshot_still_means_nothing(
        self, tmp_path: Path, pos: int, days: int
    ) -> None:
        shop = loaded(tmp_path, on_drop=OnDrop.DROP)
        shop.land(in_log(drop_orders(pos), 899, days))
        assert (shop.state().dropped, shop.stop()) == (None, None)

    def test_a_drop_without_time_goes_by_its_position(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        drop = drop_orders(20)
        assert drop.value is not None
        timeless = json.loads(drop.value)
        timeless["source"]["ts_ms"] = 0
        shop.land(replace(drop, value=json.dumps(timeless).encode()))
        assert shop.state().dropped is None

    def test_a_later_drop_is_not_taken_for_the_one_of_the_old_log(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path, on_truncate=OnTruncate.IGNORE)
        shop.land(old(drop_orders(20)), old(ORDERS.create(row(2), 30)))
        shop.land(new(drop_orders(20)))
        dropped = shop.state().dropped
        assert dropped is not None
        assert (dropped.position, dropped.back) == (new_place(20), False)
        assert shop.land(new(ORDERS.create(row(3), 30))).notes == (
            "shop.orders: the source dropped the table and made it again; the rows from before stay",
        )

    def test_nor_is_one_behind_a_rebuild(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.land(old(drop_orders(20)))
        deleting = msgspec.structs.replace(shop.state(), status=TableStatus.DELETING)
        shop.job.ledger.commit(Draft(tables={TABLE: deleting}))
        rebuilt = cleared(deleting, Rebuild(RebuildKind.SNAPSHOT, "resync"), {}, {}, 0)
        shop.job.ledger.commit(Draft(tables={TABLE: rebuilt}))
        shop.land(old(drop_orders(20)))
        assert shop.state().dropped == rebuilt.dropped, "it is sent again"
        shop.land(new(drop_orders(20)))
        dropped = shop.state().dropped
        assert dropped is not None
        assert (dropped.position, dropped.generation) == (new_place(20), 2)

    def test_one_that_is_sent_again_behind_a_long_repeat_is_known(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path, on_truncate=OnTruncate.IGNORE)
        repeated = [ORDERS.create(row(key), 100 + key) for key in range(LASTING_FALL + 2)]
        shop.land(old(drop_orders(20)), *(old(record) for record in (ORDERS.create(row(9_999), 9_999), *repeated)))
        before = shop.state().dropped
        shop.land(old(drop_orders(20)))
        assert (shop.stop(), shop.state().dropped) == (None, before)


class TestRenames:
    def test_a_table_that_is_renamed_is_known_by_its_new_name(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.land(new(ddl("RENAME TABLE orders TO renamed", ("ALTER", "renamed"), pos=20)))
        dropped = shop.state().dropped
        assert dropped is not None
        assert (dropped.renamed, dropped.back) == ("shop.renamed", False)

    @pytest.mark.parametrize("by_snapshot", [True, False])
    def test_swapped_tables_stop(self, tmp_path: Path, by_snapshot: bool) -> None:
        shop = Shop(tmp_path)
        first = MariaTable.read if by_snapshot else MariaTable.create
        shop.land(old(first(ORDERS, row(1), 5)), old(first(CUSTOMERS, row(1), 5)))
        shop.land(
            new(ddl("RENAME TABLE orders TO spare", pos=20)),
            new(ddl("RENAME TABLE customers TO orders", ("ALTER", "orders"), pos=20)),
            new(ddl("RENAME TABLE spare TO customers", ("ALTER", "customers"), pos=20)),
        )
        assert (reason(shop), reason(shop, "shop.customers")) == ("recreated", "recreated")

    def test_a_table_stops_whose_name_another_one_has_got(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(old(ORDERS.create(row(1), 5)))
        shop.land(new(ddl("RENAME TABLE other TO orders", ("ALTER", "orders"), pos=20)))
        dropped = shop.state().dropped
        assert dropped is not None
        assert (reason(shop), dropped.taken_by) == ("recreated", "shop.other")


class TestColumns:
    def rename(self, pos: int, statement: str, *columns: str) -> Record:
        return ddl(f"ALTER TABLE orders {statement}", ("ALTER", "orders"), pos=pos, columns=columns)

    def known(self, shop: Shop) -> dict[str, str] | None:
        found = shop.state().renamed_columns
        return None if found is None else found.columns

    def test_a_renamed_column_is_known(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.land(old(self.rename(20, "CHANGE name title text", "id", "title")))
        shop.land(new(self.rename(20, "CHANGE title label text", "id", "label")))
        assert (self.known(shop), shop.stop()) == ({"name": "label"}, None)
        shop.land(new(self.rename(20, "CHANGE title label text", "id", "label")))
        assert self.known(shop) == {"name": "label"}, "it is sent again"

    def test_columns_that_have_got_each_others_names_stop_the_table(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.land(new(self.rename(20, "RENAME COLUMN id TO name, RENAME COLUMN name TO id", "name", "id")))
        assert reason(shop) == "column_replaced"
