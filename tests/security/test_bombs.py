"""Input that is small on the wire and large, deep or endless when it is read becomes a dead letter, and no more."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from connectors.debezium.bodies import Bodies
from connectors.debezium.isolated import MOST_SET_ASIDE
from connectors.debezium.key_members import ExactMembers
from connectors.debezium.schema import ConnectType, Field
from tests.security.bombs import DECIMAL, DEEP, EMPTY, GOOD, HALF, SOURCE, decoded, envelope_with, fates, naming
from tests.support.json_kernel import built
from tests.unit.debezium.builders import (
    COLUMNS,
    DECLARED,
    ID,
    LEARNING,
    Message,
    SchemaRegistry,
    avro_envelope,
    event,
)


@pytest.mark.parametrize(
    "value",
    [
        DEEP,
        b'{"a":' * 50_000,
        b'{"schema":' + DEEP + b',"payload":1}',
        b'{"schema":{"type":"struct","fields":' + DEEP + b'},"payload":{}}',
        b'{"op":"c","source":' + SOURCE + b',"after":{"id":1,"name":' + DEEP + b"}}",
        b'{"op":"c","source":' + SOURCE + b',"after":{"id":1,"other":' + DEEP + b"}}",
        b'{"op":"c","source":' + DEEP + b',"after":{"id":1}}',
        b'{"op":' + DEEP + b',"source":' + SOURCE + b"}",
        b'{"ddl":"x","databaseName":"d","tableChanges":' + DEEP + b"}",
    ],
    ids=range(9),
)
@pytest.mark.parametrize("rules", [DECLARED, LEARNING], ids=["declared", "learned"])
def test_a_value_nested_without_end_is_set_aside_alone(value: bytes, rules: Any) -> None:
    landed, bad = fates(decoded(GOOD.json(), Message(b'{"id":1}', value), GOOD.json(), rules=rules))
    assert landed == [0, 2]
    assert [offset for offset, _ in bad] == [1]
    assert "unforeseen" not in {reason for _, reason in bad}


def test_a_key_nested_without_end_is_set_aside_alone() -> None:
    keys = (DEEP, b'{"schema":' + DEEP + b',"payload":{}}', b'{"id":' + DEEP + b"}")
    found = decoded(*(Message(key, GOOD.json().value) for key in keys), GOOD.json())
    assert fates(found) == ([3], [(number, "unreadable key") for number in range(3)])


@pytest.mark.parametrize("members", [200, 2_000])
def test_keys_of_many_members_do_not_fill_the_memory(members: int) -> None:
    names = tuple(f"c{number}" for number in range(members))
    key = ("{" + ",".join(f'"{name}":0' for name in names) + "}").encode()
    keys = Bodies.of_texts([key] * (4_000_000 // members))
    # What is a Python object of each key is no matter here.
    keys.listed()
    check = ExactMembers(names, built())
    tracemalloc.start()
    try:
        assert check.have_all(keys)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 * 1024 * 1024


def test_a_schema_nested_deeper_than_any_real_one_is_set_aside() -> None:
    node: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        node = {"type": "array", "items": node}
    body = json.dumps({"schema": node, "payload": []}).encode()
    assert fates(decoded(Message(None, body)))[1] == [(0, "unusable schema")]


@pytest.mark.parametrize(
    "number", ["1e999999999", "-1e999999999", "1e-999999999", "9" * 200_000, "1e99999999999999999999"]
)
def test_a_decimal_without_measure_is_not_written_out(number: str) -> None:
    scale = (("connect.decimal.precision", "10"), ("scale", "2"))
    columns = (ID, Field("price", ConnectType.BYTES, semantic=DECIMAL, parameters=scale))
    whole = event("c", after={"id": 1, "price": "@"}).json_with_schema(columns)
    body = (whole.value or b"").replace(b'"@"', number.encode())
    landed, bad = fates(decoded(Message(whole.key, body)))
    assert (landed, [offset for offset, _ in bad]) == ([], [0])


def test_numbers_without_measure_in_a_nested_value_stay_as_they_are() -> None:
    columns = (ID, Field("tags", ConnectType.ARRAY, children=(Field("items", ConnectType.STRING),)))
    whole = event("c", after={"id": 1, "tags": "@"}).json_with_schema(columns)
    body = (whole.value or b"").replace(b'"@"', b"[1e999999999]")
    [chunk] = decoded(Message(whole.key, body)).chunks
    assert chunk.rows.to_pylist() == [{"id": 1, "tags": "[1e999999999]"}]


def nested(levels: int) -> Any:
    kind: Any = "int"
    for _ in range(levels):
        kind = {"type": kind}
    return kind


def doubled(levels: int) -> Any:
    """A record that holds two of the one below it: 2 to the power of its levels when it is written out."""
    kind: Any = {"type": "record", "name": "R0", "fields": [{"name": "x", "type": "int"}]}
    for level in range(1, levels):
        fields = [{"name": "a", "type": kind}, {"name": "b", "type": f"R{level - 1}"}]
        kind = {"type": "record", "name": f"R{level}", "fields": fields}
    return kind


@pytest.mark.parametrize(
    "kind",
    [
        {"type": "record", "name": "Self", "fields": [{"name": "again", "type": ["null", "Self"]}]},
        {"type": "array", "items": "null"},
        {"type": "array", "items": EMPTY},
        {"type": "array", "items": {"type": "record", "name": "Outer", "fields": [{"name": "inner", "type": EMPTY}]}},
        {"type": "array", "items": {"type": "fixed", "name": "Nothing", "size": 0}},
        {"type": "fixed", "name": "Huge", "size": 2**62},
        nested(300),
        nested(900),
        doubled(40),
        {"type": "string", "connect.name": ["not", "text"]},
    ],
    ids=range(10),
)
def test_an_avro_schema_that_explodes_spoils_only_its_own_records(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # The real limit takes a second to reach, and much longer where memory is counted.
    monkeypatch.setattr("connectors.debezium.avro_schema.MAX_FIELDS", 2_000)
    registry = SchemaRegistry()
    good = GOOD.avro(registry)
    number = registry.register(envelope_with(kind))
    # An array of 2**60 items that take no bytes.
    bomb = Message(b'{"id":1}', b"\0" + number.to_bytes(4) + b"\x02\x02\x02a" + b"\x80" * 8 + b"\x20\0" + b"\0" * 40)
    landed, bad = fates(decoded(bomb, good, registry=registry))
    assert landed == [1]
    assert bad == [(0, "unusable schema")]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda schema: schema["fields"].append({"name": HALF, "type": ["null", "string"]}),
        lambda schema: schema["fields"].append({"name": "e", "type": {"type": "enum", "name": "E", "symbols": [HALF]}}),
        lambda schema: schema["fields"].append({"name": "p", "type": {"type": "int", "connect.parameters": {HALF: 1}}}),
        lambda schema: schema["fields"].append(
            {"name": "q", "type": {"type": "int", "connect.parameters": {"a": HALF}}}
        ),
        lambda schema: schema["fields"].append({"name": "n", "type": {"type": "int", "connect.name": HALF}}),
        lambda schema: schema.update(name=HALF),
        lambda schema: schema.update(doc=HALF),
    ],
    ids=["field", "symbol", "parameter", "value", "semantic", "record", "doc"],
)
def test_a_schema_with_half_a_surrogate_pair_sets_aside_its_own_records(spoil: Any) -> None:
    registry = SchemaRegistry()
    good = GOOD.avro(registry)
    # The row's own columns, in the Value that before defines.
    schema = avro_envelope(COLUMNS, GOOD.source or {})
    value = schema["fields"][0]["type"][1]
    spoil(value)
    bombs = [naming(registry.register(schema | {"doc": number})) for number in range(MOST_SET_ASIDE + 1)]
    flat = [naming(registry.register(value | {"aliases": [str(number)]})) for number in range(MOST_SET_ASIDE + 1)]
    landed, bad = fates(decoded(*bombs, *flat, good, registry=registry))
    assert landed == [len(bombs) + len(flat)]
    assert {reason for _, reason in bad} == {"unusable schema"}


def test_rows_of_a_schema_with_half_a_surrogate_pair_are_set_aside_however_many_there_are() -> None:
    registry = SchemaRegistry()
    columns = (*COLUMNS, Field(HALF, ConnectType.STRING))
    whole = event("c", after={"id": 1, "name": "a", HALF: "b"})
    landed, bad = fates(
        decoded(*[whole.avro(registry, columns)] * (MOST_SET_ASIDE + 1), GOOD.avro(registry), registry=registry)
    )
    assert landed == [MOST_SET_ASIDE + 1]
    assert {reason for _, reason in bad} == {"unusable schema"}


def test_lengths_that_a_datum_does_not_have_are_corrupt() -> None:
    registry = SchemaRegistry()
    good = GOOD.avro(registry)
    for claimed in (b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x80" * 9 + b"\x01", b"\xff" * 30):
        whole = good.value or b""
        bomb = Message(good.key, whole[:9] + claimed + whole[10:])
        landed, bad = fates(decoded(bomb, good, registry=registry))
        assert landed == [1]
        assert [offset for offset, _ in bad] == [0]
