"""Tables that have another name at the source by now, whoever has told: PostgreSQL's catalog or Debezium."""

from __future__ import annotations

from collections.abc import Mapping

from connectors.landing_zone.ledger.state import TableState


def renamed_to(table: TableState) -> str:
    """The name that the source's table has by now; empty for a table that has its own, or whose name another one has.

    A later rename of the table is told of the table that is mirrored under the name in between.
    """
    if table.relation is not None and table.relation.renamed:
        return table.relation.renamed
    dropped = table.dropped
    if dropped is None or dropped.back or dropped.generation < table.generation:
        return ""
    return dropped.renamed


def renamed_columns(table: TableState) -> dict[str, str]:
    """The name that columns have at the source by now, by the one under which rows have landed."""
    return {} if table.renamed_columns is None else table.renamed_columns.columns


def rename_note(name: str) -> str:
    """What a person should know of a table that is renamed to ``name``."""
    return (
        f"renamed to {name} at the source: its mirror stays as it is and gets no more changes; the rows that change "
        "from now on land under the new name; `cdc-bridge resync CONFIG TABLE` fills that table"
    )


def columns_note(columns: Mapping[str, str]) -> str:
    """What a person should know of renamed columns, by the name under which rows have landed."""
    return (
        f"renamed columns at the source: {columns_text(columns)}; rows from before keep their values under the old "
        "names until they change; `cdc-bridge resync CONFIG TABLE` fills the new ones"
    )


def columns_text(columns: Mapping[str, str]) -> str:
    """``name to title, id to number``."""
    return ", ".join(f"{before} to {after}" for before, after in sorted(columns.items()))
