"""Columns and keys whose names or absence could lose, double or mix up rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Op
from connectors.debezium.options import DecodeOptions, EnvelopeForm, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from tests.unit.debezium.builders import COLUMNS, ID, NAME, Message, SchemaRegistry, avro_row, event, records

LEARN = DecodeOptions(rules=TableRules(tables=(("*", TableDecoding(learn=True)),)))
FLATTENED = DecodeOptions(envelope=EnvelopeForm.FLATTENED)
PLACEHOLDER = "__debezium_unavailable_value"
AUDIT = tuple(Field(name, ConnectType.STRING) for name in ("op", "source", "before", "after"))


def declared(*columns: Field, **options: Any) -> DecodeOptions:
    return DecodeOptions(rules=TableRules(tables=(("*", TableDecoding(declared=columns)),)), **options)


@pytest.mark.parametrize(
    "name",
    [
        'quo"ted',
        "back\\slash",
        "new\nline",
        "\0",
        "a.b",
        "",
        "ключ",
        "class",
        "__class__",
        "__rowMarker__",
        "m0",
        "self",
    ],
)
def test_a_column_may_have_any_name(name: str) -> None:
    columns = (ID, NAME, Field(name, ConnectType.STRING))
    insert = event("c", after={"id": 1, "name": "a", name: "x"}, key=("id", name))
    delete = event("d", before={"id": 1, name: "y"}, key=("id", name))
    change = event(
        "u",
        before={"id": 1, "name": "a", name: "x"},
        after={"id": 1, "name": "a", name: "y"},
        key={"id": 1, name: "y"},
    )
    sent = (insert, change, delete)
    for options, messages in (
        (DecodeOptions(), [one.json_with_schema(columns) for one in sent]),
        (declared(*columns), [one.json() for one in sent]),
        (LEARN, [one.json() for one in sent]),
    ):
        decoded = Decoder(options).decode(records(*messages))
        assert decoded.bad == []
        (chunk,) = decoded.chunks
        assert chunk.schema.key == ("id", name)
        assert chunk.rows.column(name).to_pylist() == ["x", "y", "y"]
        assert chunk.rows.column("name").to_pylist() == ["a", "a", None]
        assert chunk.old_keys is not None
        assert chunk.old_keys.to_pylist() == [{"id": 1, name: "x"}]


def test_a_name_beyond_ascii_is_read_beside_one_with_a_quote() -> None:
    # Texts that nobody has encoded before, as those are that come out of a schema.
    names = ["".join(("caf", "\u00e9")), "".join(("\u65e5", "\u672c")), 'quo"ted']
    columns = (ID, *(Field(name, ConnectType.STRING, optional=number != 1) for number, name in enumerate(names)))
    row = {"id": 1, **{name: f"value of {name}" for name in names}}
    insert = event("c", after=row).json_with_schema(columns)
    decoded = Decoder(DecodeOptions()).decode(records(insert))
    assert decoded.bad == []
    assert decoded.chunks[0].rows.to_pylist() == [row]


def test_a_flattened_row_may_have_columns_of_any_name() -> None:
    columns = (*COLUMNS, Field('quo"ted', ConnectType.STRING))
    row = {"id": 1, "name": "a", 'quo"ted': "x", "__op": "u", "__lsn": 7, "__connector": "postgresql"}
    decoded = Decoder(declared(*columns, envelope=EnvelopeForm.FLATTENED)).decode(
        records(Message(b'{"id":1}', json.dumps(row).encode()))
    )
    (chunk,) = decoded.chunks
    assert chunk.rows.to_pylist() == [{"id": 1, "name": "a", 'quo"ted': "x"}]
    assert chunk.ops.tolist() == [Op.UPDATE]
    assert chunk.positions.tolist() == [[7, 7]]


def test_a_required_column_of_an_odd_name_is_required() -> None:
    columns = (ID, Field('quo"ted', ConnectType.STRING, optional=False))
    decoded = Decoder(DecodeOptions()).decode(records(event("c", after={"id": 1}).json_with_schema(columns)))
    assert [bad.reason for bad in decoded.bad] == ["required field missing"]


def test_a_flattened_row_and_its_key_may_have_the_fields_of_an_envelope() -> None:
    row = {"op": "o", "source": "s", "before": "b", "after": "a"}
    fields = [{"field": name, "type": "string", "optional": True} for name in row]
    schema = {"type": "struct", "fields": fields, "name": "V"}
    body = json.dumps({"schema": schema, "payload": row}).encode()
    registry = SchemaRegistry()
    encoded = registry.encode(avro_row("Value", AUDIT), row)
    decoded = Decoder(FLATTENED, registry).decode(records(Message(body, body), Message(encoded, encoded)))
    assert decoded.bad == []
    assert {chunk.schema.key for chunk in decoded.chunks} == {tuple(row)}
    assert [found for chunk in decoded.chunks for found in chunk.rows.to_pylist()] == [row, row]


def test_a_row_without_all_of_its_key_is_bad_and_a_truncate_needs_none() -> None:
    sent = [
        event("c", after={"id": 1, "name": "a"}, key={"id": 1, "tenant": 7}),
        event("t"),
        event("d", before={"id": 1, "name": None}, key={"id": 1, "tenant": 7}),
    ]
    decoded = Decoder(declared(*COLUMNS)).decode(records(*(one.json() for one in sent)))
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(0, "missing key"), (2, "missing key")]
    assert decoded.bad[0].detail == (
        "key column tenant is null or no column of the row; have the connector send it, or declare it, or declare "
        "other key columns for the table"
    )
    assert [chunk.ops.tolist() for chunk in decoded.chunks] == [[Op.TRUNCATE]]


def test_an_envelope_where_the_settings_say_flattened_is_bad() -> None:
    sent = records(event("c", after={"id": 1, "name": "a"}).json_with_schema())
    assert [bad.reason for bad in Decoder(FLATTENED).decode(sent).bad] == ["missing key"]


@pytest.mark.parametrize("encoding", ["json with schema", "avro"])
def test_a_delete_alone_has_the_learned_columns_of_its_typed_key(encoding: str) -> None:
    registry = SchemaRegistry()
    columns = (
        ID,
        Field("made", ConnectType.INT64, semantic="io.debezium.time.Timestamp"),
        Field("code", ConnectType.BYTES),
    )
    key: dict[str, Any] = {"id": 1, "made": 86_400_000, "code": "AQ==" if encoding != "avro" else b"\x01"}
    typed = event("d", before=key, key=key)
    message = typed.avro(registry, columns) if encoding == "avro" else typed.json_with_schema(columns)
    delete = Message(message.key, event("d", before={"id": 1}).json().value)
    plain = {"id": 1, "made": 86_400_000, "code": "AQ=="}
    row = Message(message.key, event("c", after=plain).json().value)
    for sent in ([delete], [row, delete]):
        (chunk,) = Decoder(LEARN, registry).decode(records(*sent)).chunks
        assert chunk.rows.to_pylist()[-1] == plain
        assert chunk.schema.key == ("id", "made", "code")


def test_a_flattened_table_called_transaction_is_carried() -> None:
    columns = (ID, Field("status", ConnectType.STRING), Field("amount", ConnectType.INT64))
    message = Message(b'{"id":1}', b'{"id":1,"status":"paid","amount":5}')
    options = declared(*columns, envelope=EnvelopeForm.FLATTENED)
    (chunk,) = Decoder(options).decode(records(message, topic="demo.public.transaction")).chunks
    assert chunk.rows.to_pylist() == [{"id": 1, "status": "paid", "amount": 5}]


@pytest.mark.parametrize(
    ("kind", "held", "missing"),
    [
        (ConnectType.STRING, "", PLACEHOLDER),
        (ConnectType.ARRAY, [], [PLACEHOLDER]),
        (ConnectType.MAP, {}, {PLACEHOLDER: PLACEHOLDER}),
    ],
)
def test_an_empty_value_before_does_not_fill_an_unavailable_one(kind: ConnectType, held: Any, missing: Any) -> None:
    one = event("u", before={"id": 1, "v": held}, after={"id": 1, "v": missing})
    (chunk,) = Decoder(declared(ID, Field("v", kind))).decode(records(one.json())).chunks
    assert chunk.rows.to_pylist() == [{"id": 1, "v": None}]
    assert chunk.unavailable["v"].tolist() == [True]


@pytest.mark.parametrize(
    ("configured", "text"),
    [
        (b"__debezium_unavailable_value", "__debezium_unavailable_value"),
        (b"gone", "gone"),
        (b"hex:676f6e65", "gone"),
        (b"hex:xy", "hex:xy"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: [text], lambda text: {text: text}])
def test_a_learned_placeholder_is_never_a_value(configured: bytes, text: str, wrap: Any) -> None:
    one = event("u", after={"id": 1, "v": wrap(text)})
    rules = TableRules(tables=(("*", TableDecoding(learn=True)),))
    (chunk,) = Decoder(DecodeOptions(rules=rules, placeholder=configured)).decode(records(one.json())).chunks
    assert chunk.rows.to_pylist() == [{"id": 1, "v": None}]
    assert chunk.unavailable["v"].tolist() == [True]


def test_a_line_end_after_a_record_changes_nothing() -> None:
    one = event("c", after={"id": 1, "name": "a"}).json_with_schema()
    assert one.key is not None
    assert one.value is not None
    lined = Message(one.key + b"\n", one.value + b"\r\n")
    decoder = Decoder(DecodeOptions())
    for sent in ((lined,), (one, lined), (lined, one, lined)):
        decoded = decoder.decode(records(*sent))
        assert decoded.bad == []
        assert [row for chunk in decoded.chunks for row in chunk.rows.to_pylist()] == [{"id": 1, "name": "a"}] * len(
            sent
        )


def test_a_row_of_two_columns_called_schema_and_payload_is_a_row() -> None:
    columns = tuple(Field(name, ConnectType.STRING) for name in ("schema", "payload"))
    options = declared(*columns, envelope=EnvelopeForm.FLATTENED)
    bodies = [b'{"schema":"s","payload":"p"}', b'{"schema":null,"payload":"p"}']
    (chunk,) = Decoder(options).decode(records(*(Message(None, body) for body in bodies))).chunks
    assert chunk.rows.to_pylist() == [{"schema": "s", "payload": "p"}, {"schema": None, "payload": "p"}]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (
            {"type": "record", "name": "V", "fields": [{"name": "e", "type": {"type": "enum", "name": "E"}}]},
            "'symbols'",
        ),
        ({"type": "record", "name": "V", "fields": [{"name": "f", "type": {"type": "fixed", "name": "F"}}]}, "'size'"),
    ],
)
def test_a_schema_that_no_reader_takes_spoils_only_its_own_records(schema: dict[str, Any], why: str) -> None:
    registry = SchemaRegistry()
    number = registry.register(schema)
    good = event("c", after={"id": 1, "name": "a"}).avro(registry)
    decoded = Decoder(DecodeOptions(), registry).decode(
        records(good, Message(b'{"id":1}', b"\0" + number.to_bytes(4, "big") + b"\2"))
    )
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(1, "unusable schema")]
    assert why in decoded.bad[0].detail
    assert [len(chunk) for chunk in decoded.chunks] == [1]
