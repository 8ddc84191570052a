"""Second initial snapshots of tables that are empty at the source: they send no row, only word of the scan.

What was deleted between the two was never sent, so the mirror keeps rows that the source has not. Nothing but a
notification says so, and it is acted on once an event shows the connector run whose snapshot it was: a table's blocking
snapshot, which loses no delete, is told in the same words (:mod:`streaming.lifecycle.connector_runs`).
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from msgspec.structs import replace

from connectors.debezium.schema import SourceTable
from connectors.errors import BridgeError
from connectors.kafka.signals import Notification, SnapshotProgress
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import RebuildKind, TableState
from streaming.lifecycle.connector_runs import ToldSnapshots, began_ms, beginning_of, runs_of
from streaming.lifecycle.debezium import Debezium, is_scan_of, rows_scanned
from streaming.lifecycle.generations import AT_REST, SECOND_SNAPSHOT
from streaming.lifecycle.rebuilding import Rebuilding
from streaming.plan import JobOptions
from streaming.policies import OnResnapshot, TableMode
from streaming.resuming import resume_of, stopped
from streaming.startup import OpenZone, excluded_sources

_log = logging.getLogger(__name__)

_FOUND_EMPTY = (
    "a second initial snapshot found the table empty at the source, and rows had landed before it; those whose deletes "
    "were not sent by then are still in the mirror"
)
_REMEDY = (
    "`cdc-bridge resync CONFIG TABLE`; or set policies.on_resnapshot to upsert, which accepts that rows stay that no "
    "longer exist at the source, and `cdc-bridge resume CONFIG TABLE`"
)
_MAYBE_EMPTIED = (
    "%s: a snapshot found the table empty at the source, and its connector has begun again since without an event that "
    "shows its run; if it was a second initial snapshot, and not one that somebody asked for, rows that the source has "
    "not are still in the mirror: `cdc-bridge resync CONFIG %s` removes them"
)


@dataclass(frozen=True)
class EmptyScan:
    """A table that an initial snapshot found empty.

    Attributes:
        run_ms: when the connector run began that made the snapshot; milliseconds by Kafka Connect's clock.
        scan: what was told of it.
    """

    run_ms: int
    scan: Notification


class EmptySnapshots:
    """Finds tables whose second initial snapshot had no rows, and does as their policies say."""

    def __init__(
        self, opened: OpenZone, job: JobOptions, debezium: Debezium, told: ToldSnapshots, rebuilding: Rebuilding
    ) -> None:
        self._opened = opened
        self._job = job
        self._debezium = debezium
        self._told = told
        self._rebuilding = rebuilding
        self._scans: Mapping[str, Collection[EmptyScan]] = {}
        self._unshown: Mapping[str, Collection[EmptyScan]] = {}
        self._version = -1
        self._unread = False
        self._warned: set[tuple[str, int]] = set()

    def suspects(self) -> frozenset[str]:
        """The tables that keep rows which the source has not.

        What Debezium tells may be unreadable for a while: that stops nothing, and is logged once.
        """
        state = self._opened.ledger.state
        try:
            if self._told.look() or state.version != self._version:
                runs = self._runs(state.tables.values())
                self._scans = {prefix: empty_scans(self._told.of(prefix), known) for prefix, known in runs.items()}
                self._unshown = {prefix: unshown_scans(self._told.of(prefix), known) for prefix, known in runs.items()}
                self._version = state.version
                self._warn(state.tables)
            found = [name for name, table in state.tables.items() if self._left_behind(table, self._scans) is not None]
        except BridgeError as error:
            if not self._unread:
                _log.warning("what Debezium tells of its snapshots cannot be read: %s; %s", error.message, error.remedy)
            self._unread = True
            return frozenset()
        self._unread = False
        return frozenset(found)

    def __call__(self, name: str) -> bool:
        """Do with the table as ``on_resnapshot`` says; False if it keeps no such rows.

        Raises:
            BridgeError: of Kafka or the storage; call again.
        """
        table = self._opened.ledger.state.tables[name]
        found = self._left_behind(table, self._scans)
        if found is None:
            return False
        policy = self._job.options_for(SourceTable(*table.source)).on_resnapshot
        why: tuple[str, str] | None = None
        match policy:
            case OnResnapshot.REBUILD:
                why = self._rebuilding.refusal(name, table)
                if why is None:
                    _log.warning("%s is rebuilt: %s", name, _FOUND_EMPTY)
                    self._rebuilding.begin(name, RebuildKind.SNAPSHOT, SECOND_SNAPSHOT)
                    return True
            case OnResnapshot.PARK:
                pass
            case OnResnapshot.UPSERT:
                _log.warning("%s: %s; they stay, as policies.on_resnapshot says", name, _FOUND_EMPTY)
                self._commit(name, table, found)
                return True
            case _:
                assert_never(policy)
        self._commit(name, self._stopped(table, why), found)
        return True

    def _warn(self, tables: Mapping[str, TableState]) -> None:
        """Name, once, the tables that may keep rows which the source has not, where nothing will show it any more."""
        for name, table in tables.items():
            found = self._left_behind(table, self._unshown)
            if found is not None and (name, found.scan.timestamp) not in self._warned:
                self._warned.add((name, found.scan.timestamp))
                _log.warning(_MAYBE_EMPTIED, name, name)

    def _runs(self, tables: Iterable[TableState]) -> dict[str, set[str]]:
        """By topic prefix, the connector runs known by their events."""
        runs: dict[str, set[str]] = {}
        for table in tables:
            prefix = self._debezium.prefix_of(table)
            if prefix is not None:
                runs.setdefault(prefix, set()).update(runs_of(table))
        return runs

    def _left_behind(self, table: TableState, found: Mapping[str, Collection[EmptyScan]]) -> EmptyScan | None:
        if table.status not in AT_REST or not any(found.values()) or excluded_sources(table, self._job):
            return None
        if self._job.options_for(SourceTable(*table.source)).mode is TableMode.HISTORY:
            return None
        prefix = self._debezium.prefix_of(table)
        scans = () if prefix is None else found.get(prefix, ())
        return left_behind(table, scans, self._debezium.collection_of(table, None))

    def _stopped(self, table: TableState, why: tuple[str, str] | None) -> TableState:
        message, remedy = _FOUND_EMPTY, _REMEDY
        if why is not None:
            message, remedy = f"{_FOUND_EMPTY}; it is not rebuilt, since {why[0]}", why[1]
        resume = resume_of(table, self._opened.ledger.state.topics)
        return stopped(table, resume, reason=SECOND_SNAPSHOT, message=message, remedy=remedy)

    def _commit(self, name: str, table: TableState, found: EmptyScan) -> None:
        """Record the table, and that this scan of it has been taken account of."""
        self._opened.ledger.commit(Draft(tables={name: replace(table, heard_ms=found.scan.timestamp)}))


def empty_scans(told: Iterable[Notification], runs: Iterable[str]) -> list[EmptyScan]:
    """What initial snapshots of these connector runs found empty.

    Args:
        told: by their connector, in order of time.
    """
    known = tuple(told)
    beginnings = (beginning_of(run, known) for run in sorted(runs))
    return [
        EmptyScan(began_ms(beginning.run) or 0, scan)
        for beginning in beginnings
        if beginning is not None and beginning.surely
        for scan in beginning.scans
        if rows_scanned(scan) == 0
    ]


def unshown_scans(told: Sequence[Notification], runs: Iterable[str]) -> list[EmptyScan]:
    """What snapshots found empty that began no run known by its events, where the connector has gone on from its
    offsets since: an initial snapshot of a run that sent nothing at all, or one that somebody asked for.

    Args:
        told: by their connector, in order of time.
    """
    shown = {beginning.told_ms for run in runs if (beginning := beginning_of(run, told)) is not None}
    again = max((one.timestamp for one in told if one.progress is SnapshotProgress.SKIPPED), default=0)
    found: list[EmptyScan] = []
    began = 0
    for one in told:
        if one.progress in (SnapshotProgress.STARTED, SnapshotProgress.SKIPPED):
            began = one.timestamp
        elif began and began not in shown and one.timestamp < again and rows_scanned(one) == 0:
            found.append(EmptyScan(began, one))
    return found


def left_behind(table: TableState, scans: Iterable[EmptyScan], collection: str) -> EmptyScan | None:
    """The latest initial snapshot that found the table empty though it has rows from before; None if there is none.

    The first initial snapshot finds many a table empty, and leaves nothing behind: no row of an earlier run is there.
    Of a table that several source tables land in nobody knows whose rows it has.

    Args:
        collection: the table as Debezium names it, see :meth:`streaming.lifecycle.debezium.Debezium.collection_of`.
    """
    if not any(table.rows.values()) or len(table.sources) > 1:
        return None
    loaded = None if table.snapshot is None else began_ms(table.snapshot.run_id)
    began = [moment for run in runs_of(table) if (moment := began_ms(run)) is not None]
    found = [
        one
        for one in scans
        if one.scan.timestamp > table.heard_ms
        and (loaded is None or loaded < one.run_ms)
        and (bool(table.heard_ms) or any(moment < one.run_ms for moment in began))
        and is_scan_of(one.scan, collection)
    ]
    return max(found, key=lambda one: one.scan.timestamp, default=None)
