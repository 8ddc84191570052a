"""Tables whose rows carry a version that only rises, a thread that writes them, and a look at every file of a mirror.

A row's version is the number of the statement that wrote it, so a mirror in which a key's version falls from one file
to the next has shown a value that was overwritten already.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from tests.rig.database import Database
from tests.rig.server import until
from tests.rig.tables import BIGINT, INT, VARCHAR, Column, Dialect, Table
from tests.support.bridge import Bridge

_PAUSE_SECONDS = 0.004
_MOST = 20_000


def versioned(name: str, *, key: tuple[str, ...] = ("id",)) -> Table:
    """A table with the columns ``id``, ``version`` and ``note``."""
    return Table(name, (Column("id", INT), Column("version", BIGINT), Column("note", VARCHAR)), key)


def create(database: Database, dialect: Dialect, tables: Sequence[Table], rows: int) -> None:
    """Create the tables with keys 1 to ``rows`` at version 0."""
    for table in tables:
        for statement in table.ddl(dialect):
            database.execute(statement)
        database.execute_many(
            f"INSERT INTO {table.name} VALUES (%s, 0, 'at first')", [(number,) for number in range(1, rows + 1)]
        )


class Gate:
    """A closed gate in the middle of a table's initial snapshot; a context manager that opens it.

    The connector reads the table with a query whose later rows wait for a lock that the gate holds.

    Args:
        before: how many rows come before the gate: those with keys up to this.
    """

    def __init__(self, database: Database, dialect: Dialect, table: Table, before: int) -> None:
        name = f"{database.schema}.{table.name}"
        if dialect is Dialect.POSTGRESQL:
            self._close = "SELECT pg_advisory_lock(1)"
            # Rows lie in the order of their last updates, so one condition would not put the first keys first.
            passes = f"FALSE UNION ALL SELECT * FROM {name} WHERE id > {before}"
            passes += " AND pg_advisory_xact_lock_shared(1) IS NOT NULL"
        else:
            self._close, passes = f"SELECT GET_LOCK('{name}', 60)", f"GET_LOCK('{name}', 600) = 1"
        self.options: dict[str, Any] = {
            "snapshot_fetch_size": "20",
            "snapshot_select_statement_overrides": name,
            f"snapshot.select.statement.overrides.{name}": f"SELECT * FROM {name} WHERE id <= {before} OR {passes}",
        }
        """For :meth:`tests.rig.Rig.connect`."""
        self._connection = database.connect()

    def __enter__(self) -> Gate:
        with self._connection.cursor() as cursor:
            cursor.execute(self._close)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()


@contextmanager
def unreadable(database: Database, dialect: Dialect, table: Table) -> Iterator[None]:
    """Nobody else can read or write the table until the block ends: whoever tries waits."""
    lock = {
        Dialect.POSTGRESQL: f"LOCK TABLE {table.name} IN ACCESS EXCLUSIVE MODE",
        Dialect.MARIADB: f"LOCK TABLES {table.name} WRITE",
    }[dialect]
    with database.connect(autocommit=False) as connection, connection.cursor() as cursor:
        cursor.execute(lock)
        yield


@dataclass
class Writing:
    """What the thread has done so far.

    Attributes:
        statements: how many.
    """

    statements: int = 0

    def wait_more(self, count: int) -> None:
        """Return once ``count`` more statements have been committed."""
        wanted = self.statements + count
        until(lambda: self.statements >= wanted, f"{count} more statements")


@contextmanager
def writing(database: Database, tables: Sequence[Table], rows: int, *, seed: int = 5) -> Iterator[Writing]:
    """A thread inserts, updates and deletes rows and changes keys, a few hundred statements a second, until the block
    ends; tables without key only get inserts.

    Args:
        rows: the keys that exist are 1 to this.
    """
    stop = threading.Event()
    done = Writing()
    source = random.Random(seed)

    def write() -> None:
        highest = {table.name: rows for table in tables}
        with database.connect() as connection, connection.cursor() as cursor:
            while not stop.wait(_PAUSE_SECONDS) and done.statements < _MOST:
                version = done.statements + 1
                table = source.choice(tables)
                name, some = table.name, source.randint(1, highest[table.name])
                choice = source.random()
                if not table.key or choice < 0.2:
                    highest[name] += 1
                    cursor.execute(f"INSERT INTO {name} VALUES (%s, %s, 'new')", (highest[name], version))
                elif choice < 0.4:
                    cursor.execute(f"DELETE FROM {name} WHERE id = %s", (some,))
                elif choice < 0.5:
                    highest[name] += 1
                    cursor.execute(
                        f"UPDATE {name} SET id = %s, version = %s WHERE id = %s", (highest[name], version, some)
                    )
                else:
                    cursor.execute(f"UPDATE {name} SET version = %s WHERE id = %s", (version, some))
                done.statements = version

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(write)
        try:
            yield done
        finally:
            stop.set()
            future.result()


def stale_values(made: Bridge, table: str) -> list[str]:
    """Where the mirror of a table with key went back to an older version of a row, file by file."""
    zone_table = open_zone(LocalStorage(made.zone)).table(table)
    newest: dict[int, int] = {}
    found: list[str] = []
    for number in range(1, replay(zone_table).last_number + 1):
        content = replay(zone_table, as_of=number).table.select(["id", "version"])
        for key, version in zip(*(column.to_pylist() for column in content.columns), strict=True):
            if version < newest.get(key, 0):
                found.append(f"file {number}: id {key} at {version} after {newest[key]}")
            newest[key] = version
    return found
