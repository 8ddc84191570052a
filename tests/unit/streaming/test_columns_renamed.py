"""Columns that were renamed at the source, over whole micro-batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import RebuildKind, RenamedColumns
from streaming.demo.workload import Record
from streaming.driver.renamed_columns import renamed
from streaming.policies import OnTruncate, TableMode
from tests.support.mariadb_events import MariaTable, ddl
from tests.unit.streaming.maria_shop import ORDERS, TABLE, Shop, report, row, shown

TAKEN_PLACE, TAKEN_MS = f"{1:016x}{20:016x}", 1_700_000_000_020


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
