"""What PostgreSQL's catalog says about logical replication (PostgreSQL manual, "Logical Replication")."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.database import SourceDatabase

_COLUMN_LISTS_SINCE = 150_000


class ReplicaIdentity(enum.StrEnum):
    """What the log says about the row before a change (``pg_class.relreplident``)."""

    DEFAULT = "d"
    NOTHING = "n"
    FULL = "f"
    INDEX = "i"


@dataclass(frozen=True)
class ReplicatedTable:
    """A table as replication sees it.

    Attributes:
        toastable: columns whose large values may be stored apart from the row; not those that hold 500 characters at
            most, which are moved only out of very wide rows.
        primary_key: its columns, in the table's order; empty where it has none.
        columns: all but generated ones, which no change holds.
        unique: it has a UNIQUE index over columns, which the connector takes for the key where there is no primary one.
        wholes: partitioned tables that it is a part of.
        parts: of a partitioned table, those that hold its rows, with the replica identity of each. These count: the
            whole's own does nothing, and is not passed on.
    """

    table: DatabaseTable
    identity: ReplicaIdentity
    toastable: tuple[str, ...] = ()
    primary_key: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    unique: bool = False
    wholes: tuple[DatabaseTable, ...] = ()
    parts: Mapping[DatabaseTable, ReplicaIdentity] = field(default_factory=dict)


@dataclass(frozen=True)
class PublishedTable:
    """A table in a publication.

    Attributes:
        columns: that are published; None where the server has no lists of columns (before PostgreSQL 15).
        row_filter: condition of the rows that are published, or empty.
    """

    table: DatabaseTable
    columns: tuple[str, ...] | None
    row_filter: str


@dataclass(frozen=True)
class Publication:
    """A publication: what it sends, and of which tables.

    Attributes:
        tables: under whose names it sends: of a partitioned table either itself or its parts.
    """

    name: str
    inserts: bool
    updates: bool
    deletes: bool
    truncates: bool
    tables: tuple[PublishedTable, ...]


_TABLES = """
WITH RECURSIVE part(oid, whole) AS (
    SELECT inhrelid, inhparent FROM pg_catalog.pg_inherits
    UNION
    SELECT p.oid, i.inhparent FROM part p JOIN pg_catalog.pg_inherits i ON i.inhrelid = p.whole
)
SELECT n.nspname AS schema, c.relname AS name, c.relreplident AS identity,
       ARRAY(SELECT ARRAY[CAST(wn.nspname AS text), CAST(w.relname AS text)]
               FROM part p JOIN pg_catalog.pg_class w ON w.oid = p.whole
               JOIN pg_catalog.pg_namespace wn ON wn.oid = w.relnamespace
              WHERE p.oid = c.oid AND c.relispartition ORDER BY w.oid) AS wholes,
       ARRAY(SELECT ARRAY[CAST(ln.nspname AS text), CAST(l.relname AS text), CAST(l.relreplident AS text)]
               FROM part p JOIN pg_catalog.pg_class l ON l.oid = p.oid
               JOIN pg_catalog.pg_namespace ln ON ln.oid = l.relnamespace
              WHERE p.whole = c.oid AND c.relkind = 'p' AND l.relkind = 'r' ORDER BY l.oid) AS parts,
       ARRAY(SELECT CAST(a.attname AS text) FROM pg_catalog.pg_attribute a
              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
              ORDER BY a.attnum) AS columns,
       EXISTS(SELECT 1 FROM pg_catalog.pg_index i
               WHERE i.indrelid = c.oid AND i.indisunique AND 0 <> ALL(i.indkey)) AS has_unique,
       ARRAY(SELECT CAST(a.attname AS text) FROM pg_catalog.pg_constraint k
               JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY(k.conkey)
              WHERE k.conrelid = c.oid AND k.contype = 'p' ORDER BY a.attnum) AS primary_key,
       ARRAY(SELECT CAST(a.attname AS text) FROM pg_catalog.pg_attribute a
              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attlen = -1
                AND a.attstorage IN ('x', 'e')
                AND (a.atttypid NOT IN (CAST('varchar' AS regtype), CAST('bpchar' AS regtype))
                     OR a.atttypmod NOT BETWEEN 4 AND 504)
                AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_index i
                                 WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY(i.indkey))
              ORDER BY a.attnum) AS toastable
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p')
   AND (n.nspname, c.relname) IN (SELECT * FROM unnest(CAST(:schemas AS text[]), CAST(:names AS text[])))
 ORDER BY 1, 2
"""
_PUBLICATIONS = """
SELECT pubname AS name, pubinsert AS inserts, pubupdate AS updates, pubdelete AS deletes, pubtruncate AS truncates
  FROM pg_catalog.pg_publication ORDER BY 1
"""

_PUBLISHED = """
SELECT pubname AS publication, schemaname AS schema, tablename AS name, NULL AS columns, NULL AS row_filter
  FROM pg_catalog.pg_publication_tables ORDER BY 1, 2, 3
"""
_PUBLISHED_WITH_LISTS = """
SELECT pubname AS publication, schemaname AS schema, tablename AS name, CAST(attnames AS text[]) AS columns,
       rowfilter AS row_filter
  FROM pg_catalog.pg_publication_tables ORDER BY 1, 2, 3
"""


def setting(database: SourceDatabase, name: str) -> str:
    """The value of a server setting, such as ``wal_level``; empty for one that the server does not have."""
    rows = database.query("SELECT current_setting(:name, true) AS value", name=name)
    return str(rows[0]["value"] or "")


def database_name(database: SourceDatabase) -> str:
    """The database's own name, which a pooler in between may call otherwise."""
    return str(database.query("SELECT current_database() AS name")[0]["name"])


def is_standby(database: SourceDatabase) -> bool:
    """Whether the server replays the log of another one."""
    return bool(database.query("SELECT pg_is_in_recovery() AS standby")[0]["standby"])


def replicated_tables(database: SourceDatabase, tables: Sequence[DatabaseTable]) -> tuple[ReplicatedTable, ...]:
    """Those of the tables that exist, by name."""
    rows = database.query(_TABLES, schemas=[table.schema for table in tables], names=[table.name for table in tables])
    return tuple(
        ReplicatedTable(
            DatabaseTable(row["schema"], row["name"]),
            ReplicaIdentity(row["identity"]),
            tuple(row["toastable"]),
            tuple(row["primary_key"]),
            tuple(row["columns"]),
            bool(row["has_unique"]),
            tuple(DatabaseTable(schema, name) for schema, name in row["wholes"]),
            {DatabaseTable(schema, name): ReplicaIdentity(identity) for schema, name, identity in row["parts"]},
        )
        for row in rows
    )


def publications(database: SourceDatabase) -> tuple[Publication, ...]:
    """The database's publications with their tables, by name."""
    lists = int(setting(database, "server_version_num")) >= _COLUMN_LISTS_SINCE
    published = _PUBLISHED_WITH_LISTS if lists else _PUBLISHED
    tables: dict[str, list[PublishedTable]] = {}
    for row in database.query(published):
        columns = None if row["columns"] is None else tuple(row["columns"])
        table = PublishedTable(DatabaseTable(row["schema"], row["name"]), columns, row["row_filter"] or "")
        tables.setdefault(row["publication"], []).append(table)
    return tuple(
        Publication(
            row["name"],
            row["inserts"],
            row["updates"],
            row["deletes"],
            row["truncates"],
            tuple(tables.get(row["name"], ())),
        )
        for row in database.query(_PUBLICATIONS)
    )
