"""Avro writer schemas as Kafka Connect's converters register them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connectors.debezium import avro_schema, connect_schema, semantics
from connectors.debezium.avro_schema import row_schema_of
from connectors.debezium.errors import SchemaError
from connectors.debezium.schema import ConnectType, Field

VALUE = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "small", "type": ["null", {"type": "int", "connect.type": "int16"}], "default": None},
        {
            "name": "amount",
            "type": [
                "null",
                {
                    "type": "bytes",
                    "scale": 2,
                    "precision": 10,
                    "connect.version": 1,
                    "connect.parameters": {"scale": "2", "connect.decimal.precision": "10"},
                    "connect.name": "org.apache.kafka.connect.data.Decimal",
                    "logicalType": "decimal",
                },
            ],
        },
        {
            "name": "updated",
            "type": {"type": "long", "connect.version": 1, "connect.name": "io.debezium.time.MicroTimestamp"},
        },
        {"name": "tags", "type": ["null", {"type": "array", "items": ["null", "string"]}]},
        {"name": "marks", "type": [{"type": "map", "values": "double"}, "null"]},
    ],
    "connect.name": "pg.public.orders.Value",
}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "namespace": "pg.public.orders",
    "fields": [
        {"name": "before", "type": ["null", VALUE], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "source", "type": {"type": "record", "name": "Source", "namespace": "io.debezium", "fields": []}},
        {"name": "op", "type": "string"},
    ],
    "connect.name": "pg.public.orders.Envelope",
}


def json_field(field: str, kind: str, optional: bool, **more: Any) -> dict[str, Any]:
    return {"type": kind, "optional": optional, "field": field, **more}


CONNECT_ROW = [
    json_field("id", "int32", False),
    json_field("small", "int16", True),
    json_field(
        "amount",
        "bytes",
        True,
        name="org.apache.kafka.connect.data.Decimal",
        parameters={"scale": "2", "connect.decimal.precision": "10"},
    ),
    json_field("updated", "int64", False, name="io.debezium.time.MicroTimestamp"),
    json_field("tags", "array", True, items={"type": "string", "optional": True}),
    json_field("marks", "map", True, keys={"type": "string"}, values={"type": "double"}),
]


def column(kind: object) -> Field:
    record = {"type": "record", "name": "Row", "fields": [{"name": "x", "type": kind}]}
    return row_schema_of(record).row_fields[0]


def refusal(schema: object) -> str:
    with pytest.raises(SchemaError) as caught:
        row_schema_of(json.dumps(schema))
    return str(caught.value).partition(". Remedy: ")[0]


def test_a_table_has_the_same_row_in_avro_and_in_json() -> None:
    value = {"type": "struct", "fields": CONNECT_ROW, "optional": True, "name": "pg.public.orders.Value"}
    from_json = connect_schema.row_schema_of(value)
    from_avro = avro_schema.row_schema_of(json.dumps(ENVELOPE))
    assert (from_avro.is_envelope, from_avro.row_fields) == (True, from_json.row_fields)


def test_the_value_that_before_defines_is_reused_in_after() -> None:
    schema = row_schema_of(ENVELOPE)
    before, after = schema.child("before"), schema.child("after")
    assert before is not None
    assert after == Field("after", before.type, True, before.semantic, before.parameters, before.children)


def test_null_may_stand_first_or_last_in_a_union() -> None:
    assert column(["null", "string"]) == column(["string", "null"]) == Field("x", ConnectType.STRING)
    assert column(["string"]) == column("string") == Field("x", ConnectType.STRING, optional=False)
    assert column([{"type": "null"}, "long"]) == Field("x", ConnectType.INT64)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("boolean", (ConnectType.BOOLEAN, None)),
        ("float", (ConnectType.FLOAT32, None)),
        ("double", (ConnectType.FLOAT64, None)),
        ("bytes", (ConnectType.BYTES, None)),
        ({"type": {"type": "string"}}, (ConnectType.STRING, None)),
        ({"type": "int", "connect.type": "int8"}, (ConnectType.INT8, None)),
        ({"type": "fixed", "name": "F", "size": 4}, (ConnectType.BYTES, None)),
        ({"type": "enum", "name": "E", "symbols": ["a"]}, (ConnectType.STRING, None)),
        ({"type": "int", "logicalType": "date"}, (ConnectType.INT32, semantics.CONNECT_DATE)),
        ({"type": "int", "logicalType": "time-millis"}, (ConnectType.INT32, semantics.CONNECT_TIME)),
        ({"type": "long", "logicalType": "time-micros"}, (ConnectType.INT64, semantics.MICRO_TIME)),
        ({"type": "long", "logicalType": "timestamp-millis"}, (ConnectType.INT64, semantics.CONNECT_TIMESTAMP)),
        ({"type": "long", "logicalType": "timestamp-micros"}, (ConnectType.INT64, semantics.MICRO_TIMESTAMP)),
        ({"type": "string", "logicalType": "uuid"}, (ConnectType.STRING, semantics.UUID)),
        ({"type": "string", "logicalType": "date"}, (ConnectType.STRING, None)),
        (
            {"type": "long", "logicalType": "timestamp-millis", "connect.name": "io.debezium.time.Timestamp"},
            (ConnectType.INT64, semantics.TIMESTAMP),
        ),
    ],
)
def test_types_and_logical_types_become_those_of_connect(
    kind: object, expected: tuple[ConnectType, str | None]
) -> None:
    assert column(kind) == Field("x", expected[0], False, expected[1])


@pytest.mark.parametrize(
    ("given", "parameters"),
    [
        ({"precision": 10, "scale": 2}, (("connect.decimal.precision", "10"), ("scale", "2"))),
        ({"precision": 10}, (("connect.decimal.precision", "10"), ("scale", "0"))),
        ({"precision": 64, "scale": 2}, (("scale", "2"),)),
        ({"precision": 64, "scale": 2, "connect.parameters": {"scale": "2"}}, (("scale", "2"),)),
    ],
)
def test_a_decimal_keeps_its_scale_and_the_precision_unless_that_is_made_up(
    given: dict[str, Any], parameters: tuple[tuple[str, str], ...]
) -> None:
    expected = Field("x", ConnectType.BYTES, False, semantics.DECIMAL, parameters)
    assert column({"type": "bytes", "logicalType": "decimal", **given}) == expected


def test_a_decimal_may_be_of_fixed_length() -> None:
    fixed = {"type": "fixed", "name": "D", "size": 8, "logicalType": "decimal", "precision": 18, "scale": 4}
    parameters = (("connect.decimal.precision", "18"), ("scale", "4"))
    assert column(fixed) == Field("x", ConnectType.BYTES, False, semantics.DECIMAL, parameters)


def test_entries_of_a_map_with_other_keys_are_a_map() -> None:
    entry = {
        "type": "record",
        "name": "MapEntry",
        "namespace": "io.confluent.connect.avro",
        "fields": [{"name": "key", "type": ["null", "int"]}, {"name": "value", "type": "double"}],
    }
    assert column({"type": "array", "items": entry}) == Field(
        "x",
        ConnectType.MAP,
        False,
        children=(Field("keys", ConnectType.INT32), Field("values", ConnectType.FLOAT64, False)),
    )
    marked = {**entry, "name": "Pair", "connect.internal.type": "MapEntry"}
    assert column({"type": "array", "items": marked}).type is ConnectType.MAP
    assert column({"type": "array", "items": {**entry, "name": "Pair"}}).type is ConnectType.ARRAY


def test_a_debezium_struct_is_known_by_its_full_name() -> None:
    fields = [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}]
    record = {"type": "record", "name": "VariableScaleDecimal", "namespace": "io.debezium.data", "fields": fields}
    assert column(record).semantic == semantics.VARIABLE_SCALE_DECIMAL


def test_a_union_of_several_types_is_a_struct_of_its_members() -> None:
    members = (Field("member0", ConnectType.INT32), Field("member1", ConnectType.STRING))
    assert column(["null", "int", "string"]) == Field(
        "x", ConnectType.STRUCT, True, "io.confluent.connect.avro.Union", children=members
    )


def test_named_types_are_found_in_their_namespace_or_by_full_name() -> None:
    colour = {"type": "enum", "name": "Colour", "namespace": "shop", "symbols": ["red"]}
    fields = [{"name": "a", "type": colour}, {"name": "b", "type": "shop.Colour"}, {"name": "c", "type": "Colour"}]
    row = row_schema_of({"type": "record", "name": "Row", "namespace": "shop", "fields": fields}).row_fields
    assert [field.type for field in row] == [ConnectType.STRING] * 3


def test_a_primitive_schema_may_be_a_bare_word() -> None:
    assert row_schema_of(b"long").root == row_schema_of('"long"').root == Field("", ConnectType.INT64, optional=False)


def test_a_type_that_contains_itself_is_refused() -> None:
    node = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}
    assert refusal(node) == "The Avro schema of a record has a type that contains itself: Node [field=next]"


def test_absurd_nesting_is_refused() -> None:
    schema: Any = "int"
    for _ in range(100):
        schema = {"type": "array", "items": schema}
    assert refusal(schema) == "The Avro schema of a record is nested deeper than 64 levels [field=items.items.items]"


def test_a_schema_that_grows_when_its_references_are_written_out_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(avro_schema, "MAX_FIELDS", 1000)
    fields: list[dict[str, Any]] = [{"name": "a0", "type": {"type": "record", "name": "R0", "fields": []}}]
    for level in range(1, 25):
        inner = [{"name": side, "type": f"R{level - 1}"} for side in ("left", "right")]
        fields.append({"name": f"a{level}", "type": {"type": "record", "name": f"R{level}", "fields": inner}})
    assert refusal({"type": "record", "name": "Bomb", "fields": fields}) == (
        "The Avro schema of a record has more than 1000 fields"
    )


def test_what_is_not_a_schema_is_refused_with_its_place() -> None:
    start = "The Avro schema of a record "

    def row(*fields: object) -> dict[str, Any]:
        return {"type": "record", "name": "Row", "fields": list(fields)}

    assert refusal(7) == start + "has something other than a type where a type belongs"
    assert refusal({"type": 7}) == start + "has a type that Avro does not know: 7"
    assert refusal("Unknown") == start + "has a type that it does not define: 'Unknown'"
    assert refusal({"type": "record", "fields": []}) == start + "has a record, enum or fixed without a name"
    assert refusal({"type": "record", "name": "R"}) == start + "has a record without fields"
    assert refusal(row({"type": "int"})) == start + "has a field without a name, number 1"
    assert refusal(row({"name": "a", "type": "int"}, {"name": "a", "type": "int"})) == (
        start + "has two fields of one name"
    )
    assert refusal(row({"name": "a", "type": ["null"]})) == start + "has a field that can only be null [field=a]"
    assert refusal(row({"name": "a", "type": {"type": "int", "connect.parameters": 1}})) == (
        start + "has connect.parameters that are not an object [field=a]"
    )


def test_text_that_is_not_json_is_refused_with_a_remedy() -> None:
    with pytest.raises(SchemaError, match="The Avro schema of a record is not JSON: ") as caught:
        row_schema_of("{")
    assert caught.value.remedy == (
        "look at the schema in the registry; it must be one that Kafka Connect's Avro converter has written"
    )
    with pytest.raises(SchemaError, match="is not JSON"):
        row_schema_of(b"\xff")
