"""Tables whose changes the connector sends, that the settings carry, and of which nothing has landed."""

from __future__ import annotations

from collections.abc import Iterable

from connectors.debezium.options import DecodeOptions
from connectors.debezium.schema import SourceTable
from connectors.landing_zone.ledger.state import LedgerState
from connectors.source_database.captured import CapturedTable
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.location import DatabaseKind, DatabaseLocation
from streaming.sources import sources_of


def not_landed(
    captured: Iterable[CapturedTable], decode: DecodeOptions, location: DatabaseLocation, state: LedgerState
) -> tuple[CapturedTable, ...]:
    """Those of the captured tables that are not excluded and not in the ledger.

    A part of a partitioned table is known to the ledger under its own name or under that of a table that it is a part
    of, and a partitioned table under its own or under that of a part.
    """
    known = {
        DatabaseTable.of_events(location.kind, *source)
        for table in state.tables.values()
        for source in sources_of(table)
    }
    return tuple(
        one
        for one in captured
        if known.isdisjoint((one.table, *one.relatives)) and not _left_out(source_table(location, one.table), decode)
    )


def source_table(location: DatabaseLocation, table: DatabaseTable) -> SourceTable:
    """The table as the ``source`` block of its events names it."""
    if location.kind is DatabaseKind.POSTGRESQL:
        return SourceTable(location.database or "", table.schema, table.name)
    return SourceTable(table.schema, None, table.name)


def _left_out(source: SourceTable, decode: DecodeOptions) -> bool:
    return decode.is_signal_table(source) or decode.rules.decoding_for(source) is None
