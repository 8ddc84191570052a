"""A small shop's database in motion: what Debezium would send of it, and what its tables contain in the end.

The same seed gives the same records. The database commits transactions of a few changes each; a log sequence number
grows with every change, and events carry the positions that the PostgreSQL connector would give them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from streaming.demo.columns import Column, Kind, Value
from streaming.demo.encoding import Encoder, Register
from streaming.demo.shop import PREFIX, START, TABLES, Row, TableSpec

CONNECTOR_RUN = "4f1d8d1e-demo-run"

Key = tuple[Value, ...]


@dataclass(frozen=True)
class Record:
    """One record for Kafka; ``partition`` follows from the key."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


@dataclass
class _Table:
    spec: TableSpec
    rows: dict[Key, Row] = field(default_factory=dict)
    appended: list[Row] = field(default_factory=list)
    numbers: int = 0
    widened: bool = False
    told: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        extra = (self.spec.added,) if self.widened and self.spec.added is not None else ()
        return (*self.spec.columns, *extra)

    def key_of(self, row: Mapping[str, Value]) -> Key:
        return tuple(row[name] for name in self.spec.key)


class Workload:
    """The records of one run, and afterwards the truth about every table.

    Args:
        register: registers an Avro schema and returns its id.
        rows: rows per table in the snapshot; ``changes``: changes after it, over all tables.
    """

    def __init__(self, register: Register, *, seed: int = 7, rows: int = 2_000, changes: int = 20_000) -> None:
        # The same shop each time; nothing secret is drawn.
        self._random = random.Random(seed)  # nosec B311
        self._register = register
        self._tables = {spec.name: _Table(spec) for spec in TABLES}
        self._rows = rows
        self._changes = changes
        self._lsn = 1_000_000
        self._last_commit: int | None = None
        self._transaction = 500
        self._clock = START

    def truth(self) -> dict[str, list[Row]]:
        """What each table contains now, by the landing zone's name of it; every row has all columns.

        A new column is one of them once an event has shown it: adding it sends nothing.
        """
        return {
            f"public.{name}": [
                {column.name: row.get(column.name) for column in (table.columns if table.told else table.spec.columns)}
                for row in (*table.rows.values(), *table.appended)
            ]
            for name, table in self._tables.items()
        }

    @property
    def total(self) -> int:
        """About how many records :meth:`records` yields, for a progress bar."""
        return self._rows * len(self._tables) + int(self._changes * 1.15)

    def records(self) -> Iterator[Record]:
        """The snapshot of all tables, then the stream of changes; half-way a table gets a new column."""
        for table in self._tables.values():
            yield from self._snapshot(table)
        done = 0
        while done < self._changes:
            if done >= self._changes // 2:
                for table in self._tables.values():
                    table.widened = table.spec.added is not None
            done += yield from self._transact()

    def _snapshot(self, table: _Table) -> Iterator[Record]:
        for index in range(self._rows):
            row = self._new_row(table)
            mark = "last" if index == self._rows - 1 else "true"
            yield self._record(table, "r", None, row, self._source(table, mark))

    def _transact(self) -> Generator[Record, None, int]:
        self._transaction += 1
        self._clock += timedelta(milliseconds=self._random.randint(1, 900))
        size = self._random.choice((1, 1, 1, 2, 3, 5, 8))
        for _ in range(size):
            table = self._random.choice(list(self._tables.values()))
            self._lsn += self._random.randint(40, 400)
            yield from self._change(table)
        self._lsn += 48
        self._last_commit = self._lsn
        return size

    def _change(self, table: _Table) -> Iterator[Record]:
        chance = self._random.random()
        if not table.rows or chance < 0.35:
            yield self._record(table, "c", None, self._new_row(table), self._source(table, "false"))
            return
        key = self._random.choice(tuple(table.rows))
        old = table.rows[key]
        if chance < 0.82:
            new = {**old, **table.spec.change(self._random, old)}
            if table.widened and table.spec.added is not None:
                new[table.spec.added.name] = self._added_value()
            table.rows[key] = new
            yield self._record(table, "u", None, new, self._source(table, "false"))
            return
        del table.rows[key]
        if chance < 0.92 or table.spec.move is None:
            yield from self._delete(table, old, None)
            return
        table.numbers += 1
        new = {**old, **table.spec.move(table.numbers)}
        table.rows[table.key_of(new)] = new
        yield from self._delete(table, old, new)
        headers = (("__debezium.oldkey", self._key_header(table, old)),)
        yield self._record(table, "c", None, new, self._source(table, "false"), headers)

    def _delete(self, table: _Table, old: Row, moved_to: Row | None) -> Iterator[Record]:
        """A delete and its tombstone; of a row that only changes its key, both say where it went."""
        headers = () if moved_to is None else (("__debezium.newkey", self._key_header(table, moved_to)),)
        record = self._record(table, "d", self._key_image(table, old), None, self._source(table, "false"), headers)
        yield record
        yield Record(record.topic, record.partition, record.key, None, record.headers)

    def _new_row(self, table: _Table) -> Row:
        table.numbers += 1
        row = table.spec.make(self._random, table.numbers)
        if table.widened and table.spec.added is not None:
            row[table.spec.added.name] = self._added_value()
        if table.spec.key:
            table.rows[table.key_of(row)] = row
        else:
            table.appended.append(row)
        return row

    def _record(
        self,
        table: _Table,
        op: str,
        before: Row | None,
        after: Row | None,
        source: Mapping[str, Any],
        headers: tuple[tuple[str, bytes], ...] = (),
    ) -> Record:
        spec = table.spec
        table.told = table.told or table.widened
        encoder = Encoder(spec.topic, table.columns, spec.key, spec.encoding, self._register)
        row = after if after is not None else before
        if row is None:
            raise ValueError("an event without a row image")
        full = {column.name: row.get(column.name) for column in table.columns}
        value = encoder.value(op, None if before is None else full, None if after is None else full, source)
        return Record(
            topic=spec.topic,
            partition=_partition(table.key_of(full), spec.partitions, table.numbers),
            key=encoder.key(full),
            value=value,
            headers=(("__debezium.context.runId", CONNECTOR_RUN.encode()), *headers),
        )

    def _source(self, table: _Table, snapshot: str) -> dict[str, Any]:
        commit = None if self._last_commit is None or snapshot != "false" else str(self._last_commit)
        return {
            "version": "3.6.1.Final",
            "connector": "postgresql",
            "name": PREFIX,
            "ts_ms": int(self._clock.timestamp() * 1000),
            "snapshot": snapshot,
            "db": PREFIX,
            "sequence": json.dumps([commit, str(self._lsn)], separators=(",", ":")),
            "schema": "public",
            "table": table.spec.name,
            "txId": self._transaction,
            "lsn": self._lsn,
        }

    def _key_image(self, table: _Table, row: Row) -> Row:
        """``before`` of a delete under the default replica identity: nothing but the key."""
        fallback = {column.name: _FALLBACK[column.kind] for column in table.columns if not column.optional}
        return {**dict.fromkeys(row), **fallback, **{name: row[name] for name in table.spec.key}}

    def _key_header(self, table: _Table, row: Row) -> bytes:
        return json.dumps({name: row[name] for name in table.spec.key}, separators=(",", ":")).encode()

    def _added_value(self) -> int:
        return self._random.randint(0, 5_000)


def _partition(key: Key, partitions: int, spread: int) -> int:
    """A stable choice; rows without key are spread."""
    if not key:
        return spread % partitions
    return sum(str(part).encode()[-1] * (index + 1) for index, part in enumerate(key)) % partitions


_FALLBACK: dict[Kind, Value] = {
    Kind.INT32: 0,
    Kind.INT64: 0,
    Kind.FLOAT64: 0.0,
    Kind.BOOLEAN: False,
    Kind.TEXT: "",
    Kind.NUMERIC: Decimal("0.00"),
    Kind.DATE: date(1970, 1, 1),
    Kind.TIMESTAMP: datetime(1970, 1, 1),
    Kind.TIMESTAMPTZ: datetime(1970, 1, 1, tzinfo=UTC),
    Kind.JSONB: "{}",
}
