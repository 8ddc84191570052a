"""What whole records come to, with the kernel and without: what no connector writes, and a schema allows."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.debezium import semantics
from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.debezium.kernels import Kernels
from connectors.debezium.options import DecodeOptions, EnvelopeForm
from tests.support.kernels import built
from tests.unit.debezium.builders import Message, SchemaRegistry, records

LETTERS = {"type": "enum", "name": "Letters", "symbols": ["r", "c", "u", "d"]}
SOURCE = {
    "type": "record",
    "name": "Source",
    "fields": [{"name": name, "type": ["null", "string"]} for name in ("connector", "db", "schema", "table")]
    + [{"name": "lsn", "type": "long"}],
}
BLOCK = {"connector": "postgresql", "db": "shop", "schema": "public", "table": "orders", "lsn": 4}
KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}

pytestmark = pytest.mark.parametrize("kernels", [built(), Kernels()], ids=["kernels", "without"])


def row(name: str, **columns: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": each, "type": kind} for each, kind in columns.items()]}


def envelope(before: Any, after: Any, *, source: Any = SOURCE, op: Any = "string") -> dict[str, Any]:
    kinds = {"before": before, "after": after, "source": source, "op": op}
    return row("Envelope", **kinds) | {"namespace": "shop"}


def decoded(
    kernels: Kernels, registry: SchemaRegistry, *sent: Message, form: EnvelopeForm = EnvelopeForm.AUTO
) -> tuple[list[Any], list[tuple[int, str]]]:
    """The rows with their operations, and the bad records."""
    found: Decoded = Decoder(DecodeOptions(envelope=form), registry, kernels).decode(records(*sent))
    rows = [
        (int(op), landed)
        for chunk in found.chunks
        for op, landed in zip(chunk.ops, chunk.rows.to_pylist(), strict=True)
    ]
    return rows, [(bad.offset, bad.reason) for bad in found.bad]


def message(registry: SchemaRegistry, schema: Any, value: Any, key: bytes | None = None) -> Message:
    return Message(key, registry.encode(schema, value))


def spoiled(whole: Message, start: int, byte: int) -> Message:
    value = whole.value or b""
    return Message(whole.key, value[:start] + bytes([byte]) + value[start + 1 :])


def test_a_symbol_of_a_negative_number_is_none_in_a_column_or_as_the_operation(kernels: Kernels) -> None:
    registry = SchemaRegistry()
    schema = envelope(["null", row("V", id="int", e=LETTERS)], ["null", "shop.V"], op={**LETTERS, "name": "Op"})
    good = message(registry, schema, {"before": None, "after": {"id": 1, "e": "u"}, "source": BLOCK, "op": "c"})
    value = good.value or b""
    column, op = 5 + 3, len(value) - 1
    assert (value[column], value[op]) == (4, 2)

    rows, bad = decoded(kernels, registry, good, spoiled(good, column, 1), spoiled(good, op, 1), good)

    assert [landed for _, landed in rows] == [{"id": 1, "e": "u"}] * 2
    assert bad == [(1, "corrupt Avro"), (2, "corrupt Avro")]


def test_a_symbol_of_a_negative_number_is_none_in_a_key(kernels: Kernels) -> None:
    registry = SchemaRegistry()
    schema = envelope(["null", row("V", e=LETTERS)], ["null", "shop.V"])
    key = registry.encode(row("Key", e=LETTERS), {"e": "d"})[:-1] + b"\x01"
    gone = message(registry, schema, {"before": None, "after": None, "source": BLOCK, "op": "d"}, key)
    rows, bad = decoded(kernels, registry, gone)
    assert rows == []
    assert len(bad) == 1


def test_a_type_without_a_namespace_is_another_one_than_that_of_its_name_in_one(kernels: Kernels) -> None:
    registry = SchemaRegistry()
    inner = {**row("X", v="string"), "namespace": ""}
    after = row("V", id="int", p=row("X", v="int"), q=inner, r="shop.X")
    schema = envelope(["null", after], ["null", "shop.V"])
    sent = {"id": 1, "p": {"v": 1}, "q": {"v": "x"}, "r": {"v": 5}}
    rows, bad = decoded(
        kernels, registry, message(registry, schema, {"before": None, "after": sent, "source": BLOCK, "op": "c"})
    )
    assert bad == []
    assert [landed for _, landed in rows] == [{"id": 1, "p": '{"v":1}', "q": '{"v":"x"}', "r": '{"v":5}'}]


@pytest.mark.parametrize(
    "schema", [["int", row("Row", id="int")], ["null", "int", row("Row", id="int")]], ids=["two", "three"]
)
def test_a_record_that_may_be_of_several_types_is_no_row(kernels: Kernels, schema: Any) -> None:
    registry = SchemaRegistry()
    sent = Message(None, registry.encode(schema, {"id": 1}))
    rows, bad = decoded(kernels, registry, sent, form=EnvelopeForm.FLATTENED)
    assert (rows, bad) == ([], [(0, "unusable schema")])


@pytest.mark.parametrize(
    ("after", "value"),
    [
        (["null", row("V", id="int"), "string"], {"id": 1}),
        ({"type": "map", "values": "int"}, {"id": 1}),
        ("string", "a"),
    ],
    ids=["union", "map", "text"],
)
def test_an_image_that_is_no_struct_is_missing(kernels: Kernels, after: Any, value: Any) -> None:
    registry = SchemaRegistry()
    schema = envelope(["null", row("Before", id="int")], after)
    key = registry.encode(KEY, {"id": 1})
    sent = message(registry, schema, {"before": None, "after": value, "source": BLOCK, "op": "c"}, key)
    rows, bad = decoded(kernels, registry, sent)
    assert rows == []
    assert bad == [(0, "missing after")]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ({"type": "map", "values": "string"}, {"connector": "postgresql", "table": "orders"}),
        ([SOURCE, "string"], BLOCK),
        ("string", "postgresql"),
    ],
    ids=["map", "union", "text"],
)
def test_a_source_block_that_is_no_struct_is_missing(kernels: Kernels, source: Any, value: Any) -> None:
    registry = SchemaRegistry()
    schema = envelope(["null", row("V", id="int")], ["null", "shop.V"], source=source)
    sent = message(registry, schema, {"before": None, "after": {"id": 1}, "source": value, "op": "c"})
    assert decoded(kernels, registry, sent) == ([], [(0, "missing source")])


@pytest.mark.parametrize(
    ("members", "value"),
    [
        ({"scale": {"type": "enum", "name": "S", "symbols": ["zero", "two"]}, "value": "bytes"}, ("two", b"\x31")),
        ({"scale": "string", "value": "bytes"}, ("2", b"\x31")),
        ({"scale": "boolean", "value": "bytes"}, (True, b"\x31")),
        ({"scale": "int", "value": {"type": "array", "items": "int"}}, (2, [1])),
    ],
    ids=["enum", "text", "boolean", "array"],
)
def test_a_decimal_s_struct_of_other_types_is_refused_whatever_stands_beside_it(
    kernels: Kernels, members: dict[str, Any], value: tuple[Any, Any]
) -> None:
    registry = SchemaRegistry()
    decimal = {**row("D", **members), "connect.name": semantics.VARIABLE_SCALE_DECIMAL}
    schema = envelope(["null", row("V", id="int", d=["null", decimal])], ["null", "shop.V"])
    sent = [
        message(
            registry,
            schema,
            {
                "before": None,
                "after": {"id": number, "d": dict(zip(members, value, strict=True)) if number else None},
                "source": BLOCK,
                "op": "c",
            },
        )
        for number in range(2)
    ]
    rows, bad = decoded(kernels, registry, *sent)
    assert [landed["id"] for _, landed in rows] == [0]
    assert bad == [(1, "type mismatch")]


@pytest.mark.parametrize("beside", ["1", "x"])
def test_a_key_of_before_that_is_of_another_type_is_refused_whatever_stands_beside_it(
    kernels: Kernels, beside: str
) -> None:
    registry = SchemaRegistry()
    schema = envelope(["null", row("Before", id="string")], ["null", row("V", id="int")])
    sent = [
        message(
            registry,
            schema,
            {"before": {"id": old}, "after": {"id": 1}, "source": BLOCK, "op": "u"},
            registry.encode(KEY, {"id": 1}),
        )
        for old in ("1", beside)
    ]
    rows, bad = decoded(kernels, registry, *sent)
    assert rows == []
    assert bad == [(0, "type mismatch"), (1, "type mismatch")]


def test_enums_that_are_used_very_often_are_refused_with_their_schema(kernels: Kernels) -> None:
    registry = SchemaRegistry()
    many = {"type": "enum", "name": "Many", "symbols": [f"s{number}" for number in range(5_000)]}
    kinds = {f"c{number}": many if number == 0 else "Many" for number in range(101)}
    sent = message(registry, row("Row", **kinds), dict.fromkeys(kinds, "s7"))
    assert decoded(kernels, registry, sent, form=EnvelopeForm.FLATTENED) == ([], [(0, "unusable schema")])
