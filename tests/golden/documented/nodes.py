"""Parts of a Connect schema in the form that JsonConverter embeds in a record (``schemas.enable=true``)."""

from __future__ import annotations

from typing import Any

from connectors.debezium import semantics
from connectors.debezium.schema import ConnectType
from tests.golden.documented.stream import SourceField

Node = dict[str, Any]

_SNAPSHOT_KINDS = "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"
# JsonConverter's names of the floating types are not those of Connect's enum.
_JSON_NAMES = {"float32": "float", "float64": "double"}


def document(field: str) -> Node:
    return leaf(field, "string", optional=True) | {"name": semantics.JSON, "version": 1}


UPDATE_DESCRIPTION: Node = {
    "type": "struct",
    "fields": [
        {"type": "array", "items": {"type": "string", "optional": False}, "optional": True, "field": "removedFields"},
        {"type": "string", "optional": True, "name": semantics.JSON, "version": 1, "field": "updatedFields"},
        {
            "type": "array",
            "items": {
                "type": "struct",
                "fields": [
                    {"type": "string", "optional": False, "field": "field"},
                    {"type": "int32", "optional": False, "field": "size"},
                ],
                "optional": False,
                "name": "io.debezium.connector.mongodb.changestream.truncatedarray",
            },
            "optional": True,
            "field": "truncatedArrays",
        },
    ],
    "optional": True,
    "name": "io.debezium.connector.mongodb.changestream.updatedescription",
    "field": "updateDescription",
}


def leaf(field: str, kind: str, *, optional: bool = False) -> Node:
    return {"type": kind, "optional": optional, "field": field}


def struct(name: str, fields: list[Node], field: str | None = None) -> Node:
    schema: Node = {"type": "struct", "fields": fields, "optional": field is not None, "name": name}
    return schema if field is None else schema | {"field": field}


def source_node(each: SourceField) -> Node:
    node = leaf(each.name, each.type.value, optional=each.optional)
    if each.name == "snapshot" and each.type is ConnectType.STRING:
        node |= {"name": semantics.ENUM, "version": 1, "parameters": {"allowed": _SNAPSHOT_KINDS}, "default": "false"}
    return node


def json_names(node: Node) -> Node:
    return {
        name: _JSON_NAMES.get(part, part)
        if name == "type"
        else json_names(part)
        if isinstance(part, dict) and name in ("items", "keys", "values")
        else part
        for name, part in node.items()
    }
