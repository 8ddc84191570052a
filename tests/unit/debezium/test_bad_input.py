"""Records that cannot be decoded: each has its own reason and detail, and takes no good record with it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.debezium.options import DecodeOptions, PayloadFormat, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from tests.unit.debezium.builders import COLUMNS, ID, Event, Message, SchemaRegistry, event, records, struct_schema

BIG = Field("big", ConnectType.INT64)
TYPED = (*COLUMNS, BIG)
RULES = TableRules(tables=(("public.*", TableDecoding(declared=TYPED)),))

GOOD = event("c", after={"id": 1, "name": "a", "big": 2**63 - 1}).json()
KEY = b'{"id":1}'


def envelope(**changes: Any) -> bytes:
    body = {"before": None, "after": {"id": 1, "name": "a"}, "op": "c"}
    body["source"] = event("c", after={"id": 1}).source or {}
    return json.dumps({name: value for name, value in (body | changes).items() if value is not ...}).encode()


def decode(*values: bytes | None, options: DecodeOptions | None = None, key: bytes = KEY) -> Decoded:
    """The values between good records, in one batch."""
    sent = [GOOD]
    for value in values:
        sent += [Message(key, value), GOOD]
    decoded = Decoder(options or DecodeOptions(rules=RULES), SchemaRegistry()).decode(records(*sent))
    assert sum(map(len, decoded.chunks)) == len(values) + 1, "a good record was lost"
    assert all(chunk.rows.column("big").to_pylist() == [2**63 - 1] * len(chunk) for chunk in decoded.chunks)
    return decoded


@pytest.mark.parametrize(
    ("value", "reason", "detail"),
    [
        (b"", "empty value", "the value has no bytes"),
        (b"hello", "not JSON", "JSON is malformed: invalid character (byte 0)"),
        (b"{}{}", "not JSON", "JSON is malformed: trailing characters"),
        (b"\xff\xfe", "not UTF-8", "invalid start byte at byte 0"),
        (envelope().replace(b'"a"', b'"\xff"'), "not UTF-8", "invalid start byte"),
        (envelope()[:-20], "truncated", "ends too early"),
        (b"[1,2]", "not a change event", "Expected `object`, got `array`"),
        (b"{}", "not a change event", "its fields: none"),
        (b'{"specversion":"1.0","data":{}}', "not a change event", "its fields: data, specversion"),
        (envelope(op=...), "missing op", "the envelope has no op"),
        (envelope(op=None), "missing op", "op is None"),
        (envelope(op="x"), "unknown op", "op is 'x'; known are c, u, d, r, t and m"),
        (envelope(op=7), "missing op", "op is 7"),
        (envelope(op=[1] * 1_000), "missing op", f"op is [{'1, ' * 33}..."),
        (envelope(op="x" * 1_000), "unknown op", f"op is '{'x' * 99}...; known are c, u, d, r, t and m"),
        (envelope(source=...), "missing source", "the envelope has no source block"),
        (envelope(source=None), "missing source", "the source block is missing or null"),
        (envelope(source={"connector": "postgresql"}), "missing source", "the source block names no table"),
        (envelope(after=None), "missing after", "op 'c' needs an after image, and it is missing or null"),
        (envelope(after=...), "missing after", "op 'c' needs an after image"),
        (envelope(after={"id": 1.5}), "type mismatch", "Expected `int`, got `float` - at `$.after.id`"),
        (envelope(after={"id": "12"}), "type mismatch", "Expected `int`, got `str` - at `$.after.id`"),
        (envelope(after={"id": 2**31}), "type mismatch", "column id: 2147483648 does not fit int32"),
        (envelope(after={"id": 1, "big": 2**63}), "type mismatch", "column big: 9223372036854775808 does not fit"),
        (envelope(after={"id": 1, "name": 7}), "type mismatch", "Expected `str | null`, got `int` - at `$.after.name`"),
        (envelope(after={"id": None}), "type mismatch", "Expected `int`, got `null` - at `$.after.id`"),
        (envelope(after={"name": "x"}), "required field missing", "missing required field `id` - at `$.after`"),
        (envelope(after=[]), "type mismatch", "Expected `object | null`, got `array`"),
        (envelope(source={"connector": "cassandra"}), "unsupported connector", "Cassandra's events hold single cells"),
    ],
)
def test_bad_json_has_its_reason(value: bytes, reason: str, detail: str) -> None:
    decoded = decode(value)
    (bad,) = decoded.bad
    assert (bad.topic, bad.partition, bad.offset) == ("demo.public.orders", 0, 1)
    assert bad.reason == reason
    assert detail in bad.detail
    assert (bad.key, bad.value) == (KEY, value)


def test_many_bad_records_of_different_kinds_leave_all_good_ones() -> None:
    decoded = decode(b"", b"x", envelope(op="x"), envelope(after={"id": "12"}), envelope(after={"id": 2**40}))
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [
        (1, "empty value"),
        (3, "not JSON"),
        (5, "unknown op"),
        (7, "type mismatch"),
        (9, "type mismatch"),
    ]


def test_a_batch_of_bad_records_only_gives_no_chunk() -> None:
    decoded = Decoder(DecodeOptions(rules=RULES)).decode(records(Message(KEY, b"x"), Message(KEY, b"{}")))
    assert decoded.chunks == []
    assert [bad.reason for bad in decoded.bad] == ["not JSON", "not a change event"]


def test_json_without_types_says_how_to_give_them() -> None:
    decoded = Decoder(DecodeOptions()).decode(records(GOOD))
    assert [(bad.reason, bad.detail) for bad in decoded.bad] == [
        (
            "no column types",
            "JSON without a schema carries no types; declare the columns of public.orders in the settings, "
            "or set schema: learn",
        )
    ]


@pytest.mark.parametrize(
    ("value", "reason", "detail"),
    [
        (b"{}", "wrong magic byte", "an Avro payload starts with byte 0, this one with byte 123"),
        (b"\0\0\0", "truncated", "3 bytes are too few for a schema id"),
        (b"\0\0\0\0\0\0", "truncated", "6 bytes are too few for an 8-byte schema id"),
        (b"\0\0\0\0\x63", "unknown schema id", "The registry has no such schema [schema_id=99]. Remedy: register it"),
    ],
)
def test_bad_avro_framing_has_its_reason(value: bytes, reason: str, detail: str) -> None:
    options = DecodeOptions(value_format=PayloadFormat.AVRO)
    (bad,) = Decoder(options, SchemaRegistry()).decode(records(Message(None, value))).bad
    assert bad.reason == reason
    assert detail in bad.detail


def test_avro_without_a_registry_says_so() -> None:
    message = event("c", after={"id": 1, "name": "a"}).avro(SchemaRegistry())
    (bad,) = Decoder(DecodeOptions()).decode(records(message)).bad
    assert bad.reason == "unknown schema id"
    assert bad.detail == "the record is Avro with confluent schema id 2, and no registry is configured"


def test_an_unusable_embedded_schema_is_a_bad_record() -> None:
    schema = {"type": "struct", "fields": [{"type": "int99", "field": "id"}]}
    value = json.dumps({"schema": schema, "payload": {"id": 1}}).encode()
    decoded = decode(value)
    assert [bad.reason for bad in decoded.bad] == ["unusable schema"]


@pytest.mark.parametrize("key", [b"hello", b"5", b"\0\0\0\0\x63", b""])
def test_an_unreadable_key_makes_its_record_bad(key: bytes) -> None:
    decoded = decode(envelope(), key=key)
    (bad,) = decoded.bad
    assert bad.reason in ("unreadable key", "unknown schema id")
    assert bad.detail.startswith("the key")


def test_an_unreadable_key_does_no_harm_where_keys_are_declared() -> None:
    rules = TableRules(tables=(("*", TableDecoding(declared=TYPED, keys=("id",))),))
    decoded = Decoder(DecodeOptions(rules=rules)).decode(records(Message(b"hello", GOOD.value)))
    assert decoded.bad == []
    assert decoded.chunks[0].schema.key == ("id",)


def test_a_key_of_another_type_than_the_row_is_bad() -> None:
    decoded = decode(envelope(op="d", after=None), key=b'{"id":"x"}')
    assert [(bad.reason, bad.detail.split(":")[0]) for bad in decoded.bad] == [("type mismatch", "column id")]


def test_headers_of_a_bad_record_are_kept() -> None:
    message = Message(KEY, b"x", (("a", b"1"), ("b", None)))
    (bad,) = Decoder(DecodeOptions()).decode(records(message)).bad
    assert bad.headers == (("a", b"1"), ("b", None))


def test_ten_thousand_columns_work() -> None:
    columns = (ID, *(Field(f"column {n}", ConnectType.STRING) for n in range(10_000)))
    one = event("c", after={"id": 1} | {column.name: "x" for column in columns[1:]})
    registry = SchemaRegistry()
    rules = TableRules(tables=(("*", TableDecoding(declared=columns)),))
    for message, options in (
        (one.json(), DecodeOptions(rules=rules)),
        (one.json_with_schema(columns), DecodeOptions()),
    ):
        (chunk,) = Decoder(options, registry).decode(records(message)).chunks
        assert chunk.rows.num_columns == 10_001
        assert chunk.rows.column(10_000).to_pylist() == ["x"]


def test_a_value_of_five_megabytes_works() -> None:
    text = "x" * 5_000_000
    registry = SchemaRegistry()
    one = event("c", after={"id": 1, "name": text})
    for message in (one.json(), one.json_with_schema(), one.avro(registry)):
        (chunk,) = Decoder(DecodeOptions(rules=RULES), registry).decode(records(message)).chunks
        assert chunk.rows.column("name").to_pylist() == [text]


def test_a_truncated_schema_is_truncated_json() -> None:
    whole = json.dumps({"schema": struct_schema("V", COLUMNS), "payload": {}}).encode()
    assert [bad.reason for bad in decode(whole[:60]).bad] == ["truncated"]


def test_deep_nesting_is_a_bad_record() -> None:
    nested = b"[" * 100_000 + b"]" * 100_000
    value = envelope(after={"id": 1, "name": "@"}).replace(b'"@"', nested)
    assert len(decode(value).bad) == 1


@st.composite
def spoiled(draw: st.DrawFn) -> tuple[list[Message], SchemaRegistry]:
    """Good records in all encodings, some bytes of which are changed, cut out or put in."""
    registry = SchemaRegistry()
    messages = []
    for number in range(draw(st.integers(1, 6))):
        one = draw(
            st.sampled_from(
                [
                    event("c", after={"id": number, "name": "a", "big": 1}),
                    event("u", before={"id": number, "name": "a"}, after={"id": 9, "name": "b"}),
                    event("d", before={"id": number}),
                    event("t"),
                ]
            )
        )
        encode = draw(st.sampled_from([Event.json, Event.json_with_schema, lambda e: e.avro(registry)]))
        message = encode(one)
        key, value = message.key, message.value or b""
        if draw(st.booleans()):
            place, width = draw(st.integers(0, len(value))), draw(st.integers(0, 3))
            value = value[:place] + draw(st.binary(max_size=3)) + value[place + width :]
        if key and draw(st.integers(0, 4)) == 0:
            place = draw(st.integers(0, len(key)))
            key = key[:place] + draw(st.binary(max_size=2)) + key[place + 1 :]
        messages.append(Message(key, draw(st.sampled_from([value, value, value, None]))))
    return messages, registry


@settings(max_examples=150, deadline=None)
@given(spoiled())
def test_whatever_the_bytes_every_record_has_exactly_one_fate(sent: tuple[list[Message], SchemaRegistry]) -> None:
    messages, registry = sent
    decoder = Decoder(DecodeOptions(rules=RULES), registry)
    for _ in range(2):
        decoded = decoder.decode(records(*messages))
        landed = [int(offset) for chunk in decoded.chunks for offset in chunk.offsets]
        fates = landed + [bad.offset for bad in decoded.bad]
        assert len(fates) == len(set(fates))
        assert len(fates) + sum(decoded.skipped.values()) == len(messages)
        for chunk in decoded.chunks:
            assert chunk.rows.num_rows == len(chunk.ops) == len(chunk.positions) == len(chunk.run_ids) == len(chunk)
            assert (chunk.offsets[1:] > chunk.offsets[:-1]).all()


def test_a_truncate_beside_an_unreadable_key_is_carried() -> None:
    truncate, row = event("t").json(), event("c", after={"id": 1, "name": "a", "big": 2}).json()
    decoded = Decoder(DecodeOptions(rules=RULES)).decode(records(truncate, Message(b"hello", row.value)))
    assert [bad.offset for bad in decoded.bad] == [1]
    assert [chunk.offsets.tolist() for chunk in decoded.chunks] == [[0]]


@pytest.mark.parametrize(("member", "value"), [("ts_ms", True), ("lsn", False), ("ts_ms", "now"), ("sequence", 1)])
def test_an_odd_source_block_of_learned_rows_has_a_reason_however_many_have_it(member: str, value: object) -> None:
    source = event("c", after={"id": 1}).source or {}
    odd = Message(KEY, envelope(source=source | {member: value}))
    learning = DecodeOptions(rules=TableRules(tables=(("*", TableDecoding(learn=True)),)))
    decoded = Decoder(learning).decode(records(GOOD, *[odd] * 200))
    kind = type(value).__name__
    assert [(bad.reason, bad.detail) for bad in decoded.bad] == [
        ("type mismatch", f"the source block's {member} is of type {kind}")
    ] * 200
    assert sum(map(len, decoded.chunks)) == 1
