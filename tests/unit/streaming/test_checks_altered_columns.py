"""What `check` says of a connector that cuts, hashes or masks columns."""

from __future__ import annotations

import pytest

from connectors.source_database.altered_columns import TextColumn, altering_properties
from connectors.source_database.catalog import DatabaseTable
from streaming.checks.altered_columns import check_altered_columns, check_altering_properties
from streaming.checks.captured import Captured

ORDERS, PART = DatabaseTable("public", "orders"), DatabaseTable("public", "orders_1")
CAPTURED = Captured("public.orders", ORDERS, keys=("code",))
COLUMNS = {
    ORDERS: [TextColumn(ORDERS, "code", 8), TextColumn(ORDERS, "note", None), TextColumn(ORDERS, "name", 40)],
    PART: [TextColumn(PART, "note", None)],
}
EQUALS_NOT = "there the mirror does not equal the database, and `reconcile` shows a difference"


@pytest.mark.parametrize(
    ("config", "subject", "detail"),
    [
        (
            {"column.truncate.to.20.chars": "public.orders.(code|note|name)"},
            "connector column.truncate.to.20.chars",
            f"cuts values to 20 characters in public.orders.note, public.orders.name: {EQUALS_NOT}",
        ),
        (
            {"column.mask.with.12.chars": r"PUBLIC\..*\.note, public.none.x"},
            "connector column.mask.with.12.chars",
            f"sends 12 asterisks instead of the value in public.orders.note: {EQUALS_NOT}",
        ),
        (
            {"column.mask.hash.SHA-256.with.salt.CzQMA0cB5K": "public.orders.code"},
            "connector column.mask.hash.SHA-256.with.salt",
            f"sends the SHA-256 hash instead of the value in public.orders.code: {EQUALS_NOT}, and rows whose keys "
            "become alike by it are one row (public.orders.code)",
        ),
        (
            {"column.mask.hash.v2.SHA-512.with.salt.a.b": "public.orders.name"},
            "connector column.mask.hash.v2.SHA-512.with.salt",
            f"sends the SHA-512 hash instead of the value in public.orders.name: {EQUALS_NOT}",
        ),
    ],
)
def test_the_columns_that_are_not_the_databases_are_named(config: dict[str, str], subject: str, detail: str) -> None:
    [check] = check_altered_columns(config, [CAPTURED], COLUMNS)
    assert (check.subject, check.verdict.value, check.detail) == (subject, "warning", detail)
    assert check.remedy.startswith("nothing if that is meant; otherwise remove the property, then `cdc-bridge resync")


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"column.truncate.to.40.chars": "public.orders.name"},
        {"column.truncate.to.20.chars": "public.lines.note"},
        {"column.truncate.to.20.chars": "note"},
        {"column.mask.with.3.chars": "public.orders.note", "column.exclude.list": "public.orders.note"},
        {"column.propagate.source.type": "public.orders.note"},
    ],
)
def test_nothing_is_said_where_no_captured_column_is_altered(config: dict[str, str]) -> None:
    assert list(check_altered_columns(config, [CAPTURED], COLUMNS)) == []


def test_of_many_columns_the_first_are_named() -> None:
    columns = {ORDERS: [TextColumn(ORDERS, f"c{number}", None) for number in range(25)]}
    [check] = check_altered_columns({"column.mask.with.3.chars": r"public\.orders\..*"}, [CAPTURED], columns)
    assert "public.orders.c19 and 5 more: " in check.detail
    assert "c20" not in check.detail


def test_where_the_database_is_not_asked_the_patterns_are_told() -> None:
    [check] = check_altering_properties({"column.truncate.to.9.chars": "public.orders.*"})
    assert check.detail.startswith("cuts values to 9 characters in the columns that match public.orders.*: there the")


def test_a_salt_is_never_told() -> None:
    config = {"column.mask.hash.SHA-256.with.salt.secret": "a.b.c"}
    assert "secret" not in str(altering_properties(config))
