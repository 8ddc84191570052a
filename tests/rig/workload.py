"""A seeded random workload on many tables at once: several open transactions whose statements interleave.

One thread drives several connections, so it must never wait for a row lock that it holds itself: a row that an open
transaction has touched is left alone by the others. What a transaction does to the set of existing keys is undone when
it rolls back. Values are not remembered: the judge reads them from the database.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.rig.database import Database
from tests.rig.tables import BULK, TABLES, TEXT, VARCHAR, Column, Dialect, Table

Key = tuple[Any, ...]

BULK_ROWS = 5_000
_OPEN = 4
_HOT = 3


@dataclass
class _Keys:
    """What the driver knows of a table: keys that exist (uncommitted ones too), once existed, and are locked."""

    live: list[Key] = field(default_factory=list)
    dead: list[Key] = field(default_factory=list)
    locked: set[Key] = field(default_factory=set)
    users: int = 0
    next: int = 1

    def hot(self) -> list[Key]:
        return self.live[:_HOT]


class _Transaction:
    """An open transaction on a connection of its own, which the next one takes over; ``number`` tells them apart."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.number = 0
        self.statements = 0
        self.undo: list[Callable[[], None]] = []
        self.locks: list[tuple[_Keys, Key]] = []
        self.used: list[_Keys] = []

    def execute(self, sql: str, arguments: Sequence[Any]) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, arguments)
        self.statements += 1

    def end(self, *, commit: bool) -> None:
        if commit:
            self.connection.commit()
        else:
            self.connection.rollback()
            for step in reversed(self.undo):
                step()
        for keys, key in self.locks:
            keys.locked.discard(key)
        for keys in self.used:
            keys.users -= 1
        self.undo, self.locks, self.used = [], [], []


