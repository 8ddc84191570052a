"""Which landed columns PostgreSQL's catalog has under another name.

A column keeps its number in its table under whatever name, and one that is made again gets another (PostgreSQL manual,
"pg_attribute"). So each landed column's number is kept from the first look on at which its name is there. A column
that is renamed before that look is not recognised: which one it was, nobody can tell.

Nothing moves in the mirror: a renamed column is a new one there, and the old one stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import msgspec

from connectors.landing_zone.ledger.state import LedgerState, RenamedColumns, TableState
from connectors.landing_zone.schema import PinnedSchema
from streaming.driver.renamed_columns import replaced_by
from streaming.renamed import renamed_columns


class ColumnsCatalog(Protocol):
    """What is asked of :class:`connectors.source_database.relations.Catalog`."""

    def columns(self, oids: Collection[int]) -> dict[int, dict[int, str]]: ...


@dataclass(frozen=True)
class Columns:
    """A table's landed columns, in file order.

    Attributes:
        sources: the source's names, under which rows have landed.
        names: the names that they are known to have by now.
        numbers: in the source's table, of the first columns; 0 for one that is not known.
    """

    sources: tuple[str, ...]
    names: tuple[str, ...]
    numbers: tuple[int, ...]


def columns_of(table: TableState, state: LedgerState) -> Columns | None:
    """The table's columns; None before any has landed."""
    if not table.schema:
        return None
    sources = _sources(state.schemas[table.schema])
    known = renamed_columns(table)
    return Columns(sources, tuple(known.get(source, source) for source in sources), table.column_numbers)


@lru_cache(maxsize=4_096)
def _sources(schema: str) -> tuple[str, ...]:
    return tuple(column.source for column in msgspec.json.decode(schema, type=PinnedSchema).columns)


def columns_now(columns: Columns, catalog: Mapping[int, str]) -> Columns:
    """The columns with what the catalog has now.

    Args:
        catalog: the source's columns that exist, by number.
    """
    by_name = {name: number for number, name in catalog.items()}
    unknown = [0] * (len(columns.sources) - len(columns.numbers))
    known = zip(columns.sources, [*columns.numbers, *unknown], strict=True)
    numbers = [number or by_name.get(source, 0) for source, number in known]
    while (place := _made_anew(columns.sources, numbers, by_name)) is not None:
        # The later column of the name is the landed one from now on.
        numbers[place] = by_name[columns.sources[place]]
    named = zip(columns.names, numbers, strict=True)
    return Columns(columns.sources, tuple(catalog.get(number, name) for name, number in named), tuple(numbers))


def _made_anew(sources: Sequence[str], numbers: Sequence[int], by_name: Mapping[str, int]) -> int | None:
    """The first landed column whose name a column has that has landed under no name; None for none."""
    of_name = (by_name.get(source) for source in sources)
    return next((place for place, number in enumerate(of_name) if number and number not in numbers), None)


def replaced_columns(before: Columns | None, after: Columns) -> dict[str, str]:
    """As :func:`streaming.driver.renamed_columns.replaced_by`, of what one look has found new; empty for a new column.

    A landed column that has not been looked for may have landed by the rename itself, so only others have values of
    their own.
    """
    if before is None:
        return {}
    numbered = {source: number for source, number in zip(before.sources, before.numbers, strict=False) if number}
    numbers = dict(zip(after.sources, after.numbers, strict=True))
    anew = {source: numbers[source] for source, number in numbered.items() if numbers[source] != number}
    former = {number: name for number, name in zip(before.numbers, before.names, strict=False) if number}
    identity = {source: numbered.get(source, source) for source in before.sources}
    found = replaced_by(_names(before, anew), _names(after, anew), before.sources, numbered, identity)
    return found | {source: former.get(number, "") for source, number in anew.items()}


def _names(columns: Columns, without: Collection[str] = ()) -> dict[str, str]:
    named = zip(columns.sources, columns.names, strict=True)
    return {source: name for source, name in named if source != name and source not in without}


def with_columns(table: TableState, columns: Columns) -> TableState:
    """The table with the names and numbers that its columns have by now."""
    renamed = _names(columns)
    known = table.renamed_columns
    if renamed != renamed_columns(table):
        known = RenamedColumns(0, "", renamed)
    return msgspec.structs.replace(table, column_numbers=columns.numbers, renamed_columns=known)
