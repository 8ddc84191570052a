"""What the schema-change topic tells about tables, whatever its encoding."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import SkipReason
from connectors.debezium.options import DecodeOptions
from connectors.debezium.schema import SourceTable
from connectors.debezium.schema_changes import LONGEST_STATEMENT, payload_of, read_table_changes
from connectors.debezium.table_change import TableChange, TableChangeKind
from tests.unit.debezium.builders import Message, SchemaRegistry, records

SOURCE = {"connector": "mariadb", "snapshot": "false", "db": "shop", "file": "binlog.000002", "pos": 7, "ts_ms": 5}
DROP = {"type": "DROP", "id": '"shop"."orders"', "table": None}


def value(*changes: object, ddl: object = "DROP TABLE orders", **source: object) -> dict[str, Any]:
    return {"source": {**SOURCE, **source}, "databaseName": "shop", "ddl": ddl, "tableChanges": list(changes)}


def change(table: SourceTable, kind: TableChangeKind = TableChangeKind.DROP) -> TableChange:
    return TableChange(kind, table, (2, 7), 5, "DROP TABLE orders")


def test_a_drop_has_its_table_and_its_place_in_the_log() -> None:
    assert read_table_changes(value(DROP), "auto") == (change(SourceTable("shop", None, "orders")),)


@pytest.mark.parametrize(
    ("connector", "identifier", "table"),
    [
        ("mysql", '"shop"."or""ders"', SourceTable("shop", None, 'or"ders')),
        ("sqlserver", '"shop"."dbo"."orders"', SourceTable("shop", "dbo", "orders")),
        ("db2", '"APP"."ORDERS"', SourceTable("shop", "APP", "ORDERS")),
    ],
)
def test_tables_are_named_as_their_rows_name_them(connector: str, identifier: str, table: SourceTable) -> None:
    [found] = read_table_changes(value({**DROP, "id": identifier}), connector)
    assert found.table == table


class TestRenames:
    """What MariaDB's connector really sends was looked at: ``tests/integration/test_renames_live.py``."""

    def read(self, ddl: str, *tables: str, columns: tuple[str, ...] = (), **more: Any) -> list[tuple[Any, ...]]:
        """The changes' kinds, tables, other names, columns, and whether they are unread."""
        after = {"columns": [{"name": name} for name in columns]}
        told = value(*({"type": "ALTER", "id": table, "table": after} for table in tables), ddl=ddl) | more
        names = [(change.table, change.other) for change in read_table_changes(told, "auto")]
        texts = [tuple(None if one is None else f"{one.database}.{one.name}" for one in pair) for pair in names]
        found = read_table_changes(told, "auto")
        return [(change.kind, *pair, change.columns, change.unread) for change, pair in zip(found, texts, strict=True)]

    @pytest.mark.parametrize(
        ("statement", "old"),
        [
            ("RENAME TABLE old TO new", "shop.old"),
            ("ALTER TABLE old RENAME TO new", "shop.old"),
            ("RENAME TABLE mall.old TO shop.new", "mall.old"),
            ("RENAME TABLE mall.old TO new", "mall.old"),
            ("RENAME TABLE Old TO NEW", "shop.old"),
        ],
    )
    def test_the_old_name_is_the_statements_and_the_new_one_debeziums(self, statement: str, old: str) -> None:
        assert self.read(statement, '"shop"."new"') == [
            (TableChangeKind.RENAME, old, "shop.new", (), False),
            (TableChangeKind.ALTER, "shop.new", old, (), False),
        ]

    def test_the_first_name_of_two_in_one_statement_is_the_statements_alone(self) -> None:
        assert self.read("RENAME TABLE old TO spare") == [(TableChangeKind.RENAME, "shop.old", "shop.spare", (), False)]

    @pytest.mark.parametrize(
        "statement",
        [
            "RENAME TABLE old TO another",
            "RENAME TABLE old TO shop.new",
            "RENAME TABLE a TO new, b TO c",
            "RENAME TABLE old WAIT 5 TO new",
            "ALTER TABLE another CHANGE a b int",
            "ALTER TABLE new CHANGE a b int",
        ],
    )
    def test_what_does_not_agree_or_is_left_open_is_no_rename(self, statement: str) -> None:
        assert self.read(statement, '"shop"."new"', columns=("a",)) == [
            (TableChangeKind.ALTER, "shop.new", None, (), True)
        ]

    def test_columns_are_renamed_where_debezium_knows_the_new_ones(self) -> None:
        statement = "ALTER TABLE orders CHANGE name title text, RENAME COLUMN a TO b, MODIFY c int"
        assert self.read(statement, '"shop"."orders"', columns=("title", "b", "c")) == [
            (TableChangeKind.ALTER, "shop.orders", None, (("name", "title"), ("a", "b")), False)
        ]

    def test_columns_are_made_anew_where_debezium_knows_them(self) -> None:
        def told(columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
            statement = "ALTER TABLE orders DROP a, ADD a int, DROP b"
            altered = {"type": "ALTER", "id": '"shop"."orders"', "table": {"columns": [{"name": c} for c in columns]}}
            changes = read_table_changes(value(altered, ddl=statement), "auto")
            return [(change.anew, change.present, change.unread) for change in changes]

        assert told(("id", "a")) == [(("a",), ("a", "id"), False)]
        assert told(("id",)) == [((), ("id",), False)]

    def test_a_statement_of_other_connectors_is_not_read(self) -> None:
        found = read_table_changes(
            value({"type": "ALTER", "id": '"S"."NEW"'}, ddl="ALTER TABLE OLD RENAME TO NEW"), "oracle"
        )
        assert [change.other for change in found] == [None]

    def test_a_table_that_is_created_or_dropped_is_not_renamed(self) -> None:
        made = value({"type": "CREATE", "id": '"shop"."a"'}, ddl="CREATE TABLE a (`change` int)")
        assert [(change.other, change.unread) for change in read_table_changes(made, "auto")] == [(None, False)]


def test_what_a_snapshot_writes_says_nothing_about_what_happened() -> None:
    assert read_table_changes(value(DROP, snapshot="true"), "auto") == ()


@pytest.mark.parametrize(
    "odd",
    [
        None,
        [],
        {"source": None, "tableChanges": []},
        value() | {"tableChanges": None},
        value(None),
        value({**DROP, "type": "TRUNCATE"}),
        value({**DROP, "id": 5}),
        value({**DROP, "id": "orders"}),
    ],
)
def test_a_form_that_is_not_known_tells_nothing(odd: object) -> None:
    assert read_table_changes(odd, "auto") == ()


def test_a_record_without_position_or_text_is_still_read() -> None:
    [found] = read_table_changes(value(DROP, ddl=None, file=None, pos=None, ts_ms=None, connector=None), "auto")
    assert found == TableChange(TableChangeKind.DROP, SourceTable("shop", "shop", "orders"), (0, 0))


def test_statements_are_shortened_and_on_one_line() -> None:
    [found] = read_table_changes(value(DROP, ddl="DROP\n TABLE " + "x" * 1_000), "auto")
    assert found.statement.startswith("DROP TABLE xxx")
    assert len(found.statement) == LONGEST_STATEMENT


def test_a_payload_stands_alone_or_behind_its_schema() -> None:
    assert payload_of(b'{"schema": {}, "payload": {"a": 1}}') == {"a": 1}
    assert payload_of(b'{"a": 1}') == {"a": 1}
    assert payload_of(b"{") is None


CHANGE_SCHEMA = {
    "type": "array",
    "items": {
        "type": "record",
        "name": "Change",
        "fields": [
            {"name": "type", "type": "string"},
            {"name": "id", "type": "string"},
            {"name": "table", "type": ["null", "string"]},
        ],
    },
}
SOURCE_SCHEMA = {
    "type": "record",
    "name": "Source",
    "fields": [
        *({"name": name, "type": "string"} for name in ("connector", "snapshot", "db", "file")),
        *({"name": name, "type": "long"} for name in ("pos", "ts_ms")),
    ],
}


def test_the_decoder_tells_changes_in_offset_order_in_every_encoding() -> None:
    registry = SchemaRegistry()
    schema = {
        "type": "record",
        "name": "SchemaChange",
        "fields": [
            {"name": "source", "type": SOURCE_SCHEMA},
            {"name": "databaseName", "type": "string"},
            {"name": "ddl", "type": "string"},
            {"name": "tableChanges", "type": CHANGE_SCHEMA},
        ],
    }
    members = [{"field": name, "type": "string", "optional": True} for name in value()]
    embedded = {"type": "struct", "name": "V", "fields": members}
    plain, with_schema = (
        json.dumps(value(DROP)).encode(),
        json.dumps({"schema": embedded, "payload": value(DROP)}).encode(),
    )
    avro = registry.encode(schema, value({**DROP, "id": '"shop"."customers"'}))
    cut_short = avro[:-3]
    sent = [Message(None, body) for body in (avro, plain, with_schema, cut_short)]
    decoded = Decoder(DecodeOptions(), registry).decode(records(*sent, topic="shop"))
    assert [found.table.name for found in decoded.table_changes] == ["customers", "orders", "orders"]
    assert (decoded.bad, decoded.skipped) == ([], {SkipReason.SCHEMA_CHANGE: 4})
