"""Debezium records for tests: the change events of small PostgreSQL tables, in the encodings of the demo."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from connectors.debezium.declared import parse_column
from connectors.debezium.options import TableDecoding
from connectors.kafka.headers import HEADERS_TYPE
from streaming.demo.columns import Column, Kind, declaration
from streaming.demo.encoding import Encoder, Encoding, Register
from streaming.demo.workload import Record

Row = Mapping[str, Any]

COLUMNS = (Column("id", Kind.INT64, optional=False), Column("name", Kind.TEXT))
RAW_SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("headers", HEADERS_TYPE),
    ]
)
"""Kafka's records in columns, of one partition or several."""
SENT_MS = 1_772_323_200_000
"""Kafka's timestamp of every record, milliseconds since 1970."""


def no_registry(subject: str, schema: dict[str, Any]) -> int:
    """Registers nothing: for tables that are not Avro."""
    raise AssertionError(f"{subject} needs a registry")


@dataclass(frozen=True)
class Position:
    """Where an event stands in the log: the end of the commit before its own, and its own place."""

    commit: int
    lsn: int


@dataclass(frozen=True)
class Table:
    """A source table whose events go to one topic.

    Attributes:
        run: the connector run that the events say they come from; None leaves the header out.
        connector: the logical name of the connector that they say they come from; None leaves the header out.
        base_ms: time at the source of the log position 0; each position is a millisecond.
    """

    topic: str
    name: str = "orders"
    columns: tuple[Column, ...] = COLUMNS
    key: tuple[str, ...] = ("id",)
    encoding: Encoding = Encoding.JSON_WITH_SCHEMA
    database: str = "shop"
    partition: int = 0
    run: str | None = "run-1"
    connector: str | None = None
    base_ms: int = 1_700_000_000_000
    register: Register = field(default=no_registry, compare=False)

    def at(self, partition: int) -> Table:
        return replace(self, partition=partition)

    def read(self, row: Row, lsn: int = 0) -> Record:
        """A row of the initial snapshot."""
        return self._record("r", None, row, lsn, snapshot="true")

    def reread(self, row: Row, lsn: int = 0) -> Record:
        """A row of an incremental snapshot."""
        return self._record("r", None, row, lsn, snapshot="incremental")

    def create(self, row: Row, lsn: int | Position = 0, *, moved_from: Row | None = None) -> Record:
        """An insert; ``moved_from`` holds the old key of a row whose key has changed."""
        headers = () if moved_from is None else (("__debezium.oldkey", self._key_text(moved_from)),)
        return self._record("c", None, row, lsn, headers=headers)

    def update(self, row: Row, lsn: int | Position = 0, *, before: Row | None = None) -> Record:
        return self._record("u", before, row, lsn)

    def delete(self, row: Row, lsn: int | Position = 0, *, moved_to: Row | None = None) -> Record:
        """A delete with the default replica identity; ``moved_to`` holds the new key of a row whose key changes."""
        headers = () if moved_to is None else (("__debezium.newkey", self._key_text(moved_to)),)
        return self._record("d", {name: row[name] for name in self.key}, None, lsn, headers=headers)

    def truncate(self, lsn: int | Position = 0) -> Record:
        value = json.loads(self._record("c", None, {"id": 0}, lsn).value or b"")
        payload = value.get("payload", value)
        payload |= {"op": "t", "after": None}
        return Record(self.topic, self.partition, None, json.dumps(value).encode(), self._run_header())

    def tombstone(self, row: Row) -> Record:
        return Record(self.topic, self.partition, self._encoder().key(row), None, self._run_header())

    def _record(
        self,
        op: str,
        before: Row | None,
        after: Row | None,
        lsn: int | Position,
        *,
        snapshot: str = "false",
        headers: tuple[tuple[str, bytes], ...] = (),
    ) -> Record:
        encoder = self._encoder()
        place = lsn if isinstance(lsn, Position) else Position(lsn, lsn)
        source = {
            "version": "3.6.1.Final",
            "connector": "postgresql",
            "name": "shop",
            "ts_ms": self.base_ms + place.lsn,
            "snapshot": snapshot,
            "db": self.database,
            "sequence": json.dumps([None if snapshot == "true" else str(place.commit), str(place.lsn)]),
            "schema": "public",
            "table": self.name,
            "txId": 1,
            "lsn": place.lsn,
        }
        keyed = after or before or {}
        value = encoder.value(op, self._full(before), self._full(after), source)
        key = encoder.key(keyed) if self.key else None
        return Record(self.topic, self.partition, key, value, (*self._run_header(), *headers))

    def _encoder(self) -> Encoder:
        return Encoder(f"shop.public.{self.name}", self.columns, self.key, self.encoding, self.register)

    def _run_header(self) -> tuple[tuple[str, bytes], ...]:
        said = {"connectorLogicalName": self.connector, "runId": self.run}
        return tuple((f"__debezium.context.{name}", value.encode()) for name, value in said.items() if value)

    def _full(self, row: Row | None) -> Row | None:
        return None if row is None else {column.name: row.get(column.name) for column in self.columns}

    def _key_text(self, row: Row) -> bytes:
        return json.dumps({name: row[name] for name in self.key}).encode()


def declared_columns(columns: Sequence[Column] = COLUMNS) -> dict[str, str]:
    """``declared`` in the settings: these columns' types, for JSON without a schema."""
    return {column.name: declaration(column) for column in columns}


def declared(columns: Sequence[Column] = COLUMNS) -> TableDecoding:
    """The same as the decoder takes it."""
    return TableDecoding(declared=tuple(parse_column(name, text) for name, text in declared_columns(columns).items()))


def raw_batch(records: Iterable[tuple[Record, int]]) -> pa.RecordBatch:
    """(record, offset) pairs in columns; Kafka got them all at :data:`SENT_MS`."""
    moment = datetime.fromtimestamp(SENT_MS / 1000, UTC)
    rows = [
        {
            "key": record.key,
            "value": record.value,
            "topic": record.topic,
            "partition": record.partition,
            "offset": offset,
            "timestamp": moment,
            "headers": [{"key": name, "value": value} for name, value in record.headers],
        }
        for record, offset in records
    ]
    return pa.RecordBatch.from_pylist(rows, schema=RAW_SCHEMA)
