"""Debezium records of the demo's tables in three encodings: JSON, JSON with schema, Avro with the Confluent prefix."""

from __future__ import annotations

import enum
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import fastavro
import msgspec

from streaming.demo.columns import Column, Value, avro_field, avro_value, connect_field, json_value

Row = Mapping[str, Value]
# Avro schema as a parsed document, registered under a subject -> its id in the registry.
Register = Callable[[str, dict[str, Any]], int]

SOURCE_FIELDS: Sequence[tuple[str, str, bool]] = (
    ("version", "string", False),
    ("connector", "string", False),
    ("name", "string", False),
    ("ts_ms", "int64", False),
    ("snapshot", "string", True),
    ("db", "string", False),
    ("sequence", "string", True),
    ("schema", "string", False),
    ("table", "string", False),
    ("txId", "int64", True),
    ("lsn", "int64", True),
)


class Encoding(enum.StrEnum):
    """How a table's topic is encoded."""

    JSON = "json"
    JSON_WITH_SCHEMA = "json with schema"
    AVRO = "avro"


@dataclass(frozen=True)
class Encoder:
    """Encodes the records of one table in one version of its schema.

    Attributes:
        name: ``<prefix>.<schema>.<table>``, which is also the topic's name.
    """

    name: str
    columns: tuple[Column, ...]
    key_columns: tuple[str, ...]
    encoding: Encoding
    register: Register

    def key(self, row: Row) -> bytes | None:
        """The record's key; None for a table without key."""
        if not self.key_columns:
            return None
        columns = self._keys()
        match self.encoding:
            case Encoding.AVRO:
                return self._avro("key", self._key_avro(), _avro_row(columns, row))
            case Encoding.JSON:
                return msgspec.json.encode(_json_row(columns, row))
            case Encoding.JSON_WITH_SCHEMA:
                return _with_schema(_struct(f"{self.name}.Key", columns, None), _json_row(columns, row))

    def value(self, op: str, before: Row | None, after: Row | None, source: Mapping[str, Any]) -> bytes:
        """The change event: ``before`` and ``after`` are row images, ``source`` the block of that name."""
        match self.encoding:
            case Encoding.AVRO:
                event = _event(op, self._image(before, _avro_row), self._image(after, _avro_row), source)
                return self._avro("value", self._envelope_avro(), event)
            case Encoding.JSON:
                return msgspec.json.encode(
                    _event(op, self._image(before, _json_row), self._image(after, _json_row), source)
                )
            case Encoding.JSON_WITH_SCHEMA:
                event = _event(op, self._image(before, _json_row), self._image(after, _json_row), source)
                return _with_schema(self._envelope_struct(), event)

    def _image(
        self, row: Row | None, encode: Callable[[Sequence[Column], Row], dict[str, Any]]
    ) -> dict[str, Any] | None:
        return None if row is None else encode(self.columns, row)

    def _keys(self) -> tuple[Column, ...]:
        by_name = {column.name: column for column in self.columns}
        return tuple(by_name[name] for name in self.key_columns)

    def _envelope_struct(self) -> dict[str, Any]:
        source = [{"type": kind, "optional": optional, "field": name} for name, kind, optional in SOURCE_FIELDS]
        return {
            "type": "struct",
            "fields": [
                _struct(f"{self.name}.Value", self.columns, "before"),
                _struct(f"{self.name}.Value", self.columns, "after"),
                {
                    "type": "struct",
                    "fields": source,
                    "optional": False,
                    "name": "io.debezium.connector.postgresql.Source",
                    "field": "source",
                },
                {"type": "string", "optional": False, "field": "op"},
                {"type": "int64", "optional": True, "field": "ts_ms"},
            ],
            "optional": False,
            "name": f"{self.name}.Envelope",
            "version": 2,
        }

    def _key_avro(self) -> dict[str, Any]:
        fields = [avro_field(column) for column in self._keys()]
        return {"type": "record", "name": "Key", "namespace": self.name, "fields": fields}

    def _envelope_avro(self) -> dict[str, Any]:
        kinds = {"string": "string", "int64": "long"}
        source = [
            {"name": name, "type": ["null", kinds[kind]], "default": None}
            if optional
            else {"name": name, "type": kinds[kind]}
            for name, kind, optional in SOURCE_FIELDS
        ]
        row = {"type": "record", "name": "Value", "fields": [avro_field(column) for column in self.columns]}
        return {
            "type": "record",
            "name": "Envelope",
            "namespace": self.name,
            "fields": [
                {"name": "before", "type": ["null", row], "default": None},
                {"name": "after", "type": ["null", "Value"], "default": None},
                {
                    "name": "source",
                    "type": {
                        "type": "record",
                        "name": "Source",
                        "namespace": "io.debezium.connector.postgresql",
                        "fields": source,
                    },
                },
                {"name": "op", "type": "string"},
                {"name": "ts_ms", "type": ["null", "long"], "default": None},
            ],
            "connect.name": f"{self.name}.Envelope",
        }

    def _avro(self, part: str, schema: dict[str, Any], record: dict[str, Any]) -> bytes:
        number = self.register(f"{self.name}-{part}", schema)
        body = io.BytesIO()
        fastavro.schemaless_writer(body, fastavro.parse_schema(schema), record)
        return b"\x00" + number.to_bytes(4, "big") + body.getvalue()


def _event(op: str, before: object, after: object, source: Mapping[str, Any]) -> dict[str, Any]:
    return {"before": before, "after": after, "source": dict(source), "op": op, "ts_ms": source["ts_ms"] + 40}


def _json_row(columns: Sequence[Column], row: Row) -> dict[str, Any]:
    return {column.name: json_value(column, row[column.name]) for column in columns}


def _avro_row(columns: Sequence[Column], row: Row) -> dict[str, Any]:
    return {column.name: avro_value(column, row[column.name]) for column in columns}


def _struct(name: str, columns: Sequence[Column], field: str | None) -> dict[str, Any]:
    struct: dict[str, Any] = {
        "type": "struct",
        "fields": [connect_field(column) for column in columns],
        "optional": field is not None,
        "name": name,
    }
    return struct if field is None else {**struct, "field": field}


def _with_schema(schema: dict[str, Any], payload: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"schema": schema, "payload": payload})
