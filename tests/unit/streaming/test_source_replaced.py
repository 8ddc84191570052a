"""Tables that went with their database, or that ``CREATE OR REPLACE TABLE`` has made anew, over whole micro-batches."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Dropped, RebuildKind
from streaming.demo.workload import Record
from streaming.policies import OnDrop, OnTruncate
from tests.support.mariadb_events import ddl
from tests.unit.streaming.maria_shop import CUSTOMERS, ORDERS, TABLE, Shop, drop_orders, row

GONE = ddl("DROP DATABASE `shop`", pos=20)
AWAY = ddl("RENAME TABLE orders TO renamed", ("ALTER", "renamed"), pos=10)
MADE = ddl("CREATE TABLE orders (id int)", ("CREATE", "orders"), pos=15)


def dropped(shop: Shop, table: str = TABLE) -> tuple[int, str] | None:
    """Where the table ended, and the name that it got there."""
    known = shop.state(table).dropped
    return None if known is None else (int(known.position[16:], 16), known.renamed)


class TestDatabase:
    @pytest.mark.parametrize("apart", [True, False])
    def test_the_new_databases_rows_do_not_land_on_the_old_ones(self, tmp_path: Path, apart: bool) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5), CUSTOMERS.read(row(1), 5))
        made = (
            ddl("CREATE DATABASE `shop`", pos=21),
            ddl("CREATE TABLE orders (id int)", ("CREATE", "orders"), pos=22),
        )
        after = ORDERS.create(row(7), 30)
        if apart:
            shop.land(GONE)
            shop.land(*made, after)
        else:
            shop.land(GONE, *made, after)
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 1}}, None)
        assert (shop.keys(), shop.keys("shop.customers")) == ([1], [1])

    def test_each_of_its_tables_is_known_to_be_gone_and_told(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        told = shop.land(CUSTOMERS.create(row(1), 12), GONE)
        assert told.notes == ("shop.orders: dropped at the source: DROP DATABASE `shop`",)
        known = Dropped(0, f"{1:016x}{20:016x}", 1, 1_700_000_000_020)
        assert (shop.state().dropped, shop.state("shop.customers").dropped) == (known, known)

    def test_their_mirrors_go_where_the_settings_say_so(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5), CUSTOMERS.read(row(1), 5))
        assert shop.land(GONE).parked == ("shop.customers", TABLE)
        assert shop.stop() == ("dropped", {ORDERS.topic: {0: 1}}, RebuildKind.KAFKA)

    def test_tables_of_another_database_stay(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        elsewhere = msgspec.structs.replace(shop.state(), source=("mall", None, "orders"))
        shop.job.ledger.commit(Draft(tables={TABLE: elsewhere}))
        assert (shop.land(GONE).notes, shop.state().dropped) == ((), None)


class TestReplaced:
    REPLACED = ddl("CREATE OR REPLACE TABLE orders (id int PRIMARY KEY, name text)", pos=20)

    @pytest.mark.parametrize(
        ("policy", "stop"),
        [
            (OnTruncate.PARK, ("recreated", {ORDERS.topic: {0: 2}}, None)),
            (OnTruncate.REBUILD, ("recreated", {ORDERS.topic: {0: 2}}, RebuildKind.KAFKA)),
            (OnTruncate.IGNORE, None),
        ],
    )
    def test_the_new_tables_rows_do_not_land_on_the_old_ones(
        self, tmp_path: Path, policy: OnTruncate, stop: tuple[str, dict[str, dict[int, int]], RebuildKind | None] | None
    ) -> None:
        shop = Shop(tmp_path, on_truncate=policy)
        shop.land(ORDERS.read(row(1), 5))
        told = shop.land(ORDERS.create(row(2), 10), self.REPLACED, ORDERS.create(row(7), 30))
        assert (shop.stop(), shop.keys()) == (stop, [1, 2] if stop else [1, 2, 7])
        assert told.notes[0] == (
            "shop.orders: dropped at the source: CREATE OR REPLACE TABLE orders (id int PRIMARY KEY, name text) - "
            "Debezium reads the new table by the old one's columns: if they differ, restart its connector with "
            "`snapshot.mode: recovery` and have the mirror filled by `cdc-bridge resync CONFIG TABLE`"
        )

    def test_one_made_like_another_has_columns_that_debezium_knows(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        told = shop.land(ddl("CREATE OR REPLACE TABLE orders LIKE a", ("CREATE", "orders"), pos=20))
        assert told.notes == ("shop.orders: dropped at the source: CREATE OR REPLACE TABLE orders LIKE a",)

    def test_one_that_is_new_is_simply_new(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        new = ddl("CREATE OR REPLACE TABLE orders (id int)", ("CREATE", "orders"), pos=5)
        assert shop.land(new, ORDERS.create(row(1), 10)).notes == ()
        assert (shop.stop(), shop.state().dropped) == (None, None)


class TestBehindARename:
    """Whatever drops the name then does not drop the table that had it."""

    DROPS = (GONE, drop_orders(20), ddl("CREATE OR REPLACE TABLE orders LIKE a", ("CREATE", "orders"), pos=20))

    @pytest.mark.parametrize("drop", DROPS)
    @pytest.mark.parametrize("apart", [True, False])
    def test_the_mirror_stays_and_the_new_name_is_known(self, tmp_path: Path, drop: Record, apart: bool) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        batches = ((AWAY,), (drop,)) if apart else ((AWAY, drop),)
        notes = [note for records in batches for note in shop.land(*records).notes]
        assert (shop.stop(), shop.keys(), dropped(shop)) == (None, [1], (20, "shop.renamed"))
        assert [note.partition(";")[0] for note in notes] == [
            "shop.orders: renamed to shop.renamed at the source: its mirror stays as it is and gets no more changes"
        ]

    @pytest.mark.parametrize("drop", DROPS)
    @pytest.mark.parametrize("apart", [True, False])
    def test_so_it_is_where_another_table_was_made_of_the_name_and_told_nothing(
        self, tmp_path: Path, drop: Record, apart: bool
    ) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        for records in ((AWAY,), (MADE,), (drop,)) if apart else ((AWAY, MADE, drop),):
            shop.land(*records)
        assert (shop.stop(), shop.keys(), dropped(shop)) == (None, [1], (20, "shop.renamed"))
