"""A table's history as its connector documents it, and what must be decoded from each event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from connectors.debezium import semantics
from connectors.debezium.declared import parse_column
from connectors.debezium.schema import ConnectType, Field

Row = Mapping[str, Any]

_VARIABLE_DECIMAL = (Field("scale", ConnectType.INT32, optional=False), Field("value", ConnectType.BYTES, False))


@dataclass(frozen=True)
class Column:
    """A column: its type in the source's words and its declaration in the bridge's settings."""

    name: str
    source_type: str
    declaration: str
    optional: bool = True

    @cached_property
    def field(self) -> Field:
        """The field of the event's schema."""
        parsed = parse_column(self.name, self.declaration)
        children = _VARIABLE_DECIMAL if parsed.semantic == semantics.VARIABLE_SCALE_DECIMAL else parsed.children
        return replace(parsed, optional=self.optional, children=children)


@dataclass(frozen=True)
class SourceField:
    """A field of the ``source`` block: Connect type and whether the schema makes it optional."""

    name: str
    type: ConnectType
    optional: bool = False


@dataclass(frozen=True)
class Sent:
    """One event and what it must be decoded to.

    Attributes:
        source: what differs from the table's ``source``.
        key: the Kafka key's fields; ``None`` for a null key.
        position: both words.
        decoded: the whole row as decoded; empty for a truncate.
        moved_from, moved_to: the other key of a row whose key changes, sent as a header.
        extra: further top-level fields of the envelope.
    """

    op: str
    before: Row | str | None
    after: Row | str | None
    source: Mapping[str, Any]
    key: Mapping[str, Any] | None
    position: tuple[int, int]
    decoded: Row
    unavailable: tuple[str, ...] = ()
    moved_from: Mapping[str, Any] | None = None
    moved_to: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Stream:
    """One table's events.

    Attributes:
        topic: the table's, such as ``server1.testDB.dbo.customers``; its schemas are named after it.
        database: as the ``source`` block names it.
        table: as the source names it; ``zone_table`` as the landing zone does, with the default naming.
        columns: empty where the row is a document.
        own_fields, own_source: what the connector adds to :data:`COMMON`, and its values in every event, but for what
            :attr:`Sent.source` changes.
        rows: what the mirrored table contains in the end.
        parked: the reason why the table must park in the end, if it must.
        tombstones: whether a ``d`` is followed by one, as by default.
        schema_changes: whether the connector writes a schema change topic.
        signals: whether the connector takes signals, and so has a signal table (or collection).
    """

    connector: str
    prefix: str
    database: str
    topic: str
    table: str
    zone_table: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    own_fields: tuple[SourceField, ...]
    own_source: Mapping[str, Any]
    events: Sequence[Sent]
    rows: Sequence[Row]
    parked: str | None = None
    tombstones: bool = True
    schema_changes: bool = True
    signals: bool = True
    transactions: bool = True
    heartbeats: bool = True

    @property
    def documents(self) -> bool:
        return not self.columns

    @property
    def source_fields(self) -> tuple[SourceField, ...]:
        """The fields of the ``source`` block."""
        return (*COMMON, *self.own_fields)

    @property
    def source(self) -> dict[str, Any]:
        """The ``source`` block of a streamed event, before :attr:`Sent.source`."""
        return {
            "version": "3.6.1.Final",
            "connector": self.connector,
            "name": self.prefix,
            "ts_ms": 1_559_729_995_937,
            "snapshot": "false",
            "db": self.database,
            "sequence": None,
            "ts_us": 1_559_729_995_937_000,
            "ts_ns": 1_559_729_995_937_000_000,
            **self.own_source,
        }

    def fields(self) -> tuple[Field, ...]:
        return tuple(column.field for column in self.columns)


COMMON = (
    SourceField("version", ConnectType.STRING),
    SourceField("connector", ConnectType.STRING),
    SourceField("name", ConnectType.STRING),
    SourceField("ts_ms", ConnectType.INT64),
    SourceField("snapshot", ConnectType.STRING, optional=True),
    SourceField("db", ConnectType.STRING),
    SourceField("sequence", ConnectType.STRING, optional=True),
    SourceField("ts_us", ConnectType.INT64, optional=True),
    SourceField("ts_ns", ConnectType.INT64, optional=True),
)
"""The fields that every connector's source block begins with (Debezium, ``SchemaFactory``)."""


def text(*names: str) -> tuple[SourceField, ...]:
    """Optional text fields."""
    return tuple(SourceField(name, ConnectType.STRING, optional=True) for name in names)


def int64(*names: str) -> tuple[SourceField, ...]:
    """Optional 64-bit fields."""
    return tuple(SourceField(name, ConnectType.INT64, optional=True) for name in names)


PLACEHOLDER = "__debezium_unavailable_value"


def unscaled(number: int) -> bytes:
    """A decimal's unscaled value as Connect writes it: big-endian two's complement."""
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


def key_only(columns: Sequence[Column], **key: Any) -> Row:
    """A delete's row: NULL but for its key; without a key, a truncate's."""
    return {column.name: key.get(column.name) for column in columns}
