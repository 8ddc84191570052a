"""What the types of a database's columns mean, whatever they are called.

From PostgreSQL's ``format_type`` (manual, "Data Types") and MySQL's and MariaDB's ``information_schema.columns``.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass


class SourceType(enum.Enum):
    """A family of types whose values are written alike."""

    BOOLEAN = enum.auto()
    INTEGER = enum.auto()
    UNSIGNED_BIGINT = enum.auto()
    YEAR = enum.auto()
    FLOAT32 = enum.auto()
    FLOAT64 = enum.auto()
    NUMERIC = enum.auto()
    MONEY = enum.auto()
    TEXT = enum.auto()
    JSON = enum.auto()
    HSTORE = enum.auto()
    BYTES = enum.auto()
    BITS = enum.auto()
    VARYING_BITS = enum.auto()
    DATE = enum.auto()
    TIME = enum.auto()
    ZONED_TIME = enum.auto()
    TIMESTAMP = enum.auto()
    INSTANT = enum.auto()
    INTERVAL = enum.auto()
    ARRAY = enum.auto()
    POINT = enum.auto()
    GEOMETRY = enum.auto()
    OTHER = enum.auto()


@dataclass(frozen=True)
class ColumnType:
    """A column's type.

    Attributes:
        text: as the database writes it.
        length: bits of a bit string; None for other types.
        element: family of an array's elements.
    """

    family: SourceType
    text: str
    length: int | None = None
    element: SourceType | None = None


_POSTGRES: dict[str, SourceType] = {
    "boolean": SourceType.BOOLEAN,
    "smallint": SourceType.INTEGER,
    "integer": SourceType.INTEGER,
    "bigint": SourceType.INTEGER,
    "oid": SourceType.INTEGER,
    "real": SourceType.FLOAT32,
    "double precision": SourceType.FLOAT64,
    "numeric": SourceType.NUMERIC,
    "money": SourceType.MONEY,
    "text": SourceType.TEXT,
    "character": SourceType.TEXT,
    "character varying": SourceType.TEXT,
    "citext": SourceType.TEXT,
    "uuid": SourceType.TEXT,
    "json": SourceType.JSON,
    "jsonb": SourceType.JSON,
    "hstore": SourceType.HSTORE,
    "bytea": SourceType.BYTES,
    "bit": SourceType.BITS,
    "bit varying": SourceType.VARYING_BITS,
    "date": SourceType.DATE,
    "time without time zone": SourceType.TIME,
    "time with time zone": SourceType.ZONED_TIME,
    "timestamp without time zone": SourceType.TIMESTAMP,
    "timestamp with time zone": SourceType.INSTANT,
    "interval": SourceType.INTERVAL,
    "point": SourceType.POINT,
    "geometry": SourceType.GEOMETRY,
    "geography": SourceType.GEOMETRY,
}
# Their text is what lands.
_POSTGRES_TEXTS = frozenset(
    (
        *("inet", "cidr", "macaddr", "macaddr8", "xml", "ltree", "tsvector", "isbn"),
        *("int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange"),
    )
)
_MYSQL: dict[str, SourceType] = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "bigint"), SourceType.INTEGER),
    "year": SourceType.YEAR,
    "float": SourceType.FLOAT32,
    "double": SourceType.FLOAT64,
    "decimal": SourceType.NUMERIC,
    **dict.fromkeys(
        ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "uuid", "inet4", "inet6"),
        SourceType.TEXT,
    ),
    "json": SourceType.JSON,
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), SourceType.BYTES),
    "bit": SourceType.BITS,
    "date": SourceType.DATE,
    "time": SourceType.TIME,
    "datetime": SourceType.TIMESTAMP,
    "timestamp": SourceType.INSTANT,
    **dict.fromkeys(
        (
            *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"),
            *("geometrycollection", "geomcollection"),
        ),
        SourceType.GEOMETRY,
    ),
}
_MODIFIER = re.compile(r"\([^)]*\)")


def postgresql_type(text: str, *, is_enum: bool = False) -> ColumnType:
    """The type that ``format_type`` calls ``character varying(20)``, ``numeric(10,2)`` or ``integer[]``."""
    if is_enum:
        return ColumnType(SourceType.TEXT, text)
    if text.endswith("[]"):
        element = postgresql_type(text[:-2]).family
        return ColumnType(SourceType.ARRAY, text, element=element)
    base = " ".join(_MODIFIER.sub(" ", text).replace('"', "").split())
    if base.startswith("interval"):
        base = "interval"
    base = base.rpartition(".")[2]
    family = SourceType.TEXT if base in _POSTGRES_TEXTS else _POSTGRES.get(base, SourceType.OTHER)
    length = re.search(r"\((\d+)\)", text) if family is SourceType.BITS else None
    return ColumnType(family, text, length=int(length[1]) if length else None)


def mysql_type(data_type: str, column_type: str) -> ColumnType:
    """The type of ``information_schema``'s ``data_type`` (``bigint``) and ``column_type`` (``bigint(20) unsigned``)."""
    family = _MYSQL.get(data_type.lower(), SourceType.OTHER)
    if data_type.lower() == "bigint" and "unsigned" in column_type.lower():
        family = SourceType.UNSIGNED_BIGINT
    length = re.search(r"\((\d+)\)", column_type) if family is SourceType.BITS else None
    return ColumnType(
        family, column_type, length=int(length[1]) if length else 1 if family is SourceType.BITS else None
    )
