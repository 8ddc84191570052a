"""Avro values: the kernel and fastavro give the same rows, and a corrupt datum stands alone."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import pytest

from connectors.debezium import semantics
from connectors.debezium.avro_datum import BadDatumError, DatumReader
from connectors.debezium.avro_reader import AvroReader
from connectors.debezium.avro_records import ScannedRecords
from connectors.debezium.bodies import Bodies
from connectors.debezium.decoder import Decoder
from connectors.debezium.events import ChangeChunk, Op, SkipReason
from connectors.debezium.kernels import Kernels
from connectors.debezium.options import DecodeOptions, EnvelopeForm
from connectors.debezium.verdicts import BadReason
from tests.avro_kernel.schemas import DECIMAL_STRUCT, FIXED
from tests.support.kernels import built
from tests.unit.debezium.builders import Message, SchemaRegistry, event, only, records

KERNELS = built()

ENUM = {"type": "enum", "name": "E", "symbols": ["new", "paid"]}
PAIR = {
    "type": "record",
    "name": "MapEntry",
    "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": ["null", "string"]}],
}
NESTED = {
    "type": "record",
    "name": "N",
    "fields": [{"name": "f", "type": "double"}, {"name": "b", "type": ["null", "bytes"]}],
}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 5}
DECIMAL |= {"connect.name": semantics.DECIMAL, "connect.parameters": {"scale": "5", "connect.decimal.precision": "3"}}

TYPES: list[tuple[Any, list[Any], list[Any]]] = [
    ("boolean", [True, False], [True, False]),
    ("int", [1, -(2**31)], [1, -(2**31)]),
    ({"type": "int", "connect.type": "int16"}, [5, -5], [5, -5]),
    ("long", [2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
    ("float", [1.5, 2.5], [1.5, 2.5]),
    ("double", [1.5, math.inf], [1.5, math.inf]),
    ("string", ["", "żółw 😀"], ["", "żółw 😀"]),
    ("bytes", [b"", b"\0\xff"], [b"", b"\0\xff"]),
    (FIXED, [b"abc", b"def"], [b"abc", b"def"]),
    (ENUM, ["paid", "new"], ["paid", "new"]),
    (["null", ENUM], ["paid", None], ["paid", None]),
    (["string", "null"], ["a", None], ["a", None]),
    (["null", "long"], [None, 7], [None, 7]),
    ({"type": "array", "items": ["null", "int"]}, [[1, None], []], ["[1,null]", "[]"]),
    (["null", {"type": "array", "items": "bytes"}], [[b"\0"], None], ['["AA=="]', None]),
    (
        {"type": "array", "items": "double"},
        [[math.nan, 1.0], [math.inf, -math.inf]],
        ['["NaN",1.0]', '["Infinity","-Infinity"]'],
    ),
    ({"type": "map", "values": ["null", "string"]}, [{"z": "1", "a": None}, {}], ['{"z":"1","a":null}', "{}"]),
    ({"type": "array", "items": PAIR}, [[{"key": 1, "value": "x"}], []], ['[[1,"x"]]', "[]"]),
    (["null", NESTED], [{"f": 1.5, "b": b"\xff"}, None], ['{"f":1.5,"b":"/w=="}', None]),
    (["null", DECIMAL_STRUCT], [{"scale": 3, "value": b"\x04\xd2"}, None], ["1.234", None]),
    (
        ["null", {"type": "array", "items": {"type": "array", "items": "int"}}],
        [[[1], [2, 3]], None],
        ["[[1],[2,3]]", None],
    ),
    (["null", DECIMAL], [b"\x7b", None], ["0.00123", None]),
    ({"type": "long", "connect.name": semantics.MICRO_TIME}, [1, 86_400_000_000], ["00:00:00.000001", "24:00:00"]),
    (["null", "int", "string"], [5, "x"], ["5", '"x"']),
    ({"type": "array", "items": ENUM}, [["new"], []], ['["new"]', "[]"]),
]


def envelope(column: Any) -> dict[str, Any]:
    row = {
        "type": "record",
        "name": "Value",
        "fields": [{"name": "id", "type": "int"}, {"name": "c", "type": column}],
    }
    source = {
        "type": "record",
        "name": "Source",
        "fields": [{"name": name, "type": ["null", "string"]} for name in ("connector", "db", "schema", "table")]
        + [{"name": "lsn", "type": ["null", "long"]}],
    }
    return {
        "type": "record",
        "name": "Envelope",
        "namespace": "demo.public.orders",
        "fields": [
            {"name": "before", "type": ["null", row]},
            {"name": "after", "type": ["null", "Value"]},
            {"name": "source", "type": source},
            {"name": "op", "type": "string"},
        ],
    }


SOURCE = {"connector": "postgresql", "db": "shop", "schema": "public", "table": "orders", "lsn": 4}


def value(number: int, content: Any, op: str = "c") -> dict[str, Any]:
    return {"op": op, "before": None, "after": {"id": number, "c": content}, "source": SOURCE}


@pytest.mark.parametrize(("column", "values", "expected"), TYPES)
def test_each_type_is_the_same_from_the_kernel_and_from_fastavro(
    column: Any, values: list[Any], expected: list[Any]
) -> None:
    registry = SchemaRegistry()
    sent = [Message(None, registry.encode(envelope(column), value(n, one))) for n, one in enumerate(values)]

    def decoded(kernels: Kernels) -> ChangeChunk:
        return only(Decoder(DecodeOptions(), registry, kernels).decode(records(*sent)))

    quick, slow = decoded(KERNELS), decoded(Kernels())
    assert quick.rows.column("c").to_pylist() == expected
    assert slow.rows.equals(quick.rows)
    assert slow.schema == quick.schema
    assert slow.ops.tolist() == quick.ops.tolist()
    assert slow.positions.tolist() == quick.positions.tolist()


@pytest.mark.parametrize(("column", "values"), [(column, values) for column, values, _ in TYPES])
def test_no_envelope_of_such_types_is_left_by_the_kernel(column: Any, values: list[Any]) -> None:
    schema = envelope(column)
    datums = [SchemaRegistry.datum(schema, value(n, one)) for n, one in enumerate(values)]
    [part], bad = AvroReader(json.dumps(schema), KERNELS.avro).read(Bodies.of_texts(datums))
    assert isinstance(part.records, ScannedRecords)
    assert bad == {}


def test_nan_survives() -> None:
    registry = SchemaRegistry()
    sent = Message(None, registry.encode(envelope("double"), value(1, math.nan)))
    chunk = only(Decoder(DecodeOptions(), registry).decode(records(sent)))
    assert math.isnan(chunk.rows.column("c").to_pylist()[0])


def test_absent_images_of_deletes_and_truncates_are_null() -> None:
    registry = SchemaRegistry()
    truncate = {"op": "t", "before": None, "after": None, "source": SOURCE}
    key = registry.encode({"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}, {"id": 3})
    gone = {"op": "d", "before": {"id": 3, "c": "x"}, "after": None, "source": SOURCE}
    schema = envelope("string")
    chunk = only(
        Decoder(DecodeOptions(), registry).decode(
            records(Message(key, registry.encode(schema, gone)), Message(None, registry.encode(schema, truncate)))
        )
    )
    assert chunk.rows.to_pydict() == {"id": [3, None], "c": [None, None]}
    assert chunk.ops.tolist() == [Op.DELETE, Op.TRUNCATE]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda datum: datum + b"!", "trailing bytes"),
        (lambda datum: datum[:-3], "truncated"),
        (lambda datum: datum[:4] + b"\xff\xff\xff\xff\xff\x7f" + datum[5:], "corrupt Avro"),
        (lambda datum: datum[:4] + b"\xfe\xff\xff\xff\xff\x7f" + datum[5:], "truncated"),
        (lambda datum: b"", "truncated"),
    ],
)
def test_a_corrupt_datum_is_found_and_the_others_kept(spoil: Any, reason: str) -> None:
    registry = SchemaRegistry()
    sent = [event("c", after={"id": n, "name": f"row {n}"}).avro(registry) for n in range(50)]
    for place in (17, 31):
        whole = sent[place].value or b""
        sent[place] = Message(sent[place].key, whole[:5] + spoil(whole[5:]))
    decoded = Decoder(DecodeOptions(), registry).decode(records(*sent))
    assert [bad.offset for bad in decoded.bad] == [17, 31]
    assert {bad.reason for bad in decoded.bad} == {reason}
    (chunk,) = decoded.chunks
    expected = [n for n in range(50) if n not in (17, 31)]
    assert chunk.offsets.tolist() == expected
    assert chunk.rows.to_pydict() == {"id": expected, "name": [f"row {n}" for n in expected]}


def test_a_shifted_datum_cannot_pass_for_its_neighbours() -> None:
    reader = AvroReader(
        json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}), KERNELS.avro
    )
    parts, bad = reader.read(Bodies.of_texts([b"\x02\x04", b"", b"\x06"]))
    assert {place: str(error.reason) for place, error in bad.items()} == {0: "trailing bytes", 1: "truncated"}
    assert [(part.places.tolist(), part.records.values("a")) for part in parts] == [([2], [3])]


def test_what_a_damaged_datum_comes_to_does_not_depend_on_those_read_before() -> None:
    """Neither a union's branch that does not exist nor a number of too many bytes is taken, though fastavro would."""
    column = {"name": "a", "type": ["null", "long"]}
    reader = AvroReader(json.dumps({"type": "record", "name": "Row", "fields": [column]}), KERNELS.avro)
    datums = [b"\x04\x06", b"\x02" + b"\x80" * 10 + b"\x01"]

    def outcome() -> tuple[list[list[int]], list[int]]:
        parts, bad = reader.read(Bodies.of_texts(datums))
        return [part.places.tolist() for part in parts], list(bad)

    first = outcome()

    assert first == ([], [0, 1])
    assert outcome() == first


