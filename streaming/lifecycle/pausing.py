"""``pause`` and ``resume``: a person lets a table stand still, and go on again."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec.structs import replace

from connectors.command_lines import command
from connectors.debezium.schema import SourceTable
from connectors.errors import BridgeError
from connectors.landing_zone.backoff import persist
from connectors.landing_zone.ledger.adopted import NOT_ADOPTED
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.lost import UNPROVEN
from connectors.landing_zone.ledger.state import LedgerState, Parked, Rebuild, RebuildKind, TableState, TableStatus
from connectors.landing_zone.recovery import inspect_table, recover
from connectors.landing_zone.requests import SEEN_REASON, Answer, Request
from streaming.driver.publishing import metadata_as_written, table_metadata
from streaming.driver.resuming import REBUILDING, ZONE_REASON, resume_of, stopped
from streaming.driver.startup import OpenZone, excluded_sources
from streaming.lifecycle.answers import accepted, refused
from streaming.lifecycle.asked_rebuilds import settings_ask
from streaming.lifecycle.catching_up import offsets_behind, ranges_to_land, require_records
from streaming.lifecycle.generations import DROPPED
from streaming.lifecycle.outside import Outside
from streaming.lifecycle.stopping import StopReason
from streaming.lifecycle.unread_topics import (
    missed_topics,
    not_among,
    read_by_settings,
    unread_refusal,
    unread_topics,
)
from streaming.plan import JobOptions
from streaming.wording import count_text

_FOREIGN_FOLDER = f"{ZONE_REASON}foreign_folder"
_INCOMPLETE = (StopReason.SNAPSHOT_FAILED, _FOREIGN_FOLDER)
_WITHOUT_FOLDER = (TableStatus.DELETING, TableStatus.CLEARED)


class Pause:
    """Carries out ``pause``."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def __call__(self, request: Request) -> Answer:
        """Park the table where the ledger ends; one that stands still already stays as it is."""
        ledger, name = self._ledger, request.table
        table = ledger.state.tables.get(name)
        if table is None:
            return unknown_table(request)
        if table.status is TableStatus.PARKED and table.parked is not None:
            if table.parked.rebuild is not None:
                return self._postponed(request, table, table.parked)
            return accepted(
                request,
                f"{name} stands still already ({table.parked.reason}): {table.parked.message}",
                ledger.state.version,
            )
        if table.status in _WITHOUT_FOLDER:
            return refused(
                request,
                f"{name} is being rebuilt, and its folder is not there to stand still",
                "wait until `cdc-bridge status CONFIG` shows it filling or streaming, then pause it",
            )
        paused = stopped(
            table,
            resume_of(table, ledger.state.topics),
            reason="paused",
            message=f"{request.by} paused it",
            remedy=f"{command('resume CONFIG {}', name)} when it is to go on, before Kafka's retention removes what it "
            "passes over",
        )
        state = ledger.commit(Draft(tables={name: paused}, handled=(request.id,)))
        return accepted(request, f"{name} stands still from version {state.version} on", state.version)

    def _postponed(self, request: Request, table: TableState, parked: Parked) -> Answer:
        """Keep a table where it stands whose rebuild has not begun yet; it begins with the table's :class:`Resume`."""
        name = request.table
        dropped = parked.reason == DROPPED
        again = command("resume CONFIG {}", name)
        waits = "when its mirror is to be dropped, as the settings ask"
        if not dropped:
            waits = "when it is to go on; the rebuild that the settings ask for begins then"
        stays = replace(parked, rebuild=None, postponed=parked.rebuild, remedy=f"{again} {waits}")
        state = self._ledger.commit(Draft(tables={name: replace(table, parked=stays)}, handled=(request.id,)))
        until = "its mirror stays" if dropped else "is not rebuilt"
        return accepted(
            request,
            f"{name} stands still ({parked.reason}) from version {state.version} on and {until} until {again}",
            state.version,
        )


