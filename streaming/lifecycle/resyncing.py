"""``resync``: a person lets a table begin anew."""

from __future__ import annotations

from connectors.command_lines import command
from connectors.debezium.schema import SourceTable
from connectors.landing_zone.ledger.state import RebuildKind, TableState, TableStatus
from connectors.landing_zone.requests import Answer, Request
from streaming.driver.startup import OpenZone
from streaming.lifecycle.answers import accepted, refused
from streaming.lifecycle.asked_rebuilds import kafka_tells
from streaming.lifecycle.catching_up import gone_before_rebuild
from streaming.lifecycle.generations import UNDER_WAY
from streaming.lifecycle.outside import Outside
from streaming.lifecycle.pausing import unknown_table
from streaming.lifecycle.rebuilding import Rebuilding
from streaming.lifecycle.unread_topics import unread_or_gone, unread_refusal
from streaming.plan import JobOptions

RESTART = "restart"
"""Argument of the request: begin anew even if a rebuild is under way, or if the history in the table goes with it."""
RESYNC = "resync"


class Resync:
    """Carries out ``resync``."""

    def __init__(self, opened: OpenZone, job: JobOptions, rebuilding: Rebuilding, outside: Outside) -> None:
        self._opened = opened
        self._job = job
        self._outside = outside
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
        refusal = self._impossible(request, table) or self._destructive(request, table)
        if refusal is not None:
            return refusal
        kind, reason = RebuildKind.SNAPSHOT, RESYNC
        why = self._rebuilding.refusal(name, table)
        if why is not None:
            parked, tables = table.parked, ledger.state.tables.values()
            if table.status is not TableStatus.PARKED or parked is None or not kafka_tells(table, parked, tables):
                return refused(request, f"{name} cannot be rebuilt: {why[0]}", why[1])
            kind, reason = RebuildKind.KAFKA, parked.reason
            gone = gone_before_rebuild(name, table, parked, ledger.state, self._outside)
            if gone is not None:
                return refused(
                    request, f"{name} cannot be rebuilt from what Kafka holds: {gone.message}; and {why[0]}", why[1]
                )
        state = self._rebuilding.begin(name, kind, reason, handled=(request.id,))
        return accepted(request, f"{name} is rebuilt from version {state.version} on", state.version)

    def _impossible(self, request: Request, table: TableState) -> Answer | None:
        name = request.table
        if table.parked is not None and not table.owns_folder:
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
        outside = self._outside
        if unread := unread_or_gone(name, self._opened.ledger.state, outside.subscribed(), outside.wanted):
            why, remedy = unread_refusal(unread, command("resync CONFIG {}", name))
            return refused(request, f"{name} cannot be rebuilt: {why}", remedy)
        return None

    def _destructive(self, request: Request, table: TableState) -> Answer | None:
        """Why a rebuild would lose rows or land them twice, without need or without being asked to."""
        name = request.table
        if table.history and not request.arguments.get(RESTART):
            return refused(
                request,
                f"{name} has every change as a row of its own, and a snapshot brings back only the rows of today: the "
                "changes that have landed would be lost",
                f"{command('resync CONFIG {} --restart', name)}, if they may go",
            )
        if self._rebuilding.may_be_snapshotted(table):
            return refused(
                request,
                f"{name} has no key, and Debezium has not said yet that the snapshot which it was asked for is over: "
                "the rows of a second one would land beside those of the first",
                "wait until `cdc-bridge status CONFIG` shows the table streaming or its snapshot failed; if Debezium "
                "has lost the signal, send it one for a blocking snapshot of the table, which fills it",
            )
        return None


def is_rebuilt(table: TableState) -> bool:
    """Whether a rebuild of the table is under way."""
    return table.status in UNDER_WAY or (table.status is TableStatus.CATCHING_UP and table.rebuild is not None)