def test_an_enum_without_such_a_symbol_is_bad() -> None:
    registry = SchemaRegistry()
    schema = envelope(ENUM)
    good, bad = (registry.encode(schema, value(n, "paid")) for n in (1, 2))
    place = len(registry.datum({"type": "record", "name": "H", "fields": [{"name": "i", "type": "int"}]}, {"i": 2})) + 2
    spoiled = bad[: 5 + place] + b"\x08" + bad[5 + place + 1 :]
    decoded = Decoder(DecodeOptions(), registry).decode(records(Message(None, good), Message(None, spoiled)))
    told = f"field after.c, before byte {place + 1}: the enum has no symbol number 4"
    assert [(one.offset, one.reason, one.detail) for one in decoded.bad] == [(1, "corrupt Avro", told)]
    assert decoded.chunks[0].rows.column("c").to_pylist() == ["paid"]


@pytest.mark.parametrize(
    "kind", ["double", "float", "string", "bytes", "boolean", {"type": "fixed", "name": "F", "size": 3}]
)
def test_why_a_datum_cannot_be_read_is_told_in_the_same_words_each_time(kind: object) -> None:
    reader = DatumReader({"type": "record", "name": "R", "fields": [{"name": "a", "type": kind}]})
    told = []
    for _ in range(2):
        with pytest.raises(BadDatumError) as raised:
            reader.read(b"")
        told.append(str(raised.value))
    assert told[0] == told[1]
    assert "0x" not in told[0]
    assert raised.value.reason is BadReason.TRUNCATED


