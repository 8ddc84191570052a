"""Whether the connector sends values as the database has them: properties that cut, hash or mask columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from connectors.source_database.altered_columns import (
    Alteration,
    AlteringProperty,
    TextColumn,
    altered_columns,
    altering_properties,
)
from connectors.source_database.catalog import DatabaseTable
from streaming.checks.captured import Captured
from streaming.checks.check import Check, warning

SHOWN = 20
"""Columns that are named, per property."""

_REMEDY = (
    "nothing if that is meant; otherwise remove the property, then `cdc-bridge resync CONFIG TABLE`; to hide values in "
    "the mirror alone, and have `reconcile` know it, use tables.overrides[].columns"
)


def check_altered_columns(
    config: Mapping[str, str], tables: Sequence[Captured], columns: Mapping[DatabaseTable, Sequence[TextColumn]]
) -> Iterator[Check]:
    """One warning per property that alters columns of the tables.

    Args:
        tables: that the bridge mirrors, or is to mirror.
        columns: of text, by table.
    """
    for altering in altering_properties(config):
        found: dict[str, None] = {}
        keys: dict[str, None] = {}
        for one in tables:
            for column in altered_columns(config, altering, columns.get(one.table, ())):
                name = f"{one.table}.{column.name}"
                found[name] = None
                if column.name in one.keys:
                    keys[name] = None
        if found:
            yield _altered(altering, f"in {_named(list(found))}", f" ({_named(list(keys))})" if keys else "")


def check_altering_properties(config: Mapping[str, str]) -> Iterator[Check]:
    """The same where the database is not asked which columns there are."""
    for altering in altering_properties(config):
        yield _altered(altering, f"in the columns that match {altering.columns}", "")


def _altered(altering: AlteringProperty, where: str, keys: str) -> Check:
    match altering.alteration:
        case Alteration.CUT:
            what = f"cuts values to {altering.detail} characters"
        case Alteration.MASKED:
            what = f"sends {altering.detail} asterisks instead of the value"
        case Alteration.HASHED:
            what = f"sends the {altering.detail} hash instead of the value"
        case _:
            assert_never(altering.alteration)
    alike = f", and rows whose keys become alike by it are one row{keys}" if keys else ""
    return warning(
        f"connector {altering.name}",
        f"{what} {where}: there the mirror does not equal the database, and `reconcile` shows a difference{alike}",
        _REMEDY,
    )


def _named(columns: list[str]) -> str:
    more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN else ""
    return ", ".join(columns[:SHOWN]) + more
