"""What the databases of the rig have in common."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

SIGNAL_TABLE = "debezium_signal"
"""Debezium's signalling table, in every test database. The bridge takes its rows for control records; the rig writes
rows of the unknown type ``rig`` into it to learn how far a connector is."""


class Database(abc.ABC):
    """A database of one test.

    Attributes:
        host, port, name, user, password: for a client of one's own; ``user`` may do everything.
        schema: what stands before the dot in the name of a mirrored table.
    """

    schema: str

    def __init__(self, host: str, port: int, name: str, user: str, password: str) -> None:
        self.host, self.port, self.name = host, port, name
        self.user, self.password = user, password
        self._connection: Any = None

    @property
    @abc.abstractmethod
    def url(self) -> str:
        """For SQLAlchemy."""

    @abc.abstractmethod
    def connect(self, *, autocommit: bool = True) -> Any:
        """A new DB-API connection."""

    @abc.abstractmethod
    def position(self) -> tuple[str, int]:
        """Where the log ends now; comparable with :meth:`position_of`."""

    @abc.abstractmethod
    def position_of(self, offset: Mapping[str, Any]) -> tuple[str, int]:
        """The position in an offset that a connector has committed."""

    @abc.abstractmethod
    def connector(self, name: str, prefix: str) -> dict[str, str]:
        """The settings of a Debezium connector that reads this database."""

    @abc.abstractmethod
    def table_pattern(self, table: str) -> str:
        """A table as ``table.include.list`` wants it."""

    @abc.abstractmethod
    def forget(self, connector: str) -> None:
        """Remove what a deleted connector has left in the database."""

    def execute(self, sql: str, *arguments: Any) -> list[tuple[Any, ...]]:
        """Run one statement in a transaction of its own; its rows, if it has any. Parameters are ``%s``."""
        if self._connection is None:
            self._connection = self.connect()
        with self._connection.cursor() as cursor:
            cursor.execute(sql, arguments or None)
            return [] if cursor.description is None else list(cursor.fetchall())

    def execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each of the rows, all in one transaction."""
        with self.connect(autocommit=False) as connection:
            with connection.cursor() as cursor:
                cursor.executemany(sql, rows)
            connection.commit()

    def transaction(self, *statements: str) -> None:
        """Run several statements in one transaction."""
        with self.connect(autocommit=False) as connection:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
            connection.commit()

    def mark(self, identifier: str) -> None:
        """Put a row into the signalling table that no connector acts on."""
        self.execute(f"INSERT INTO {SIGNAL_TABLE} (id, type, data) VALUES (%s, 'rig', NULL)", identifier)

    def signal(self, identifier: str, kind: str, data: str) -> None:
        """Ask the connector for something through the signalling table; ``data`` is JSON."""
        self.execute(f"INSERT INTO {SIGNAL_TABLE} (id, type, data) VALUES (%s, %s, %s)", identifier, kind, data)

    def answers(self) -> bool:
        """Whether the server takes connections."""
        try:
            self.connect().close()
        except Exception:
            return False
        return True

    def close(self) -> None:
        """Close the connection that :meth:`execute` uses."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
