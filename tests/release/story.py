"""A small shop's events in chapters, and what its tables contain after each: the story of an upgrade.

The first chapters are told to an earlier release, the last one to this one. Five tables in three encodings, so that the
ledger in between holds everything that a release can leave: files of several versions, a table that is parked, one
that people have paused, one whose key has changed, a dead letter, and files that are committed but not yet renamed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from streaming.demo.encoding import Encoding, Register
from streaming.demo.workload import Record
from tests.support.records import Table, declared_columns

PREFIX = "shop.public"
ORDERS, CUSTOMERS, ITEMS, CARTS, INVOICES = "orders", "customers", "items", "carts", "invoices"
PARTITIONS = {ORDERS: 2, CUSTOMERS: 1, ITEMS: 1, CARTS: 1, INVOICES: 1}
ENCODINGS = {CUSTOMERS: Encoding.AVRO, ITEMS: Encoding.JSON}
PARKED, PAUSED = f"public.{CARTS}", f"public.{INVOICES}"
DEAD_LETTERS = "shop-dead-letters"
SETTINGS: dict[str, Any] = {
    "kafka__topics": None,
    "kafka__pattern": r"shop\.public\..*",
    "dead_letters__topic": DEAD_LETTERS,
    "tables__overrides": [{"match": f"public.{ITEMS}", "declared": declared_columns()}],
    "trigger": {"max_offsets": 6},
    "publish": {"threads": 1},
}
"""Of the bridge; registry, broker and folders are each run's own."""

_NOT_SENT = "__debezium_unavailable_value"

Rows = dict[int, dict[str, Any]]


@dataclass
class Story:
    """The shop's database and what Debezium sends of it.

    Attributes:
        truth: the rows of each table by key, as a mirror must have them when all records so far have landed.
        records: what was sent and nobody has taken yet.
        lsn: the log position of the last event.
    """

    register: Register
    truth: dict[str, Rows] = field(default_factory=lambda: {name: {} for name in PARTITIONS})
    records: list[Record] = field(default_factory=list)
    lsn: int = 0

    def take(self) -> list[Record]:
        """The records since the last call."""
        taken, self.records = self.records, []
        return taken

    def load(self) -> None:
        """First chapter: the initial snapshot."""
        for name in PARTITIONS:
            for key in range(1, 5):
                row = {"id": key, "name": f"{name} {key}"}
                self.truth[name][key] = row
                self._send(self._at(name, key).read(row, self._next()))

    def change(self) -> None:
        """Second chapter: changes, one of a key, a record that nobody can read, an event that parks the carts."""
        for name in (ORDERS, CUSTOMERS, ITEMS, INVOICES):
            self.insert(name, 5)
            self.update(name, 1, "changed")
            self.delete(name, 2)
        self.rekey(CUSTOMERS, 3, 30)
        self._send(Record(f"{PREFIX}.{ORDERS}", 1, None, b"{nonsense", ()))
        self.insert(CARTS, 5)
        self.truth[CARTS][1] = {"id": 1, "name": None}
        self._send(self._at(CARTS, 1).update({"id": 1, "name": _NOT_SENT}, self._next()))
        self.insert(CARTS, 6)

    def pass_by(self) -> None:
        """Third chapter: more changes of all tables, while the carts are parked and the invoices paused."""
        for name in PARTITIONS:
            self.insert(name, 7)
            self.update(name, 4, "changed while some stood still")

    def go_on(self, key: int) -> None:
        """A last chapter: an insert, an update, a delete of each table, and a change of key."""
        for name in PARTITIONS:
            self.insert(name, key)
            self.update(name, 7, f"changed with {key}")
        self.delete(ORDERS, 1)
        self.rekey(ORDERS, 5, key + 1)
        self.rekey(CUSTOMERS, 5, key + 1)

    def insert(self, name: str, key: int) -> None:
        row = {"id": key, "name": f"{name} {key}"}
        self.truth[name][key] = row
        self._send(self._at(name, key).create(row, self._next()))

    def update(self, name: str, key: int, text: str) -> None:
        row = {"id": key, "name": text}
        self.truth[name][key] = row
        self._send(self._at(name, key).update(row, self._next()))

    def delete(self, name: str, key: int) -> None:
        row = self.truth[name].pop(key)
        self._send(self._at(name, key).delete(row, self._next()), self._at(name, key).tombstone(row))

    def rekey(self, name: str, key: int, new: int) -> None:
        """A row gets another key; its partition stays the one of the old key, as a test's table has few of them."""
        old = self.truth[name].pop(key)
        row = old | {"id": new}
        self.truth[name][new] = row
        table = self._at(name, key)
        lsn = self._next()
        self._send(
            table.delete(old, lsn, moved_to=row),
            table.tombstone(old),
            table.at(new % PARTITIONS[name]).create(row, lsn, moved_from=old),
        )

    def to_json(self) -> str:
        """Truth and log position, for :meth:`continued`."""
        return json.dumps({"lsn": self.lsn, "truth": self.truth}, indent=1)

    @staticmethod
    def continued(text: str, register: Register) -> Story:
        """The story where another process has left off."""
        told = json.loads(text)
        truth = {name: {int(key): row for key, row in rows.items()} for name, rows in told["truth"].items()}
        return Story(register, truth, lsn=told["lsn"])

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The truth of a table in the order of its key."""
        return [row for _, row in sorted(self.truth[name].items())]

    def _at(self, name: str, key: int) -> Table:
        encoding = ENCODINGS.get(name, Encoding.JSON_WITH_SCHEMA)
        table = Table(f"{PREFIX}.{name}", name, encoding=encoding, register=self.register)
        return table.at(key % PARTITIONS[name])

    def _next(self) -> int:
        self.lsn += 10
        return self.lsn

    def _send(self, *records: Record) -> None:
        self.records += records


CHAPTERS: tuple[Callable[[Story], None], ...] = (Story.load, Story.change, Story.pass_by)
