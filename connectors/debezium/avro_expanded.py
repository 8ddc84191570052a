"""Avro schemas written out: every reference is replaced by what it refers to, and what does not concern the encoding
(logical types, defaults, Connect's properties) is dropped.

Every part of such a schema stands alone, so each can be given to a reader of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AvroType = Any
"""A type as JSON has it: a name, a list of a union's branches, or an object."""

_PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "string", "bytes"})


def expanded(schema: AvroType) -> AvroType:
    """The schema, decoded from JSON, written out; every named type has a new name wherever it stands.

    It has to be one that :func:`connectors.debezium.avro_schema.row_schema_of` has read: that refuses the ones which
    contain themselves, and bounds how much this makes of a small one.

    Raises:
        KeyError: something is missing that Avro asks for, such as the symbols of an enum.
    """
    return _Expansion().of(schema, "")


class _Expansion:
    """Remembers named types by full name, and counts new names."""

    def __init__(self) -> None:
        self._named: dict[str, tuple[Mapping[str, Any], str]] = {}
        self._count = 0

    def of(self, node: AvroType, namespace: str) -> AvroType:
        if isinstance(node, list):
            return [self.of(branch, namespace) for branch in node]
        if isinstance(node, str):
            return self._reference(node, namespace)
        if not isinstance(node, Mapping):
            raise KeyError(f"not a type: {node!r}")
        kind = node["type"]
        if isinstance(kind, (list, Mapping)):
            return self.of(kind, namespace)
        if kind == "array":
            return {"type": "array", "items": self.of(node["items"], namespace)}
        if kind == "map":
            return {"type": "map", "values": self.of(node["values"], namespace)}
        if kind in ("record", "error", "enum", "fixed"):
            full_name = qualified(node["name"], namespace if node.get("namespace") is None else node["namespace"])
            home = full_name.rpartition(".")[0]
            self._named[full_name] = (node, home)
            return self._named_type(node, home)
        return self._reference(kind, namespace)

    def _reference(self, name: str, namespace: str) -> AvroType:
        if name in _PRIMITIVES:
            return name
        full_name = qualified(name, namespace)
        node, home = self._named[full_name if full_name in self._named else name]
        return self._named_type(node, home)

    def _named_type(self, node: Mapping[str, Any], home: str) -> dict[str, Any]:
        self._count += 1
        name = f"T{self._count}"
        if node["type"] == "enum":
            return {"type": "enum", "name": name, "symbols": node["symbols"]}
        if node["type"] == "fixed":
            return {"type": "fixed", "name": name, "size": node["size"]}
        fields = [{"name": field["name"], "type": self.of(field["type"], home)} for field in node["fields"]]
        return {"type": "record", "name": name, "fields": fields}


def qualified(name: str, namespace: str) -> str:
    """A named type's full name."""
    return name if "." in name or not namespace else f"{namespace}.{name}"
