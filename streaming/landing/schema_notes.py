"""What a change of a table's columns is worth telling a person, once.

A column that is gone stays in the mirror, NULL in every row that changes from then on. A renamed column looks like one
that is gone and one that is new: which it was cannot be told from the events, so both are reported and nothing moves. A
new column is NULL in the rows that exist already, also where the source gave them a value: no event says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from connectors.debezium.schema import RowSchema
from connectors.landing_zone.evolution import ChangeKind, ColumnChange
from connectors.landing_zone.schema import PinnedSchema
from streaming.landing.own_columns import plain
from streaming.plan import TableOptions


@dataclass(frozen=True)
class SchemaNotes:
    """What there is to tell.

    Attributes:
        gone: the source columns that have landed and that the newest rows do not have, in file order.
    """

    notes: tuple[str, ...]
    gone: tuple[str, ...]


def schema_notes(
    pinned: PinnedSchema,
    changes: tuple[ColumnChange, ...],
    rows: RowSchema | None,
    landing: Collection[str],
    gone: tuple[str, ...],
) -> SchemaNotes:
    """Compare the columns of rows that land with those that have landed.

    Args:
        pinned: before these rows; changes: what they add to it.
        rows: the rows' columns at the source; None for rows that do not tell them all.
        landing: names of the columns that land, computed ones included.
        gone: what was known to be gone before.
    """
    notes = [
        f"new column {change.column.name} ({change.column.type})"
        + (f" instead of {change.replaces}" if change.replaces else "")
        for change in changes
    ]
    if rows is None:
        return SchemaNotes(tuple(notes), gone)
    present = {field.name for field in rows.fields}.union(landing)
    sources = dict.fromkeys(column.source for column in pinned.columns)
    now = tuple(name for name in sources if name not in present)
    lost = [name for name in now if name not in gone]
    back = [name for name in gone if name in present]
    added = [change.column.source for change in changes if change.kind is ChangeKind.ADDED]
    required = [name for name in added if name in rows.by_name and not rows.by_name[name].optional]
    if required:
        notes.append(
            f"rows that exist have a value in {_names(required)} at the source, and NULL in the mirror until they "
            "change; `cdc-bridge resync CONFIG TABLE` fills it"
        )
    if lost:
        notes.append(f"{_names(lost)} is gone from the rows: it stays, NULL in every row that changes from now on")
    if lost and added:
        notes.append(
            f"{_names(lost)} is gone and {_names(added)} is new in the same event: if it was renamed, old rows keep "
            f"their value in {_names(lost)}; `cdc-bridge resync CONFIG TABLE` fills {_names(added)}"
        )
    if back:
        notes.append(
            f"{_names(back)} is back in the rows: if it was dropped and made again, rows that have not changed since "
            "show the old values; `cdc-bridge resync CONFIG TABLE` mends them"
        )
    return SchemaNotes(tuple(notes), now)


def ignored_notes(ignored: Mapping[str, int], pinned: PinnedSchema) -> list[str]:
    """The values that landed as NULL because their column does not follow a changed type, per column of the file."""
    types = {column.name: column.type for column in pinned.columns}
    return [
        f"{count} value(s) of {name} are no {types[name]} and landed as NULL (policies.on_type_change: ignore)"
        for name, count in sorted(ignored.items())
    ]


def mask_notes(names: Collection[str], options: TableOptions) -> list[str]:
    """The patterns of columns to mask that take none of a table's first columns, which may land in the clear."""
    return [
        f"columns.mask: no column matches {pattern} (upper and lower case count): there are {_names(names)}"
        for pattern in options.mask
        if not any(fnmatchcase(name, pattern) for name in names)
    ]


def _names(names: Collection[str]) -> str:
    return ", ".join(map(plain, names))
