"""What a statement drops that Debezium's structured part says nothing about; the records are as MariaDB's connector 3.5
really sends them (``tests/integration/test_replaced_live.py``)."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.debezium.schema import SourceTable
from connectors.debezium.schema_changes import read_table_changes
from connectors.debezium.stated_drops import StatedDrop, drop_in
from connectors.debezium.table_change import TableChange, TableChangeKind

DROP, CREATE = TableChangeKind.DROP, TableChangeKind.CREATE


def changes(ddl: str, *created: str, database: object = "shop", connector: str = "mariadb") -> list[tuple[Any, ...]]:
    source = {"connector": connector, "snapshot": "false", "db": "shop", "file": "binlog.000002", "pos": 7, "ts_ms": 5}
    table_changes = [{"type": "CREATE", "id": f'"shop"."{name}"', "table": {"columns": []}} for name in created]
    value = {"source": source, "databaseName": database, "ddl": ddl, "tableChanges": table_changes}
    return [(change.kind, change.table) for change in read_table_changes(value, "auto")]


def test_a_drop_has_its_place_time_and_statement() -> None:
    source = {"connector": "mysql", "snapshot": "false", "db": "shop", "file": "binlog.000002", "pos": 7, "ts_ms": 5}
    value = {"source": source, "databaseName": "shop", "ddl": "DROP DATABASE `shop`", "tableChanges": []}
    assert read_table_changes(value, "auto") == (
        TableChange(
            TableChangeKind.DROP_DATABASE, SourceTable("shop", None, ""), (2, 7), 5, statement="DROP DATABASE `shop`"
        ),
    )


@pytest.mark.parametrize(
    "statement",
    [
        "DROP DATABASE `shop`",
        "drop   schema shop",
        "DROP DATABASE IF EXISTS shop;",
        "/* why */ DROP SCHEMA Shop -- so",
        "-- why\n# and how\nDROP SCHEMA Shop",
        "/*!40000 DROP DATABASE IF EXISTS `shop`*/",
        "/*M!100100 DROP DATABASE shop */ ;",
    ],
)
def test_a_database_is_dropped_by_its_statement_alone(statement: str) -> None:
    assert changes(statement) == [(TableChangeKind.DROP_DATABASE, SourceTable("shop", None, ""))]


@pytest.mark.parametrize(
    ("statement", "database"),
    [
        ("DROP DATABASE shop", "mall"),
        ("DROP DATABASE shop", None),
        ("DROP DATABASE shop mall", "shop"),
        ("DROP DATABASE", "shop"),
        ("CREATE DATABASE shop", "shop"),
        ("ALTER DATABASE shop COMMENT 'drop database shop'", "shop"),
        ("DROP TABLE `database`", "shop"),
        ("DROP DATABASE `shop", "shop"),
    ],
)
def test_what_does_not_agree_or_is_another_statement_drops_no_database(statement: str, database: object) -> None:
    assert changes(statement, database=database) == []


def test_a_replaced_table_that_debezium_knew_is_dropped() -> None:
    table = SourceTable("shop", None, "orders")
    assert changes("CREATE OR REPLACE TABLE orders (id int PRIMARY KEY)") == [(DROP, table)]


def test_one_that_it_did_not_know_is_new() -> None:
    assert changes("CREATE OR REPLACE TABLE orders (id int PRIMARY KEY)", "orders") == [
        (CREATE, SourceTable("shop", None, "orders"))
    ]


def test_a_copy_of_anothers_columns_is_told_as_created_whatever_was_there() -> None:
    table = SourceTable("shop", None, "orders")
    assert changes("CREATE OR REPLACE TABLE ORDERS LIKE plain", "orders") == [(DROP, table), (CREATE, table)]


def test_another_connectors_statement_is_not_read() -> None:
    assert changes("DROP DATABASE shop", connector="sqlserver") == []


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("CREATE OR REPLACE TABLE a (id int)", StatedDrop(None, "a")),
        ("create or replace table `a``b`.`x y` (LIKE b)", StatedDrop("a`b", "x y", like=True)),
        ("/* c */ CREATE OR REPLACE TABLE comment LIKE b", StatedDrop(None, "comment", like=True)),
        ("CREATE OR REPLACE TABLE a (`like` int)", StatedDrop(None, "a")),
        ("CREATE OR REPLACE TABLE größe (x int) PAGE_CHECKSUM=1 WITH SYSTEM VERSIONING", StatedDrop(None, "größe")),
        ("CREATE OR REPLACE TABLE a AS SELECT 1", StatedDrop(None, "a")),
        ("CREATE OR REPLACE TEMPORARY TABLE a (id int)", None),
        ("CREATE OR REPLACE VIEW a AS SELECT 1", None),
        ("CREATE TABLE a (id int)", None),
        ("CREATE OR REPLACE TABLE", None),
        ("INSERT INTO a VALUES ('CREATE OR REPLACE TABLE b (id int)')", None),
    ],
)
def test_the_name_stands_at_the_statements_head(statement: str, found: StatedDrop | None) -> None:
    assert drop_in(statement) == found
