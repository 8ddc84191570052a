"""``resync``: a person lets a table begin anew."""

from __future__ import annotations

from connectors.debezium.schema import SourceTable
from connectors.landing_zone.ledger.state import RebuildKind, TableState, TableStatus
from connectors.landing_zone.requests import Answer, Request
from streaming.assemble import NAME_COLLISION
from streaming.lifecycle.answers import accepted, refused
from streaming.lifecycle.generations import UNDER_WAY
from streaming.lifecycle.pausing import unknown_table
from streaming.lifecycle.rebuilding import Rebuilding, kafka_tells
from streaming.plan import JobOptions
from streaming.startup import OpenZone

RESTART = "restart"
"""Argument of the request: begin anew even if a rebuild is under way."""
RESYNC = "resync"


class Resync:
    """Carries out ``resync``."""

    def __init__(self, opened: OpenZone, job: JobOptions, rebuilding: Rebuilding) -> None:
        self._opened = opened
        self._job = job
        self._rebuilding = rebuilding

    def __call__(self, request: Request) -> Answer:
        """Begin the table's rebuild, or join the one that is under way.

        A table that a truncate or a second snapshot has parked can be rebuilt from Kafka where Debezium takes no
        signals.

        Raises:
            FencedError: another driver owns the zone.
        """
        ledger, name = self._opened.ledger, request.table
        table = ledger.state.tables.get(name)
        if table is None:
            return unknown_table(request)
        if is_rebuilt(table) and not request.arguments.get(RESTART):
            return accepted(
                request, f"{name} is being rebuilt already: it is {table.status.value}", ledger.state.version
            )
        impossible = self._impossible(request, table)
        if impossible is not None:
            return impossible
        kind, reason = RebuildKind.SNAPSHOT, RESYNC
        why = self._rebuilding.refusal(name, table)
        if why is not None:
            if table.status is not TableStatus.PARKED or table.parked is None or not kafka_tells(table, table.parked):
                return refused(request, f"{name} cannot be rebuilt: {why[0]}", why[1])
            kind, reason = RebuildKind.KAFKA, table.parked.reason
        state = self._rebuilding.begin(name, kind, reason, handled=(request.id,))
        return accepted(request, f"{name} is rebuilt from version {state.version} on", state.version)

    def _impossible(self, request: Request, table: TableState) -> Answer | None:
        name = request.table
        if table.parked is not None and table.parked.reason == NAME_COLLISION:
            return refused(
                request,
                f"{name} has no folder of its own: {table.parked.message}",
                "carry it with a bridge and a zone of its own, or under a name of its own in a new zone",
            )
        if table.sources:
            return refused(
                request,
                f"{name} is merged from several source tables, and a snapshot brings back the rows of one of them",
                "begin anew with a bridge and a zone of its own for these tables",
            )
        if self._job.decode.rules.decoding_for(SourceTable(*table.source)) is None:
            return refused(
                request,
                f"the settings that the driver runs with exclude {name}",
                "include the table again (tables.include, tables.exclude), restart the bridge, and resync it then",
            )
        return None


def is_rebuilt(table: TableState) -> bool:
    """Whether a rebuild of the table is under way."""
    return table.status in UNDER_WAY or (table.status is TableStatus.CATCHING_UP and table.rebuild is not None)
