"""What `check` says about the keys of source tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.location import DatabaseKind
from streaming.checks.captured import Captured
from streaming.checks.keys import check_keys, check_lost_keys, check_unkeyed
from tests.unit.streaming.checked import found

ORDERS = DatabaseTable("public", "orders")
CAPTURED = Captured("public.orders", ORDERS)


class TestKeysOfTheMirror:
    @pytest.mark.parametrize(
        ("primary_key", "mirrored", "verdicts"),
        [
            (("id",), ("id",), []),
            (("id", "lsn"), ("lsn", "id"), []),
            (("id",), ("id", "source_database"), []),
            ((), ("id",), []),
            (("id", "lsn"), (), []),
            (("id", "lsn"), ("id",), ["warning"]),
        ],
    )
    @pytest.mark.parametrize(
        ("kind", "remedy"),
        [
            (DatabaseKind.POSTGRESQL, "set include.unknown.datatypes=true on the connector, or list all key columns"),
            (DatabaseKind.MYSQL, "list all key columns in the connector's message.key.columns, or none there"),
        ],
    )
    def test_a_key_column_that_the_connector_leaves_out_makes_rows_one(
        self,
        kind: DatabaseKind,
        remedy: str,
        primary_key: tuple[str, ...],
        mirrored: tuple[str, ...],
        verdicts: list[str],
    ) -> None:
        checks = list(check_keys(kind, {ORDERS: primary_key}, [replace(CAPTURED, keys=mirrored)]))
        assert [check.verdict.value for check in checks] == verdicts
        assert [check.detail for check in checks] == [
            "has a primary key with lsn, which the connector's keys lack: rows that differ in nothing else are one row "
            "in the mirror"
        ] * len(verdicts)
        assert all(check.remedy.startswith(remedy) for check in checks)

    @pytest.mark.parametrize("kind", DatabaseKind)
    def test_keys_of_a_table_that_is_not_in_the_database_are_not_missed(self, kind: DatabaseKind) -> None:
        assert list(check_keys(kind, {}, [replace(CAPTURED, keys=("id",))])) == []


class TestTablesWithoutKey:
    PARKING = replace(CAPTURED, parks_unkeyed=True)

    def test_records_without_a_key_park_their_table(self) -> None:
        [check] = check_unkeyed({ORDERS}, [self.PARKING], {})
        assert (check.subject, check.verdict.value) == ("table public.orders", "warning")
        assert check.detail == (
            "has no primary key, and no UNIQUE index that the connector takes for one: its records have no key, so it "
            "parks at the first of them"
        )
        assert check.remedy == (
            "give it a primary key; or declare its key columns (tables.overrides[].keys), or set "
            "policies.on_missing_key to append"
        )

    def test_a_connector_that_is_not_known_gives_no_key(self) -> None:
        assert found(check_unkeyed({ORDERS}, [self.PARKING], None)) == [("table public.orders", "warning")]

    def test_a_table_with_a_key_or_that_does_not_need_one_is_as_it_should_be(self) -> None:
        assert list(check_unkeyed(set(), [self.PARKING], {})) == []
        assert list(check_unkeyed({ORDERS}, [CAPTURED], {})) == []

    @pytest.mark.parametrize(
        ("columns", "verdicts"),
        [
            ("public.orders:id", []),
            ("public.lines:id; PUBLIC\\.ord.*:id,name", []),
            ("public.lines:id", ["warning"]),
        ],
    )
    def test_the_connector_may_give_it_a_key(self, columns: str, verdicts: list[str]) -> None:
        checks = check_unkeyed({ORDERS}, [self.PARKING], {"message.key.columns": columns})
        assert [check.verdict.value for check in checks] == verdicts


class TestLostKeys:
    LANDED = replace(CAPTURED, keys=("id",))

    def test_a_key_that_has_gone_since_the_table_landed_is_told(self) -> None:
        [check] = check_lost_keys({ORDERS}, [self.LANDED], {})
        assert (check.subject, check.verdict.value) == ("table public.orders", "warning")
        assert check.detail == (
            "has landed with the key id, and has no primary key at the source any more: its next records have no key, "
            "so it parks; with policies.on_missing_key append and policies.on_key_change rebuild, a snapshot fills it "
            "anew, without a key"
        )
        assert check.remedy == "give it its primary key back; or declare the key columns (tables.overrides[].keys)"

    def test_one_that_is_there_or_given_or_never_was_is_not(self) -> None:
        assert list(check_lost_keys(set(), [self.LANDED], {})) == []
        assert list(check_lost_keys({ORDERS}, [CAPTURED], {})) == []
        assert list(check_lost_keys({ORDERS}, [self.LANDED], {"message.key.columns": "public.orders:id"})) == []
