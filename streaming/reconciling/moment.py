"""What a comparison asks of one moment of the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from connectors.source_database.catalog import DatabaseTable, SourceColumn
from connectors.source_database.position import LogPosition
from connectors.source_database.snapshot import Columns, Value


class Moment(Protocol):
    """One moment of the database, see :class:`connectors.source_database.snapshot.Snapshot`."""

    @property
    def position(self) -> LogPosition | None: ...

    def rows(
        self, table: DatabaseTable, columns: Sequence[SourceColumn], order: Sequence[str], batch: int
    ) -> Iterator[Columns]: ...

    def rows_with(
        self, table: DatabaseTable, columns: Sequence[SourceColumn], key: Sequence[str], keys: Sequence[Sequence[Value]]
    ) -> Iterator[Columns]: ...

    def holding(self, table: DatabaseTable, columns: Sequence[SourceColumn]) -> tuple[SourceColumn, ...]: ...
