"""The tables that `check` looks for in the source database, with what the settings want of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from connectors.debezium.schema import SourceTable
from connectors.landing_zone.ledger.state import LedgerState
from connectors.source_database.captured import CapturedTable
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.location import DatabaseKind, DatabaseLocation
from streaming.not_landed import not_landed, source_table
from streaming.plan import JobOptions
from streaming.policies import OnMissingKey, OnTruncate, OnUnavailable
from streaming.sources import sources_of


@dataclass(frozen=True)
class Captured:
    """A table that the bridge mirrors, or is to mirror.

    Attributes:
        name: in the landing zone; before anything has landed, as the source names it.
        parks_unavailable: it is parked at a large value that the source did not send.
        wants_truncates: something is to happen on a truncate.
        parks_unkeyed: it is parked at its first record if that has no key.
        keys: the mirror's key columns, as the connector has told of them; empty where it has not.
    """

    name: str
    table: DatabaseTable
    parks_unavailable: bool = True
    wants_truncates: bool = True
    parks_unkeyed: bool = False
    keys: tuple[str, ...] = ()


def of_ledger(job: JobOptions, state: LedgerState, kind: DatabaseKind) -> tuple[Captured, ...]:
    """All sources of the ledger's tables as the database names them."""
    found: list[Captured] = []
    for name, table in sorted(state.tables.items()):
        for source in sources_of(table):
            options = job.options_for(SourceTable(*source))
            decoding = job.decode.rules.decoding_for(SourceTable(*source))
            told = not table.history and (decoding is None or not decoding.keys)
            found.append(
                Captured(
                    name,
                    DatabaseTable.of_events(kind, *source),
                    parks_unavailable=options.on_unavailable is OnUnavailable.PARK,
                    wants_truncates=options.on_truncate is not OnTruncate.IGNORE,
                    # One that has landed has shown what key its records have.
                    parks_unkeyed=not table.sequence and _parks_unkeyed(job, SourceTable(*source)),
                    keys=table.keys if told else (),
                )
            )
    return tuple(found)


def before_landing(
    job: JobOptions, state: LedgerState, location: DatabaseLocation, captured: Iterable[CapturedTable]
) -> tuple[Captured, ...]:
    """Those of the connector's tables of which nothing has landed."""
    found: list[Captured] = []
    for one in not_landed(captured, job.decode, location, state):
        source = source_table(location, one.table)
        options = job.options_for(source)
        found.append(
            Captured(
                str(one.table),
                one.table,
                parks_unavailable=options.on_unavailable is OnUnavailable.PARK,
                wants_truncates=options.on_truncate is not OnTruncate.IGNORE,
                parks_unkeyed=_parks_unkeyed(job, source),
            )
        )
    return tuple(found)


def _parks_unkeyed(job: JobOptions, source: SourceTable) -> bool:
    decoding = job.decode.rules.decoding_for(source)
    needs_key = decoding is None or not (decoding.keys or decoding.append)
    return needs_key and job.options_for(source).on_missing_key is OnMissingKey.PARK
