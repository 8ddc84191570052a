"""Rows that ExtractNewRecordState has flattened."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import ChangeChunk, Decoded, Op, SkipReason, SnapshotKind
from connectors.debezium.flattened import topic_table
from connectors.debezium.options import DecodeOptions, EnvelopeForm, TableDecoding, TableRules, TombstonePolicy
from connectors.debezium.schema import Field, SourceTable
from tests.unit.debezium.builders import COLUMNS, Message, SchemaRegistry, avro_row, records, tombstone

RULES = TableRules(tables=(("*", TableDecoding(declared=COLUMNS)),))
LEARN = TableRules(tables=(("*", TableDecoding(learn=True)),))
KINDS: dict[type, str] = {int: "int64", str: "string", type(None): "string"}
FORMATS = ("json", "json with schema", "avro", "learned json")

Send = Callable[..., Decoded]


def message(row: dict[str, Any], encoding: str, registry: SchemaRegistry) -> Message:
    """A flattened row; ``id`` is its key."""
    key, value = {"id": row["id"]}, json.dumps(row).encode()
    names = {column.name: column for column in COLUMNS}
    added = [name for name in row if name not in names]
    if encoding == "json with schema":
        fields = [
            {"field": name, "type": "int32" if name == "id" else KINDS[type(part)], "optional": name != "id"}
            for name, part in row.items()
        ]
        schema = {"type": "struct", "fields": fields, "name": "V"}
        return Message(json.dumps(key).encode(), json.dumps({"schema": schema, "payload": row}).encode())
    if encoding == "avro":
        record = avro_row("Value", [names[name] for name in row if name in names])
        types = {int: "long", str: "string", type(None): "string"}
        record["fields"] += [{"name": name, "type": ["null", types[type(row[name])]]} for name in added]
        return Message(json.dumps(key).encode(), registry.encode(record, row))
    return Message(json.dumps(key).encode(), value)


@pytest.fixture(params=FORMATS)
def send(request: pytest.FixtureRequest) -> Send:
    registry = SchemaRegistry()

    def run(*rows: dict[str, Any] | Message, topic: str = "demo.public.orders", **options: Any) -> Decoded:
        rules = LEARN if request.param == "learned json" else RULES
        decoder = Decoder(DecodeOptions(rules=rules, **options), registry)
        sent = [row if isinstance(row, Message) else message(row, request.param, registry) for row in rows]
        return decoder.decode(records(*sent, topic=topic))

    return run


def only(decoded: Decoded) -> ChangeChunk:
    assert decoded.bad == []
    (chunk,) = decoded.chunks
    return chunk


def test_metadata_fields_order_and_name_the_row_and_are_no_columns(send: Send) -> None:
    added = {
        "__table": "orders",
        "__source_schema": "public",
        "__db": "shop",
        "__source_connector": "postgresql",
        "__lsn": 7,
        "__source_sequence": '["5","7"]',
        "__source_ts_ms": 1000,
        "__ts_ms": 9999,
        "__source_snapshot": "false",
        "__deleted": "false",
    }
    chunk = only(send({"id": 1, "name": "a", "__op": "c"} | added, {"id": 1, "name": "b", "__op": "u"} | added))
    assert chunk.table == SourceTable("shop", "public", "orders")
    assert chunk.connector == "postgresql"
    assert chunk.schema.key == ("id",)
    assert chunk.rows.to_pydict() == {"id": [1, 1], "name": ["a", "b"]}
    assert chunk.ops.tolist() == [Op.CREATE, Op.UPDATE]
    assert chunk.positions.tolist() == [[5, 7], [5, 7]]
    assert chunk.source_ms.tolist() == [1000, 1000]
    assert chunk.snapshots.tolist() == [SnapshotKind.NONE] * 2


def test_a_rewritten_delete_keeps_only_its_key(send: Send) -> None:
    chunk = only(
        send(
            {"id": 1, "name": "a", "__deleted": "false"},
            {"id": 1, "name": "stale", "__deleted": "true"},
        )
    )
    assert chunk.ops.tolist() == [Op.READ, Op.DELETE]
    assert chunk.rows.to_pydict() == {"id": [1, 1], "name": ["a", None]}


def test_without_table_fields_the_topic_names_the_table(send: Send) -> None:
    chunk = only(send({"id": 1, "name": "a", "__op": "c"}))
    assert chunk.table == SourceTable("", "public", "orders")
    assert not chunk.positioned


def test_tables_that_share_a_topic_are_told_apart(send: Send) -> None:
    decoded = send(*({"id": n, "name": "x", "__op": "c", "__table": f"t{n % 2}"} for n in range(4)))
    assert {str(chunk.table): chunk.rows.column("id").to_pylist() for chunk in decoded.chunks} == {
        "public.t0": [0, 2],
        "public.t1": [1, 3],
    }


def test_bare_rows_need_the_setting(send: Send) -> None:
    (bad,) = send({"id": 1, "name": "a"}).bad
    assert bad.reason == "not a change event"
    assert "set format.envelope to flattened if the topic holds bare rows" in bad.detail
    chunk = only(send({"id": 1, "name": "a"}, envelope=EnvelopeForm.FLATTENED))
    assert chunk.ops.tolist() == [Op.READ]
    assert chunk.rows.to_pydict() == {"id": [1], "name": ["a"]}


def test_a_tombstone_deletes_on_a_topic_of_flattened_rows(send: Send) -> None:
    for options in ({}, {"envelope": EnvelopeForm.FLATTENED}):
        chunk = only(send({"id": 1, "name": "a", "__op": "c"}, tombstone({"id": 1}), **options))
        assert chunk.ops.tolist() == [Op.CREATE, Op.DELETE]
        assert chunk.rows.to_pydict() == {"id": [1, 1], "name": ["a", None]}


def test_tombstones_can_be_skipped(send: Send) -> None:
    decoded = send({"id": 1, "name": "a", "__op": "c"}, tombstone({"id": 1}), tombstones=TombstonePolicy.SKIP)
    assert only(decoded).ops.tolist() == [Op.CREATE]
    assert decoded.skipped == Counter({SkipReason.TOMBSTONE: 1})


def test_a_lone_tombstone_deletes_where_the_settings_say_flattened() -> None:
    options = DecodeOptions(rules=RULES, envelope=EnvelopeForm.FLATTENED)
    decoded = Decoder(options).decode(records(tombstone({"id": 4}), Message(None, None)))
    chunk = only(decoded)
    assert (chunk.ops.tolist(), chunk.rows.column("id").to_pylist()) == ([Op.DELETE], [4])
    assert decoded.skipped == Counter({SkipReason.TOMBSTONE: 1})


def test_a_tombstone_with_an_unreadable_key_is_bad_where_it_deletes() -> None:
    options = DecodeOptions(rules=RULES, tombstones=TombstonePolicy.DELETE)
    decoded = Decoder(options).decode(records(Message(b"hello", None)))
    assert [bad.reason for bad in decoded.bad] == ["unreadable key"]


def test_another_prefix_can_be_set(send: Send) -> None:
    chunk = only(send({"id": 1, "name": "a", "_op": "c", "_deleted": "false"}, metadata_prefix="_"))
    assert chunk.rows.to_pydict() == {"id": [1], "name": ["a"]}


def test_a_column_that_only_looks_like_metadata_is_carried() -> None:
    row = {"id": 1, "name": "a", "__op": "c", "__colour": "red"}
    columns = (*COLUMNS, Field("__colour", COLUMNS[1].type))
    options = DecodeOptions(rules=TableRules(tables=(("*", TableDecoding(declared=columns)),)))
    chunk = only(Decoder(options).decode(records(Message(b'{"id":1}', json.dumps(row).encode()))))
    assert chunk.rows.to_pydict() == {"id": [1], "name": ["a"], "__colour": ["red"]}


@pytest.mark.parametrize(
    ("topic", "connector", "table"),
    [
        ("p.public.t", "postgresql", SourceTable("", "public", "t")),
        ("p.inventory.t", "mysql", SourceTable("inventory", None, "t")),
        ("p.db.dbo.t", "sqlserver", SourceTable("db", "dbo", "t")),
        ("p.t", "mysql", SourceTable("", None, "t")),
        ("t", "", SourceTable("", None, "t")),
    ],
)
def test_topics_of_the_default_naming_stand_for_tables(topic: str, connector: str, table: SourceTable) -> None:
    assert topic_table(topic, connector) == table


def test_a_rewritten_delete_has_no_unavailable_cells(send: Send) -> None:
    chunk = only(send({"id": 1, "name": "__debezium_unavailable_value", "__deleted": "true"}))
    assert chunk.unavailable == {}
    assert chunk.rows.column("id").to_pylist() == [1]
