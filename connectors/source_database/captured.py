"""Which tables of a database a connector captures, by its own configuration (Debezium, "Connector properties").

The lists hold regular expressions, separated by commas, that match a whole name whatever its case; without an include
list everything is included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.database import SourceDatabase
from connectors.source_database.location import DatabaseKind
from connectors.source_database.postgresql import publications

_COMMA = re.compile(r"(?<!\\),")

# A part of a partitioned table comes with all that it is a part of, and one of these with all of its parts.
_POSTGRES_TABLES = """
WITH RECURSIVE part(oid, whole) AS (
    SELECT inhrelid, inhparent FROM pg_catalog.pg_inherits
    UNION
    SELECT p.oid, i.inhparent FROM part p JOIN pg_catalog.pg_inherits i ON i.inhrelid = p.whole
)
SELECT n.nspname AS schema, c.relname AS name,
       ARRAY(SELECT ARRAY[CAST(rn.nspname AS text), CAST(r.relname AS text)]
               FROM part p JOIN pg_catalog.pg_class r ON r.oid IN (p.oid, p.whole) AND r.oid <> c.oid
               JOIN pg_catalog.pg_namespace rn ON rn.oid = r.relnamespace
              WHERE (p.oid = c.oid AND c.relispartition) OR (p.whole = c.oid AND c.relkind = 'p')
              ORDER BY r.oid) AS relatives
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p'
   AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
 ORDER BY 1, 2
"""
_MYSQL_TABLES = """
SELECT table_schema AS table_schema, table_name AS table_name FROM information_schema.tables
 WHERE table_type = 'BASE TABLE'
   AND table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')
 ORDER BY 1, 2
"""


@dataclass(frozen=True)
class CapturedTable:
    """A table whose changes are sent.

    Attributes:
        relatives: of a partitioned table all of its parts, and of a part all that it is a part of: its rows may be sent
            under the names of these.
    """

    table: DatabaseTable
    relatives: tuple[DatabaseTable, ...] = ()


def captured_tables(database: SourceDatabase, config: Mapping[str, str] | None) -> tuple[CapturedTable, ...] | None:
    """The tables that the connector captures, by name; None where nothing tells which they are.

    Args:
        config: the connector's configuration; None where it is not known: then a PostgreSQL database tells by its
            publication, if it has just one.

    Raises:
        DatabaseUnreachableError, DatabaseAccessError, DatabaseRequestError: as every request.
    """
    if config is not None:
        return tuple(one for one in _present(database) if captures(database.kind, config, one.table))
    if database.kind is not DatabaseKind.POSTGRESQL:
        return None
    found = publications(database)
    return tuple(CapturedTable(one.table) for one in found[0].tables) if len(found) == 1 else None


def captures(kind: DatabaseKind, config: Mapping[str, str], table: DatabaseTable) -> bool:
    """Whether the connector's lists of schemas (databases) and tables take this table."""
    outer = "schema" if kind is DatabaseKind.POSTGRESQL else "database"
    if str(table) == config.get("signal.data.collection", "").strip():
        return False
    return _listed(config, outer, table.schema) and _listed(config, "table", str(table))


def captures_column(config: Mapping[str, str], table: DatabaseTable, column: str) -> bool:
    """Whether the connector's lists of columns take this one."""
    return _listed(config, "column", f"{table}.{column}")


def matches_column(patterns: str, table: DatabaseTable, column: str) -> bool:
    """Whether one of the expressions of a ``column.*`` property names this column."""
    return _matches(patterns, f"{table}.{column}", unreadable=True)


def gives_key(config: Mapping[str, str], table: DatabaseTable) -> bool:
    """Whether the connector's ``message.key.columns`` name the table: its records have these columns as their key then.

    The form is ``table:column,column;table:column`` with expressions; whether the columns exist is not looked at.
    """
    given = [entry.partition(":")[0] for entry in config.get("message.key.columns", "").split(";")]
    return any(_matches(name, str(table), unreadable=True) for name in given)


def _listed(config: Mapping[str, str], what: str, name: str) -> bool:
    include, exclude = config.get(f"{what}.include.list", ""), config.get(f"{what}.exclude.list", "")
    if include.strip():
        return _matches(include, name, unreadable=True)
    return not _matches(exclude, name, unreadable=False)


def _matches(patterns: str, name: str, *, unreadable: bool) -> bool:
    """``unreadable``: what a pattern counts as that means something to Java only."""
    for pattern in _COMMA.split(patterns):
        try:
            if pattern.strip() and re.fullmatch(pattern.strip().replace("\\,", ","), name, re.IGNORECASE):
                return True
        except re.error:
            if unreadable:
                return True
    return False


def _present(database: SourceDatabase) -> tuple[CapturedTable, ...]:
    if database.kind is DatabaseKind.POSTGRESQL:
        return tuple(
            CapturedTable(
                DatabaseTable(row["schema"], row["name"]),
                tuple(DatabaseTable(schema, name) for schema, name in row["relatives"]),
            )
            for row in database.query(_POSTGRES_TABLES)
        )
    return tuple(
        CapturedTable(DatabaseTable(row["table_schema"], row["table_name"])) for row in database.query(_MYSQL_TABLES)
    )
