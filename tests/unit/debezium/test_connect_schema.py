"""Schemas embedded in JSON records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connectors.debezium import connect_schema
from connectors.debezium.connect_schema import row_schema_of
from connectors.debezium.errors import SchemaError
from connectors.debezium.schema import ConnectType, Field

ID = {"type": "int32", "optional": False, "field": "id", "default": 0}
AMOUNT = {
    "type": "bytes",
    "optional": True,
    "name": "org.apache.kafka.connect.data.Decimal",
    "version": 1,
    "parameters": {"scale": "2", "connect.decimal.precision": "10"},
    "field": "amount",
}
TAGS = {"type": "array", "items": {"type": "string", "optional": True}, "optional": True, "field": "tags"}
MARKS = {
    "type": "map",
    "keys": {"type": "string", "optional": False},
    "values": {"type": "double", "optional": True},
    "optional": True,
    "field": "marks",
}
ROW = (
    Field("id", ConnectType.INT32, optional=False),
    Field(
        "amount",
        ConnectType.BYTES,
        True,
        "org.apache.kafka.connect.data.Decimal",
        (("connect.decimal.precision", "10"), ("scale", "2")),
    ),
    Field("tags", ConnectType.ARRAY, children=(Field("items", ConnectType.STRING),)),
    Field(
        "marks",
        ConnectType.MAP,
        children=(Field("keys", ConnectType.STRING, optional=False), Field("values", ConnectType.FLOAT64)),
    ),
)


def struct(*fields: dict[str, Any], name: str = "pg.public.orders.Value", **more: object) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields), "optional": False, "name": name, **more}


def envelope(**images: dict[str, Any]) -> dict[str, Any]:
    fields = [{**image, "field": name} for name, image in images.items()]
    op = {"type": "string", "optional": False, "field": "op"}
    return struct(*fields, struct(field="source"), op, name="pg.public.orders.Envelope")


def refusal(schema: object) -> str:
    with pytest.raises(SchemaError) as caught:
        row_schema_of(json.dumps(schema).encode())
    return str(caught.value).partition(". Remedy: ")[0]


def test_an_envelope_gives_the_row_of_its_after_image() -> None:
    row = struct(ID, AMOUNT, TAGS, MARKS, optional=True)
    schema = row_schema_of(json.dumps(envelope(before=struct(ID), after=row)).encode())
    assert (schema.is_envelope, schema.row_fields) == (True, ROW)


def test_an_envelope_without_after_gives_the_row_of_its_before_image() -> None:
    assert row_schema_of(envelope(before=struct(ID))).row_fields == ROW[:1]


def test_a_document_in_an_envelope_has_no_row_fields() -> None:
    document = {"type": "string", "optional": True, "name": "io.debezium.data.Json"}
    schema = row_schema_of(envelope(before=document, after=document))
    assert (schema.is_envelope, schema.row_fields) == (True, ())


def test_a_key_gives_its_fields_in_key_order() -> None:
    b, a = {"type": "string", "optional": False, "field": "b"}, {"type": "int64", "optional": False, "field": "a"}
    schema = row_schema_of(struct(b, a, name="pg.public.orders.Key"))
    assert (schema.is_envelope, [field.name for field in schema.row_fields]) == (False, ["b", "a"])


def test_a_flattened_record_gives_all_its_fields() -> None:
    schema = row_schema_of(struct(ID, {"type": "string", "optional": True, "field": "__op"}))
    assert [field.name for field in schema.row_fields] == ["id", "__op"]


def test_a_key_that_is_no_struct_has_no_fields() -> None:
    assert row_schema_of({"type": "int64", "optional": False}).row_fields == ()


def test_children_are_found_by_name() -> None:
    schema = row_schema_of(struct(ID, TAGS))
    assert (schema.child("tags"), schema.child("none")) == (ROW[2], None)


@pytest.mark.parametrize(
    ("name", "kind"), [("float", ConnectType.FLOAT32), ("double", ConnectType.FLOAT64), ("int8", ConnectType.INT8)]
)
def test_the_converters_names_of_types_are_known(name: str, kind: ConnectType) -> None:
    assert row_schema_of({"type": name}).root == Field("", kind, optional=False)


def test_ten_thousand_columns_are_read() -> None:
    row = struct(*({"type": "int32", "optional": True, "field": f"c{index}"} for index in range(10_000)))
    assert len(row_schema_of(envelope(before=row, after=row)).row_fields) == 10_000


def test_what_is_not_a_schema_is_refused_with_its_place() -> None:
    start = "The schema embedded in a JSON record "
    assert refusal([1]) == start + "has something other than an object where a type belongs"
    assert refusal(struct({"type": "money", "field": "m"})) == (
        start + "has a type that Kafka Connect does not know: 'money' [field=m]"
    )
    assert refusal(struct({"type": ["int32"], "field": "m"})) == (
        start + "has a type that Kafka Connect does not know: ['int32'] [field=m]"
    )
    assert refusal({"type": "struct"}) == start + "has a struct without fields"
    assert refusal(struct({"type": "int32"})) == start + "has a field without a name, number 1"
    assert refusal(struct(ID, ID)) == start + "has two fields of one name"
    assert refusal(struct({**ID, "parameters": 1})) == start + "has parameters that are not an object [field=id]"
    assert refusal(struct({"type": "array", "field": "a"})) == (
        start + "has something other than an object where a type belongs [field=a.items]"
    )


def test_text_that_is_not_json_is_refused() -> None:
    with pytest.raises(SchemaError, match="The schema embedded in a JSON record is not JSON: "):
        row_schema_of(b"{")
    with pytest.raises(SchemaError, match="is not JSON"):
        row_schema_of(b"[" * 100_000)


def test_absurd_nesting_is_refused() -> None:
    schema: dict[str, Any] = {"type": "int32"}
    for _ in range(100):
        schema = {"type": "array", "items": schema}
    assert refusal(schema) == (
        "The schema embedded in a JSON record is nested deeper than 64 levels [field=items.items.items]"
    )


def test_absurd_numbers_of_fields_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect_schema, "MAX_FIELDS", 1000)
    fields = ({"type": "int32", "field": f"c{index}"} for index in range(1000))
    assert refusal(struct(*fields)) == "The schema embedded in a JSON record has more than 1000 fields"


def test_the_remedy_says_where_to_look() -> None:
    with pytest.raises(SchemaError) as caught:
        row_schema_of({"type": "money"})
    assert caught.value.remedy == (
        "look at the record with `cdc-bridge explain CONFIG --topic TOPIC --partition PARTITION --offset "
        "OFFSET`, and at the connector's "
        "converter settings"
    )
