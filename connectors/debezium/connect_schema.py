"""Schemas that JsonConverter embeds in every record (``schemas.enable=true``).

``{"type": "struct", "fields": [{"field": "id", "type": "int32", "optional": false}, ...], "name": "..."}``; arrays
have ``items``, maps ``keys`` and ``values`` (Kafka Connect, ``JsonConverter.asJsonSchema``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec

from connectors.debezium.errors import SchemaError
from connectors.debezium.record_schema import MAX_DEPTH, MAX_FIELDS, RecordSchema
from connectors.debezium.schema import ConnectType, Field
from connectors.json_errors import DECODE_ERRORS

_TYPES = {kind.value: kind for kind in ConnectType} | {"float": ConnectType.FLOAT32, "double": ConnectType.FLOAT64}


def row_schema_of(schema_json: bytes | str | Mapping[str, Any]) -> RecordSchema:
    """The tree of an embedded schema, of an envelope, a key or a flattened record.

    Args:
        schema_json: the value of the record's ``schema``, as JSON or decoded.

    Raises:
        SchemaError: not a Connect schema, or nested deeper than anything real.
    """
    if isinstance(schema_json, (bytes, str)):
        try:
            schema_json = msgspec.json.decode(schema_json)
        except DECODE_ERRORS as error:
            _refuse(f"is not JSON: {error}")
    return RecordSchema(_Reader().field(schema_json, "", ()))


class _Reader:
    """Reads one schema; counts its fields on the way."""

    def __init__(self) -> None:
        self._seen = 0

    def field(self, node: object, name: str, path: tuple[str, ...]) -> Field:
        if not isinstance(node, Mapping):
            _refuse("has something other than an object where a type belongs", path)
        if len(path) > MAX_DEPTH:
            _refuse(f"is nested deeper than {MAX_DEPTH} levels", path[:3])
        self._seen += 1
        if self._seen > MAX_FIELDS:
            _refuse(f"has more than {MAX_FIELDS} fields")
        kind_name = node.get("type")
        kind = _TYPES.get(kind_name) if isinstance(kind_name, str) else None
        if kind is None:
            _refuse(f"has a type that Kafka Connect does not know: {kind_name!r}", path)
        semantic = node.get("name")
        return Field(
            name=name,
            type=kind,
            optional=bool(node.get("optional", False)),
            semantic=None if semantic is None else str(semantic),
            parameters=_parameters(node.get("parameters"), path),
            children=self._children(kind, node, path),
        )

    def _children(self, kind: ConnectType, node: Mapping[str, Any], path: tuple[str, ...]) -> tuple[Field, ...]:
        if kind is ConnectType.ARRAY:
            return (self.field(node.get("items"), "items", (*path, "items")),)
        if kind is ConnectType.MAP:
            return tuple(self.field(node.get(part), part, (*path, part)) for part in ("keys", "values"))
        if kind is not ConnectType.STRUCT:
            return ()
        fields = node.get("fields")
        if not isinstance(fields, list):
            _refuse("has a struct without fields", path)
        children = []
        for index, child in enumerate(fields):
            name = child.get("field") if isinstance(child, Mapping) else None
            if not isinstance(name, str):
                _refuse(f"has a field without a name, number {index + 1}", path)
            children.append(self.field(child, name, (*path, name)))
        if len({child.name for child in children}) < len(children):
            _refuse("has two fields of one name", path)
        return tuple(children)


def _parameters(node: object, path: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    if node is None:
        return ()
    if not isinstance(node, Mapping):
        _refuse("has parameters that are not an object", path)
    return tuple(sorted((str(name), str(value)) for name, value in node.items()))


def _refuse(what: str, path: tuple[str, ...] = ()) -> NoReturn:
    raise SchemaError(
        f"The schema embedded in a JSON record {what}",
        remedy="look at the record with `cdc-bridge explain CONFIG --topic TOPIC --partition PARTITION --offset "
        "OFFSET`, and at the connector's converter settings",
        field=".".join(path) or None,
    )
