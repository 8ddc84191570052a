"""Columns that were dropped and made again at the source, over whole micro-batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import RebuildKind, RenamedColumns, TableStatus
from streaming.demo.workload import Record
from streaming.landing.source_drop import has_positions, reached
from streaming.policies import OnTruncate, TableMode
from tests.support.mariadb_events import MariaTable, ddl, in_log, unplaced
from tests.unit.streaming.maria_shop import ORDERS, TABLE, Shop, drop_orders, report, row

TAKEN_PLACE, TAKEN_MS = f"{1:016x}{20:016x}", 1_700_000_000_020


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
