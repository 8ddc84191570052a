"""Avro writer schemas as Kafka Connect's converters register them.

They carry Connect's type system in properties (Confluent's ``AvroData``, which Apicurio's converter follows):
``connect.name`` the semantic name, ``connect.parameters`` its parameters, ``connect.type`` int8 or int16 of an int; an
optional field is a union with null; a map whose keys are not strings is an array of ``MapEntry`` records; Connect's own
logical types also have Avro's ``logicalType``. Schemas of other producers, with logical types only, are read alike.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from connectors.debezium import semantics
from connectors.debezium.avro_expanded import qualified
from connectors.debezium.errors import SchemaError
from connectors.debezium.record_schema import MAX_DEPTH, MAX_FIELDS, RecordSchema
from connectors.debezium.schema import ConnectType, Field

_PRIMITIVES = {
    "boolean": ConnectType.BOOLEAN,
    "int": ConnectType.INT32,
    "long": ConnectType.INT64,
    "float": ConnectType.FLOAT32,
    "double": ConnectType.FLOAT64,
    "string": ConnectType.STRING,
    "bytes": ConnectType.BYTES,
}
_NAMED = {"record", "error", "enum", "fixed"}
_SMALL_INTEGERS = {"int8": ConnectType.INT8, "int16": ConnectType.INT16}
_LOGICAL = {
    ("date", ConnectType.INT32): semantics.CONNECT_DATE,
    ("time-millis", ConnectType.INT32): semantics.CONNECT_TIME,
    ("time-micros", ConnectType.INT64): semantics.MICRO_TIME,
    ("timestamp-millis", ConnectType.INT64): semantics.CONNECT_TIMESTAMP,
    ("timestamp-micros", ConnectType.INT64): semantics.MICRO_TIMESTAMP,
    ("timestamp-nanos", ConnectType.INT64): semantics.NANO_TIMESTAMP,
    ("local-timestamp-millis", ConnectType.INT64): semantics.TIMESTAMP,
    ("local-timestamp-micros", ConnectType.INT64): semantics.MICRO_TIMESTAMP,
    ("local-timestamp-nanos", ConnectType.INT64): semantics.NANO_TIMESTAMP,
    ("uuid", ConnectType.STRING): semantics.UUID,
    ("decimal", ConnectType.BYTES): semantics.DECIMAL,
}
# What the converter writes when Connect's schema gives no precision (AvroData, CONNECT_AVRO_DECIMAL_PRECISION_DEFAULT).
_UNKNOWN_PRECISION = 64
# A datum gives a symbol in one byte or two, and a field's name in none: what is written out of an item of an array, of
# which a datum may hold one per byte, is bounded by these. No database has longer names, nor MySQL longer symbols.
_LONGEST_NAME_OF_ITEMS = 255
_LONGEST_SYMBOL = 1_024
# Each has to be looked at wherever its enum is used, by a reader of what is used there.
_MOST_SYMBOLS = 500_000
# The largest message that a Kafka record can hold has fewer bytes.
_LARGEST_FIXED = 2**31 - 1
GENERIC_UNION = "io.confluent.connect.avro.Union"
"""The semantic name of a struct that stands for a union of several types."""


def row_schema_of(schema_json: bytes | str | Mapping[str, Any]) -> RecordSchema:
    """The tree of a writer schema, of an envelope, a key or a flattened record.

    Equal to what :func:`connectors.debezium.connect_schema.row_schema_of` gives for the same Connect schema, apart from
    names that Avro cannot write.

    Args:
        schema_json: the schema, as JSON or decoded; references to other subjects must be resolved already.

    Raises:
        SchemaError: not an Avro schema, or one that contains itself, or nested deeper than anything real, or with texts
            that are not Unicode.
    """
    if isinstance(schema_json, (bytes, str)):
        try:
            schema_json = json.loads(schema_json)
        except (ValueError, RecursionError) as error:
            # A registry may hold a primitive schema as a bare word.
            text = schema_json.decode(errors="replace") if isinstance(schema_json, bytes) else schema_json
            if text not in _PRIMITIVES:
                _refuse(f"is not JSON: {error}")
            schema_json = {"type": text}
    if not _is_unicode(schema_json):
        _refuse("has a name or text with half a surrogate pair, which nothing can write down")
    return RecordSchema(_Reader().field(schema_json, "", (), ""))


def _is_unicode(schema: object) -> bool:
    """Whether all texts are: ``json`` takes halves of surrogate pairs, and neither Arrow nor a dead letter does."""
    try:
        json.dumps(schema, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    except RecursionError:
        _refuse(f"is nested deeper than {MAX_DEPTH} levels")
    return True


class _Reader:
    """Reads one schema: knows the named types so far, where it stands, and how many fields it has seen."""

    def __init__(self) -> None:
        self._named: dict[str, tuple[Mapping[str, Any], str]] = {}
        self._open: list[str] = []
        self._seen = 0
        self._wrapped = 0
        self._repeated = 0
        self._symbols = 0

    def field(self, node: object, name: str, path: tuple[str, ...], namespace: str) -> Field:
        if len(path) + self._wrapped > MAX_DEPTH:
            _refuse(f"is nested deeper than {MAX_DEPTH} levels", path[:3])
        self._seen += 1
        if self._seen > MAX_FIELDS:
            _refuse(f"has more than {MAX_FIELDS} fields")
        if isinstance(node, list):
            return self._union(node, name, path, namespace)
        if isinstance(node, str):
            return self._reference(node, name, path, namespace)
        if not isinstance(node, Mapping):
            _refuse("has something other than a type where a type belongs", path)
        kind = node.get("type")
        if isinstance(kind, (list, Mapping)):
            return self._unwrapped(kind, name, path, namespace)
        if kind in _NAMED:
            return self._named_type(node, name, path, namespace)
        if kind == "array":
            return self._array(node, name, path, namespace)
        if kind == "map":
            values = self._items(node.get("values"), "values", path, namespace)
            keys = Field("keys", ConnectType.STRING, optional=False)
            return _built(node, name, ConnectType.MAP, path, (keys, values))
        if kind in _PRIMITIVES:
            return _built(node, name, _PRIMITIVES[kind], path)
        return self._reference(kind, name, path, namespace)

    def _unwrapped(self, node: object, name: str, path: tuple[str, ...], namespace: str) -> Field:
        """A type inside another that adds no field; so deep a nest of them is none of a real schema either."""
        self._wrapped += 1
        built = self.field(node, name, path, namespace)
        self._wrapped -= 1
        return built

    def _union(self, branches: list[Any], name: str, path: tuple[str, ...], namespace: str) -> Field:
        present = [branch for branch in branches if branch not in ("null", {"type": "null"})]
        optional = len(present) < len(branches)
        if len(present) == 1:
            return _optional(self._unwrapped(present[0], name, path, namespace), optional)
        if not present:
            _refuse("has a field that can only be null", path)
        members = tuple(
            _optional(self.field(branch, f"member{index}", (*path, f"member{index}"), namespace), True)
            for index, branch in enumerate(present)
        )
        return Field(name, ConnectType.STRUCT, optional, GENERIC_UNION, children=members)

    def _reference(self, type_name: object, name: str, path: tuple[str, ...], namespace: str) -> Field:
        if type_name in _PRIMITIVES:
            return Field(name, _PRIMITIVES[type_name], optional=False)
        if not isinstance(type_name, str):
            _refuse(f"has a type that Avro does not know: {type_name!r}", path)
        for full_name in (qualified(type_name, namespace), type_name):
            if full_name in self._open:
                _refuse(f"has a type that contains itself: {full_name}", path)
            if full_name in self._named:
                node, home = self._named[full_name]
                return self._expand(node, full_name, name, path, home)
        return _refuse(f"has a type that it does not define: {type_name!r}", path)

    def _named_type(self, node: Mapping[str, Any], name: str, path: tuple[str, ...], namespace: str) -> Field:
        type_name = node.get("name")
        if not isinstance(type_name, str):
            _refuse("has a record, enum or fixed without a name", path)
        full_name = qualified(type_name, namespace if node.get("namespace") is None else node["namespace"])
        home = full_name.rpartition(".")[0]
        self._named[full_name] = (node, home)
        return self._expand(node, full_name, name, path, home)

    def _expand(
        self, node: Mapping[str, Any], full_name: str, name: str, path: tuple[str, ...], namespace: str
    ) -> Field:
        if node["type"] == "enum":
            symbols = node.get("symbols")
            if isinstance(symbols, list) and any(len(str(symbol)) > _LONGEST_SYMBOL for symbol in symbols):
                _refuse(f"has an enum with a symbol of more than {_LONGEST_SYMBOL} characters", path)
            self._symbols += len(symbols) if isinstance(symbols, list) else 0
            if self._symbols > _MOST_SYMBOLS:
                _refuse(f"has enums that have more than {_MOST_SYMBOLS:,} symbols, counted wherever one is used")
            return _built(node, name, ConnectType.STRING, path)
        if node["type"] == "fixed":
            size = node.get("size")
            if not isinstance(size, int) or not 0 < size <= _LARGEST_FIXED:
                _refuse(f"has a fixed type with 'size' {size!r}", path)
            return _built(node, name, ConnectType.BYTES, path)
        fields = node.get("fields")
        if not isinstance(fields, list):
            _refuse("has a record without fields", path)
        if self._repeated and not fields:
            # The count of such items may be all that a datum holds of them, and say 2**62.
            _refuse("has a record without fields in an array or a map", path)
        self._open.append(full_name)
        children = []
        for index, child in enumerate(fields):
            child_name = child.get("name") if isinstance(child, Mapping) else None
            if not isinstance(child_name, str):
                _refuse(f"has a field without a name, number {index + 1}", path)
            if self._repeated and len(child_name) > _LONGEST_NAME_OF_ITEMS:
                _refuse(f"has a name of more than {_LONGEST_NAME_OF_ITEMS} characters in an array or a map", path)
            children.append(self.field(child.get("type"), child_name, (*path, child_name), namespace))
        self._open.pop()
        if len({child.name for child in children}) < len(children):
            _refuse("has two fields of one name", path)
        built = _built(node, name, ConnectType.STRUCT, path, tuple(children))
        if built.semantic is None and full_name.startswith("io.debezium."):
            return Field(name, ConnectType.STRUCT, False, full_name, built.parameters, built.children)
        return built

    def _items(self, node: object, name: str, path: tuple[str, ...], namespace: str) -> Field:
        """What a datum has any number of: each of them takes a byte of it at least."""
        self._repeated += 1
        built = self.field(node, name, (*path, name), namespace)
        self._repeated -= 1
        return built

    def _array(self, node: Mapping[str, Any], name: str, path: tuple[str, ...], namespace: str) -> Field:
        items = self._items(node.get("items"), "items", path, namespace)
        if _is_map_entry(node.get("items"), items):
            key, value = items.children
            keys = Field("keys", key.type, key.optional, key.semantic, key.parameters, key.children)
            values = Field("values", value.type, value.optional, value.semantic, value.parameters, value.children)
            return _built(node, name, ConnectType.MAP, path, (keys, values))
        return _built(node, name, ConnectType.ARRAY, path, (items,))


def _built(
    node: Mapping[str, Any], name: str, kind: ConnectType, path: tuple[str, ...], children: tuple[Field, ...] = ()
) -> Field:
    """A required field of that type with the node's ``connect.*`` properties and logical type."""
    if kind is ConnectType.INT32:
        kind = _SMALL_INTEGERS.get(str(node.get("connect.type")), kind)
    semantic = node.get("connect.name") or _LOGICAL.get((str(node.get("logicalType")), kind))
    if semantic is not None and not isinstance(semantic, str):
        _refuse("has a connect.name that is not text", path)
    given = node.get("connect.parameters") or {}
    if not isinstance(given, Mapping):
        _refuse("has connect.parameters that are not an object", path)
    parameters = {str(parameter): str(value) for parameter, value in given.items()}
    if semantic == semantics.DECIMAL:
        parameters.setdefault("scale", str(node.get("scale", 0)))
        precision = node.get("precision", _UNKNOWN_PRECISION)
        if precision != _UNKNOWN_PRECISION:
            parameters.setdefault("connect.decimal.precision", str(precision))
    return Field(name, kind, False, semantic, tuple(sorted(parameters.items())), children)


def _optional(field: Field, optional: bool) -> Field:
    return Field(field.name, field.type, optional, field.semantic, field.parameters, field.children)


def _is_map_entry(node: object, items: Field) -> bool:
    if items.type is not ConnectType.STRUCT or [child.name for child in items.children] != ["key", "value"]:
        return False
    properties = node if isinstance(node, Mapping) else {}
    type_name = str(properties.get("name", node)).rpartition(".")[2]
    return type_name == "MapEntry" or properties.get("connect.internal.type") == "MapEntry"


def _refuse(what: str, path: tuple[str, ...] = ()) -> NoReturn:
    raise SchemaError(
        f"The Avro schema of a record {what}",
        remedy="look at the schema in the registry; it must be one that Kafka Connect's Avro converter has written",
        field=".".join(path) or None,
    )
