"""Which columns of a table are compared, by which rule, and which are left out and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from connectors.debezium.options import OutOfRange
from connectors.landing_zone.schema import PinnedSchema, type_from_text
from connectors.source_database.catalog import SourceColumn
from connectors.source_database.location import DatabaseKind
from streaming.reconciling.comparison import Comparison, comparison


@dataclass(frozen=True)
class ComparedColumn:
    """A column on both sides.

    Attributes:
        name: in the landing zone.
    """

    name: str
    source: SourceColumn
    rule: Comparison
    key: bool


@dataclass(frozen=True)
class LeftOutColumn:
    """A column that is not compared; ``reason`` is one sentence for a person."""

    name: str
    reason: str


@dataclass(frozen=True)
class ColumnPlan:
    """The columns of one table.

    Attributes:
        compared: key columns first.
        deleted: landed column that says that a row was deleted at the source; empty where such rows are gone.
    """

    kind: DatabaseKind
    compared: tuple[ComparedColumn, ...]
    left_out: tuple[LeftOutColumn, ...]
    deleted: str = ""

    @property
    def key(self) -> tuple[ComparedColumn, ...]:
        """The columns by which a row is found; empty for a table that has no key."""
        return tuple(column for column in self.compared if column.key)

    @property
    def identity(self) -> tuple[ComparedColumn, ...]:
        """The columns that make a row the same row: its key, or all of them."""
        return self.key or self.compared


def plan_columns(
    kind: DatabaseKind,
    source: Sequence[SourceColumn],
    pinned: PinnedSchema,
    *,
    masked: Sequence[str] = (),
    disguised: Sequence[str] = (),
    deleted: str = "",
    rule: OutOfRange = OutOfRange.CLAMP,
    binary_mode: str | None = None,
) -> ColumnPlan:
    """The plan for a table.

    Args:
        source: the database's columns.
        masked: glob patterns of columns that land masked; never key columns.
        disguised: glob patterns of columns whose values the bridge changes on the way, key columns too.
        deleted: landed column of soft deletes.
        rule: what the bridge does with dates that a landing file cannot hold.
        binary_mode: the connector's ``binary.handling.mode``; None where it is not known.
    """
    by_name = _by_name(source)
    landed = Counter(column.source for column in pinned.columns)
    met = {by_name[column.source].name for column in pinned.columns if column.source in by_name}
    compared: list[ComparedColumn] = []
    left_out: list[LeftOutColumn] = []
    for column in pinned.columns:
        found = by_name.get(column.source)
        how = None if found is None else comparison(kind, found, type_from_text(column.type), rule, binary_mode)
        if found is None:
            reason = "the source table has no such column now: it is the bridge's own, or was dropped"
        elif _matches(column.source, disguised) or (not column.key and _matches(column.source, masked)):
            reason = "the settings have its values changed on the way"
        elif found.generated:
            reason = "the database computes it, and Debezium sends such values only in snapshots"
        elif landed[column.source] > 1:
            reason = "its type changed, so its values are in several landed columns"
        elif how is None:
            reason = f"no rule compares {found.type.text} with {column.type}"
        else:
            compared.append(ComparedColumn(column.name, found, how, column.key))
            continue
        left_out.append(LeftOutColumn(column.name, reason))
    left_out += [
        LeftOutColumn(column.name, "it has not landed: excluded by the settings, or not in any event yet")
        for column in source
        if column.name not in met
    ]
    return ColumnPlan(kind, tuple(sorted(compared, key=lambda column: not column.key)), tuple(left_out), deleted)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _by_name(source: Sequence[SourceColumn]) -> dict[str, SourceColumn]:
    """The columns by their names, and by those that Avro makes of them where no two columns share one.

    Avro's names have letters of ASCII, digits and underscores (Debezium, ``field.name.adjustment.mode=avro``).
    """
    adjusted = Counter(_adjusted(column.name) for column in source)
    found = {_adjusted(column.name): column for column in source if adjusted[_adjusted(column.name)] == 1}
    return found | {column.name: column for column in source}


def _adjusted(name: str) -> str:
    replaced = re.sub("[^A-Za-z0-9_]", "_", name)
    return f"_{replaced}" if replaced[:1].isdigit() else replaced
