"""Comparing mirrored tables with the database they come from, cell by cell and typed.

The database is asked with ``SELECT *``; the mirror is what a replay of its landing files gives. A value counts as equal
only with the same type: 1, 1.0 and True differ, and so do -0.0 and 0.0.
"""

from __future__ import annotations

import json
import re
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID as Uuid

from psycopg.adapt import Loader

from connectors.landing_zone.replay import ObservationKind, ReplayedTable
from tests.rig.database import Database
from tests.rig.tables import INSTANT, Dialect, Table

EXAMPLES = 5
STRANGE = (
    ObservationKind.INSERT_OF_EXISTING_KEY,
    ObservationKind.UPDATE_OF_MISSING_KEY,
    ObservationKind.DELETE_OF_MISSING_KEY,
    ObservationKind.NULL_KEY,
    ObservationKind.KEYLESS_CHANGE,
)
"""What a history without repeats must not show."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """How one mirrored table compares.

    Attributes:
        rows: rows of the database; ``cells``: values compared.
        missing, extra: rows that only the database, or only the mirror has (for a table with key: by key).
        different: cells of rows that both have.
        examples: some of them, as text.
        doubled: inserts of keys that the mirror already had.
    """

    table: str
    rows: int
    cells: int
    missing: int = 0
    extra: int = 0
    different: int = 0
    examples: tuple[str, ...] = ()
    doubled: int = 0

    @property
    def equal(self) -> bool:
        return not (self.missing or self.extra or self.different or self.doubled)


def select(database: Database, dialect: Dialect, table: Table) -> list[Row]:
    """The rows of a table, with values in the form of the landing zone."""
    with database.connect() as connection:
        if dialect is Dialect.POSTGRESQL:
            for name in ("json", "jsonb"):
                connection.adapters.register_loader(name, _Text)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {dialect.quoted(table.name)}")
            names = [column[0] for column in cursor.description]
            kinds = {column.name: column.kind for column in table.columns}
            return [
                {name: _landed(value, kinds[name] is INSTANT) for name, value in zip(names, row, strict=True)}
                for row in cursor.fetchall()
            ]


def compare(table: Table, rows: Sequence[Row], replayed: ReplayedTable | None, *, avro_names: bool = False) -> Verdict:
    """Compare the rows that a table has with its mirror; None for a table that never landed.

    Args:
        avro_names: the connector had to adjust the names of columns (:data:`tests.rig.differences.AVRO_NAMES`).
    """
    landed = [] if replayed is None or not replayed.table.num_columns else replayed.table.to_pylist()
    renamed = {column.name: adjusted(column.name) if avro_names else column.name for column in table.columns}
    expected = [{renamed[name]: value for name, value in row.items()} for row in rows]
    # A table without rows shows no columns; one that had rows shows each.
    names = sorted(renamed.values())
    strange_columns = [sorted(landed[0])] if landed and sorted(landed[0]) != names else []
    doubled = 0
    if replayed is not None:
        doubled = sum(seen.count for seen in replayed.observations if seen.kind is STRANGE[0])
    cells = len(expected) * len(names)
    key = tuple(renamed[name] for name in table.key)
    if strange_columns:
        return Verdict(
            table.name,
            len(expected),
            cells,
            different=1,
            examples=(f"columns {strange_columns[0]} instead of {names}",),
        )
    missing, extra, different, examples = _by_key(key, expected, landed) if key else _as_bags(expected, landed)
    return Verdict(table.name, len(expected), cells, missing, extra, different, tuple(examples[:EXAMPLES]), doubled)


def adjusted(name: str) -> str:
    """A name as Debezium adjusts it for Avro."""
    return re.sub("^(?=[0-9])|[^A-Za-z0-9_]", "_", name)


def _by_key(key: tuple[str, ...], expected: Sequence[Row], landed: Sequence[Row]) -> tuple[int, int, int, list[str]]:
    mine = {tuple(row[name] for name in key): row for row in expected}
    theirs = {tuple(row[name] for name in key): row for row in landed}
    twice = len(landed) - len(theirs)
    missing = [at for at in mine if at not in theirs]
    extra = [at for at in theirs if at not in mine]
    examples = [f"missing: {mine[at]!r}" for at in missing[:EXAMPLES]]
    examples += [f"extra: {theirs[at]!r}" for at in extra[:EXAMPLES]]
    different = 0
    for at, row in mine.items():
        for name, value in theirs.get(at, row).items():
            if _identity(value) != _identity(row[name]):
                different += 1
                examples.append(f"{at}: {name} is {value!r} instead of {row[name]!r}")
    return len(missing), len(extra) + twice, different, examples


def _as_bags(expected: Sequence[Row], landed: Sequence[Row]) -> tuple[int, int, int, list[str]]:
    mine, theirs = Counter(map(_row_identity, expected)), Counter(map(_row_identity, landed))
    missing, extra = mine - theirs, theirs - mine
    examples = [f"missing: {row!r}" for row in list(missing)[:EXAMPLES]]
    examples += [f"extra: {row!r}" for row in list(extra)[:EXAMPLES]]
    return missing.total(), extra.total(), 0, examples


def _row_identity(row: Mapping[str, Any]) -> tuple[tuple[str, str, Any], ...]:
    return tuple(sorted((name, *_identity(value)) for name, value in row.items()))


def _identity(value: Any) -> tuple[str, Any]:
    if isinstance(value, float):
        return "float", struct.pack(">d", value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return "instant", value.astimezone(UTC).isoformat()
    return type(value).__name__, value if value is None else str(value) if not isinstance(value, bytes) else value.hex()


def _landed(value: Any, instant: bool) -> Any:
    """A driver's value as the landing zone has it (types as in ``connectors/debezium/types.py``)."""
    match value:
        case datetime():
            moment = value if value.tzinfo is not None or not instant else value.replace(tzinfo=UTC)
            return moment if moment.tzinfo is None else moment.astimezone(UTC)
        case time():
            return value.isoformat()
        case timedelta():
            return _clock(value)
        case Uuid():
            return str(value)
        case dict() | list():
            return json.dumps(value)
        case _:
            return value


def _clock(value: timedelta) -> str:
    """MariaDB's TIME, which may be negative or longer than a day."""
    micros = abs(value) // timedelta(microseconds=1)
    seconds, fraction = divmod(micros, 10**6)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{'-' if value < timedelta(0) else ''}{text}{f'.{fraction:06d}' if fraction else ''}"


class _Text(Loader):
    """JSON as the text that the database holds."""

    def load(self, data: Any) -> str:
        return bytes(data).decode()
