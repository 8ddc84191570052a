"""A table's rows as of one moment, with the place of that moment in the source's log.

Values come as the database writes them: text (PostgreSQL in its ISO styles and UTC), or bytes where MySQL and MariaDB
have a binary column. So nothing is lost on the way, and what a value means is decided in one place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from psycopg import Connection as PostgresConnection
from psycopg.pq import Format
from pymysql import Connection as MysqlConnection
from sqlalchemy.sql import quoted_name
from sqlalchemy.types import NullType

from connectors.source_database.catalog import DatabaseTable, SourceColumn
from connectors.source_database.column_types import SourceType
from connectors.source_database.database import SourceDatabase
from connectors.source_database.errors import DatabaseAccessError, DatabaseRequestError
from connectors.source_database.location import DatabaseKind
from connectors.source_database.position import LogPosition, position_of_binlog, position_of_lsn

Value = str | bytes | None
Columns = list[tuple[Value, ...]]
"""Columns of rows: as many tuples as columns, each with as many values as rows."""

BATCH_ROWS = 10_000
KEYS_AT_ONCE = 200

# On a replica, what it has replayed is what can be seen.
_POSTGRES_POSITION = (
    "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END"
)


@dataclass(frozen=True)
class Snapshot:
    """What one read-only transaction sees.

    Attributes:
        position: a place in the log at or behind which is every transaction that is seen; None where the database
            keeps no log, or this user may not see how far it is.
    """

    database: SourceDatabase
    connection: sa.Connection
    position: LogPosition | None

    def rows(
        self, table: DatabaseTable, columns: Sequence[SourceColumn], order: Sequence[str], batch: int = BATCH_ROWS
    ) -> Iterator[Columns]:
        """All rows, ``batch`` at a time, in the order of the named columns; read through a server-side cursor."""
        statement = self._select(table, columns).order_by(*(_column(name) for name in order))
        with self.database.errors(f"reading {table}"):
            result = self.connection.execution_options(yield_per=batch).execute(statement)
            for rows in result.partitions(batch):
                yield list(zip(*rows, strict=True))

    def rows_with(
        self, table: DatabaseTable, columns: Sequence[SourceColumn], key: Sequence[str], keys: Sequence[Sequence[Value]]
    ) -> Iterator[Columns]:
        """The rows whose key columns, all among ``columns``, have one of these values, as :meth:`rows` delivers them.

        A value that the database, given it as it was written, takes for another finds no row.
        """
        named = {column.name: column for column in columns}
        for first in range(0, len(keys), KEYS_AT_ONCE):
            wanted = [
                has_key(self.database.kind, [named[name] for name in key], values)
                for values in keys[first : first + KEYS_AT_ONCE]
            ]
            with self.database.errors(f"reading rows of {table}"):
                rows = self.connection.execute(self._select(table, columns).where(sa.or_(*wanted))).all()
            if rows:
                yield list(zip(*rows, strict=True))

    def holding(self, table: DatabaseTable, columns: Sequence[SourceColumn]) -> tuple[SourceColumn, ...]:
        """Those of the columns that are not NULL in every row."""
        with self.database.errors(f"looking for values in {table}"):
            return tuple(
                column
                for column in columns
                if self.connection.execute(
                    self._select(table, [column]).where(_column(column.name).is_not(None)).limit(1)
                ).first()
                is not None
            )

    def _select(self, table: DatabaseTable, columns: Sequence[SourceColumn]) -> sa.Select[Any]:
        source = sa.table(quoted_name(table.name, quote=True), schema=quoted_name(table.schema, quote=True))
        return sa.select(*(self._written(column) for column in columns)).select_from(source)

    def _written(self, column: SourceColumn) -> sa.ColumnElement[Any]:
        written: sa.ColumnElement[Any] = _column(column.name)
        if column.type.family is SourceType.MONEY:
            # Its own text depends on the server's currency.
            return sa.type_coerce(sa.cast(written, sa.Numeric), NullType()).label(None)
        if self.database.kind is DatabaseKind.MYSQL and column.type.family is SourceType.FLOAT32:
            # Its own text has six digits.
            return sa.type_coerce(sa.cast(written, sa.Double), NullType()).label(None)
        return written


def has_key(kind: DatabaseKind, key: Sequence[SourceColumn], values: Sequence[Value]) -> sa.ColumnElement[bool]:
    """The condition that key columns have these values, written as :meth:`Snapshot.rows` delivers them."""
    return sa.and_(*(_has(kind, column, value) for column, value in zip(key, values, strict=True)))


def _has(kind: DatabaseKind, column: SourceColumn, value: Value) -> sa.ColumnElement[bool]:
    if value is None:
        return _column(column.name).is_(None)
    literal: Value | int = value
    if kind is DatabaseKind.MYSQL and column.type.family is SourceType.BITS and isinstance(value, bytes):
        # A bit field equals numbers, never the bytes as which it is sent.
        literal = int.from_bytes(value, "big")
    return _column(column.name) == sa.bindparam(None, literal, type_=NullType())


@contextlib.contextmanager
def snapshot(database: SourceDatabase) -> Iterator[Snapshot]:
    """A transaction that sees one moment of the database, for as long as it is open.

    Raises:
        DatabaseUnreachableError, DatabaseAccessError, DatabaseRequestError: also for what is done inside.
    """
    with database.connection() as connection, database.errors("a snapshot"):
        driver = connection.connection.driver_connection
        if isinstance(driver, PostgresConnection):
            repeatable = connection.execution_options(isolation_level="REPEATABLE READ")
            _read_text(driver)
            position = position_of_lsn(str(repeatable.exec_driver_sql(_POSTGRES_POSITION).scalar_one()))
            yield Snapshot(database, repeatable, position)
        elif isinstance(driver, MysqlConnection):
            driver.decoders = {}
            connection.exec_driver_sql("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            connection.exec_driver_sql("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            yield Snapshot(database, connection, _binlog_position(connection, database))


def _read_text(driver: PostgresConnection[Any]) -> None:
    """Every value as the text that the server sends."""
    loader = driver.adapters.get_loader(driver.adapters.types["text"].oid, Format.TEXT)
    if loader is not None:
        for known in driver.adapters.types:
            for oid in (known.oid, known.array_oid):
                if oid:
                    driver.adapters.register_loader(oid, loader)


def _binlog_position(connection: sa.Connection, database: SourceDatabase) -> LogPosition | None:
    """MariaDB tells the snapshot's own position; elsewhere the log's end, which is not before it."""
    rows = connection.exec_driver_sql(
        "SHOW SESSION STATUS WHERE Variable_name IN ('Binlog_snapshot_file', 'Binlog_snapshot_position')"
    )
    own = {str(name).lower(): str(value) for name, value in rows}
    if own.get("binlog_snapshot_file"):
        return position_of_binlog(own["binlog_snapshot_file"], int(own["binlog_snapshot_position"]))
    for statement in ("SHOW MASTER STATUS", "SHOW BINARY LOG STATUS"):
        try:
            with database.errors("a query of its binary log"):
                row = connection.exec_driver_sql(statement).first()
        except DatabaseAccessError:
            return None
        except DatabaseRequestError:
            continue
        return None if row is None else position_of_binlog(str(row[0]), int(row[1]))
    return None


def _column(name: str) -> sa.ColumnClause[Any]:
    return sa.column(quoted_name(name, quote=True))
