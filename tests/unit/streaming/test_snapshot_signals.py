"""How a table's snapshot is asked for, and what Debezium tells of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from connectors.kafka.signals import (
    INCREMENTAL_SNAPSHOT,
    INITIAL_SNAPSHOT,
    Notification,
    SnapshotKind,
    collection_pattern,
)
from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.state import Rebuild, RebuildKind, TableState
from streaming.lifecycle.debezium import (
    Debezium,
    is_scan_of,
    rows_scanned,
    snapshot_complete,
    snapshot_failure,
)
from streaming.lifecycle.refused_snapshots import refusal
from streaming.settings.format import Connector
from tests.unit.streaming.rebuild_world import NAME


class TestNotifications:
    """What Debezium tells of snapshots, and what of it concerns the table that is filled."""

    def scan(self, progress: Progress, identity: str = "ours", **details: str) -> Notification:
        return Notification(identity, INCREMENTAL_SNAPSHOT, progress, details)

    def complete(self, *told: Notification, kind: SnapshotKind = SnapshotKind.INCREMENTAL) -> bool:
        return snapshot_complete(told, "ours", kind, "public.orders")

    def test_a_snapshot_is_complete_when_the_signals_own_is_or_the_tables_scan(self) -> None:
        assert self.complete(self.scan(Progress.COMPLETED))
        assert self.complete(
            self.scan(Progress.STARTED),
            self.scan(Progress.TABLE_SCAN_COMPLETED, "a later signal's", scanned_collection="shop.public.orders"),
        )
        assert not self.complete(
            self.scan(Progress.STARTED),
            self.scan(Progress.IN_PROGRESS),
            self.scan(Progress.TABLE_SCAN_COMPLETED, scanned_collection="public.users"),
            self.scan(Progress.COMPLETED, "another"),
        )

    def test_a_scan_from_before_the_signal_was_taken_up_does_not_count(self) -> None:
        earlier = self.scan(Progress.TABLE_SCAN_COMPLETED, "another", scanned_collection="public.orders")
        assert not self.complete(earlier, self.scan(Progress.STARTED))
        assert self.complete(earlier, self.scan(Progress.STARTED), replace(earlier, id="ours"))

    def test_one_that_joins_a_snapshot_under_way_is_complete_with_the_whole(self) -> None:
        before = self.scan(Progress.TABLE_SCAN_COMPLETED, "another", scanned_collection="public.orders")
        begun_before = replace(before, id="ours")
        assert not self.complete(before)
        assert not self.complete(before, self.scan(Progress.COMPLETED, "another"))
        assert not self.complete(self.scan(Progress.IN_PROGRESS), begun_before)
        assert self.complete(begun_before, self.scan(Progress.COMPLETED))
        assert self.complete(self.scan(Progress.IN_PROGRESS), before, self.scan(Progress.COMPLETED, "a later signal's"))

    def test_a_comma_in_a_tables_name_does_not_divide_it(self) -> None:
        scanned = self.scan(Progress.TABLE_SCAN_COMPLETED, scanned_collection="shop.public.a,b")
        given_up = self.scan(Progress.ABORTED, "another", data_collections="public.users, public.a,b ,public.c")
        for name, concerned in {"public.a,b": True, "public.a": False, "public.b": False}.items():
            pattern = collection_pattern(*name.split("."))
            assert is_scan_of(scanned, pattern) is concerned
            failure = snapshot_failure([given_up], "ours", SnapshotKind.INCREMENTAL, pattern)
            # In a list nobody can tell the two commas apart.
            assert (failure is not None) is (concerned or name == "public.a")
        for name in ("public.users", "public.c"):
            assert snapshot_failure([given_up], "ours", SnapshotKind.INCREMENTAL, collection_pattern(*name.split(".")))

    @pytest.mark.parametrize("names", ["," * 200_000, " " * 200_000, "a" * 200_000, ", a" * 100_000, ".," * 100_000])
    def test_names_without_end_are_looked_through_once(self, names: str) -> None:
        scanned = self.scan(Progress.TABLE_SCAN_COMPLETED, scanned_collection=names)
        given_up = self.scan(Progress.ABORTED, "another", data_collections=names)
        assert not is_scan_of(scanned, "public.orders")
        assert snapshot_failure([given_up], "ours", SnapshotKind.INCREMENTAL, "public.orders") is None

    @pytest.mark.parametrize("total", ["²", "9" * 5_000, "-1", "", "1e3"])
    def test_rows_that_cannot_be_counted_are_not(self, total: str) -> None:
        scanned = self.scan(Progress.TABLE_SCAN_COMPLETED, total_rows_scanned=total, status="SUCCEEDED")
        assert rows_scanned(scanned) is None

    def test_a_blocking_snapshot_is_told_under_an_id_of_its_own(self) -> None:
        started, completed = (
            Notification("x", INITIAL_SNAPSHOT, told) for told in (Progress.STARTED, Progress.COMPLETED)
        )
        assert self.complete(started, completed, kind=SnapshotKind.BLOCKING)
        assert not self.complete(started, completed)

    def test_the_end_of_a_snapshot_that_was_under_way_is_not_that_of_a_blocking_one_asked_for(self) -> None:
        scanned = Notification(
            "theirs", INITIAL_SNAPSHOT, Progress.TABLE_SCAN_COMPLETED, {"scanned_collection": "public.orders"}
        )
        completed = replace(scanned, progress=Progress.COMPLETED, details={})
        ours = [
            replace(one, id="another") for one in (replace(completed, progress=Progress.STARTED), scanned, completed)
        ]
        assert not self.complete(scanned, completed, kind=SnapshotKind.BLOCKING)
        assert not self.complete(scanned, completed, *ours[:2], kind=SnapshotKind.BLOCKING)
        assert self.complete(scanned, completed, *ours, kind=SnapshotKind.BLOCKING)

    def test_nor_is_its_failure(self) -> None:
        failed = Notification(
            "theirs",
            INITIAL_SNAPSHOT,
            Progress.TABLE_SCAN_COMPLETED,
            {"scanned_collection": "public.orders", "status": "SQL_EXCEPTION"},
        )
        started = Notification("another", INITIAL_SNAPSHOT, Progress.STARTED)
        assert snapshot_failure([failed, started], "ours", SnapshotKind.BLOCKING, "public.orders") is None
        assert snapshot_failure([started, failed], "ours", SnapshotKind.BLOCKING, "public.orders") is not None

    @pytest.mark.parametrize(
        ("told", "failure"),
        [
            ({"progress": Progress.ABORTED}, "Debezium says that the snapshot was aborted"),
            ({"progress": Progress.SKIPPED, "identity": "x", "data_collections": "public.a, public.orders"}, "skipped"),
            (
                {
                    "progress": Progress.TABLE_SCAN_COMPLETED,
                    "scanned_collection": "public.orders",
                    "status": "NO_PRIMARY_KEY",
                },
                "Debezium could not read the table: NO_PRIMARY_KEY",
            ),
            ({"progress": Progress.ABORTED, "identity": "x", "data_collections": "public.users"}, None),
            (
                {"progress": Progress.TABLE_SCAN_COMPLETED, "scanned_collection": "public.orders", "status": "EMPTY"},
                None,
            ),
        ],
    )
    def test_what_debezium_gives_up_is_a_failure(self, told: dict[str, Any], failure: str | None) -> None:
        said = snapshot_failure([self.scan(**told)], "ours", SnapshotKind.INCREMENTAL, "public.orders")
        assert said is None if failure is None else said is not None and failure in said


class TestNames:
    def debezium(self, connector: Connector, prefix: str | None = None) -> Debezium:
        return Debezium(connector, prefix, None, lambda topics: {}, None, None, lambda: ["a.shop.orders", "b.public.x"])

    @pytest.mark.parametrize(
        ("connector", "recorded", "source", "named"),
        [
            (Connector.POSTGRESQL, "", ("shop", "public", "orders"), "public.orders"),
            (Connector.AUTO, "postgresql", ("shop", "public", "my.orders"), r"public.my\.orders"),
            (Connector.MARIADB, "", ("shop", None, "orders"), "shop.orders"),
            (Connector.SQLSERVER, "", ("shop", "dbo", "orders"), "shop.dbo.orders"),
            (Connector.AUTO, "oracle", ("SHOP", "S", "ORDERS"), "SHOP.S.ORDERS"),
            (Connector.AUTO, "", ("shop", "public", "orders"), "public.orders"),
        ],
    )
    def test_a_table_is_named_as_its_connector_does(
        self, connector: Connector, recorded: str, source: tuple[str, str | None, str], named: str
    ) -> None:
        rebuild = Rebuild(RebuildKind.SNAPSHOT, "resync", connector=recorded)
        assert self.debezium(connector).collection_of(TableState(source, "orders"), rebuild) == named

    def test_topics_and_prefix_are_told_by_the_tables_name_where_none_is_known(self) -> None:
        table = TableState(("shop", None, "orders"), "orders")
        debezium = self.debezium(Connector.MARIADB)
        assert (debezium.topics_of(table), debezium.prefix_of(table)) == (("a.shop.orders",), "a")
        assert self.debezium(Connector.MARIADB, "set").prefix_of(table) == "set"
        assert debezium.prefix_of(TableState(("shop", None, "nothing"), "nothing")) is None

    def test_a_table_of_several_sources_is_refused(self) -> None:
        sources = (("a", "public", "orders"), ("b", "public", "orders"))
        table = TableState(sources[0], "orders", sources=sources)
        why = refusal(self.debezium(Connector.AUTO, "p"), NAME, table, keyless=False)
        assert why == (
            "2 source tables land in it, and a snapshot fills it with one of them only",
            "load it into a zone of its own with a second bridge, from snapshots of all of its sources",
        )
