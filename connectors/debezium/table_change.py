"""A change of a table's definition, as Debezium's schema-change topic tells it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from connectors.debezium.schema import SourceTable


class TableChangeKind(enum.StrEnum):
    """``tableChanges[].type`` (Debezium documentation, "Schema change topic" of each connector), and a rename.

    Debezium tells a rename as an ``ALTER`` of the new name, and a database's drop by its statement alone.
    """

    CREATE = "CREATE"
    ALTER = "ALTER"
    DROP = "DROP"
    RENAME = "RENAME"
    """The table has another name from here on, and nobody has the one that it had."""
    DROP_DATABASE = "DROP DATABASE"
    """Every table of the database is gone; the one that is named has its database alone."""


@dataclass(frozen=True)
class TableChange:
    """A change of one table's definition, made while the connector streamed.

    Attributes:
        position: where it stands in the source's log, as two words (:func:`connectors.debezium.position.positions`);
            zeros where the record has none.
        source_ms: when, by the source's clock, milliseconds since 1970; 0 where unknown.
        statement: the statement, shortened, for people.
        other: of a ``RENAME`` the name after; of an ``ALTER`` that gave the table its name, the name before.
        columns: those that an ``ALTER`` has renamed, all at once: pairs of the name before, as the statement spells it,
            and after.
        anew: those that it has made anew under a name that it took away from another column.
        present: of an ``ALTER`` every column that the table has behind it; empty where nothing says so.
        stale_columns: a ``DROP`` by a statement that made the table again, of whose columns Debezium has taken no note:
            it reads the new table's rows by those of the one that is gone.
        unread: the statement of an ``ALTER`` may rename something, and nobody can tell what.
    """

    kind: TableChangeKind
    table: SourceTable
    position: tuple[int, int]
    source_ms: int = 0
    statement: str = ""
    other: SourceTable | None = None
    columns: tuple[tuple[str, str], ...] = ()
    anew: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    stale_columns: bool = False
    unread: bool = False
