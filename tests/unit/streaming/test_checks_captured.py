"""Which tables `check` looks for in the source database, and what the settings want of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.source_database.captured import CapturedTable
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.location import DatabaseKind, location_of_url
from streaming.checks.captured import Captured, before_landing, of_ledger
from streaming.plan import JobOptions, TableOptions
from streaming.policies import MetadataColumn, OnMissingKey, OnTruncate, OnUnavailable
from tests.support.records import Table
from tests.unit.streaming.checked import EMPTY
from tests.unit.streaming.landed_shop import TOPIC, job, landed, two_batches

ORDERS = DatabaseTable("public", "orders")
PART = DatabaseTable("public", "orders_1")
LINES = DatabaseTable("public", "lines")
POSTGRESQL = location_of_url("postgresql://u@127.0.0.1:1/shop")
MARIADB = location_of_url("mariadb://u@127.0.0.1:1/shop")
TOLERANT = TableOptions(
    on_unavailable=OnUnavailable.NULL, on_truncate=OnTruncate.IGNORE, on_missing_key=OnMissingKey.APPEND
)


def rules(**more: Any) -> DecodeOptions:
    return DecodeOptions(rules=TableRules(**more))


class TestTablesOfTheLedger:
    def test_they_come_with_what_the_settings_want(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        assert of_ledger(job(tmp_path, defaults=TOLERANT), state, DatabaseKind.POSTGRESQL) == (
            Captured("public.orders", ORDERS, parks_unavailable=False, wants_truncates=False, keys=("id",)),
        )
        assert TOPIC in state.topics

    def test_keys_that_the_settings_declare_are_not_the_connectors(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        options = job(tmp_path, decode=rules(tables=(("*", TableDecoding(keys=("name",))),)))
        assert [one.keys for one in of_ledger(options, state, DatabaseKind.POSTGRESQL)] == [()]

    def test_every_source_of_a_merged_table_is_looked_at(self, tmp_path: Path) -> None:
        east, west = (Table(f"{name}.orders", database=name, run=name) for name in ("east", "west"))
        options = TableOptions(merge_sources=True, metadata_columns=(MetadataColumn.SOURCE_DATABASE,))
        shards = landed(
            tmp_path,
            [east.create({"id": 1, "name": "a"}, lsn=1), west.create({"id": 1, "name": "a"}, lsn=1)],
            defaults=options,
        )
        ignoring = replace(options, on_truncate=OnTruncate.IGNORE)
        asked = job(tmp_path, defaults=options, tables=(("west.*", ignoring),))
        keys = ("_cdc_source_database", "id")
        assert of_ledger(asked, shards.ledger.state, DatabaseKind.POSTGRESQL) == (
            Captured("public.orders", ORDERS, keys=keys),
            Captured("public.orders", ORDERS, wants_truncates=False, keys=keys),
        )
        assert [one.table for one in of_ledger(asked, shards.ledger.state, DatabaseKind.MYSQL)] == [
            DatabaseTable("east", "orders"),
            DatabaseTable("west", "orders"),
        ]

    def test_one_that_has_parked_before_its_first_file_still_needs_a_key(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        table = state.tables["public.orders"]
        bare = {"public.orders": msgspec.structs.replace(table, sequence=0, keys=())}
        before = msgspec.structs.replace(state, tables=bare)
        assert [one.parks_unkeyed for one in of_ledger(job(tmp_path), before, DatabaseKind.POSTGRESQL)] == [True]
        assert [one.parks_unkeyed for one in of_ledger(job(tmp_path), state, DatabaseKind.POSTGRESQL)] == [False]


class TestTablesBeforeTheyLand:
    def found(self, options: JobOptions, *captured: CapturedTable) -> tuple[Captured, ...]:
        return before_landing(options, EMPTY, POSTGRESQL, captured)

    def test_they_have_the_names_of_the_source_and_what_the_settings_want(self, tmp_path: Path) -> None:
        options = job(tmp_path, tables=(("*.lines", TOLERANT),))
        assert self.found(options, CapturedTable(LINES), CapturedTable(ORDERS)) == (
            Captured("public.lines", LINES, parks_unavailable=False, wants_truncates=False),
            Captured("public.orders", ORDERS, parks_unkeyed=True),
        )

    def test_mysqls_have_their_databases_name(self, tmp_path: Path) -> None:
        table = DatabaseTable("crm", "orders")
        options = job(tmp_path, tables=(("crm.*", TOLERANT),))
        [one] = before_landing(options, EMPTY, MARIADB, [CapturedTable(table)])
        assert one == Captured("crm.orders", table, parks_unavailable=False, wants_truncates=False)

    def test_those_of_the_ledger_the_excluded_and_signals_are_not_among_them(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        captured = [CapturedTable(DatabaseTable("public", name)) for name in ("orders", "tmp_a", "debezium_signal")]
        options = job(tmp_path, decode=rules(exclude=("public.tmp_*",)))
        assert before_landing(options, state, POSTGRESQL, captured) == ()

    def test_a_part_whose_whole_has_landed_is_known(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        assert before_landing(job(tmp_path), state, POSTGRESQL, [CapturedTable(PART, (ORDERS,))]) == ()
        [one] = before_landing(job(tmp_path), state, POSTGRESQL, [CapturedTable(PART)])
        assert one.name == "public.orders_1"

    def test_a_partitioned_table_of_which_a_part_has_landed_is_known(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        whole = DatabaseTable("public", "all_orders")
        assert before_landing(job(tmp_path), state, POSTGRESQL, [CapturedTable(whole, (PART, ORDERS))]) == ()
        assert [one.table for one in before_landing(job(tmp_path), EMPTY, POSTGRESQL, [CapturedTable(whole)])] == [
            whole
        ]

    @pytest.mark.parametrize("decoding", [TableDecoding(keys=("id",)), TableDecoding(append=True)])
    def test_declared_keys_and_a_history_need_no_key_of_the_record(
        self, tmp_path: Path, decoding: TableDecoding
    ) -> None:
        [one] = self.found(job(tmp_path, decode=rules(tables=(("*", decoding),))), CapturedTable(ORDERS))
        assert not one.parks_unkeyed
