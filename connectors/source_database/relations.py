"""Which tables PostgreSQL's catalog has, by name and by OID, and where its log ends while it has them.

A table keeps its OID under whatever name and schema, and a table that is made again gets another one (PostgreSQL
manual, "Object Identifier Types", "pg_class"). OIDs compare within one database of one server's storage only, and while
its log goes on: a server that is restored to an earlier moment keeps both, and gives the same OIDs away once more. Its
log has another timeline then, as after a failover.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.database import SourceDatabase

_IDENTITY = """
SELECT current_database() AS name, pg_is_in_recovery() AS standby,
       (SELECT system_identifier FROM pg_catalog.pg_control_system()) AS storage,
       (SELECT CAST(oid AS bigint) FROM pg_catalog.pg_database WHERE datname = current_database()) AS oid,
       CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline
"""
# A view, or whatever else sends no rows, may have the name of a table that is gone.
_RELATIONS = """
SELECT CAST(c.oid AS bigint) AS oid, n.nspname AS schema, c.relname AS name
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p')
   AND (CAST(c.oid AS bigint) = ANY(CAST(:oids AS bigint[]))
        OR (n.nspname, c.relname) IN (SELECT * FROM unnest(CAST(:schemas AS text[]), CAST(:names AS text[]))))
 ORDER BY 1
"""
_COLUMNS = """
SELECT CAST(attrelid AS bigint) AS oid, attnum AS number, attname AS name FROM pg_catalog.pg_attribute
 WHERE attrelid = ANY(CAST(CAST(:oids AS bigint[]) AS oid[])) AND attnum > 0 AND NOT attisdropped
"""
# The end of what is written may lie before a commit that did not wait for the disk.
_LOG_END = """
SELECT CAST(pg_current_wal_insert_lsn() - '0/0' AS bigint) AS lsn,
       CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS at_ms
"""
_RUNNING = """
SELECT CAST(CAST(transactionid AS text) AS bigint) AS id FROM pg_catalog.pg_locks
 WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted
"""


@dataclass(frozen=True)
class DatabaseIdentity:
    """Which database it is.

    Attributes:
        name: as it calls itself.
        id: identifier of the server's storage, the database's OID, and the log's timeline (eight hexadecimal digits;
            none on a standby, which has no log of its own), with slashes between.
        standby: it replays the log of another server, and cannot say where that one's ends.
    """

    name: str
    id: str
    standby: bool = False


@dataclass(frozen=True)
class LogEnd:
    """Where the log ended at a moment.

    Attributes:
        lsn: every record of the log that was complete by then begins below it, and no later one does.
        at_ms: when, by the server's clock, milliseconds since 1970.
    """

    lsn: int
    at_ms: int


@dataclass(frozen=True)
class Catalog:
    """An open look into the catalog. Each call sees what is committed by then."""

    database: SourceDatabase
    connection: sa.Connection

    def identity(self) -> DatabaseIdentity:
        """Which database this is."""
        [row] = self._rows(_IDENTITY)
        return DatabaseIdentity(
            str(row["name"]), f"{row['storage']}/{row['oid']}/{row['timeline'] or ''}", bool(row["standby"])
        )

    def tables(self, names: Collection[DatabaseTable], oids: Collection[int]) -> dict[int, DatabaseTable]:
        """The tables, by OID, that have one of these names or one of these OIDs."""
        schemas, plain = [table.schema for table in names], [table.name for table in names]
        rows = self._rows(_RELATIONS, oids=sorted(oids), schemas=schemas, names=plain)
        return {int(row["oid"]): DatabaseTable(str(row["schema"]), str(row["name"])) for row in rows}

    def columns(self, oids: Collection[int]) -> dict[int, dict[int, str]]:
        """The names of the columns of the tables with these OIDs, by the number that a column has in its table."""
        found: dict[int, dict[int, str]] = {}
        for row in self._rows(_COLUMNS, oids=sorted(oids)):
            found.setdefault(int(row["oid"]), {})[int(row["number"])] = str(row["name"])
        return found

    def log_end(self) -> LogEnd:
        """Where the log ends now; a standby raises :class:`DatabaseRequestError`."""
        [row] = self._rows(_LOG_END)
        return LogEnd(int(row["lsn"]), int(row["at_ms"]))

    def running(self) -> frozenset[int]:
        """Ids of the transactions that write and whose end nobody sees yet, in any database of the server."""
        return frozenset(int(row["id"]) for row in self._rows(_RUNNING))

    def _rows(self, statement: str, **values: object) -> list[dict[str, Any]]:
        with self.database.errors("a query of its catalog"):
            return [dict(row) for row in self.connection.execute(sa.text(statement), values).mappings()]


@contextlib.contextmanager
def open_catalog(database: SourceDatabase) -> Iterator[Catalog]:
    """The catalog of a PostgreSQL database.

    Raises:
        DatabaseUnreachableError, DatabaseAccessError, DatabaseRequestError: also for what is done inside.
    """
    with database.connection() as connection:
        # Whatever the server's default is: in one snapshot no call would see more than the first.
        yield Catalog(database, connection.execution_options(isolation_level="READ COMMITTED"))
