"""Change events as a test writes them down, encoded as Debezium's converters would.

``event("u", before={...}, after={...}, lsn=7)`` is one event; ``.json()``, ``.json_with_schema(columns)`` and
``.avro(registry, columns)`` give its key and value bytes, ``records(...)`` the batch that Kafka would hold.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa

from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.events import ChangeChunk, Decoded, RawRecords
from connectors.debezium.options import TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.wire import SchemaIdKind

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))

ID = Field("id", ConnectType.INT32, optional=False)
NAME = Field("name", ConnectType.STRING)
COLUMNS = (ID, NAME)
DECLARED = TableRules(tables=(("public.*", TableDecoding(declared=COLUMNS)),))
LEARNING = TableRules(tables=(("*", TableDecoding(learn=True)),))
PLACEHOLDER = "__debezium_unavailable_value"


@dataclass(frozen=True)
class Message:
    """A Kafka record's key, value and headers."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True)
class Event:
    """A change event before it is encoded."""

    op: str | None
    before: dict[str, Any] | str | None
    after: dict[str, Any] | str | None
    source: dict[str, Any] | None
    key: dict[str, Any] | None
    headers: tuple[tuple[str, bytes | None], ...] = ()

    @property
    def envelope(self) -> dict[str, Any]:
        body = {"before": self.before, "after": self.after, "source": self.source, "op": self.op, "ts_ms": 1}
        return {name: value for name, value in body.items() if name not in ("op", "source") or value is not None}

    def json(self) -> Message:
        """JSON without schema."""
        return Message(_json(self.key), _json(self.envelope), self.headers)

    def json_with_schema(
        self, columns: Sequence[Field] = COLUMNS, key_columns: Sequence[Field] | None = None
    ) -> Message:
        """JSON with the embedded schema of ``columns``; the key's are among them unless ``key_columns`` are given."""
        key = None
        if self.key is not None:
            found = key_columns or [column for column in columns if column.name in self.key]
            key = _json({"schema": struct_schema("Key", found), "payload": self.key})
        value = _json({"schema": envelope_schema(columns, self.source or {}), "payload": self.envelope})
        return Message(key, value, self.headers)

    def avro(
        self,
        registry: SchemaRegistry,
        columns: Sequence[Field] = COLUMNS,
        key_columns: Sequence[Field] | None = None,
    ) -> Message:
        """Avro in the Confluent framing, its schemas registered in ``registry``."""
        key = None
        if self.key is not None:
            found = key_columns or [column for column in columns if column.name in self.key]
            key = registry.encode(avro_row("Key", found), self.key)
        envelope = {"before": None, "after": None} | self.envelope
        return Message(key, registry.encode(avro_envelope(columns, self.source or {}), envelope), self.headers)


def event(
    op: str | None,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    lsn: int | None = 1,
    table: str = "orders",
    key: Mapping[str, Any] | Sequence[str] | None = ("id",),
    snapshot: str | None = "false",
    headers: tuple[tuple[str, bytes | None], ...] = (),
    **source: Any,
) -> Event:
    """An event of PostgreSQL's table ``shop.public.<table>``; ``source`` adds to its source block.

    ``key`` names the key's columns, taken from the row, or is the key itself.
    """
    block = {
        "version": "3.6.1.Final",
        "connector": "postgresql",
        "name": "demo",
        "ts_ms": 1_700_000_000_000,
        "snapshot": snapshot,
        "db": "shop",
        "sequence": json.dumps([None if lsn is None else "0", None if lsn is None else str(lsn)]),
        "schema": "public",
        "table": table,
        "txId": 1,
        "lsn": lsn,
    } | source
    row = after if after is not None else before
    found = key if isinstance(key, Mapping) else {name: (row or {}).get(name) for name in key or ()} or None
    if op == "t" and not isinstance(key, Mapping):
        found = None
    return Event(op, before, after, block, None if found is None else dict(found), headers)


def tombstone(key: Mapping[str, Any]) -> Message:
    """A record without a value."""
    return Message(_json(key), None)


def records(*messages: Message, topic: str = "demo.public.orders", partition: int = 0, start: int = 0) -> RawRecords:
    """The messages at consecutive offsets of one partition."""
    headers = None
    if any(message.headers for message in messages):
        entries = [[{"key": name, "value": value} for name, value in message.headers] for message in messages]
        headers = pa.array(entries, HEADERS)
    return RawRecords(
        topic=topic,
        partition=partition,
        keys=pa.array([message.key for message in messages], pa.binary()),
        values=pa.array([message.value for message in messages], pa.binary()),
        offsets=np.arange(start, start + len(messages), dtype=np.int64),
        timestamps=np.zeros(len(messages), dtype=np.int64),
        headers=headers,
    )


def only(decoded: Decoded) -> ChangeChunk:
    """The one chunk of records of which none is bad."""
    assert decoded.bad == []
    (chunk,) = decoded.chunks
    return chunk


def struct_schema(name: str, columns: Iterable[Field], field_name: str | None = None) -> dict[str, Any]:
    """What JsonConverter writes as the schema of a struct."""
    schema: dict[str, Any] = {
        "type": "struct",
        "fields": [connect_schema(column) for column in columns],
        "optional": field_name is not None,
        "name": name,
    }
    return schema if field_name is None else schema | {"field": field_name}