def test_a_string_that_is_not_utf8_is_bad() -> None:
    reader = DatumReader({"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]})
    with pytest.raises(BadDatumError, match="a string is not UTF-8") as caught:
        reader.read(b"\x04\xff\xfe")
    assert caught.value.reason is BadReason.NOT_UTF8
    registry = SchemaRegistry()
    sent = [event("c", after={"id": n, "name": "@@"}).avro(registry) for n in range(3)]
    sent[1] = Message(sent[1].key, (sent[1].value or b"").replace(b"@@", b"\xff\xfe"))
    decoded = Decoder(DecodeOptions(), registry).decode(records(*sent))
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(1, "not UTF-8")]
    assert decoded.chunks[0].rows.column("id").to_pylist() == [0, 2]


def test_an_unusable_writer_schema_is_a_bad_record() -> None:
    registry = SchemaRegistry({1: json.dumps({"type": "record", "name": "R", "fields": "none"})})
    (bad,) = Decoder(DecodeOptions(), registry).decode(records(Message(None, b"\0\0\0\0\1x"))).bad
    assert bad.reason == "unusable schema"
    assert bad.detail.startswith("confluent schema id 1: The Avro schema of a record has a record without fields")


@pytest.mark.parametrize("of_row", [True, False], ids=["the row", "a struct in it"])
def test_a_record_without_fields_is_counted(*, of_row: bool) -> None:
    registry = SchemaRegistry()
    nothing: dict[str, Any] = {"type": "record", "name": "Nothing", "fields": []}
    schema = nothing if of_row else {"type": "record", "name": "Row", "fields": [{"name": "n", "type": nothing}]}
    sent = [Message(b'{"id":1}', registry.encode(schema, {} if of_row else {"n": {}})) for _ in range(3)]

    decoded = Decoder(DecodeOptions(envelope=EnvelopeForm.FLATTENED), registry).decode(records(*sent))

    landed = [int(offset) for chunk in decoded.chunks for offset in chunk.offsets]
    assert sorted(landed + [bad.offset for bad in decoded.bad]) == [0, 1, 2]
    assert "unforeseen" not in {bad.reason for bad in decoded.bad}


def test_a_primitive_writer_schema_is_no_change_event() -> None:
    registry = SchemaRegistry({1: '"string"'})
    (bad,) = Decoder(DecodeOptions(), registry).decode(records(Message(None, b"\0\0\0\0\1\2x"))).bad
    assert bad.reason == "not a change event"


def test_an_unknown_schema_is_asked_for_once_a_batch_and_again_in_the_next() -> None:
    other = SchemaRegistry()
    message = event("c", after={"id": 1, "name": "a"}, key=None).avro(other)
    registry = SchemaRegistry()
    decoder = Decoder(DecodeOptions(), registry)
    assert [bad.reason for bad in decoder.decode(records(message, message)).bad] == ["unknown schema id"] * 2
    assert len(registry.asked) == 1
    registry.texts.update(other.texts)
    assert len(only(decoder.decode(records(message, message)))) == 2
    only(decoder.decode(records(message)))
    assert len(registry.asked) == 2


def test_null_op_and_null_source_have_their_reasons() -> None:
    registry = SchemaRegistry()
    schema = envelope("string")
    schema["fields"][3]["type"] = ["null", "string"]
    schema["fields"][2]["type"] = ["null", schema["fields"][2]["type"]]
    nameless = SOURCE | {"table": None}
    sent = [
        value(1, "a"),
        value(2, "a") | {"op": None},
        value(3, "a") | {"source": None},
        value(4, "a") | {"source": nameless},
    ]
    decoded = Decoder(DecodeOptions(), registry).decode(
        records(*(Message(None, registry.encode(schema, one)) for one in sent))
    )
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [
        (1, "missing op"),
        (2, "missing source"),
        (3, "missing source"),
    ]
    assert [chunk.rows.column("id").to_pylist() for chunk in decoded.chunks] == [[1]]


def test_mongodb_documents_travel_in_avro_too() -> None:
    registry = SchemaRegistry()
    source = {
        "type": "record",
        "name": "Source",
        "fields": [{"name": name, "type": ["null", "string"]} for name in ("connector", "db", "collection")]
        + [{"name": "ts_ms", "type": "long"}, {"name": "ord", "type": "int"}],
    }
    schema = {
        "type": "record",
        "name": "Envelope",
        "fields": [
            {"name": "before", "type": ["null", "string"]},
            {"name": "after", "type": ["null", "string"]},
            {"name": "source", "type": source},
            {"name": "op", "type": "string"},
        ],
    }
    block = {"connector": "mongodb", "db": "shop", "collection": "orders", "ts_ms": 5000, "ord": 2}
    key = registry.encode({"type": "record", "name": "Key", "fields": [{"name": "id", "type": "string"}]}, {"id": "7"})
    sent = [
        {"op": "c", "before": None, "after": '{"_id": 7}', "source": block},
        {"op": "d", "before": None, "after": None, "source": block},
    ]
    chunk = only(
        Decoder(DecodeOptions(), registry).decode(
            records(*(Message(key, registry.encode(schema, one)) for one in sent))
        )
    )
    assert chunk.schema.key == ("_id",)
    assert chunk.rows.to_pydict() == {"_id": ["7", "7"], "document": ['{"_id": 7}', None]}


def test_unsupported_connectors_say_why() -> None:
    registry = SchemaRegistry()
    one = value(1, "a") | {"source": SOURCE | {"connector": "cassandra"}}
    (bad,) = (
        Decoder(DecodeOptions(), registry).decode(records(Message(None, registry.encode(envelope("string"), one)))).bad
    )
    assert bad.reason == "unsupported connector"
    assert "Cassandra's events hold single cells" in bad.detail


def test_messages_and_unknown_operations_are_told_apart() -> None:
    registry = SchemaRegistry()
    sent = [value(1, "a", op) for op in ("m", "i", "u")]
    decoded = Decoder(DecodeOptions(), registry).decode(
        records(*(Message(None, registry.encode(envelope("string"), one)) for one in sent))
    )
    assert decoded.skipped == Counter({SkipReason.MESSAGE: 1})
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(1, "unknown op")]
    assert [chunk.offsets.tolist() for chunk in decoded.chunks] == [[2]]


def test_a_decimal_without_a_scale_is_an_unusable_schema() -> None:
    registry = SchemaRegistry()
    column = {"type": "bytes", "connect.name": semantics.DECIMAL, "connect.parameters": {"scale": "two"}}
    sent = Message(None, registry.encode(envelope(column), value(1, b"\1")))
    (bad,) = Decoder(DecodeOptions(), registry).decode(records(sent)).bad
    assert bad.reason == "unusable schema"


def test_a_delete_whose_key_has_another_type_than_the_row_is_cast_or_bad() -> None:
    registry = SchemaRegistry()

    def delete(kind: str, content: Any) -> Message:
        key = registry.encode(
            {"type": "record", "name": f"K{kind}", "fields": [{"name": "id", "type": kind}]}, {"id": content}
        )
        gone = {"op": "d", "before": None, "after": None, "source": SOURCE}
        return Message(key, registry.encode(envelope("string"), gone))

    decoded = Decoder(DecodeOptions(), registry).decode(records(delete("long", 5), delete("string", "x")))
    assert [chunk.rows.column("id").to_pylist() for chunk in decoded.chunks] == [[5]]
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(1, "type mismatch")]
    assert decoded.bad[0].detail.startswith("key column id is not of the row's type")
