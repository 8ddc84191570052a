"""Columns that PostgreSQL's catalog has under another name than rows have landed under."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from connectors.landing_zone.ledger.state import Rebuild, RebuildKind, Relation, RenamedColumns, TableStatus
from streaming.demo.columns import Column, Kind
from streaming.lifecycle.catalog_columns import Columns, columns_now, columns_of, replaced_columns
from streaming.lifecycle.catalog_look import Columned, Gone, Look, Mirrored, Replaced, Seen, look
from streaming.lifecycle.catalog_watch import COLUMNS_SECONDS
from streaming.lifecycle.generations import from_kafka
from streaming.policies import OnDrop, OnTruncate
from streaming.reporting.status import status_of
from tests.support.records import Position
from tests.unit.streaming.catalog_shop import END, FIRST, NAME, THIRD, USERS, Shop
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.test_catalog_look import END as LOG_END
from tests.unit.streaming.test_catalog_look import ORDERS as TABLE
from tests.unit.streaming.test_catalog_look import Server, known

LANDED = ("id", "name", "title")


def columns(*numbers: int, names: tuple[str, ...] = LANDED) -> Columns:
    return Columns(LANDED, names, numbers)


@pytest.mark.parametrize(
    ("before", "catalog", "after"),
    [
        pytest.param(columns(), {1: "id", 2: "name"}, columns(1, 2, 0), id="numbers are known by the names"),
        pytest.param(
            columns(1, 2, 0), {1: "id", 2: "title"}, columns(1, 2, 2, names=("id", "title", "title")), id="renamed"
        ),
        pytest.param(
            columns(1, 2, 2, names=("id", "title", "title")),
            {1: "id", 2: "name"},
            columns(1, 2, 2, names=("id", "name", "name")),
            id="named back",
        ),
        pytest.param(
            columns(1, 2, 3),
            {1: "id", 2: "title", 3: "name"},
            columns(1, 2, 3, names=("id", "title", "name")),
            id="swap",
        ),
        pytest.param(
            columns(1, 2, 0),
            {1: "id", 2: "title", 3: "name"},
            columns(1, 3, 2),
            id="another one has got its name",
        ),
        pytest.param(
            columns(1, 2, 3),
            {1: "id", 2: "title", 4: "name"},
            columns(1, 4, 2),
            id="a new one has its name, and it that of one that is gone",
        ),
        pytest.param(columns(1, 2, 0), {1: "id"}, columns(1, 2, 0), id="dropped"),
        pytest.param(columns(1, 2, 0), {1: "id", 3: "title"}, columns(1, 2, 3), id="dropped, and one more: no rename"),
        pytest.param(columns(1, 2, 0), {1: "id", 3: "name"}, columns(1, 3, 0), id="dropped and made again"),
        pytest.param(
            columns(1, 2, 2, names=("id", "title", "title")),
            {1: "id", 3: "title"},
            columns(1, 2, 3, names=("id", "title", "title")),
            id="dropped, and another one has the name that it had",
        ),
        pytest.param(
            columns(1, 2, 0, names=("id", "label", "title")),
            {1: "id", 3: "name"},
            columns(1, 3, 0),
            id="renamed, dropped and made again",
        ),
        pytest.param(columns(1, 0), {1: "id", 2: "label"}, columns(1, 0, 0), id="renamed before its number was known"),
        pytest.param(columns(1), {1: "id", 2: "name", 3: "title"}, columns(1, 2, 3), id="more have landed"),
    ],
)
def test_a_column_is_the_one_that_has_its_number(before: Columns, catalog: dict[int, str], after: Columns) -> None:
    found = columns_now(before, catalog)
    assert found == after
    assert columns_now(found, catalog) == found


class TestLook:
    ONE = Mirrored("public.orders", 1, "shop", TABLE, known(), columns(1, 2, 0))

    def test_only_what_is_new_is_found(self) -> None:
        server = Server({11: TABLE}, named={11: {1: "id", 2: "label"}})
        after = columns(1, 2, 0, names=("id", "label", "title"))
        assert look(server, [self.ONE], {}) == Look((Columned(self.ONE, after),), {})
        assert look(server, [replace(self.ONE, columns=after)], {}) == Look((), {})

    @pytest.mark.parametrize(
        "one",
        [
            pytest.param(replace(ONE, columns=None), id="columns are not looked for"),
            pytest.param(replace(ONE, relation=known(12)), id="another table has its name"),
        ],
    )
    def test_columns_are_asked_of_a_table_that_is_there_as_it_was(self, one: Mirrored) -> None:
        server = Server({11: TABLE}, named={11: {1: "id", 2: "label"}})
        look(server, [one], {})
        assert "columns" not in server.asked

    @pytest.mark.parametrize("before", [None, Relation("88/5/00000001", 11)])
    def test_a_table_that_is_seen_anew_comes_with_its_columns(self, before: Relation | None) -> None:
        server = Server({11: TABLE}, named={11: {2: "id", 1: "name"}})
        one = replace(self.ONE, relation=before)
        assert look(server, [one], {}) == Look((Seen(one, known(), columns(2, 1, 0)),), {})

    def test_a_table_that_has_its_name_again_keeps_the_numbers_of_its_columns(self) -> None:
        server = Server({11: TABLE}, named={11: {1: "id", 2: "label"}})
        one = replace(self.ONE, relation=known(renamed="public.later"))
        after = columns(1, 2, 0, names=("id", "label", "title"))
        assert look(server, [one], {}) == Look((Seen(one, known(), after, LOG_END),), {})

    def test_numbers_of_another_database_say_nothing(self) -> None:
        server = Server(named={11: {1: "id", 2: "label"}})
        assert look(server, [replace(self.ONE, relation=Relation("88/5/00000001", 11))], {}) == Look((), {})

    def test_the_columns_of_a_table_that_has_another_name_are_another_mirrors(self) -> None:
        server = Server({11: replace(TABLE, name="later")}, named={11: {1: "id", 2: "label"}})
        look(server, [replace(self.ONE, relation=known(renamed="public.later"))], {})
        assert "columns" not in server.asked


class TestRecorded:
    def found(self, shop: Shop, catalog: dict[int, str]) -> Columned:
        before = columns_of(shop.state(), shop.plain.ledger.state)
        assert before is not None
        return Columned(replace(shop.mirrored(), columns=before), columns_now(before, catalog))

    def test_numbers_are_kept_without_a_word(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        assert shop.look(self.found(shop, {1: "id", 2: "name"}))
        assert (shop.state().column_numbers, shop.state().renamed_columns, shop.notes()) == ((1, 2), None, [])

    def test_a_rename_is_told_once_and_shown(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        shop.look(self.found(shop, {1: "id", 2: "title"}))
        shop.look(self.found(shop, {1: "id", 2: "title"}))
        assert shop.state().renamed_columns == RenamedColumns(0, "", {"name": "title"})
        assert shop.notes() == [
            "public.orders: renamed columns at the source: name to title; rows from before keep their values under the "
            "old names until they change; `cdc-bridge resync CONFIG TABLE` fills the new ones"
        ]
        [orders, _] = status_of(shop.plain.ledger.state, None, now_ms=0).tables
        assert orders.renamed_columns == {"name": "title"}

    REPLACED = (
        "the source has given columns names under which other columns' values have landed: id (before: name), name "
        "(before: id); rows that have not changed since show those"
    )

    @pytest.mark.parametrize(
        ("policies", "stop"),
        [
            ({}, ("column_replaced", None)),
            ({"on_truncate": OnTruncate.REBUILD}, ("column_replaced", RebuildKind.SNAPSHOT)),
            ({"on_truncate": OnTruncate.IGNORE}, None),
        ],
    )
    def test_a_table_stops_whose_column_has_got_the_name_of_another_one(
        self, tmp_path: Path, policies: dict[str, OnTruncate], stop: tuple[str, RebuildKind | None] | None
    ) -> None:
        shop = Shop(tmp_path, **policies)
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        shop.look(self.found(shop, {1: "name", 2: "id"}))
        assert shop.stop() == stop
        parked = shop.state().parked
        assert parked is None or parked.message == self.REPLACED
        assert shop.state().renamed_columns == RenamedColumns(0, "", {"id": "name", "name": "id"})
        assert [report.parked for report in shop.reports] == [(NAME,) if stop else ()]

    def test_a_name_that_has_landed_by_the_rename_itself_replaces_nothing(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        titled = replace(ORDERS, columns=(*ORDERS.columns, Column("title", Kind.TEXT)))
        shop.plain.receive(titled.create({**row(2), "title": "t"}, Position(20, 30)))
        shop.look(self.found(shop, {1: "id", 2: "title"}))
        assert (shop.stop(), shop.state().column_numbers) == (None, (1, 2, 2))
        shop.look(self.found(shop, {1: "id", 2: "label"}))
        shop.look(self.found(shop, {1: "id", 2: "title"}))
        assert shop.stop() is None
        # Back again: what has landed under the name in between is not under this one.
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        assert shop.stop() == ("column_replaced", None)

    def test_a_column_that_has_its_name_back_before_anything_has_landed_is_as_it_was(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        shop.look(self.found(shop, {1: "id", 2: "title"}))
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        assert (shop.stop(), shop.state().renamed_columns) == (None, RenamedColumns(0, "", {}))

    @pytest.mark.parametrize(
        ("policies", "stop"),
        [
            ({}, ("column_replaced", None)),
            ({"on_truncate": OnTruncate.REBUILD}, ("column_replaced", RebuildKind.SNAPSHOT)),
            ({"on_truncate": OnTruncate.IGNORE}, None),
        ],
    )
    @pytest.mark.parametrize("old", [{}, {2: "title"}])
    def test_a_table_stops_whose_landed_column_was_made_anew(
        self,
        tmp_path: Path,
        old: dict[int, str],
        policies: dict[str, OnTruncate],
        stop: tuple[str, RebuildKind | None] | None,
    ) -> None:
        shop = Shop(tmp_path, **policies)
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        shop.look(self.found(shop, {1: "id", **old, 3: "name"}))
        parked = shop.state().parked
        assert (shop.stop(), shop.state().column_numbers) == (stop, (1, 3))
        assert [report.parked for report in shop.reports if report.parked] == ([(NAME,)] if stop else [])
        assert parked is None or parked.message == (
            "the source has given columns names under which other columns' values have landed: name (a new column); "
            "rows that have not changed since show those"
        )
        # A person lets it go on: it is told no second time.
        shop.set(status=TableStatus.STREAMING, parked=None)
        shop.look(self.found(shop, {1: "id", **old, 3: "name"}))
        assert shop.stop() is None

    def test_a_column_that_was_not_known_to_have_landed_is_none_that_was_made_anew(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.look(self.found(shop, {1: "id"}))
        shop.look(self.found(shop, {1: "id", 7: "name"}))
        assert (shop.stop(), shop.state().column_numbers) == (None, (1, 7))

    def test_a_column_made_anew_under_a_name_that_another_one_was_given_replaces_that_ones_values(
        self, tmp_path: Path
    ) -> None:
        shop = Shop(tmp_path)
        titled = replace(ORDERS, columns=(*ORDERS.columns, Column("title", Kind.TEXT)))
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        shop.plain.receive(titled.create({**row(2), "title": "t"}, Position(20, 30)))
        shop.look(self.found(shop, {1: "id", 2: "title"}))
        shop.look(self.found(shop, {1: "id", 3: "title"}))
        parked = shop.state().parked
        assert parked is not None
        assert "have landed: title (a new column); " in parked.message

    def test_each_of_the_names_that_were_passed_on_is_told(self) -> None:
        before = columns(1, 2, 3)
        after = columns_now(before, {1: "id", 2: "title", 4: "name"})
        assert replaced_columns(before, after) == {"name": "", "title": "name"}

    def test_a_name_that_two_columns_had_one_after_the_other_makes_them_no_one_column(self) -> None:
        before = columns(1, 2, 3, names=("id", "label", "label"))
        after = columns_now(before, {1: "id", 2: "title"})
        assert replaced_columns(before, after) == {"title": "label"}

    def test_a_table_that_has_its_name_back_stops_for_that(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        shop.set(relation=msgspec.structs.replace(FIRST, renamed="public.later"))
        found = self.found(shop, {1: "id", 3: "name"})
        shop.look(Seen(found.mirrored, FIRST, found.columns, END))
        assert (shop.stop(), shop.state().column_numbers) == (("recreated", None), (1, 3))

    def test_another_table_has_numbers_of_its_own(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        shop.look(Seen(shop.mirrored(), THIRD))
        assert shop.state().column_numbers == ()
        shop.look(self.found(shop, {1: "name", 2: "id"}))
        assert (shop.state().column_numbers, shop.state().renamed_columns) == ((2, 1), None)
        shop.look(Replaced(shop.mirrored(), FIRST, END))
        assert shop.state().column_numbers == ()

    @pytest.mark.parametrize("gone_first", [False, True])
    def test_what_another_tables_columns_were_called_is_forgotten(self, tmp_path: Path, gone_first: bool) -> None:
        shop = Shop(tmp_path)
        titled = replace(ORDERS, columns=(*ORDERS.columns, Column("title", Kind.TEXT)))
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        shop.look(self.found(shop, {1: "id", 2: "title"}))
        shop.plain.receive(titled.create({**row(2), "title": "t"}, Position(20, 30)))
        if gone_first:
            shop.look(Gone(shop.mirrored(), END))
            shop.look(Seen(shop.mirrored(), THIRD))
            shop.plain.receive(ORDERS.create(row(3), Position(21, END.lsn)))
        else:
            shop.look(Replaced(shop.mirrored(), THIRD, END))
        assert shop.stop() == ("recreated", None)
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        assert (shop.stop(), shop.state().renamed_columns) == (("recreated", None), None)

    def test_a_table_that_is_built_anew_begins_without(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.look(self.found(shop, {1: "id", 2: "name"}))
        shop.look(self.found(shop, {1: "id", 2: "title"}))
        before = shop.state()
        shop.drop()
        parked = shop.state().parked
        assert parked is not None
        anew = from_kafka(before, Rebuild(RebuildKind.KAFKA, "dropped", deleted_ms=1), parked)
        assert (anew.column_numbers, anew.renamed_columns) == ((), None)


class TestWhen:
    def asked(self, shop: Shop) -> list[str]:
        """Names of the tables whose columns the next look asks for."""
        shop.look()
        return [one.name for one in shop.source.asked[-1] if one.columns is not None]

    def test_at_first_then_where_a_column_has_landed_and_now_and_then_of_all(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        assert self.asked(shop) == [NAME, USERS]
        shop.clock -= 900
        assert self.asked(shop) == []
        shop.clock -= 900
        titled = replace(ORDERS, columns=(*ORDERS.columns, Column("title", Kind.TEXT)))
        shop.plain.receive(titled.create({**row(2), "title": "t"}, Position(20, 30)))
        assert self.asked(shop) == [NAME]
        shop.clock += COLUMNS_SECONDS
        assert self.asked(shop) == [NAME, USERS]

    def test_again_after_a_look_that_failed(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.source.answers.append(ValueError("odd"))
        shop.watch()
        shop.source.end()
        shop.watch()
        shop.clock -= 900
        assert self.asked(shop) == [NAME, USERS]
