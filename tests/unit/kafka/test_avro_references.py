"""A schema with references becomes one that stands alone and decodes the same datums."""

from __future__ import annotations

import io
import json

import fastavro

from connectors.kafka.avro_references import inline_references

COUNTRY = {"type": "enum", "name": "geo.Country", "symbols": ["DE", "FR"]}
ADDRESS = {
    "type": "record",
    "name": "Address",
    "namespace": "geo",
    "fields": [{"name": "country", "type": "Country"}, {"name": "near", "type": ["null", "Address"]}],
}
PLAIN = {"type": "fixed", "name": "Digest", "size": 2}


def record(name: str, *fields: object, **other: object) -> dict[str, object]:
    listed = [{"name": f"f{number}", "type": field} for number, field in enumerate(fields)]
    return {"type": "record", "name": name, "fields": listed, **other}


def inlined(schema: object, *referenced: object) -> object:
    return json.loads(inline_references(json.dumps(schema), [json.dumps(one) for one in referenced]))


def test_a_schema_without_references_is_left_as_it_is() -> None:
    text = '{ "type" : "record", "name":"A", "fields":[] }'

    assert inline_references(text, []) == text


def test_a_named_type_is_in_full_where_it_is_first_used_and_by_name_after_that() -> None:
    schema = record("shop.Order", "geo.Country", ["null", "geo.Country"], {"type": "array", "items": "geo.Country"})

    assert inlined(schema, COUNTRY) == record(
        "Order",
        {"type": "enum", "name": "Country", "namespace": "geo", "symbols": ["DE", "FR"]},
        ["null", "geo.Country"],
        {"type": "array", "items": "geo.Country"},
        namespace="shop",
    )


def test_references_of_references_and_recursion_decode_the_same_datums() -> None:
    schema = record("shop.Customer", {"type": "map", "values": "geo.Address"}, "geo.Address")
    alone = inlined(schema, ADDRESS, COUNTRY)
    named: dict[str, object] = {}
    for text in (COUNTRY, ADDRESS):
        fastavro.parse_schema(text, named_schemas=named)
    datum = {
        "f0": {"home": {"country": "DE", "near": None}},
        "f1": {"country": "FR", "near": {"country": "DE", "near": None}},
    }
    apart = io.BytesIO()
    fastavro.schemaless_writer(apart, fastavro.parse_schema(schema, named_schemas=named), datum)

    assert fastavro.schemaless_reader(io.BytesIO(apart.getvalue()), fastavro.parse_schema(alone)) == datum


def test_a_type_without_namespace_takes_the_one_where_it_is_first_put() -> None:
    elsewhere = record("other.Line", "Digest")
    alone = inlined(record("shop.Order", "Digest", elsewhere, "Digest"), PLAIN)

    assert alone == record(
        "Order",
        {"type": "fixed", "name": "Digest", "namespace": "shop", "size": 2},
        record("Line", "shop.Digest", namespace="other"),
        "shop.Digest",
        namespace="shop",
    )
    assert fastavro.schemaless_reader(io.BytesIO(b"abcdef"), fastavro.parse_schema(alone)) == {
        "f0": b"ab",
        "f1": {"f0": b"cd"},
        "f2": b"ef",
    }


def test_a_name_in_the_own_namespace_needs_no_prefix() -> None:
    schema = record("Person", "Country", "string", "Unknown", namespace="geo")

    assert inlined(schema, COUNTRY) == record(
        "Person",
        {"type": "enum", "name": "Country", "namespace": "geo", "symbols": ["DE", "FR"]},
        "string",
        "Unknown",
        namespace="geo",
    )


def test_a_union_of_definitions_can_be_referred_to() -> None:
    assert inlined(record("Order", "geo.Country"), [COUNTRY, PLAIN], 7) == record(
        "Order", {"type": "enum", "name": "Country", "namespace": "geo", "symbols": ["DE", "FR"]}, namespace=""
    )
