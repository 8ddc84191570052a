"""The source tables of a mirrored table, as the ledger names them."""

from __future__ import annotations

from collections.abc import Iterable

from connectors.debezium.schema import SourceTable
from connectors.landing_zone.ledger.state import TableState

Source = tuple[str, str | None, str]
"""Database, schema and name; None for a database without schemas."""


def source_of(table: SourceTable) -> Source:
    """The source's name as the ledger has it."""
    return table.database, table.schema, table.name


def sources_of(table: TableState) -> tuple[Source, ...]:
    """Every source table that lands in the table, each once: the one that it began with first."""
    return tuple(dict.fromkeys((table.source, *table.sources)))


def in_order(sources: Iterable[Source]) -> tuple[Source, ...]:
    """The sources sorted by name."""
    return tuple(sorted(sources, key=lambda source: tuple(part or "" for part in source)))


def source_text(source: Source) -> str:
    """``database.schema.table``, another text for another source.

    A part with a dot or a quote in it is quoted as in SQL (``shop."a.b".c``), and so is an empty one (``"".public.c``).
    """
    return ".".join(_quoted(part) for part in source if part is not None)


def _quoted(part: str) -> str:
    if part and "." not in part and '"' not in part:
        return part
    return '"' + part.replace('"', '""') + '"'