def connect_schema(column: Field) -> dict[str, Any]:
    """What JsonConverter writes as the schema of a field."""
    schema: dict[str, Any] = {"type": column.type.value, "optional": column.optional, "field": column.name}
    if column.semantic is not None:
        schema |= {"name": column.semantic, "version": 1}
    if column.parameters:
        schema["parameters"] = dict(column.parameters)
    if column.type is ConnectType.ARRAY:
        schema["items"] = connect_schema(column.children[0])
    if column.type is ConnectType.MAP:
        schema |= {"keys": connect_schema(column.children[0]), "values": connect_schema(column.children[1])}
    if column.type is ConnectType.STRUCT:
        schema["fields"] = [connect_schema(child) for child in column.children]
    return schema


def envelope_schema(columns: Sequence[Field], source: Mapping[str, Any]) -> dict[str, Any]:
    """What JsonConverter writes as the schema of an envelope."""
    types = {str: "string", int: "int64", bool: "boolean", type(None): "string"}
    members = [{"type": types[type(value)], "optional": True, "field": name} for name, value in source.items()]
    block = {"type": "struct", "fields": members, "optional": False, "name": "Source", "field": "source"}
    row = [struct_schema("demo.public.orders.Value", columns, image) for image in ("before", "after")]
    op = {"type": "string", "optional": False, "field": "op"}
    ts_ms = {"type": "int64", "optional": True, "field": "ts_ms"}
    return {"type": "struct", "fields": [*row, block, op, ts_ms], "optional": False, "name": "demo.Envelope"}


_AVRO = {
    ConnectType.BOOLEAN: "boolean",
    ConnectType.INT8: "int",
    ConnectType.INT16: "int",
    ConnectType.INT32: "int",
    ConnectType.INT64: "long",
    ConnectType.FLOAT32: "float",
    ConnectType.FLOAT64: "double",
    ConnectType.STRING: "string",
    ConnectType.BYTES: "bytes",
}


def avro_type(column: Field, name: str) -> Any:
    """The Avro type that Kafka Connect's converter registers for a field."""
    if column.type is ConnectType.ARRAY:
        base: Any = {"type": "array", "items": avro_type(column.children[0], f"{name}_items")}
    elif column.type is ConnectType.MAP:
        base = {"type": "map", "values": avro_type(column.children[1], f"{name}_values")}
    elif column.type is ConnectType.STRUCT:
        base = avro_row(f"{name}_struct", column.children)
    else:
        base = {"type": _AVRO[column.type]}
    if column.type in (ConnectType.INT8, ConnectType.INT16):
        base["connect.type"] = column.type.value
    if column.semantic is not None:
        base["connect.name"] = column.semantic
    if column.parameters:
        base["connect.parameters"] = dict(column.parameters)
    return ["null", base] if column.optional else base


def avro_row(name: str, columns: Iterable[Field]) -> dict[str, Any]:
    """An Avro record with the columns as fields."""
    fields = [{"name": column.name, "type": avro_type(column, f"{name}_{column.name}")} for column in columns]
    return {"type": "record", "name": name, "fields": fields}


def avro_envelope(columns: Sequence[Field], source: Mapping[str, Any]) -> dict[str, Any]:
    """An envelope's Avro schema; ``after`` refers to the ``Value`` that ``before`` defines."""
    types = {str: "string", int: "long", bool: "boolean", type(None): "string"}
    members = [{"name": name, "type": ["null", types[type(value)]]} for name, value in source.items()]
    return {
        "type": "record",
        "name": "Envelope",
        "namespace": "demo.public.orders",
        "fields": [
            {"name": "before", "type": ["null", avro_row("Value", columns)], "default": None},
            {"name": "after", "type": ["null", "Value"], "default": None},
            {"name": "source", "type": {"type": "record", "name": "Source", "fields": members}},
            {"name": "op", "type": "string"},
            {"name": "ts_ms", "type": ["null", "long"], "default": None},
        ],
    }


@dataclass
class SchemaRegistry:
    """Avro schemas by id, as a registry would answer; counts the questions."""

    texts: dict[int, str] = field(default_factory=dict)
    asked: list[tuple[int, SchemaIdKind]] = field(default_factory=list)

    def avro_schema(self, schema_id: int, kind: SchemaIdKind) -> str:
        self.asked.append((schema_id, kind))
        if schema_id not in self.texts:
            raise UnknownSchemaError("The registry has no such schema", remedy="register it", schema_id=schema_id)
        return self.texts[schema_id]

    def register(self, schema: Any) -> int:
        text = json.dumps(schema)
        for known, other in self.texts.items():
            if other == text:
                return known
        self.texts[len(self.texts) + 1] = text
        return len(self.texts)

    def encode(self, schema: Any, value: Any) -> bytes:
        """The value in the Confluent framing."""
        return b"\0" + self.register(schema).to_bytes(4, "big") + self.datum(schema, value)

    @staticmethod
    def datum(schema: Any, value: Any) -> bytes:
        """The bare encoded value."""
        stream = io.BytesIO()
        physical = json.loads(json.dumps(schema), object_hook=_without_logical_type)
        fastavro.schemaless_writer(stream, fastavro.parse_schema(physical), value)
        return stream.getvalue()


def base64_text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _without_logical_type(node: dict[str, Any]) -> dict[str, Any]:
    """Values are given as they are encoded: decimals as bytes, dates as numbers."""
    return {name: part for name, part in node.items() if name != "logicalType"}


def _json(value: Any) -> bytes | None:
    return None if value is None else json.dumps(value, separators=(",", ":")).encode()
