"""A change of a table's definition, as Debezium's schema-change topic tells it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from connectors.debezium.schema import SourceTable


class TableChangeKind(enum.StrEnum):
    """``tableChanges[].type`` (Debezium documentation, "Schema change topic" of each connector)."""

    CREATE = "CREATE"
    ALTER = "ALTER"
    DROP = "DROP"


@dataclass(frozen=True)
class TableChange:
    """A change of one table's definition, made while the connector streamed.

    Attributes:
        position: where it stands in the source's log, as two words (:func:`connectors.debezium.position.positions`);
            zeros where the record has none.
        source_ms: when, by the source's clock, milliseconds since 1970; 0 where unknown.
        statement: the statement, shortened, for people.
    """

    kind: TableChangeKind
    table: SourceTable
    position: tuple[int, int]
    source_ms: int = 0
    statement: str = ""
