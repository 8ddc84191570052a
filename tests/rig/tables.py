"""The tables of the random workload: columns, keys and names that are hard to carry over."""

from __future__ import annotations

import enum
import json
import random
import string
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

_ALPHABET = string.ascii_letters + string.digits + " .,;'\"\\/%_-äöüß€日本語😀\t\n"
_WIDE_CHARACTERS = 9_000


class Dialect(enum.StrEnum):
    """SQL of a database of the rig."""

    POSTGRESQL = "postgresql"
    MARIADB = "mariadb"

    def quoted(self, name: str) -> str:
        """An identifier as it is."""
        sign = '"' if self is Dialect.POSTGRESQL else "`"
        return f"{sign}{name.replace(sign, sign * 2)}{sign}"


@dataclass(frozen=True)
class Kind:
    """A column's type.

    Attributes:
        postgresql, mariadb: SQL.
        declared: as the bridge's settings declare it for PostgreSQL's plain JSON.
        draw: a random value as a parameter for the driver.
    """

    postgresql: str
    mariadb: str
    declared: str
    draw: Callable[[random.Random], Any]

    def sql(self, dialect: Dialect) -> str:
        return self.postgresql if dialect is Dialect.POSTGRESQL else self.mariadb


def _text(source: random.Random, most: int = 20) -> str:
    return "".join(source.choices(_ALPHABET, k=source.randint(0, most)))


def _wide(source: random.Random) -> str:
    # Random letters do not compress, so PostgreSQL stores them out of line.
    return "".join(source.choices(string.ascii_letters + string.digits, k=source.randint(5_000, _WIDE_CHARACTERS)))


def _moment(source: random.Random) -> datetime:
    return datetime(1971, 1, 1) + timedelta(microseconds=source.randrange(66 * 365 * 86_400 * 10**6))


def _document(source: random.Random) -> str:
    return json.dumps({"a": source.randint(0, 9), "ü": [_text(source, 5), None, True]}, ensure_ascii=False)


INT = Kind("integer", "int", "int32", lambda source: source.randint(-(2**31), 2**31 - 1))
BIGINT = Kind("bigint", "bigint", "int64", lambda source: source.randint(-(2**63), 2**63 - 1))
SMALLINT = Kind("smallint", "smallint", "int16", lambda source: source.randint(-(2**15), 2**15 - 1))
BOOLEAN = Kind("boolean", "tinyint(1)", "boolean", lambda source: source.random() < 0.5)
DOUBLE = Kind("double precision", "double", "float64", lambda source: source.choice([0.0, 1e300, source.gauss(0, 1e6)]))
AMOUNT = Kind(
    "numeric(18,4)",
    "decimal(18,4)",
    "decimal(18,4)",
    lambda source: Decimal(source.randint(-(10**18) + 1, 10**18 - 1)).scaleb(-4),
)
TEXT = Kind("text", "text", "string", _text)
VARCHAR = Kind("varchar(40)", "varchar(40)", "string", _text)
WIDE = Kind("text", "mediumtext", "string", _wide)
BYTES = Kind("bytea", "varbinary(40)", "bytes", lambda source: source.randbytes(source.randint(0, 40)))
DATE = Kind("date", "date", "date", lambda source: date(1600, 1, 1) + timedelta(days=source.randrange(3_000_000)))
CLOCK = Kind(
    "time(6)",
    "time(6)",
    "time(us)",
    lambda source: (datetime.min + timedelta(microseconds=source.randrange(86_400 * 10**6))).time(),
)
MOMENT = Kind("timestamp(6)", "datetime(6)", "timestamp(us)", _moment)
INSTANT = Kind("timestamptz(6)", "timestamp(6) NULL", "timestamptz", lambda source: _moment(source).replace(tzinfo=UTC))
DOCUMENT = Kind("jsonb", "json", "json", _document)
UUID = Kind("uuid", "char(36)", "uuid", lambda source: str(uuid.UUID(bytes=source.randbytes(16))))


