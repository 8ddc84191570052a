"""Which tables and columns a connector captures, by the lists of its configuration."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.source_database.captured import CapturedTable, captured_tables, captures, captures_column
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.database import SourceDatabase
from connectors.source_database.location import DatabaseKind, location_of_url
from connectors.source_database.postgresql import Publication, PublishedTable

ORDERS = DatabaseTable("public", "orders")


@pytest.mark.parametrize(
    ("config", "taken"),
    [
        ({}, True),
        ({"table.include.list": "public.lines, PUBLIC\\.ord.*"}, True),
        ({"table.include.list": "public.order"}, False),
        ({"table.exclude.list": "public.orders"}, False),
        ({"table.exclude.list": "orders"}, True),
        ({"schema.include.list": "sales"}, False),
        ({"schema.include.list": "public,sales", "table.include.list": "public.order.{1,2}"}, False),
        ({"table.include.list": "public.order.{1\\,2}"}, True),
        ({"schema.exclude.list": "pub.*"}, False),
        ({"signal.data.collection": "public.orders"}, False),
        # A pattern that only Java reads leaves a table out nowhere.
        ({"table.include.list": "public.(?<n>x"}, True),
        ({"table.exclude.list": "public.(?<n>x"}, True),
    ],
)
def test_a_table_is_captured_unless_a_list_leaves_it_out(config: dict[str, str], taken: bool) -> None:
    assert captures(DatabaseKind.POSTGRESQL, config, ORDERS) is taken


def test_mysqls_databases_are_listed_where_postgresql_has_schemas() -> None:
    table = DatabaseTable("shop", "orders")
    assert captures(DatabaseKind.MYSQL, {"database.include.list": "shop"}, table)
    assert not captures(DatabaseKind.MYSQL, {"database.include.list": "other"}, table)


def test_a_column_is_captured_unless_a_list_leaves_it_out() -> None:
    assert captures_column({}, ORDERS, "note")
    assert not captures_column({"column.exclude.list": "public.orders.note"}, ORDERS, "note")
    assert not captures_column({"column.include.list": "public.orders.id"}, ORDERS, "note")


def test_nothing_tells_what_an_unknown_connector_of_mysql_captures() -> None:
    assert captured_tables(SourceDatabase(location_of_url("mysql://u@127.0.0.1:1/shop")), None) is None


def answering(url: str, monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]]) -> SourceDatabase:
    monkeypatch.setattr(SourceDatabase, "query", lambda self, statement, **values: rows)
    return SourceDatabase(location_of_url(url))


def test_postgresqls_tables_come_with_those_whose_names_their_rows_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    part = DatabaseTable("public", "orders_1")
    rows = [
        {"schema": "public", "name": "orders", "relatives": [["public", "orders_1"]]},
        {"schema": "public", "name": "orders_1", "relatives": [["public", "orders"]]},
        {"schema": "tmp", "name": "scratch", "relatives": []},
    ]
    database = answering("postgresql://u@127.0.0.1:1/shop", monkeypatch, rows)
    assert captured_tables(database, {"schema.include.list": "public"}) == (
        CapturedTable(ORDERS, (part,)),
        CapturedTable(part, (ORDERS,)),
    )
    assert captured_tables(database, {"table.include.list": "public.orders"}) == (CapturedTable(ORDERS, (part,)),)


def test_mysqls_tables_stand_for_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"table_schema": "shop", "table_name": name} for name in ("lines", "orders")]
    database = answering("mysql://u@127.0.0.1:1/shop", monkeypatch, rows)
    assert captured_tables(database, {"table.exclude.list": "shop.lines"}) == (
        CapturedTable(DatabaseTable("shop", "orders")),
    )


def test_the_only_publication_tells_what_an_unknown_connector_captures(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Publication("p", True, True, True, True, (PublishedTable(ORDERS, None, ""),))
    database = answering("postgresql://u@127.0.0.1:1/shop", monkeypatch, [])
    monkeypatch.setattr("connectors.source_database.captured.publications", lambda database: (one,))
    assert captured_tables(database, None) == (CapturedTable(ORDERS),)
    monkeypatch.setattr("connectors.source_database.captured.publications", lambda database: (one, one))
    assert captured_tables(database, None) is None