class Workload:
    """The workload on one database.

    Args:
        dialect: of the database.
        seed: the same statements in the same order for the same seed.
        tables: those that it works on.

    Attributes:
        committed: statements of each transaction that was committed, by its number.
        changes: how often each kind of change was made so far, those that were rolled back again included.
    """

    def __init__(self, database: Database, dialect: Dialect, *, seed: int, tables: Sequence[Table] = TABLES) -> None:
        self.tables = tuple(tables)
        self._database = database
        self._dialect = dialect
        self._random = random.Random(seed)
        self._keys = {table.name: _Keys() for table in tables}
        self._free: list[_Transaction] = []
        self._open: list[_Transaction] = []
        self._runs = 0
        self._begun = 0
        self.committed: dict[int, int] = {}
        self.changes: Counter[str] = Counter()

    def missing(self) -> set[str]:
        """Kinds of changes that every workload has to make, and that no transaction has made so far."""
        kinds = {"insert", "update", "delete", "delete and insert", "changed key", "rollback"}
        if any(table.truncated for table in self.tables):
            kinds.add("truncate")
        if any(not table.key for table in self.tables):
            kinds.add("insert without key")
        return {kind for kind in kinds if not self.changes[kind]}

    @property
    def changing(self) -> dict[int, int]:
        """Statements so far of each open transaction that has run one, by its number."""
        return {each.number: each.statements for each in self._open if each.statements}

    def create(self) -> None:
        """Create the tables."""
        for table in self.tables:
            for statement in table.ddl(self._dialect):
                self._database.execute(statement)

    def load(self, rows: int) -> None:
        """Insert ``rows`` rows into each table but those that stay empty: what the first snapshot finds."""
        transaction = self._begin()
        for table in self.tables:
            for _ in range(0 if table.stays_empty else rows):
                self._insert(transaction, table)
        self._end(transaction, commit=True)

    def run(self, statements: int, *, bulk: int = 0, bulk_rows: int = BULK_ROWS) -> None:
        """Run about this many statements, and ``bulk`` transactions of ``bulk_rows`` rows among them; all are ended.

        No transaction is open before. Tables that are truncated now and then are so first.
        """
        for table in self.tables:
            if table.truncated:
                self._truncate(table)
        bulks = sorted(self._random.randrange(statements) for _ in range(bulk))
        for number in range(statements):
            while bulks and bulks[0] <= number:
                bulks.pop(0)
                self.bulk(bulk_rows)
            self.step()
        self.end()

    def step(self) -> None:
        """Begin, go on with or end a transaction: about one statement."""
        if (len(self._open) < _OPEN and self._random.random() < 0.2) or not self._open:
            self._begin()
        transaction = self._random.choice(self._open)
        if transaction.used and self._random.random() < 0.15:
            self._end(transaction, commit=self._random.random() < 0.85)
            return
        table = self._random.choices(self.tables, [table.weight for table in self.tables])[0]
        keys = self._keys[table.name]
        # Without a unique index a change waits for whatever else is open on the table.
        if table.key and not table.known_key and keys.users and keys not in transaction.used:
            return
        if not table.key:
            self._insert(transaction, table)
            return
        change = self._random.choices(
            (self._insert, self._update, self._delete, self._delete_and_insert, self._change_key),
            (30, 40, 10, 8, 8),
        )[0]
        change(transaction, table)

    def bulk(self, count: int = BULK_ROWS) -> None:
        """Run one transaction of ``count`` rows; the third of three is rolled back."""
        keys, name = self._keys[BULK.name], self._name(BULK)
        self._runs += 1
        self.changes["transaction of many rows"] += 1
        first, keys.next = keys.next, keys.next + count
        rows = [(first + number, self._runs, f"payload {number}") for number in range(count)]
        connection = self._database.connect(autocommit=False)
        with connection, connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {name} (id, run, payload) VALUES (%s, %s, %s)", rows)
            cursor.execute(f"UPDATE {name} SET payload = 'again' WHERE id >= %s AND id < %s", (first, first + 1_000))
            cursor.execute(f"DELETE FROM {name} WHERE run < %s", (self._runs - 1,))
            if self._runs % 3 == 0:
                connection.rollback()
            else:
                connection.commit()

    def end(self) -> None:
        """End the transactions that are open; most are committed."""
        while self._open:
            self._end(self._random.choice(self._open), commit=self._random.random() < 0.85)

    def close(self) -> None:
        """Close its connections."""
        for transaction in (*self._free, *self._open):
            transaction.connection.close()

    def _insert(self, transaction: _Transaction, table: Table) -> None:
        keys = self._keys[table.name]
        self._use(transaction, keys)
        if not table.key:
            self._insert_row(transaction, table, ())
            self.changes["insert without key"] += 1
            return
        dead = [key for key in keys.dead if key not in keys.locked]
        key = self._random.choice(dead) if dead and self._random.random() < 0.3 else self._new_key(table)
        self._lock(transaction, keys, key)
        self._insert_row(transaction, table, key)
        self._appear(transaction, keys, key)
        self.changes["insert"] += 1

    def _update(self, transaction: _Transaction, table: Table) -> None:
        keys = self._keys[table.name]
        key = self._pick(transaction, keys, hot=0.5)
        if key is None:
            self._insert(transaction, table)
            return
        # Wide values stay as they are, as a rule: those are the ones that the source does not send again.
        columns = [each for each in table.others if each.kind.mariadb != "mediumtext" or self._random.random() < 0.2]
        if not columns:
            return
        chosen = self._random.sample(columns, self._random.randint(1, len(columns)))
        assignments = ", ".join(f"{self._dialect.quoted(column.name)} = %s" for column in chosen)
        values = [self._value(column) for column in chosen]
        transaction.execute(f"UPDATE {self._name(table)} SET {assignments} WHERE {self._where(table)}", [*values, *key])
        self.changes["update"] += 1

    def _delete(self, transaction: _Transaction, table: Table) -> None:
        keys = self._keys[table.name]
        key = self._pick(transaction, keys, hot=0.0)
        if key is None:
            return
        self._delete_row(transaction, table, key)
        self._vanish(transaction, keys, key)
        self.changes["delete"] += 1

    def _delete_and_insert(self, transaction: _Transaction, table: Table) -> None:
        key = self._pick(transaction, self._keys[table.name], hot=0.3)
        if key is None:
            return
        self._delete_row(transaction, table, key)
        self._insert_row(transaction, table, key)
        self.changes["delete and insert"] += 1

    def _change_key(self, transaction: _Transaction, table: Table) -> None:
        keys = self._keys[table.name]
        key = self._pick(transaction, keys, hot=0.1)
        if key is None:
            return
        dead = [each for each in keys.dead if each not in keys.locked]
        new = self._random.choice(dead) if dead and self._random.random() < 0.3 else self._new_key(table)
        self._lock(transaction, keys, new)
        assignments = ", ".join(f"{self._dialect.quoted(name)} = %s" for name in table.key)
        transaction.execute(f"UPDATE {self._name(table)} SET {assignments} WHERE {self._where(table)}", [*new, *key])
        self._vanish(transaction, keys, key)
        self._appear(transaction, keys, new)
        self.changes["changed key"] += 1

    def _truncate(self, table: Table) -> None:
        """Empty the table, with which no transaction is busy: its rows are deleted, and it is truncated."""
        keys = self._keys[table.name]
        # MariaDB commits what is open before a TRUNCATE, so it gets a transaction of its own.
        name = self._name(table)
        self._database.transaction(f"DELETE FROM {name}", f"TRUNCATE TABLE {name}")
        keys.dead += keys.live
        keys.live.clear()
        self.changes["truncate"] += 1

    def _begin(self) -> _Transaction:
        transaction = self._free.pop() if self._free else _Transaction(self._connect())
        self._begun += 1
        transaction.number, transaction.statements = self._begun, 0
        self._open.append(transaction)
        return transaction

    def _connect(self) -> Any:
        connection = self._database.connect(autocommit=False)
        if self._dialect is Dialect.MARIADB:
            # Otherwise a deleted row that is inserted again locks the gap before it as well, until it is purged.
            with connection.cursor() as cursor:
                cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        return connection

    def _end(self, transaction: _Transaction, *, commit: bool) -> None:
        transaction.end(commit=commit)
        if commit:
            self.committed[transaction.number] = transaction.statements
        elif transaction.statements:
            self.changes["rollback"] += 1
        self._open.remove(transaction)
        self._free.append(transaction)

    def _use(self, transaction: _Transaction, keys: _Keys) -> None:
        if keys not in transaction.used:
            keys.users += 1
            transaction.used.append(keys)

    def _lock(self, transaction: _Transaction, keys: _Keys, key: Key) -> None:
        self._use(transaction, keys)
        if key not in keys.locked:
            keys.locked.add(key)
            transaction.locks.append((keys, key))

    def _pick(self, transaction: _Transaction, keys: _Keys, *, hot: float) -> Key | None:
        """An existing key that no other transaction has touched, now locked by this one."""
        own = {key for locked, key in transaction.locks if locked is keys}
        among = keys.hot() if self._random.random() < hot else keys.live
        free = [key for key in among if key not in keys.locked or key in own]
        if not free:
            return None
        key = self._random.choice(free)
        self._lock(transaction, keys, key)
        return key

    def _appear(self, transaction: _Transaction, keys: _Keys, key: Key) -> None:
        keys.live.append(key)
        if key in keys.dead:
            keys.dead.remove(key)

        def undo() -> None:
            keys.live.remove(key)
            keys.dead.append(key)

        transaction.undo.append(undo)

    def _vanish(self, transaction: _Transaction, keys: _Keys, key: Key) -> None:
        keys.live.remove(key)
        keys.dead.append(key)

        def undo() -> None:
            keys.dead.remove(key)
            keys.live.append(key)

        transaction.undo.append(undo)

    def _new_key(self, table: Table) -> Key:
        keys = self._keys[table.name]
        number, keys.next = keys.next, keys.next + 1
        kinds = {column.name: column.kind for column in table.columns}
        return tuple(
            self._random.choice(("nord", "süd", "")) if kinds[name] in (VARCHAR, TEXT) else number for name in table.key
        )

    def _insert_row(self, transaction: _Transaction, table: Table, key: Key) -> None:
        given = dict(zip(table.key, key, strict=True))
        values = [given[column.name] if column.name in given else self._value(column) for column in table.columns]
        names = ", ".join(self._dialect.quoted(column.name) for column in table.columns)
        marks = ", ".join(["%s"] * len(values))
        transaction.execute(f"INSERT INTO {self._name(table)} ({names}) VALUES ({marks})", values)

    def _delete_row(self, transaction: _Transaction, table: Table, key: Key) -> None:
        transaction.execute(f"DELETE FROM {self._name(table)} WHERE {self._where(table)}", key)

    def _name(self, table: Table) -> str:
        return self._dialect.quoted(table.name)

    def _where(self, table: Table) -> str:
        return " AND ".join(f"{self._dialect.quoted(name)} = %s" for name in table.key)

    def _value(self, column: Column) -> Any:
        return None if self._random.random() < 0.1 else column.kind.draw(self._random)
