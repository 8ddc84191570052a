"""What MySQL and MariaDB say about their binary log (MySQL manual, "Binary Logging"; MariaDB, "Binary Log")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.database import SourceDatabase

_VARIABLES = """
SHOW GLOBAL VARIABLES WHERE Variable_name IN (
    'log_bin', 'binlog_format', 'binlog_row_image', 'binlog_row_value_options', 'server_id',
    'binlog_expire_logs_seconds', 'expire_logs_days', 'log_bin_compress'
)
"""
_UNREADABLE_COLUMNS = """
SELECT CONCAT(table_schema, '.', table_name, '.', column_name) AS name,
       data_type IN ('inet4', 'inet6') AS unparsed
  FROM information_schema.columns
 WHERE data_type IN ('inet4', 'inet6')
    OR (data_type NOT IN ('enum', 'set') AND LOCATE('COMPRESSED*/', column_type) > 0)
 ORDER BY 1
"""
_TABLES = """
SELECT table_name AS name FROM information_schema.tables WHERE table_schema = :schema AND table_type = 'BASE TABLE'
"""
_UNIQUE_INDEXES = """
SELECT table_name AS name, index_name AS index_name, column_name AS column_name, nullable AS nullable
  FROM information_schema.statistics WHERE table_schema = :schema AND non_unique = 0
 ORDER BY table_name, index_name, seq_in_index
"""
_DAY = 24 * 3600


@dataclass(frozen=True)
class BinaryLog:
    """The server's settings of its binary log.

    Attributes:
        value_options: ``PARTIAL_JSON`` where JSON is logged in part; empty otherwise.
        expires_seconds: after which files are removed; 0 keeps them for ever, None where it is not told.
        compressed: MariaDB's ``log_bin_compress``.
    """

    on: bool
    format: str
    row_image: str
    value_options: str
    server_id: int
    expires_seconds: int | None
    compressed: bool = False


@dataclass(frozen=True)
class UnreadableColumns:
    """Columns anywhere on the server that end the connector, captured or not, as ``database.table.column``.

    Attributes:
        addresses: of type ``inet4`` or ``inet6``: the connector can't parse how their tables were made.
        compressed: MariaDB's ``COMPRESSED``: the connector can't read the log from the first change of such a table on.
    """

    addresses: tuple[str, ...] = ()
    compressed: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableKey:
    """What tells a table's rows apart.

    Attributes:
        primary_key: its columns, in the index's order; empty where it has none.
        unique: it has a UNIQUE index over columns that are all NOT NULL, which the connector takes for the key where
            there is no primary one; a primary key is one, too.
    """

    table: DatabaseTable
    primary_key: tuple[str, ...] = ()
    unique: bool = False


def binary_log(database: SourceDatabase) -> BinaryLog:
    """How the server writes its binary log; raises as every query."""
    rows = database.commands(_VARIABLES)
    found = {str(row["Variable_name"]).lower(): str(row["Value"]) for row in rows}
    expires: int | None = None
    if "expire_logs_days" in found:
        expires = int(float(found["expire_logs_days"]) * _DAY)
    if found.get("binlog_expire_logs_seconds", "0") != "0" or expires is None:
        expires = int(found["binlog_expire_logs_seconds"]) if "binlog_expire_logs_seconds" in found else None
    return BinaryLog(
        on=found.get("log_bin", "OFF").upper() in ("ON", "1"),
        format=found.get("binlog_format", "ROW").upper(),
        row_image=found.get("binlog_row_image", "FULL").upper(),
        value_options=found.get("binlog_row_value_options", ""),
        server_id=int(found.get("server_id", "0")),
        expires_seconds=expires,
        compressed=found.get("log_bin_compress", "OFF").upper() in ("ON", "1"),
    )


def unreadable_columns(database: SourceDatabase) -> UnreadableColumns:
    """Those that this user sees; raises as every query."""
    rows = [(str(row["name"]), bool(int(str(row["unparsed"])))) for row in database.query(_UNREADABLE_COLUMNS)]
    return UnreadableColumns(
        tuple(name for name, unparsed in rows if unparsed), tuple(name for name, unparsed in rows if not unparsed)
    )


def table_keys(database: SourceDatabase, tables: Sequence[DatabaseTable]) -> tuple[TableKey, ...]:
    """Those of the tables that exist and that this user sees, by name; raises as every query."""
    found: list[TableKey] = []
    for schema in sorted({table.schema for table in tables}):
        indexes: dict[str, dict[str, list[tuple[str | None, bool]]]] = {}
        for row in database.query(_UNIQUE_INDEXES, schema=schema):
            parts = indexes.setdefault(str(row["name"]), {}).setdefault(str(row["index_name"]), [])
            # A part that is an expression has no column.
            parts.append((row["column_name"], row["nullable"] == "YES"))
        present = {str(row["name"]) for row in database.query(_TABLES, schema=schema)}
        for name in sorted(present.intersection(table.name for table in tables if table.schema == schema)):
            unique = indexes.get(name, {})
            found.append(
                TableKey(
                    DatabaseTable(schema, name),
                    tuple(str(column) for column, _ in unique.get("PRIMARY", ())),
                    any(all(column and not nullable for column, nullable in parts) for parts in unique.values()),
                )
            )
    return tuple(found)
