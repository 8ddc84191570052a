"""Tables and columns that were renamed at the source, over whole micro-batches."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Dropped, RebuildKind, Relation, RenamedColumns, TableStatus
from streaming.demo.workload import Record
from streaming.driver.renamed_columns import renamed
from streaming.landing.source_drop import has_positions, reached
from streaming.policies import OnDrop, OnTruncate, TableMode
from streaming.reporting.status import TableReport, status_of
from streaming.reporting.status_view import Status, show_status
from tests.support.mariadb_events import MariaTable, ddl, in_log, unplaced
from tests.unit.streaming.maria_shop import CUSTOMERS, ORDERS, TABLE, Shop, drop_orders, row

NEW = MariaTable("renamed")
AWAY = ddl("RENAME TABLE orders TO renamed", ("ALTER", "renamed"), pos=20)
RENAMED = (
    "shop.orders: renamed to shop.renamed at the source: its mirror stays as it is and gets no more changes; the rows "
    "that change from now on land under the new name; `cdc-bridge resync CONFIG TABLE` fills that table"
)
TAKEN_PLACE, TAKEN_MS = f"{1:016x}{20:016x}", 1_700_000_000_020


def swap(pos: int) -> tuple[Record, ...]:
    """What Debezium sends of ``RENAME TABLE orders TO spare, customers TO orders, spare TO customers``."""
    return (
        ddl("RENAME TABLE orders TO spare", pos=pos),
        ddl("RENAME TABLE customers TO orders", ("ALTER", "orders"), pos=pos),
        ddl("RENAME TABLE spare TO customers", ("ALTER", "customers"), pos=pos),
    )


def report(shop: Shop, table: str = TABLE) -> TableReport:
    return next(one for one in status_of(shop.job.ledger.state, None, 0).tables if one.name == table)


def shown(shop: Shop) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    show_status(Status(status_of(shop.job.ledger.state, None, 0), None), console)
    return console.export_text()


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


class TestColumns:
    def rename(self, pos: int, statement: str = "CHANGE name title text", *columns: str) -> Record:
        after = columns or ("id", "title")
        return ddl(f"ALTER TABLE orders {statement}", ("ALTER", "orders"), pos=pos, columns=after)

    def test_which_column_became_which_is_recorded_told_and_shown(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        told = shop.land(self.rename(20))
        assert told.notes == (
            "shop.orders: renamed columns at the source: name to title; rows from before keep their values under the "
            "old names until they change; `cdc-bridge resync CONFIG TABLE` fills the new ones",
        )
        assert shop.state().renamed_columns == RenamedColumns(0, TAKEN_PLACE, {"name": "title"}, ("name",), TAKEN_MS)
        assert report(shop).values()["renamed_columns"] == {"name": "title"}
        assert "columns renamed at the source: name to title" in shown(shop)
        titled = MariaTable(columns=(("id", "bigint!"), ("title", "text")))
        shop.land(titled.create({"id": 2, "title": "b"}, 30))
        assert shop.job.rows(TABLE) == [{**row(1), "title": None}, {"id": 2, "name": None, "title": "b"}]
        assert shop.state().renamed_columns == RenamedColumns(0, TAKEN_PLACE, {"name": "title"}, ("name",), TAKEN_MS)

    @pytest.mark.parametrize(
        ("policies", "stop"),
        [
            ({}, ("column_replaced", None)),
            ({"on_truncate": OnTruncate.REBUILD}, ("column_replaced", RebuildKind.SNAPSHOT)),
            ({"on_truncate": OnTruncate.IGNORE}, None),
            ({"mode": TableMode.HISTORY}, None),
        ],
    )
    def test_a_table_stops_whose_column_has_got_the_name_of_another_one(
        self, tmp_path: Path, policies: dict[str, Any], stop: tuple[str, RebuildKind | None] | None
    ) -> None:
        shop = Shop(tmp_path, **policies)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(
            self.rename(20, "RENAME COLUMN id TO spare", "spare", "name"),
            self.rename(21, "RENAME COLUMN name TO id", "spare", "id"),
            self.rename(22, "RENAME COLUMN spare TO name", "name", "id"),
        )
        found = shop.stop()
        assert (None if found is None else (found[0], found[2])) == stop
        assert report(shop).renamed_columns == {"id": "name", "name": "id"}

    def test_so_does_one_that_has_dropped_the_other_column(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(self.rename(20, "DROP COLUMN name, CHANGE id name bigint", "name"))
        found = shop.stop()
        assert found is not None
        assert found[0] == "column_replaced"

    def test_a_name_that_has_landed_by_the_rename_itself_replaces_nothing(self, tmp_path: Path) -> None:
        titled = MariaTable(columns=(("id", "bigint!"), ("title", "text")))
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        # The topic of the table is read first, and both in one batch.
        shop.land(titled.create({"id": 2, "title": "b"}, 30))
        shop.land(self.rename(20))
        assert (shop.stop(), report(shop).renamed_columns) == (None, {"name": "title"})
        shop.land(titled.create({"id": 3, "title": "c"}, 60), self.rename(50, "CHANGE title label text", "id", "label"))
        assert (shop.stop(), report(shop).renamed_columns) == (None, {"name": "label", "title": "label"})
        # Its first name again: what has landed as title is not under that one.
        shop.land(self.rename(70, "CHANGE label name text", "id", "name"))
        found = shop.stop()
        assert found is not None
        assert found[0] == "column_replaced"

    def test_a_rename_and_its_undoing_without_a_row_in_between_replace_nothing(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        titled = MariaTable(columns=(("id", "bigint!"), ("title", "text")))
        shop.land(ORDERS.read(row(1), 5))
        shop.land(self.rename(20), titled.create({"id": 2, "title": "b"}, 30))
        shop.land(self.rename(40, "CHANGE title label text", "id", "label"))
        shop.land(self.rename(50, "CHANGE label title text", "id", "title"))
        assert (shop.stop(), report(shop).renamed_columns) == (None, {"name": "title"})

    def test_a_column_that_has_its_name_back_before_anything_has_landed_is_as_it_was(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(self.rename(20), self.rename(21, "CHANGE title name text", "id", "name"))
        assert (shop.stop(), report(shop).renamed_columns) == (None, {})

    def test_a_record_that_is_sent_again_changes_nothing(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        exchange = self.rename(20, "RENAME COLUMN id TO name, RENAME COLUMN name TO id", "name", "id")
        shop.land(exchange)
        told = shop.land(exchange)
        assert (told.notes, report(shop).renamed_columns) == ((), {"id": "name", "name": "id"})

    def test_a_rename_before_the_snapshot_that_loaded_the_table_means_nothing(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 50))
        assert (shop.land(self.rename(20)).notes, shop.state().renamed_columns) == ((), None)

    def test_a_column_that_has_not_landed_is_nobodys_concern(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        assert shop.land(self.rename(20, "CHANGE secret title text", "id", "name", "title")).notes == ()
        assert shop.state().renamed_columns is None

    @pytest.mark.parametrize(
        ("known", "pairs", "after"),
        [
            ({}, [("a", "x")], {"a": "x"}),
            ({}, [("A", "x")], {"a": "x"}),
            ({"a": "x"}, [("x", "y")], {"a": "y"}),
            ({"a": "x"}, [("x", "a")], {}),
            ({}, [("a", "b"), ("b", "a")], {"a": "b", "b": "a"}),
            ({"a": "b", "b": "a"}, [("a", "b"), ("b", "a")], {}),
            ({"a": "x"}, [("b", "a")], {"a": "x", "b": "a"}),
            ({}, [("a", "A")], {"a": "A"}),
            ({}, [("z", "x")], {}),
        ],
    )
    def test_a_column_is_followed_from_name_to_name(
        self, known: dict[str, str], pairs: list[tuple[str, str]], after: dict[str, str]
    ) -> None:
        assert renamed(known, pairs, {"a", "b"}) == after


class TestMadeAnew:
    """Columns that get a name under which rows of a dropped or renamed one have landed."""

    TEXT = (
        "the source has given columns names under which other columns' values have landed: name (a new column); rows "
        "that have not changed since show those"
    )

    def alter(self, pos: int, statement: str, *columns: str, kind: str = "ALTER") -> Record:
        return ddl(f"ALTER TABLE orders {statement}", (kind, "orders"), pos=pos, columns=columns)

    def begun(self, folder: Path, **policies: Any) -> Shop:
        shop = Shop(folder, **policies)
        shop.land(ORDERS.read(row(1), 5))
        return shop

    def reason(self, shop: Shop) -> str | None:
        found = shop.stop()
        return None if found is None else found[0]

    @pytest.mark.parametrize(
        ("policies", "stop"),
        [
            ({}, ("column_replaced", None)),
            ({"on_truncate": OnTruncate.REBUILD}, ("column_replaced", RebuildKind.SNAPSHOT)),
            ({"on_truncate": OnTruncate.IGNORE}, None),
            ({"mode": TableMode.HISTORY}, None),
        ],
    )
    @pytest.mark.parametrize("apart", [False, True])
    def test_a_column_that_is_dropped_and_added_stops_its_table(
        self, tmp_path: Path, apart: bool, policies: dict[str, Any], stop: tuple[str, RebuildKind | None] | None
    ) -> None:
        shop = self.begun(tmp_path, **policies)
        dropped, added = self.alter(20, "DROP name", "id"), self.alter(21, "ADD name text", "id", "name")
        if apart:
            shop.land(dropped)
            assert shop.state().renamed_columns == RenamedColumns(0, TAKEN_PLACE, {}, ("name",), TAKEN_MS)
            shop.land(added)
        else:
            shop.land(dropped, added)
        found, parked = shop.stop(), shop.state().parked
        assert (None if found is None else (found[0], found[2])) == stop
        assert parked is None or parked.message == self.TEXT
        assert shop.state().renamed_columns == RenamedColumns(0, f"{1:016x}{21:016x}", {}, source_ms=TAKEN_MS + 1)

    @pytest.mark.parametrize(
        ("statement", "columns"),
        [
            ("DROP COLUMN name, ADD COLUMN name varchar(20)", ("id", "name")),
            ("ADD name text AFTER id, DROP NAME", ("id", "name")),
            ("CHANGE name title text, ADD name text", ("id", "name", "title")),
        ],
    )
    def test_so_does_one_in_one_statement(self, tmp_path: Path, statement: str, columns: tuple[str, ...]) -> None:
        shop = self.begun(tmp_path)
        shop.land(self.alter(20, statement, *columns))
        assert (self.reason(shop), report(shop).renamed_columns) == ("column_replaced", {})

    def test_so_does_one_that_takes_the_name_of_a_renamed_one(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        shop.land(self.alter(20, "CHANGE name title text", "id", "title"))
        assert self.reason(shop) is None
        shop.land(self.alter(30, "ADD name text", "id", "name", "title"))
        parked = shop.state().parked
        assert parked is not None
        assert (parked.reason, parked.message) == ("column_replaced", self.TEXT)

    def test_rows_of_the_new_column_that_land_before_it_is_told_are_no_hindrance(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        shop.land(self.alter(20, "DROP name", "id"))
        shop.land(ORDERS.create(row(2, "b"), 40))
        shop.land(self.alter(30, "ADD name text", "id", "name"))
        assert self.reason(shop) == "column_replaced"

    def test_what_is_sent_again_stops_nothing_a_second_time(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        anew = self.alter(20, "DROP name, ADD name text", "id", "name")
        shop.land(anew)
        going_on = msgspec.structs.replace(shop.state(), status=TableStatus.STREAMING, parked=None)
        shop.job.ledger.commit(Draft(tables={TABLE: going_on}))
        shop.land(anew)
        assert shop.stop() is None

    def test_a_column_under_whose_name_nothing_has_landed_replaces_nothing(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        shop.land(
            self.alter(20, "ADD title text", "id", "name", "title"),
            self.alter(21, "DROP title", "id", "name"),
            self.alter(22, "ADD title text", "id", "name", "title"),
            self.alter(23, "DROP title, ADD title int", "id", "name", "title"),
        )
        assert (shop.stop(), shop.state().renamed_columns) == (None, None)

    def test_nor_does_one_whose_rows_may_have_landed_before_its_statements_were_told(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        titled = MariaTable(columns=(("id", "bigint!"), ("name", "text"), ("title", "text")))
        shop.land(titled.create({"id": 2, "name": "a", "title": "t"}, 40))
        shop.land(
            self.alter(20, "ADD z int", "id", "name", "z"),
            self.alter(21, "ADD title text", "id", "name", "title", "z"),
            self.alter(22, "DROP title, ADD title int", "id", "name", "title", "z"),
        )
        assert shop.stop() is None

    def test_a_column_that_is_renamed_and_back_is_no_new_one(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        shop.land(self.alter(20, "CHANGE name title text", "id", "title"))
        shop.land(self.alter(21, "CHANGE title name text", "id", "name"))
        assert (shop.stop(), shop.state().renamed_columns) == (
            None,
            RenamedColumns(0, f"{1:016x}{21:016x}", {}, source_ms=TAKEN_MS + 1),
        )

    def test_a_column_that_is_called_like_one_of_the_bridges_own_replaces_nothing(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path, soft_delete="removed")
        shop.land(self.alter(20, "ADD z int", "id", "name", "z"))
        shop.land(self.alter(21, "ADD removed int", "id", "name", "z", "removed"))
        assert (shop.stop(), shop.state().renamed_columns) == (None, None)

    def test_a_name_that_two_columns_had_one_after_the_other_makes_them_no_one_column(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        shop.land(
            self.alter(20, "CHANGE name label text", "id", "label"),
            self.alter(21, "DROP label, ADD z int", "id", "z"),
            self.alter(22, "CHANGE id label bigint", "label", "z"),
        )
        assert (shop.stop(), report(shop).renamed_columns) == (None, {"id": "label"})
        shop.land(self.alter(23, "CHANGE label name bigint", "name", "z"))
        assert self.reason(shop) == "column_replaced"

    def test_of_a_statement_that_may_have_renamed_it_nothing_follows(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        shop.land(self.alter(20, "CHANGE name title text", "id", "title"))
        shop.land(self.alter(21, "RENAME COLUMN IF EXISTS title TO name", "id", "name"))
        assert shop.stop() is None

    def test_what_a_snapshot_describes_is_no_change(self, tmp_path: Path) -> None:
        """As ``snapshot.mode`` recovery, no_data and others write it to the topic."""
        shop = self.begun(tmp_path)
        described = [
            ddl("CREATE TABLE `orders` (`id` int)", ("CREATE", "orders"), pos=20, columns=("id",), snapshot="true"),
            ddl("ALTER TABLE orders DROP name", ("ALTER", "orders"), pos=21, columns=("id",), snapshot="last"),
        ]
        shop.land(*described)
        shop.land(self.alter(30, "ADD z int", "id", "name", "z"))
        assert (shop.stop(), shop.state().renamed_columns) == (None, None)

    def test_what_was_before_the_snapshot_that_loaded_the_table_means_nothing(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 50))
        shop.land(self.alter(20, "DROP name", "id"), self.alter(21, "ADD name text", "id", "name"))
        assert shop.stop() is None

    def test_columns_of_a_table_that_was_made_again_are_not_those_of_the_one_before(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        shop.land(self.alter(20, "DROP name", "id"))
        made = ddl("CREATE TABLE orders (id int, name text)", ("CREATE", "orders"), pos=31, columns=("id", "name"))
        shop.land(drop_orders(30), made, ORDERS.create(row(2), 40))
        assert self.reason(shop) == "recreated"
        shop.land(self.alter(50, "ADD z int", "id", "name", "z"))
        assert self.reason(shop) == "recreated"

    def test_a_long_repeat_in_which_columns_were_added_stops_nothing(self, tmp_path: Path) -> None:
        """A thousand events below the furthest one open an epoch, in which every position counts as new."""
        added = [self.alter(20, "ADD x text", *"ix"), self.alter(30, "ADD y text", *"ixy")]
        wide = MariaTable(columns=(("i", "bigint!"), ("x", "text"), ("y", "text")))
        shop = Shop(tmp_path)
        shop.land(MariaTable(columns=(("i", "bigint!"),)).read({"i": 1}, 5))
        shop.land(*added, wide.create({"i": 2, "x": "x", "y": "y"}, 9_999))
        shop.land(*added, *(wide.create({"i": key, "x": "x", "y": "y"}, 40 + key) for key in range(1_100)))
        assert (shop.stop(), reached(shop.state())[0]) == (None, 1)

    def test_columns_of_a_table_whose_events_have_no_positions_may_be_there_before_they_are_told(
        self, tmp_path: Path
    ) -> None:
        wide = MariaTable(columns=(("i", "bigint!"), ("x", "text"), ("y", "text")))
        shop = Shop(tmp_path)
        shop.land(unplaced(wide.create({"i": 2, "x": "x", "y": "y"}, 9)))
        shop.land(self.alter(20, "ADD x text", *"ix"), self.alter(30, "ADD y text", *"ixy"))
        assert (has_positions(shop.state()), shop.stop()) == (False, None)

    def test_a_log_that_begins_anew_is_known_by_what_had_landed_before_its_first_rows(self, tmp_path: Path) -> None:
        """Of a ledger that does not know when a snapshot loaded the table."""
        shop = Shop(tmp_path)
        shop.land(in_log(ORDERS.read(row(1), 5), 900, 0))
        self.commit(shop, loaded_ms=0)
        shop.land(in_log(self.alter(20, "DROP name", "id"), 3, 1), in_log(ORDERS.create(row(2), 40), 3, 1))
        shop.land(in_log(self.alter(50, "ADD name text", "id", "name"), 3, 1))
        assert self.reason(shop) == "column_replaced"

    def test_a_copy_that_is_not_made_since_the_table_is_there_changes_nothing(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        asked = "CREATE TABLE IF NOT EXISTS orders LIKE customers"
        copied = ddl(asked, ("CREATE", "orders"), pos=22, columns=("id", "name"))
        shop.land(self.alter(20, "DROP name", "id"), copied)
        shop.land(self.alter(30, "ADD name text", "id", "name"))
        assert self.reason(shop) == "column_replaced"

    def test_a_name_that_was_renamed_away_by_a_ledger_of_before_is_nobody_s(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        self.commit(shop, renamed_columns=RenamedColumns(0, TAKEN_PLACE, {"name": "title"}))
        shop.land(self.alter(30, "ADD name text", "id", "name", "title"))
        assert self.reason(shop) == "column_replaced"

    def commit(self, shop: Shop, **changes: Any) -> None:
        shop.job.ledger.commit(Draft(tables={TABLE: msgspec.structs.replace(shop.state(), **changes)}))

    def test_a_record_that_tells_no_columns_changes_nothing(self, tmp_path: Path) -> None:
        shop = self.begun(tmp_path)
        shop.land(self.alter(20, "ENGINE=InnoDB"))
        assert shop.state().renamed_columns is None
        shop.land(self.alter(21, "DROP name", "id"), self.alter(22, "ENGINE=InnoDB"))
        assert shop.state().renamed_columns == RenamedColumns(0, f"{1:016x}{22:016x}", {}, ("name",), TAKEN_MS + 2)