@dataclass(frozen=True)
class Column:
    """A column; key columns are never NULL, others are in one of ten rows."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Table:
    """A table of the workload.

    Attributes:
        key: key columns in key order, empty for a table that only gets inserts. Each is of a whole-number or text kind.
        declared_key: the database does not know the key; the connector is told of it (``message.key.columns``).
        key_in_settings: nor is the connector: its records have no key, and the bridge is told of it (``keys``).
        full_identity: PostgreSQL's REPLICA IDENTITY FULL.
        truncated: emptied by DELETE and then truncated, now and then.
        weight: how often it is chosen; 0 never.
        stays_empty: it never gets a row.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ("id",)
    declared_key: bool = False
    key_in_settings: bool = False
    full_identity: bool = False
    truncated: bool = False
    weight: int = 1
    stays_empty: bool = False

    @property
    def known_key(self) -> bool:
        """Whether the database knows its key."""
        return bool(self.key) and not self.declared_key and not self.key_in_settings

    @property
    def others(self) -> tuple[Column, ...]:
        """The columns that are not in the key."""
        return tuple(column for column in self.columns if column.name not in self.key)

    def ddl(self, dialect: Dialect) -> list[str]:
        """Statements that create it."""
        columns = [
            f"{dialect.quoted(column.name)} {column.kind.sql(dialect)}{' NOT NULL' if column.name in self.key else ''}"
            for column in self.columns
        ]
        key = ", ".join(map(dialect.quoted, self.key))
        if self.known_key:
            columns.append(f"PRIMARY KEY ({key})")
        statements = [f"CREATE TABLE {dialect.quoted(self.name)} ({', '.join(columns)})"]
        if dialect is Dialect.POSTGRESQL:
            statements += [
                f"ALTER TABLE {dialect.quoted(self.name)} ALTER {dialect.quoted(column.name)} SET STORAGE EXTERNAL"
                for column in self.columns
                if column.kind is WIDE
            ]
            if self.full_identity:
                statements.append(f"ALTER TABLE {dialect.quoted(self.name)} REPLICA IDENTITY FULL")
        if self.key and not self.known_key:
            statements.append(f"CREATE INDEX {self.name}_key ON {dialect.quoted(self.name)} ({key})")
        return statements


_ID = Column("id", INT)
_ORDERS = Table(
    "orders",
    (
        Column("id", BIGINT),
        Column("customer", VARCHAR),
        Column("count", SMALLINT),
        Column("amount", AMOUNT),
        Column("paid", BOOLEAN),
        Column("weight", DOUBLE),
        Column("note", TEXT),
        Column("scan", BYTES),
        Column("day", DATE),
        Column("at_time", CLOCK),
        Column("placed", MOMENT),
        Column("shipped", INSTANT),
        Column("extra", DOCUMENT),
        Column("reference", UUID),
    ),
    weight=6,
)


def _named(name: str, *columns: str) -> Table:
    return Table(name, (_ID, *(Column(column, VARCHAR) for column in columns)))


COMPOSITE = Table(
    'com"posite käy',
    (Column("note", TEXT), Column("part no", INT), Column("Größe", VARCHAR)),
    ("Größe", "part no"),
    weight=3,
)
BULK = Table("bulk", (_ID, Column("run", INT), Column("payload", VARCHAR)), weight=0)
NO_KEY = Table("no_key", (Column("line", VARCHAR), Column("at", MOMENT)), ())

TABLES: tuple[Table, ...] = (
    _ORDERS,
    COMPOSITE,
    Table("full_identity", (_ID, Column("body", WIDE), Column("state", SMALLINT)), full_identity=True, weight=3),
    Table(
        "declared_key",
        (Column("code", INT), Column("label", VARCHAR)),
        ("code",),
        declared_key=True,
        full_identity=True,
    ),
    Table(
        "key_in_settings",
        (Column("code", INT), Column("label", VARCHAR)),
        ("code",),
        key_in_settings=True,
        full_identity=True,
    ),
    NO_KEY,
    BULK,
    Table("emptied", (_ID, Column("label", VARCHAR)), truncated=True, weight=1),
    Table("empty", (_ID, Column("label", VARCHAR)), weight=0, stays_empty=True),
    _named("with space", "a b", " c"),
    _named("dot.ted", "x.y"),
    _named('quo"ted', "it's", 'say "so"'),
    _named("MixedCase", "CamelCase", "lower"),
    _named("select", "order", "from"),
    _named("ключ", "значение", "Größe", "表"),
    _named("col lide", "value"),
    _named("col_lide", "value"),
)
"""``col lide`` and ``col_lide`` share a topic, and their keys are the same."""
