"""Rows that ExtractNewRecordState has flattened."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded, Op, SkipReason, SnapshotKind
from connectors.debezium.flattened import topic_table
from connectors.debezium.options import DecodeOptions, EnvelopeForm, TableDecoding, TableRules, TombstonePolicy
from connectors.debezium.schema import ConnectType, Field, SourceTable
from tests.unit.debezium.builders import COLUMNS, Message, SchemaRegistry, avro_row, event, only, records, tombstone

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
        decoder = Decoder(DecodeOptions(rules=rules, **({"envelope": EnvelopeForm.FLATTENED} | options)), registry)
        sent = [row if isinstance(row, Message) else message(row, request.param, registry) for row in rows]
        return decoder.decode(records(*sent, topic=topic))

    return run


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
    assert chunk.table == SourceTable("", "public", "orders")
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


def test_tables_that_share_a_topic_are_told_apart_where_tombstones_say_nothing(send: Send) -> None:
    rows = ({"id": n, "name": "x", "__op": "c", "__table": f"t{n % 2}", "__db": "shop"} for n in range(4))
    decoded = send(*rows, tombstones=TombstonePolicy.SKIP)
    assert {chunk.table.database for chunk in decoded.chunks} == {"shop"}
    assert {str(chunk.table): chunk.rows.column("id").to_pylist() for chunk in decoded.chunks} == {
        "public.t0": [0, 2],
        "public.t1": [1, 3],
    }


def test_a_row_of_another_table_than_its_topics_is_bad_where_tombstones_delete(send: Send) -> None:
    rows = [{"id": n, "name": "x", "__op": "c", "__table": "orders" if n % 2 else "other"} for n in range(4)]
    decoded = send(*rows, tombstone({"id": 1}))
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(n, "another table than the topic's") for n in (0, 2)]
    assert decoded.bad[0].detail == (
        "the row is of table public.other, and the topic's name stands for public.orders, of which its tombstones "
        "delete; give each table a topic of its default name, or set delete.tombstone.handling.mode to rewrite "
        "on the transformation and format.tombstones to skip"
    )
    assert {chunk.table for chunk in decoded.chunks} == {SourceTable("", "public", "orders")}
    assert [chunk.offsets.tolist() for chunk in decoded.chunks] in ([[1, 3, 4]], [[1, 3], [4]])


@pytest.mark.parametrize(
    ("connector", "table"),
    [("auto", SourceTable("", "inventory", "orders")), ("mysql", SourceTable("inventory", None, "orders"))],
)
def test_a_sources_rows_and_tombstones_are_of_one_table(send: Send, connector: str, table: SourceTable) -> None:
    added = {"__op": "c", "__db": "inventory", "__table": "orders", "__connector": "mysql"}
    topic = "demo.inventory.orders"
    decoded = send({"id": 1, "name": "a"} | added, tombstone({"id": 1}), topic=topic, connector=connector)
    assert decoded.bad == []
    assert {chunk.table for chunk in decoded.chunks} == {table}


def test_an_envelopes_table_and_its_tombstones_are_one() -> None:
    options = DecodeOptions(rules=RULES, tombstones=TombstonePolicy.DELETE)
    sent = records(event("c", after={"id": 1, "name": "a"}).json(), tombstone({"id": 1}))
    decoded = Decoder(options).decode(sent)
    assert {chunk.table for chunk in decoded.chunks} == {SourceTable("", "public", "orders")}


def test_a_flattened_row_needs_the_setting(send: Send) -> None:
    for form in (EnvelopeForm.AUTO, EnvelopeForm.ENVELOPE):
        decoded = send({"id": 1, "name": "a", "__op": "c", "__lsn": 7}, tombstone({"id": 1}), envelope=form)
        (bad,) = decoded.bad
        assert bad.reason == "flattened record"
        assert bad.detail == (
            "a row that ExtractNewRecordState has flattened, by its field __lsn; set format.envelope, or "
            "format.topics.<topic>.envelope, to flattened: it also decides whether a tombstone is a delete"
        )
        assert decoded.skipped == Counter({SkipReason.TOMBSTONE: 1})
        assert decoded.chunks == []


def test_bare_rows_need_the_setting(send: Send) -> None:
    (bad,) = send({"id": 1, "name": "a"}, envelope=EnvelopeForm.AUTO).bad
    assert bad.reason == "not a change event"
    assert "set format.envelope to flattened if the topic holds bare rows" in bad.detail
    chunk = only(send({"id": 1, "name": "a"}))
    assert chunk.ops.tolist() == [Op.READ]
    assert chunk.rows.to_pydict() == {"id": [1], "name": ["a"]}


def test_a_tombstone_deletes_on_a_topic_of_flattened_rows(send: Send) -> None:
    by_topic = (("demo.*", EnvelopeForm.FLATTENED),)
    for options in ({}, {"envelope": EnvelopeForm.AUTO, "envelope_forms": by_topic}):
        decoded = send({"id": 1, "name": "a", "__op": "c"}, tombstone({"id": 1}), **options)
        assert decoded.bad == []
        assert [op for chunk in decoded.chunks for op in chunk.ops.tolist()] == [Op.CREATE, Op.DELETE]
        assert [row["id"] for chunk in decoded.chunks for row in chunk.rows.to_pylist()] == [1, 1]
        assert {chunk.schema.key for chunk in decoded.chunks} == {("id",)}


def test_what_a_tombstone_means_does_not_depend_on_the_records_before_it(send: Send) -> None:
    alone = send(tombstone({"id": 1}))
    after = send({"id": 1, "name": "a", "__op": "c", "__table": "orders", "__db": "shop"}, tombstone({"id": 1}))
    assert alone.bad == after.bad == []
    assert [chunk.table for chunk in alone.chunks] == [after.chunks[-1].table]
    assert alone.chunks[-1].rows.to_pylist()[0]["id"] == after.chunks[-1].rows.to_pylist()[-1]["id"] == 1


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
    chunk = only(send({"id": 1, "name": "a", "_op": "c", "_lsn": 7}, metadata_prefix="_"))
    assert chunk.rows.to_pydict() == {"id": [1], "name": ["a"]}


def test_a_rewritten_delete_is_told_by_one_field_whatever_the_prefix(send: Send) -> None:
    chunk = only(send({"id": 1, "name": "a", "__deleted": "true"}, metadata_prefix="_"))
    assert chunk.ops.tolist() == [Op.DELETE]
    assert chunk.rows.column("id").to_pylist() == [1]


def test_a_column_that_tells_of_soft_deletes_deletes_nothing() -> None:
    columns = (*COLUMNS, Field("_deleted", ConnectType.BOOLEAN))
    rules = TableRules(tables=(("*", TableDecoding(declared=columns)),))
    options = DecodeOptions(rules=rules, envelope=EnvelopeForm.FLATTENED, metadata_prefix="_")
    row = {"id": 1, "name": "a", "_op": "u", "_deleted": True}
    chunk = only(Decoder(options).decode(records(Message(b'{"id":1}', json.dumps(row).encode()))))
    assert chunk.ops.tolist() == [Op.UPDATE]
    assert chunk.rows.to_pylist() == [{"id": 1, "name": "a", "_deleted": True}]


def test_a_column_that_only_looks_like_metadata_is_carried() -> None:
    row = {"id": 1, "name": "a", "__op": "c", "__colour": "red"}
    columns = (*COLUMNS, Field("__colour", COLUMNS[1].type))
    rules = TableRules(tables=(("*", TableDecoding(declared=columns)),))
    options = DecodeOptions(rules=rules, envelope=EnvelopeForm.FLATTENED)
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
