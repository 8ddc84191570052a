"""Records that are no rows are recognised by their content, in every encoding, and counted."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import SkipReason
from connectors.debezium.kernels import KERNELS, Kernels
from connectors.debezium.options import DecodeOptions, EnvelopeForm, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from tests.unit.debezium.builders import Message, SchemaRegistry, event, records

HEARTBEAT = {"ts_ms": 1}
TRANSACTION = {"status": "BEGIN", "id": "571:1", "ts_ms": 1, "event_count": None, "data_collections": None}
SCHEMA_CHANGE = {
    "source": {"connector": "mysql"},
    "ts_ms": 1,
    "databaseName": "inventory",
    "schemaName": None,
    "ddl": "DROP TABLE IF EXISTS `inventory`.`orders`",
    "tableChanges": [],
}
TYPES: dict[type, Any] = {
    int: "long",
    str: "string",
    type(None): ["null", "string"],
    dict: {"type": "record", "name": "S", "fields": [{"name": "connector", "type": "string"}]},
    list: {"type": "array", "items": "string"},
}


def encoded(value: dict[str, Any], registry: SchemaRegistry) -> list[bytes]:
    """The value as JSON, as JSON with schema and as Avro."""
    connect = {int: "int64", str: "string", type(None): "string"}
    members = [
        {"field": name, "type": connect.get(type(part), "string"), "optional": True} for name, part in value.items()
    ]
    schema = {"type": "struct", "fields": members, "name": "V"}
    fields = [{"name": name, "type": TYPES[type(part)]} for name, part in value.items()]
    return [
        json.dumps(value).encode(),
        json.dumps({"schema": schema, "payload": value}).encode(),
        registry.encode({"type": "record", "name": "V", "fields": fields}, value),
    ]


@pytest.mark.parametrize("form", [EnvelopeForm.AUTO, EnvelopeForm.FLATTENED])
@pytest.mark.parametrize(
    ("value", "topic", "key", "reason"),
    [
        (HEARTBEAT, "__debezium-heartbeat.demo", None, SkipReason.HEARTBEAT),
        (HEARTBEAT, "any.name", b'{"serverName":"demo"}', SkipReason.HEARTBEAT),
        (TRANSACTION, "demo.transaction", b'{"id":"571:1"}', SkipReason.TRANSACTION),
        (TRANSACTION, "routed.elsewhere", None, SkipReason.TRANSACTION),
        (SCHEMA_CHANGE, "demo", b'{"databaseName":"inventory"}', SkipReason.SCHEMA_CHANGE),
    ],
)
def test_control_records_are_counted_and_nothing_else(
    value: dict[str, Any], topic: str, key: bytes | None, reason: SkipReason, form: EnvelopeForm
) -> None:
    registry = SchemaRegistry()
    sent = [Message(key, body) for body in encoded(value, registry)]
    decoded = Decoder(DecodeOptions(envelope=form), registry).decode(records(*sent, topic=topic))
    assert decoded.bad == []
    assert decoded.chunks == []
    assert decoded.skipped == Counter({reason: 3})


@pytest.mark.parametrize("encoding", [0, 1, 2], ids=["JSON", "JSON with schema", "Avro"])
def test_each_record_is_judged_by_its_own_key(encoding: int) -> None:
    registry = SchemaRegistry()
    body = encoded(HEARTBEAT, registry)[encoding]
    keys = [b'{"id":1}', b'{"serverName":"demo"}', None, b'{"serverName":"demo"}']
    decoded = Decoder(DecodeOptions(), registry).decode(records(*(Message(key, body) for key in keys)))
    assert decoded.skipped == Counter({SkipReason.HEARTBEAT: 2})
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(0, "not a change event"), (2, "not a change event")]


def test_a_logical_message_is_counted() -> None:
    one = event("m", table="", key={"prefix": "foo"})
    registry = SchemaRegistry()
    batch = records(one.json(), one.json_with_schema(), topic="demo.message")
    assert Decoder(DecodeOptions(), registry).decode(batch).skipped == Counter({SkipReason.MESSAGE: 2})


def test_a_topics_name_alone_makes_no_heartbeat() -> None:
    decoded = Decoder(DecodeOptions()).decode(records(Message(None, b'{"id":1}'), topic="__debezium-heartbeat.demo"))
    assert decoded.skipped == Counter()
    assert [bad.reason for bad in decoded.bad] == ["not a change event"]


def test_a_table_may_have_the_columns_of_a_heartbeat_or_transaction() -> None:
    options = DecodeOptions(envelope=EnvelopeForm.FLATTENED)
    schema = {"type": "struct", "fields": [{"field": "ts_ms", "type": "int64"}], "name": "V"}
    value = json.dumps({"schema": schema, "payload": {"ts_ms": 5}}).encode()
    states = {
        "type": "struct",
        "fields": [{"field": name, "type": "string"} for name in ("id", "status")],
        "name": "W",
    }
    other = json.dumps({"schema": states, "payload": {"id": "1", "status": "BEGIN"}}).encode()
    decoded = Decoder(options).decode(records(Message(None, value), Message(None, other)))
    assert decoded.skipped == Counter()
    assert [chunk.rows.to_pylist() for chunk in decoded.chunks] == [[{"ts_ms": 5}], [{"id": "1", "status": "BEGIN"}]]


def test_a_tombstone_is_counted_whatever_its_key() -> None:
    decoded = Decoder(DecodeOptions()).decode(records(Message(b'{"id":1}', None), Message(None, None)))
    assert decoded.skipped == Counter({SkipReason.TOMBSTONE: 2})
    assert decoded.bad == []


def test_a_row_with_a_time_among_its_columns_is_no_heartbeat() -> None:
    body = b'{"ts_ms":1,"id":2}'
    decoded = Decoder(DecodeOptions()).decode(records(Message(None, body), topic="__debezium-heartbeat.demo"))
    assert decoded.skipped == Counter()
    assert [bad.reason for bad in decoded.bad] == ["not a change event"]


@pytest.mark.parametrize("kernels", [KERNELS, Kernels()], ids=["kernels", "without"])
def test_control_records_among_the_rows_of_a_topic_are_no_rows(kernels: Kernels) -> None:
    """All topics are routed into one, and the flattened rows' columns are declared, some named as theirs are."""
    columns = [Field(name, ConnectType.STRING, optional=True) for name in ("id", "status", "note")]
    rules = TableRules(tables=(("*", TableDecoding(declared=tuple(columns), keys=("id",))),))
    rows = [
        Message(b'{"id":"1"}', b'{"id":"1","status":"new","note":"n"}'),
        Message(b'{"id":"2"}', b'{"id":"2","status":null,"note":null}'),
        Message(b'{"id":"3"}', b'{"id":"3","status":"BEGIN"}'),
    ]
    control = [
        Message(b'{"serverName":"demo"}', json.dumps(HEARTBEAT).encode()),
        Message(b'{"id":"571:1"}', json.dumps(TRANSACTION).encode()),
        Message(b'{"databaseName":"inventory"}', json.dumps(SCHEMA_CHANGE).encode()),
    ]
    options = DecodeOptions(envelope=EnvelopeForm.FLATTENED, rules=rules)
    decoded = Decoder(options, None, kernels).decode(records(*rows, *control, topic="shop.everything"))
    assert decoded.bad == []
    assert decoded.skipped == Counter({SkipReason.HEARTBEAT: 1, SkipReason.TRANSACTION: 1, SkipReason.SCHEMA_CHANGE: 1})
    landed = [row["id"] for chunk in decoded.chunks for row in chunk.rows.to_pylist()]
    assert sorted(landed) == ["1", "2", "3"]