class Resume:
    """Carries out ``resume``.

    Args:
        sleep: waits so many seconds before a request to the storage is repeated.
    """

    def __init__(
        self, opened: OpenZone, job: JobOptions, outside: Outside, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._opened = opened
        self._job = job
        self._outside = outside
        self._sleep = sleep

    def __call__(self, request: Request) -> Answer:
        """Let the table catch up, if what it passed over is still in Kafka and its folder is as the ledger left it.

        A table that was stopped before its rebuild began is rebuilt instead, if the settings still ask for that. One
        that stands still for something else as well, beneath a fault, stands still for that then.

        Raises:
            RecordsGoneError, TopicNotFoundError, TopicRecreatedError: it is not; nothing was written.
            FencedError: another driver owns the zone.
        """
        ledger, name = self._opened.ledger, request.table
        table = ledger.state.tables.get(name)
        if table is None:
            return unknown_table(request)
        if table.status is not TableStatus.PARKED or table.parked is None:
            return accepted(request, _going_on_already(name, table, ledger.state), ledger.state.version)
        refusal = _other_reason(request, table.parked) or self._refusal(request, table, table.parked)
        if refusal is not None:
            return refusal
        asked = self._asked(table, table.parked)
        beneath = table.parked.beneath
        to_drop = any(
            stop is not None and stop.reason == DROPPED and self._asked(table, stop) for stop in (table.parked, beneath)
        )
        state, outside = ledger.state, self._outside
        subscription, there = read_by_settings(state, outside.subscribed(), outside.wanted, outside.names)
        unread = missed_topics(name, state.tables, subscription) or unread_topics(name, state.tables, there)
        if unread and not to_drop:
            why, remedy = unread_refusal(unread, command("resume CONFIG {}", name))
            return refused(request, f"{name} cannot go on: {why}", remedy)
        if beneath is not None and beneath.reason == REBUILDING:
            return self._rebuilt_further(request, table, table.parked, beneath)
        if asked is not None:
            return self._rebuilt(request, table, table.parked, asked)
        if table.doubled:
            return _doubled(request)
        ranges = ranges_to_land(table, ledger.state)
        if not to_drop:
            require_records(ranges, self._outside.topics(sorted(ranges)), name)
        damage = self._damage(name, table)
        if damage is not None:
            return refused(request, f"its folder is not as the ledger left it: {damage.message}", damage.remedy)
        if beneath is not None:
            return self._still(request, table, table.parked, beneath)
        going_on = replace(table.parked, rebuild=None, postponed=None)
        left_out = not_among(table, subscription)
        catching_up = replace(table, status=TableStatus.CATCHING_UP, parked=going_on, left_out=left_out)
        behind = offsets_behind(table, ledger.state)
        state = ledger.commit(Draft(tables={name: catching_up}, handled=(request.id,)))
        return accepted(request, f"{name} catches up: {count_text(behind, 'offset')} to read", state.version)

    def _rebuilt(self, request: Request, table: TableState, parked: Parked, asked: RebuildKind) -> Answer:
        """Ask for the rebuild again that the table's policy has asked for, which is the next of the chores."""
        name = request.table
        again = replace(table, parked=replace(parked, rebuild=asked, postponed=None))
        state = self._opened.ledger.commit(Draft(tables={name: again}, handled=(request.id,)))
        message = f"{name} is rebuilt, as the settings ask ({parked.reason})"
        if parked.reason == DROPPED:
            message = f"the mirror of {name} is dropped, as the settings ask"
        return accepted(request, message, state.version)

    def _rebuilt_further(self, request: Request, table: TableState, fault: Parked, beneath: Parked) -> Answer:
        """Go on with a rebuild that a fault has stopped before the table's folder was gone for good."""
        name, opened = request.table, self._opened
        if fault.reason == _FOREIGN_FOLDER and persist(lambda: opened.zone.stat(table.folder), sleep=self._sleep):
            return refused(
                request,
                f"the folder is still there that something else has made: {fault.message}",
                fault.remedy,
            )
        stays = replace(beneath, resume=fault.resume, skipped=fault.skipped)
        further = replace(table, status=TableStatus.DELETING, parked=stays)
        state = opened.ledger.commit(Draft(tables={name: further}, handled=(request.id,)))
        return accepted(request, f"{name} goes on being rebuilt", state.version)

    def _still(self, request: Request, table: TableState, fault: Parked, beneath: Parked) -> Answer:
        """Let the table stand still for what lay beneath."""
        name = request.table
        stays = replace(beneath, resume=fault.resume, skipped=fault.skipped)
        state = self._opened.ledger.commit(Draft(tables={name: replace(table, parked=stays)}, handled=(request.id,)))
        now = state.tables[name].parked or stays
        message = f"{name} need not stand still for that any more ({fault.reason}), but still does ({now.reason})"
        if now.rebuild is not None and self._asked(table, now):
            message = f"{message}, and what the settings ask for then begins: {now.message}"
        else:
            message = f"{message}: {now.message}. What to do: {now.remedy}"
        return accepted(request, message, state.version)

    def _asked(self, table: TableState, stop: Parked) -> RebuildKind | None:
        """The rebuild that the stop asks for, if the settings still do."""
        asks = settings_ask(stop.reason, self._job.options_for(SourceTable(*table.source)))
        return (stop.rebuild or stop.postponed) if asks else None

    def _refusal(self, request: Request, table: TableState, parked: Parked) -> Answer | None:
        name = request.table
        if not table.owns_folder:
            return refused(
                request,
                f"{name} has no folder of its own: {parked.message}",
                "carry it with a bridge and a zone of its own, or under a name of its own in a new zone",
            )
        if parked.reason in (UNPROVEN, NOT_ADOPTED):
            return refused(
                request,
                f"nobody knows what {name} has landed: {parked.message}",
                command("resync CONFIG {}", name),
            )
        if parked.reason == StopReason.TOPIC_RECREATED:
            return refused(
                request,
                f"nobody knows what {name} would miss: {parked.message}",
                command("resync CONFIG {}", name),
            )
        further = parked.beneath is not None and parked.beneath.reason == REBUILDING
        if table.rebuild is not None and not further and _incomplete(table.rebuild, parked):
            return refused(
                request,
                f"{name} was being rebuilt and is not complete: {parked.message}",
                f"{command('resync CONFIG {}', name)}, once the cause is mended",
            )
        excluded = excluded_sources(table, self._job)
        if excluded:
            return refused(
                request,
                f"the settings that the driver runs with exclude {', '.join(excluded) if table.sources else name}",
                "include the table again (tables.include, tables.exclude), restart the bridge, and resume it then",
            )
        return None

    def _damage(self, name: str, table: TableState) -> BridgeError | None:
        """What is wrong with the table's folder; its pending file is published on the way if nothing is."""
        opened = self._opened
        opened.ledger.check_fence()
        file = opened.ledger.state.pending.get(name)
        if file is None:
            written = metadata_as_written({name: table}, opened.ledger.state, self._job).get(name)
            return persist(lambda: inspect_table(opened.zone, table, written), sleep=self._sleep)
        metadata = table_metadata({name: file}, opened.ledger.state, self._job)
        published = recover(opened.zone, {name: file}, metadata, threads=1, sleep=self._sleep)
        opened.ledger.confirm(published.confirmed)
        return published.stopped.get(name)


def _other_reason(request: Request, parked: Parked) -> Answer | None:
    """The refusal of a request by somebody who saw the table stand still for another reason than it does now."""
    seen = request.arguments.get(SEEN_REASON, parked.reason)
    if seen == parked.reason:
        return None
    return refused(
        request,
        f"{request.table} was to go on from what it stood still for then ({seen}); now it stands still for something "
        f"else ({parked.reason}): {parked.message}",
        parked.remedy,
    )


def unknown_table(request: Request) -> Answer:
    """The ledger has no such table."""
    return refused(
        request,
        f"the ledger knows no table {request.table}",
        "name it as `cdc-bridge status CONFIG` does; a table is known once its first event was read",
    )


def _incomplete(rebuild: Rebuild, parked: Parked) -> bool:
    """Whether the rebuild stopped before its rows were on their way: what comes after them makes no table."""
    asked = rebuild.kind is RebuildKind.KAFKA or bool(rebuild.signal)
    return parked.reason in _INCOMPLETE or not rebuild.deleted_ms or not asked


def _going_on_already(name: str, table: TableState, state: LedgerState) -> str:
    if table.status is TableStatus.CATCHING_UP:
        return f"{name} is catching up already: {count_text(offsets_behind(table, state), 'offset')} to read"
    return f"{name} does not stand still: it is {table.status.value}"


def _doubled(request: Request) -> Answer:
    return refused(
        request,
        f"{request.table} may have rows twice: a drop at the source was told of after events of the new table had "
        "landed, and `markers: natural` had rows land as new ones (marker 0)",
        command("resync CONFIG {}", request.table),
    )
