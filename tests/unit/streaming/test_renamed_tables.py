"""Tables that were renamed at the source, over whole micro-batches."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Dropped, Relation
from streaming.policies import OnDrop
from tests.support.mariadb_events import MariaTable, ddl
from tests.unit.streaming.maria_shop import AWAY, ORDERS, TABLE, Shop, report, row, shown

NEW = MariaTable("renamed")
RENAMED = (
    "shop.orders: renamed to shop.renamed at the source: its mirror stays as it is and gets no more changes; the rows "
    "that change from now on land under the new name; `cdc-bridge resync CONFIG TABLE` fills that table"
)
TAKEN_PLACE = f"{1:016x}{20:016x}"


class TestTables:
    @pytest.mark.parametrize("policy", [OnDrop.KEEP, OnDrop.DROP])
    def test_the_mirror_stays_and_the_table_lands_under_its_new_name(self, tmp_path: Path, policy: OnDrop) -> None:
        shop = Shop(tmp_path, on_drop=policy)
        shop.land(ORDERS.read(row(1), 5))
        told = shop.land(ORDERS.create(row(2), 10), AWAY, NEW.update(row(1, "b"), 30))
        assert told.notes == (RENAMED,)
        assert (shop.stop(), shop.keys(), shop.job.rows("shop.renamed")) == (None, [1, 2], [row(1, "b")])
        assert shop.state().dropped == Dropped(0, TAKEN_PLACE, 1, 1_700_000_000_020, renamed="shop.renamed")
        assert (report(shop).renamed, report(shop).dropped) == ("shop.renamed", False)
        assert "renamed to shop.renamed at the source" in shown(shop)
        assert "dropped at the source" not in shown(shop)

    def test_a_record_that_is_sent_again_changes_nothing(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(AWAY, NEW.create(row(2), 30))
        before = (shop.state(), shop.state("shop.renamed").dropped)
        shop.land(AWAY)
        assert (shop.state(), shop.state("shop.renamed").dropped) == before

    def test_the_new_name_is_not_taken_from_whoever_begins_under_it(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(NEW.create(row(2), 30))
        shop.land(AWAY)
        assert (shop.state("shop.renamed").parked, shop.state("shop.renamed").dropped) == (None, None)

    def test_a_later_table_of_the_old_name_does_not_land_on_the_rows(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(AWAY, ORDERS.create(row(7), 40))
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 1}}, None)
        parked = shop.state().parked
        assert parked is not None
        assert parked.message.startswith(
            "the source renamed the table to shop.renamed and made another one of its name, so"
        )
        assert shop.keys() == [1]

    def test_an_old_table_that_never_landed_is_named(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        assert shop.land(AWAY, NEW.create(row(1), 30)).notes == (
            "shop.renamed: shop.orders, which has not landed, was renamed to it at the source; its rows from before "
            "are not in the mirror until they change; `cdc-bridge resync CONFIG TABLE` fills it",
        )

    def test_a_table_that_was_created_and_altered_is_simply_new(self, tmp_path: Path) -> None:
        made = ddl("CREATE TABLE orders (id int)", ("CREATE", "orders"), pos=5)
        altered = ddl("ALTER TABLE orders ADD name text", ("ALTER", "orders"), pos=6)
        assert Shop(tmp_path).land(made, altered, ORDERS.create(row(1), 8)).notes == ()

    def test_a_rename_before_the_snapshot_that_loaded_the_table_means_nothing(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 50), NEW.read(row(1), 50))
        shop.land(AWAY)
        assert (shop.state().dropped, shop.state("shop.renamed").dropped) == (None, None)

    def test_what_postgresqls_catalog_has_shown_is_in_the_status_too(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        seen = msgspec.structs.replace(shop.state(), relation=Relation("77/5", 12, "public.has_a_new_name"))
        shop.job.ledger.commit(Draft(tables={TABLE: seen}))
        assert report(shop).values()["renamed"] == "public.has_a_new_name"
        assert "renamed to public.has_a_new_name at the source" in shown(shop)


class TestUnread:
    def test_a_statement_that_nobody_can_read_is_told_and_nothing_follows(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        told = shop.land(ddl("RENAME TABLE IF EXISTS x WAIT 5 TO orders", ("ALTER", "orders"), pos=20))
        assert told.notes == (
            "shop.orders: what this statement renames cannot be told, so nothing follows from it: RENAME TABLE IF "
            "EXISTS x WAIT 5 TO orders",
        )
        assert (shop.state().dropped, shop.stop()) == (None, None)

    def test_a_table_that_may_have_been_renamed_to_a_new_name_is_told(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        told = shop.land(ddl("RENAME TABLE orders TO mall.renamed", ("ALTER", "renamed"), pos=20))
        assert told.notes[0].startswith("shop.renamed: altered at the source without having landed before: RENAME")
        assert shop.state().dropped is None
