"""A table's columns as the database's catalog has them."""

from __future__ import annotations

from dataclasses import dataclass

from connectors.source_database.column_types import ColumnType, mysql_type, postgresql_type
from connectors.source_database.database import SourceDatabase
from connectors.source_database.errors import SourceTableError
from connectors.source_database.location import DatabaseKind


@dataclass(frozen=True)
class SourceColumn:
    """A column; ``generated`` ones are computed by the database and absent from streamed events."""

    name: str
    type: ColumnType
    nullable: bool = True
    generated: bool = False


@dataclass(frozen=True)
class DatabaseTable:
    """A table as its database names it.

    Attributes:
        schema: PostgreSQL's schema; MySQL's and MariaDB's database.
    """

    schema: str
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"

    @staticmethod
    def of_events(kind: DatabaseKind, database: str, schema: str | None, name: str) -> DatabaseTable:
        """The table whose events have this database, schema and name in their ``source`` block."""
        if kind is DatabaseKind.POSTGRESQL:
            return DatabaseTable(schema or "public", name)
        return DatabaseTable(database or schema or "", name)


# A domain is what it is made of; a domain over a domain is followed to the end.
_POSTGRES_COLUMNS = """
WITH RECURSIVE base(attnum, type, modifier) AS (
    SELECT a.attnum, a.atttypid, a.atttypmod FROM pg_catalog.pg_attribute a
     WHERE a.attrelid = CAST(:table AS oid) AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT b.attnum, t.typbasetype, CASE WHEN t.typtypmod = -1 THEN b.modifier ELSE t.typtypmod END
      FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.type WHERE t.typtype = 'd'
)
SELECT a.attname AS name, format_type(b.type, b.modifier) AS type, t.typtype = 'e' AS is_enum,
       NOT a.attnotnull AS nullable, a.attgenerated <> '' AS generated
  FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.type
  JOIN pg_catalog.pg_attribute a ON a.attrelid = CAST(:table AS oid) AND a.attnum = b.attnum
 WHERE t.typtype <> 'd' ORDER BY a.attnum
"""
_POSTGRES_TABLE = """
SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = :schema AND c.relname = :name AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
"""
_MYSQL_COLUMNS = """
SELECT column_name AS name, data_type AS data_type, column_type AS column_type, is_nullable AS is_nullable,
       extra AS extra
  FROM information_schema.columns WHERE table_schema = :schema AND table_name = :name ORDER BY ordinal_position
"""


def columns_of(database: SourceDatabase, table: DatabaseTable) -> tuple[SourceColumn, ...]:
    """The table's columns in its order.

    Raises:
        SourceTableError: there is no such table, or this user may not see it.
        DatabaseUnreachableError, DatabaseAccessError: as every request.
    """
    columns = (
        _postgresql_columns(database, table)
        if database.kind is DatabaseKind.POSTGRESQL
        else _mysql_columns(database, table)
    )
    if not columns:
        raise SourceTableError(
            "the source database has no such table, or this user may not see it",
            remedy="check source.database.url (is it the database that the connector reads?), and grant SELECT on the "
            "table; a table that was dropped or renamed at the source has nothing to be compared with",
            table=table,
            database=database.location.shown,
        )
    return columns


def _postgresql_columns(database: SourceDatabase, table: DatabaseTable) -> tuple[SourceColumn, ...]:
    found = database.query(_POSTGRES_TABLE, schema=table.schema, name=table.name)
    if not found:
        return ()
    return tuple(
        SourceColumn(
            row["name"], postgresql_type(row["type"], is_enum=row["is_enum"]), row["nullable"], row["generated"]
        )
        for row in database.query(_POSTGRES_COLUMNS, table=found[0]["oid"])
    )


def _mysql_columns(database: SourceDatabase, table: DatabaseTable) -> tuple[SourceColumn, ...]:
    return tuple(
        SourceColumn(
            row["name"],
            mysql_type(row["data_type"], row["column_type"]),
            row["is_nullable"] == "YES",
            # DEFAULT_GENERATED is MySQL's word for an expression as default: an ordinary column.
            "GENERATED" in row["extra"].upper().replace("DEFAULT_GENERATED", ""),
        )
        for row in database.query(_MYSQL_COLUMNS, schema=table.schema, name=table.name)
    )
