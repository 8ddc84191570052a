"""Tables that were dropped or made again at the source, over whole micro-batches; renamed ones: test_renamed_tables."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from connectors.debezium.schema import SourceTable
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Dropped, Parked, Rebuild, RebuildKind, TableStatus
from streaming.driver.planning import plan_batch
from streaming.lifecycle.generations import from_kafka
from streaming.policies import OnDrop, OnTruncate, TableMode
from streaming.reporting.status import status_of
from streaming.reporting.status_view import Status, show_status
from streaming.task.table_room import TableRoom
from streaming.task.tables import TableDirectory
from tests.support.mariadb_events import MariaTable, ddl
from tests.unit.streaming.maria_shop import CUSTOMERS, ORDERS, TABLE, Shop, drop_orders, row


class TestDropped:
    def test_a_drop_that_is_read_before_anything_of_its_table_is_not_kept(self, tmp_path: Path) -> None:
        """A limit that docs/schema-changes.md tells."""
        shop = Shop(tmp_path)
        shop.land(drop_orders(20), CUSTOMERS.create(row(2), 21))
        shop.land(ORDERS.create(row(1), 5), ORDERS.create(row(3), 30))
        assert (shop.stop(), shop.keys()) == (None, [1, 3])

    def test_the_mirror_of_a_dropped_table_stays_and_the_ledger_knows(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5), CUSTOMERS.read(row(1), 5))
        report = shop.land(drop_orders(20), CUSTOMERS.create(row(2), 21))
        assert report.notes == ("shop.orders: dropped at the source: DROP TABLE `orders`",)
        assert shop.state().dropped == Dropped(0, f"{1:016x}{20:016x}", 1, 1_700_000_000_020)
        assert (shop.stop(), shop.keys(), shop.keys("shop.customers")) == (None, [1], [1, 2])

    def test_the_mirror_is_dropped_with_it_where_the_settings_say_so(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5), ORDERS.create(row(2), 7), CUSTOMERS.read(row(1), 5))
        report = shop.land(ORDERS.create(row(3), 9), drop_orders(20), CUSTOMERS.create(row(2), 21))
        assert report.parked == (TABLE,)
        assert shop.stop() == ("dropped", {ORDERS.topic: {0: 3}}, RebuildKind.KAFKA)
        assert shop.keys() == [1, 2, 3], "what came before it has landed"
        assert shop.keys("shop.customers") == [1, 2]

    def test_a_table_that_stands_still_is_dropped_all_the_same(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        other = MariaTable(columns=(("id", "bigint!"), ("name", "bigint")))
        shop.land(other.create({"id": 2, "name": 5}, 8))
        assert shop.stop() == ("type_changed", {ORDERS.topic: {0: 1}}, None)
        shop.land(drop_orders(20))
        assert shop.stop() == ("dropped", {ORDERS.topic: {0: 1}}, RebuildKind.KAFKA)

    @pytest.mark.parametrize("told_at_once", [True, False])
    def test_one_that_stands_still_begins_anew_with_what_it_passed_over_behind_the_drop(
        self, tmp_path: Path, told_at_once: bool
    ) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        other = MariaTable(columns=(("id", "bigint!"), ("name", "bigint")))
        shop.land(other.create({"id": 2, "name": 5}, 8))
        made_again = ORDERS.create(row(7), 30)
        if told_at_once:
            shop.land(drop_orders(20), made_again)
        else:
            shop.land(made_again)
            shop.land(drop_orders(20))
        assert shop.stop() == ("dropped", {ORDERS.topic: {0: 1}}, RebuildKind.KAFKA)
        shop.empty_folder()
        state = shop.state()
        assert state.parked is not None
        deleting = msgspec.structs.replace(state, status=TableStatus.DELETING)
        shop.job.ledger.commit(Draft(tables={TABLE: deleting}))
        begun = from_kafka(deleting, Rebuild(RebuildKind.KAFKA, "dropped", deleted_ms=1), state.parked)
        shop.job.ledger.commit(Draft(tables={TABLE: begun}))
        shop.catch_up()
        assert (shop.state().status, shop.keys()) == (TableStatus.STREAMING, [7])

    def test_its_place_among_the_most_tables_is_free_once_its_folder_is_gone(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.job.job = dataclasses.replace(shop.job.job, most_tables=1)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(drop_orders(20))

        def may_begin_another() -> bool:
            plan = plan_batch(shop.job.job, shop.job.ledger.state, {}, "unique", frozenset())
            return TableRoom(plan, TableDirectory(plan)).has(SourceTable("shop", None, "customers"))

        assert not may_begin_another()
        shop.empty_folder()
        parked = shop.state().parked
        assert parked is not None
        deleting = msgspec.structs.replace(shop.state(), status=TableStatus.DELETING)
        shop.job.ledger.commit(Draft(tables={TABLE: deleting}))
        begun = from_kafka(deleting, Rebuild(RebuildKind.KAFKA, "dropped", deleted_ms=1), parked)
        shop.job.ledger.commit(Draft(tables={TABLE: begun}))
        shop.catch_up()
        assert may_begin_another()
        shop.land(ORDERS.create(row(7), 30))
        assert not may_begin_another()

    def test_one_that_catches_up_is_dropped_all_the_same(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        shop.stand_still(TableStatus.CATCHING_UP, 1)
        shop.land(ORDERS.create(row(2), 7), drop_orders(20))
        assert shop.state().status is TableStatus.PARKED
        assert shop.stop() == ("dropped", {ORDERS.topic: {0: 1}}, RebuildKind.KAFKA)

    def test_one_that_is_being_rebuilt_ends_as_it_was_decided(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        shop.stand_still(TableStatus.CATCHING_UP, 1, rebuild=Rebuild(RebuildKind.KAFKA, "truncate", deleted_ms=1))
        shop.land(drop_orders(20))
        assert shop.state().status is TableStatus.CATCHING_UP

    def test_what_is_wrong_with_the_folder_comes_first(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(MariaTable(columns=(("id", "bigint!"), ("name", "bigint"))).create({"id": 2, "name": 5}, 8))
        parked = shop.state().parked
        assert parked is not None
        damaged = msgspec.structs.replace(
            shop.state(), parked=msgspec.structs.replace(parked, reason="zone:table_reset")
        )
        shop.job.ledger.commit(Draft(tables={TABLE: damaged}))
        shop.land(drop_orders(20))
        assert shop.stop() == ("zone:table_reset", {ORDERS.topic: {0: 1}}, None)
        assert shop.state().dropped is not None

    @pytest.mark.parametrize("back", [True, False])
    @pytest.mark.parametrize("reason", ["topic_recreated", "ledger_rebuilt", "not_adopted"])
    def test_events_that_nobody_can_read_again_are_not_forgotten_over_it(
        self, tmp_path: Path, reason: str, back: bool
    ) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5), *([ORDERS.create(row(2), 30)] if back else []))
        parked = Parked(reason, "m", "r", ORDERS.topic, 0, 0, resume={ORDERS.topic: {0: 0}})
        stopped = msgspec.structs.replace(shop.state(), status=TableStatus.PARKED, parked=parked)
        shop.job.ledger.commit(Draft(tables={TABLE: stopped}))
        shop.land(drop_orders(20))
        assert shop.stop() == (reason, {ORDERS.topic: {0: 0}}, None)
        assert shop.state().dropped is not None

    def test_a_snapshot_begins_with_drops_that_mean_nothing(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        first = ddl("DROP TABLE IF EXISTS `orders`", ("DROP", "orders"), pos=5, snapshot="true")
        report = shop.land(first, ORDERS.read(row(1), 5))
        shop.land(first, ORDERS.create(row(2), 7))
        assert (report.notes, shop.state().dropped, shop.stop(), shop.keys()) == ((), None, None, [1, 2])

    def test_a_drop_before_the_snapshot_that_loaded_the_table_means_nothing(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 50))
        shop.land(drop_orders(20), ORDERS.create(row(2), 60))
        assert (shop.state().dropped, shop.stop(), shop.keys()) == (None, None, [1, 2])

    def test_a_table_that_several_source_tables_share_outlives_each_of_them(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        shared = msgspec.structs.replace(shop.state(), sources=(shop.state().source, ("mall", None, "orders")))
        shop.job.ledger.commit(Draft(tables={TABLE: shared}))
        report = shop.land(drop_orders(20))
        assert (shop.state().dropped, shop.stop()) == (None, None)
        assert report.notes == ("shop.orders: dropped at the source: DROP TABLE `orders`",)

    def test_tables_that_never_landed_and_drops_without_a_place_mean_nothing(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        report = shop.land(ddl("DROP TABLE x", ("DROP", "x"), pos=20), drop_orders(0))
        assert (shop.state().dropped, shop.stop()) == (None, None)
        assert report.notes == ("shop.orders: dropped at the source: DROP TABLE `orders`",)


class TestMadeAgain:
    @pytest.mark.parametrize("apart", [True, False])
    @pytest.mark.parametrize(("policy", "rebuild"), [(OnTruncate.PARK, None), (OnTruncate.REBUILD, RebuildKind.KAFKA)])
    def test_the_new_tables_events_do_not_land_on_the_old_rows(
        self, tmp_path: Path, policy: OnTruncate, rebuild: RebuildKind | None, apart: bool
    ) -> None:
        shop = Shop(tmp_path, on_truncate=policy)
        shop.land(ORDERS.read(row(1), 5))
        before, after = (ORDERS.create(row(2), 15), drop_orders(20)), ORDERS.create(row(3), 30)
        if apart:
            shop.land(*before)
            shop.land(after, CUSTOMERS.create(row(1), 31))
        else:
            shop.land(*before, after, CUSTOMERS.create(row(1), 31))
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 2}}, rebuild)
        assert (shop.keys(), shop.keys("shop.customers")) == ([1, 2], [1])

    def test_several_partitions_are_cut_at_the_drop(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        one, two = ORDERS, MariaTable(partition=1)
        shop.land(one.read(row(1), 5), two.read(row(2), 5))
        shop.land(
            two.create(row(6), 30),
            one.create(row(3), 10),
            one.create(row(5), 31),
            two.create(row(4), 32),
            drop_orders(20),
        )
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 2, 1: 1}}, None)
        assert shop.keys() == [1, 2, 3]

    def test_bytes_do_not_depend_on_how_the_events_around_a_drop_were_cut(self, tmp_path: Path) -> None:
        digests = set()
        for arrow_rows, tasks in ((1, 1), (2, 3), (100, 1)):
            shop = Shop(tmp_path / f"{arrow_rows}", on_truncate=OnTruncate.IGNORE)
            shop.job.arrow_rows, shop.job.tasks = arrow_rows, tasks
            shop.land(ORDERS.read(row(1), 5))
            events = [ORDERS.create(row(key), 10 * key) for key in range(2, 8)]
            report = shop.land(*events, drop_orders(45), ddl("x", ("ALTER", "orders"), pos=46))
            digests.add(report.files[TABLE].sha256)
        assert len(digests) == 1

    def test_they_do_where_the_settings_let_old_rows_stay(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_truncate=OnTruncate.IGNORE)
        shop.land(ORDERS.read(row(1), 5))
        report = shop.land(drop_orders(20), ORDERS.create(row(3), 30))
        assert report.notes[-1] == (
            "shop.orders: the source dropped the table and made it again; the rows from before stay"
        )
        assert (shop.stop(), shop.keys(), shop.state().tainted) == (None, [1, 3], True)
        assert shop.state().dropped == Dropped(0, f"{1:016x}{20:016x}", 1, 1_700_000_000_020, back=True)
        shop.land(drop_orders(20), ORDERS.create(row(4), 40))
        assert (shop.stop(), shop.keys()) == (None, [1, 3, 4]), "a record that is sent again changes nothing"

    def test_the_mirror_begins_anew_where_it_is_dropped_with_its_table(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP, on_truncate=OnTruncate.IGNORE)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(drop_orders(20), ORDERS.create(row(3), 30))
        assert shop.stop() == ("dropped", {ORDERS.topic: {0: 1}}, RebuildKind.KAFKA)

    def test_a_table_that_had_no_rows_yet_simply_begins(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        report = shop.land(drop_orders(20), ORDERS.create(row(3), 30))
        assert (shop.stop(), shop.keys(), report.notes) == (None, [3], ())
        shop.land(ORDERS.create(row(4), 40))
        assert (shop.stop(), shop.keys()) == (None, [3, 4])

    def test_a_history_goes_on(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, mode=TableMode.HISTORY)
        shop.land(ORDERS.create(row(1), 5))
        shop.land(drop_orders(20), ORDERS.create(row(3), 30))
        assert (shop.stop(), shop.keys()) == (None, [1, 3])

    def test_a_drop_that_is_told_of_too_late_stops_the_table(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(ORDERS.create(row(2), 30))
        shop.land(drop_orders(20), CUSTOMERS.create(row(1), 31))
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 2}}, None)
        assert shop.keys("shop.customers") == [1]

    @pytest.mark.parametrize("status", [TableStatus.PARKED, TableStatus.CATCHING_UP])
    def test_one_told_of_too_late_to_a_table_that_does_not_stream_stops_it_where_it_stands(
        self, tmp_path: Path, status: TableStatus
    ) -> None:
        shop = Shop(tmp_path)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(ORDERS.create(row(2), 30))
        shop.stand_still(status, 2)
        shop.land(ORDERS.create(row(3), 40))
        shop.land(drop_orders(20))
        assert shop.state().status is TableStatus.PARKED
        assert shop.stop() == ("recreated", {ORDERS.topic: {0: 2}}, None)

    @pytest.mark.parametrize(
        ("status", "keyless", "stop"),
        [
            (TableStatus.FILLING, False, ("recreated", {ORDERS.topic: {0: 2}}, RebuildKind.SNAPSHOT)),
            (TableStatus.FILLING, True, ("recreated", {ORDERS.topic: {0: 2}}, None)),
            (TableStatus.CLEARED, False, ("recreated", {ORDERS.topic: {0: 2}}, RebuildKind.SNAPSHOT)),
            (TableStatus.DELETING, False, None),
        ],
    )
    def test_one_told_of_too_late_stops_a_rebuild_that_keeps_rows_from_before_it(
        self,
        tmp_path: Path,
        status: TableStatus,
        keyless: bool,
        stop: tuple[str, dict[str, dict[int, int]], RebuildKind | None] | None,
    ) -> None:
        shop = Shop(tmp_path, on_truncate=OnTruncate.REBUILD)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(ORDERS.create(row(2), 30))
        rebuild = Rebuild(RebuildKind.SNAPSHOT, "resync", deleted_ms=1, signal="asked", keyless=keyless)
        under_way = msgspec.structs.replace(shop.state(), status=status, rebuild=rebuild)
        shop.job.ledger.commit(Draft(tables={TABLE: under_way}))
        shop.land(drop_orders(20))
        assert (shop.stop(), shop.state().rebuild) == (stop, rebuild)
        assert shop.state().dropped is not None

    def test_one_told_of_too_late_to_a_table_that_is_rebuilt_from_kafka_stops_it_where_it_has_come_to(
        self, tmp_path: Path
    ) -> None:
        shop = Shop(tmp_path, on_truncate=OnTruncate.REBUILD)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(ORDERS.create(row(2), 30))
        shop.stand_still(TableStatus.CATCHING_UP, 2, rebuild=Rebuild(RebuildKind.KAFKA, "truncate", deleted_ms=1))
        shop.land(drop_orders(20))
        assert (shop.state().status, shop.stop()) == (TableStatus.PARKED, ("recreated", {ORDERS.topic: {0: 2}}, None))

    def test_one_told_of_too_late_is_followed_by_a_snapshot_or_nothing_where_the_policy_says_so(
        self, tmp_path: Path
    ) -> None:
        for policy, stop in (
            (OnTruncate.REBUILD, ("recreated", {ORDERS.topic: {0: 3}}, RebuildKind.SNAPSHOT)),
            (OnTruncate.IGNORE, None),
        ):
            shop = Shop(tmp_path / policy, on_truncate=policy)
            shop.land(ORDERS.read(row(1), 5))
            shop.land(ORDERS.create(row(2), 30))
            shop.land(drop_orders(20), ORDERS.create(row(3), 40))
            assert (shop.stop(), shop.keys()) == (stop, [1, 2, 3])

    def test_events_of_the_old_table_are_not_the_new_generations(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.land(ORDERS.read(row(1), 5))
        shop.land(drop_orders(20))
        state = shop.state()
        deleting = msgspec.structs.replace(state, status=TableStatus.DELETING)
        shop.job.ledger.commit(Draft(tables={TABLE: deleting}))
        begun = msgspec.structs.replace(
            state, generation=2, sequence=0, schema="", keys=(), status=TableStatus.STREAMING, parked=None, rows={}
        )
        shop.job.ledger.commit(Draft(tables={TABLE: begun}))
        folder = tmp_path / "zone/shop.schema/orders"
        for path in folder.iterdir():
            path.unlink()
        shop.land(ORDERS.create(row(2), 15), ORDERS.create(row(3), 30))
        assert (shop.stop(), shop.keys()) == (None, [3])
        shop.land(drop_orders(20))
        assert (shop.stop(), shop.keys()) == (None, [3]), "nor is the drop, when it is sent again"


def test_the_status_shows_a_table_that_is_gone_until_it_is_back(tmp_path: Path) -> None:
    shop = Shop(tmp_path, on_truncate=OnTruncate.IGNORE)
    shop.land(ORDERS.read(row(1), 5))
    seen = []
    for records in ((drop_orders(20),), (ORDERS.create(row(2), 30),)):
        shop.land(*records)
        report = status_of(shop.job.ledger.state, None, 0)
        console = Console(width=200, record=True, file=io.StringIO())
        show_status(Status(report, None), console)
        seen.append((report.tables[0].values()["dropped"], "dropped at the source" in console.export_text()))
    assert seen == [(True, True), (False, False)]
