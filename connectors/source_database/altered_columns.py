"""Columns whose values a connector sends altered: cut, hashed or masked (Debezium, "Connector properties").

The properties ``column.truncate.*`` and ``column.mask.*`` hold regular expressions of full column names, and take
effect on columns of text alone, by their JDBC type (Debezium's ``MaskStrings``, ``TruncateColumn``). Enums and MySQL's
sets are among these: ``CHAR`` in MariaDB and MySQL, ``VARCHAR`` in PostgreSQL.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from connectors.source_database.captured import captures_column, matches_column
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.database import SourceDatabase
from connectors.source_database.location import DatabaseKind

_CUT = re.compile(r"column\.truncate\.to\.(?P<length>\d+)\.chars")
_MASKED = re.compile(r"column\.mask\.with\.(?P<length>\d+)\.chars")
_HASHED = re.compile(r"(?P<name>column\.mask\.hash\.(?:v2\.)?(?P<algorithm>[^.]+)\.with\.salt)\..+")

_MYSQL_COLUMNS = """
SELECT table_name AS name, column_name AS column_name,
       CASE data_type
            WHEN 'enum' THEN 1
            WHEN 'set' THEN LEAST(character_maximum_length,
                                  2 * (CHAR_LENGTH(column_type) - CHAR_LENGTH(REPLACE(column_type, ',', ''))) + 1)
            ELSE character_maximum_length END AS longest
  FROM information_schema.columns
 WHERE table_schema = :schema
   AND data_type IN ('char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set')
 ORDER BY table_name, ordinal_position
"""
"""Debezium takes an enum for 1 character long, a set for as many as its members and the commas between them, and cuts
nothing that is no longer by that (``ColumnDefinitionParserListener``). No member of a set has a comma in it."""
_POSTGRES_COLUMNS = """
SELECT c.relname AS name, a.attname AS column_name,
       CASE WHEN a.atttypmod >= 4 AND t.typname IN ('varchar', 'bpchar') THEN a.atttypmod - 4 END AS longest
  FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
 WHERE n.nspname = :schema AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
   AND t.typcategory IN ('S', 'E')
 ORDER BY c.relname, a.attnum
"""


class Alteration(enum.Enum):
    """What becomes of a column's values."""

    CUT = enum.auto()
    MASKED = enum.auto()
    HASHED = enum.auto()


@dataclass(frozen=True)
class AlteringProperty:
    """A property that alters columns.

    Attributes:
        name: the property's, without the salt, which is a secret.
        detail: the length up to which values are left alone, the number of asterisks, or the algorithm.
        columns: the property's value.
    """

    name: str
    alteration: Alteration
    detail: str
    columns: str


@dataclass(frozen=True)
class TextColumn:
    """A column of text; ``longest``: more characters than that are never cut off a value, None for any number."""

    table: DatabaseTable
    name: str
    longest: int | None


def altering_properties(config: Mapping[str, str]) -> tuple[AlteringProperty, ...]:
    """Those of a connector's configuration, by name."""
    return tuple(_altering(config))


def altered_columns(
    config: Mapping[str, str],
    altering: AlteringProperty,
    columns: Sequence[TextColumn],
) -> tuple[TextColumn, ...]:
    """Those of the columns whose values the property alters, or may alter."""
    return tuple(
        column
        for column in columns
        if not _always_whole(altering, column)
        and matches_column(altering.columns, column.table, column.name)
        and captures_column(config, column.table, column.name)
    )


def text_columns(database: SourceDatabase, tables: Sequence[DatabaseTable]) -> dict[DatabaseTable, list[TextColumn]]:
    """The columns of text of those of the tables that exist, in their order; raises as every query."""
    query = _POSTGRES_COLUMNS if database.kind is DatabaseKind.POSTGRESQL else _MYSQL_COLUMNS
    found: dict[DatabaseTable, list[TextColumn]] = {}
    for schema in sorted({table.schema for table in tables}):
        for row in database.query(query, schema=schema):
            table = DatabaseTable(schema, str(row["name"]))
            longest = None if row["longest"] is None else int(str(row["longest"]))
            found.setdefault(table, []).append(TextColumn(table, str(row["column_name"]), longest))
    return {table: found[table] for table in tables if table in found}


def _altering(config: Mapping[str, str]) -> Iterator[AlteringProperty]:
    for name, columns in sorted(config.items()):
        if found := _CUT.fullmatch(name):
            yield AlteringProperty(name, Alteration.CUT, found["length"], columns)
        elif found := _MASKED.fullmatch(name):
            yield AlteringProperty(name, Alteration.MASKED, found["length"], columns)
        elif found := _HASHED.fullmatch(name):
            yield AlteringProperty(found["name"], Alteration.HASHED, found["algorithm"], columns)


def _always_whole(altering: AlteringProperty, column: TextColumn) -> bool:
    """Whether no value of the column is long enough to be cut."""
    if altering.alteration is not Alteration.CUT or column.longest is None:
        return False
    return column.longest <= int(altering.detail)
