"""Which columns of a table are compared, by which rule, and which are left out and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from connectors.debezium.options import OutOfRange
from connectors.landing_zone.schema import PinnedSchema, type_from_text
from connectors.source_database.catalog import SourceColumn
from connectors.source_database.location import DatabaseKind
from streaming.reconciling.comparison import Comparison, comparison

_EXCLUDED = "it is not to land: excluded by the settings or the connector"


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
        unproven: source columns that should be in the mirror and cannot be compared: of a table in which one of them
            holds a value, it is not known whether it is equal.
    """

    kind: DatabaseKind
    compared: tuple[ComparedColumn, ...]
    left_out: tuple[LeftOutColumn, ...]
    deleted: str = ""
    unproven: tuple[SourceColumn, ...] = ()

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
    own: Collection[str] = (),
    deleted: str = "",
    excluded: Callable[[str], bool] = lambda name: False,
    rule: OutOfRange = OutOfRange.CLAMP,
    binary_mode: str | None = None,
) -> ColumnPlan:
    """The plan for a table.

    Args:
        source: the database's columns.
        masked: glob patterns of columns that land masked; never key columns.
        disguised: glob patterns of columns whose values the bridge changes on the way, key columns too.
        own: landed columns that are the bridge's, whatever columns the source has.
        deleted: landed column of soft deletes.
        excluded: whether a source column is not to land, by the settings or the connector's configuration; a key
            column always does.
        rule: what the bridge does with dates that a landing file cannot hold.
        binary_mode: the connector's ``binary.handling.mode``; None where it is not known.
    """
    by_name = _by_name(source)
    landed = Counter(column.source for column in pinned.columns)
    met = {
        by_name[column.source].name for column in pinned.columns if column.source in by_name and column.name not in own
    }
    compared: list[ComparedColumn] = []
    left_out: list[LeftOutColumn] = []
    unproven: dict[str, SourceColumn] = {}
    for column in pinned.columns:
        found = None if column.name in own else by_name.get(column.source)
        how = None if found is None else comparison(kind, found, type_from_text(column.type), rule, binary_mode)
        if column.name in own:
            reason = "it is the bridge's own"
        elif found is None:
            reason = "the source table has no such column now: it is the bridge's own, or was dropped"
        elif _matches(column.source, disguised) or (not column.key and _matches(column.source, masked)):
            reason = "the settings have its values changed on the way"
        elif not column.key and excluded(found.name):
            reason = _EXCLUDED
        elif found.generated:
            reason = "the database computes it, and Debezium sends such values only in snapshots"
        elif landed[column.source] > 1:
            reason = "its type changed, so its values are in several landed columns"
            unproven[found.name] = found
        elif how is None:
            reason = f"no rule compares {found.type.text} with {column.type}"
            unproven[found.name] = found
        else:
            compared.append(ComparedColumn(column.name, found, how, column.key))
            continue
        left_out.append(LeftOutColumn(column.name, reason))
    for one in source:
        if one.name in met:
            continue
        if excluded(one.name):
            reason = _EXCLUDED
        elif one.generated:
            reason = "it has not landed: the database computes it, and Debezium may not send such values"
        else:
            reason = "it has not landed: no event has had it yet"
            unproven[one.name] = one
        left_out.append(LeftOutColumn(one.name, reason))
    return ColumnPlan(
        kind,
        tuple(sorted(compared, key=lambda column: not column.key)),
        tuple(left_out),
        deleted,
        tuple(unproven.values()),
    )


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _by_name(source: Sequence[SourceColumn]) -> dict[str, SourceColumn]:
    """The columns by their names, and by those that Avro makes of them where no two columns share one.

    Avro's names have letters of ASCII, digits and underscores, and no digit in front: Debezium puts an underscore in
    place of any other sign, and one before such a digit (``field.name.adjustment.mode=avro``).
    """
    adjusted = Counter(_adjusted(column.name) for column in source)
    found = {_adjusted(column.name): column for column in source if adjusted[_adjusted(column.name)] == 1}
    return found | {column.name: column for column in source}


def _adjusted(name: str) -> str:
    replaced = re.sub("[^A-Za-z0-9_]", "_", name)
    return f"_{replaced}" if replaced[:1].isdigit() else replaced