@pytest.mark.parametrize("kernels", [KERNELS, Kernels()], ids=["kernels", "without"])
def test_rows_of_a_table_that_has_the_columns_of_schema_changes_land_whatever_they_hold(kernels: Kernels) -> None:
    """It tells a schema change alone if it has nothing else, which is how Debezium writes one."""
    columns = [Field(name, ConnectType.STRING, optional=True) for name in ("id", "databaseName", "ddl", "note")]
    rules = TableRules(tables=(("*", TableDecoding(declared=tuple(columns), keys=("id",))),))
    rows = [
        Message(b'{"databaseName":"a"}', b'{"id":"1","databaseName":"a","note":"n"}'),
        Message(b'{"databaseName":"a"}', b'{"id":"2","databaseName":"a","ddl":"DROP","note":"n"}'),
        Message(b'{"databaseName":"a"}', b'{"id":"3","databaseName":"a","ddl":"DROP","note":null}'),
    ]
    change = Message(b'{"databaseName":"inventory"}', json.dumps(SCHEMA_CHANGE | {"position": {"pos": 4}}).encode())
    options = DecodeOptions(envelope=EnvelopeForm.FLATTENED, rules=rules)
    for batch in ([*rows, change], [rows[1], change, rows[2]], *([row] for row in rows)):
        decoded = Decoder(options, None, kernels).decode(records(*batch, topic="shop.public.audit"))
        assert decoded.bad == []
        assert decoded.skipped == Counter({SkipReason.SCHEMA_CHANGE: batch.count(change)})
        assert sum(len(chunk) for chunk in decoded.chunks) == len(batch) - batch.count(change)
