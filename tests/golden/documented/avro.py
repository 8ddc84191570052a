"""From a Connect schema, in the form that JsonConverter embeds, to the Avro schema and the encoded value.

Follows Kafka Connect's Avro converters (``AvroData``): an optional field is a union with null, a struct a record under
its schema's name (signs that Avro forbids become ``_``, ``schema.name.adjustment.mode=avro``), and the schema's name
and parameters are kept in properties.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from typing import Any

import fastavro

from connectors.debezium import semantics
from tests.golden.documented.nodes import Node

_AVRO = {
    "boolean": "boolean",
    "int8": "int",
    "int16": "int",
    "int32": "int",
    "int64": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "bytes": "bytes",
}
_FORBIDDEN = re.compile(r"[^\w.]", re.ASCII)


def avro_schema(node: Node) -> Any:
    """The Avro schema of a Connect schema."""
    return _avro(node, set())


def avro_datum(schema: Any, payload: Mapping[str, Any]) -> bytes:
    """The value, encoded by itself; decimals are given as they are encoded, as bytes."""
    body = io.BytesIO()
    physical = json.loads(json.dumps(schema), object_hook=_without_logical_type)
    fastavro.schemaless_writer(body, fastavro.parse_schema(physical), dict(payload))
    return body.getvalue()


def _avro(node: Node, named: set[str]) -> Any:
    """The Avro schema of a Connect schema; a struct that has been written before is referred to by its name."""
    base = _avro_struct(node, named) if node["type"] == "struct" else _avro_plain(node, named)
    if not node.get("optional"):
        return base
    return [base, "null"] if "default" in node else ["null", base]


def _avro_plain(node: Node, named: set[str]) -> Any:
    if node["type"] == "array":
        return {"type": "array", "items": _avro(node["items"], named)}
    base: Node = {"type": _AVRO[node["type"]]}
    if node["type"] in ("int8", "int16"):
        base["connect.type"] = node["type"]
    if "name" in node:
        base |= {"connect.name": node["name"], "connect.version": node.get("version", 1)}
    if "parameters" in node:
        base["connect.parameters"] = node["parameters"]
    if node.get("name") == semantics.DECIMAL:
        scale = int(node["parameters"]["scale"])
        precision = int(node["parameters"].get("connect.decimal.precision", 64))
        base |= {"logicalType": "decimal", "scale": scale, "precision": precision}
    return base if len(base) > 1 else base["type"]


def _avro_struct(node: Node, named: set[str]) -> Any:
    full = _FORBIDDEN.sub("_", node["name"])
    if full in named:
        return full
    named.add(full)
    namespace, _, short = full.rpartition(".")
    fields = []
    for child in node["fields"]:
        field: Node = {"name": child["field"], "type": _avro(child, named)}
        if child.get("optional"):
            field["default"] = child.get("default")
        fields.append(field)
    return {"type": "record", "name": short, "namespace": namespace, "fields": fields, "connect.name": full}


def _without_logical_type(node: Node) -> Node:
    return {name: part for name, part in node.items() if name != "logicalType"}
