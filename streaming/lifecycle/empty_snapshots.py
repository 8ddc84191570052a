"""Second initial snapshots of tables that are empty at the source: they send no row, only word of the scan.

What was deleted between the two was never sent, so the mirror keeps rows that the source has not. Nothing but a
notification says so, and it is acted on once a record shows the connector run whose snapshot it was: a table's blocking
snapshot, which loses no delete, is told in the same words (:mod:`streaming.lifecycle.connector_runs`). If the connector
begins again before that, it is judged by what else is known (:mod:`streaming.lifecycle.unshown_snapshots`); what stays
unclear is recorded, for people to decide.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import assert_never

from msgspec.structs import replace

from connectors.debezium.schema import SourceTable
from connectors.errors import BridgeError
from connectors.kafka.signals import Notification
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import LedgerState, RebuildKind, TableState
from streaming.doubt import MAYBE_STALE, MAYBE_STALE_REMEDY
from streaming.driver.resuming import resume_of, stopped
from streaming.driver.startup import OpenZone, excluded_sources
from streaming.lifecycle.connector_runs import ToldSnapshots, began_ms, beginning_of, runs_of
from streaming.lifecycle.debezium import Debezium, is_scan_of, rows_scanned
from streaming.lifecycle.generations import AT_REST, SECOND_SNAPSHOT, gone_meanwhile
from streaming.lifecycle.reading_on import ReadingOn
from streaming.lifecycle.rebuilding import Rebuilding
from streaming.lifecycle.unshown_snapshots import Unshown, judge, last_beginning, unshown_snapshots
from streaming.plan import JobOptions
from streaming.policies import OnResnapshot, TableMode

_log = logging.getLogger(__name__)

_BEFORE = "rows had landed before it; those whose deletes were not sent by then are still in the mirror"
_FOUND_EMPTY = f"a second initial snapshot found the table empty at the source, and {_BEFORE}"
_FOUND_ALL_EMPTY = (
    "a snapshot found every table of the connector empty at the source, and no event came behind it, so it is taken "
    f"for a second initial one; {_BEFORE}"
)
_REMEDY = (
    "`cdc-bridge resync CONFIG TABLE`; or set policies.on_resnapshot to upsert, which accepts that rows stay that no "
    "longer exist at the source, and `cdc-bridge resume CONFIG TABLE`"
)
_STAYS = "%s: %s; they stay, as policies.on_resnapshot says"


@dataclass(frozen=True)
class EmptyScan:
    """A table that an initial snapshot found empty.

    Attributes:
        run_ms: when the connector run began that made the snapshot; milliseconds by Kafka Connect's clock.
        scan: what was told of it.
        shown: a record has shown that run; otherwise the snapshot is only taken for its initial one.
    """

    run_ms: int
    scan: Notification
    shown: bool = True

    @property
    def message(self) -> str:
        """For a person."""
        return _FOUND_EMPTY if self.shown else _FOUND_ALL_EMPTY


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
        self._reading = ReadingOn(debezium)
        self._scans: dict[str, list[EmptyScan]] = {}
        self._unclear: dict[str, list[EmptyScan]] = {}
        self._version = -1
        self._unread = False

    def suspects(self) -> frozenset[str]:
        """The tables that keep rows which the source has not.

        What Debezium tells may be unreadable for a while: that stops nothing, and is logged once.
        """
        state = self._opened.ledger.state
        try:
            if self._told.look() or state.version != self._version:
                self._version = -1  # what fails on the way is looked for again
                self._find(state)
                self._version = state.version
            found = [
                name
                for name, table in state.tables.items()
                if self._left_behind(table, self._scans) is not None or self._doubted(table) is not None
            ]
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
            return self._doubt(name, table)
        policy = self._job.options_for(SourceTable(*table.source)).on_resnapshot
        why: tuple[str, str] | None = None
        match policy:
            case OnResnapshot.REBUILD:
                why = self._rebuilding.refusal(name, table)
                if why is None:
                    self._rebuilding.begin(name, RebuildKind.SNAPSHOT, SECOND_SNAPSHOT)
                    _log.warning("%s is rebuilt: %s", name, found.message)
                    return True
            case OnResnapshot.PARK:
                pass
            case OnResnapshot.UPSERT:
                self._commit(name, table, found)
                _log.warning(_STAYS, name, found.message)
                return True
            case _:
                assert_never(policy)
        self._commit(name, self._stopped(table, why, found.message), found)
        return True

    def _doubt(self, name: str, table: TableState) -> bool:
        """Record what is newly doubtful, or accepted, about the table's rows; False for nothing new."""
        after = self._doubted(table)
        if after is None:
            return False
        self._opened.ledger.commit(Draft(tables={name: after}))
        if after.heard_ms > table.heard_ms:
            _log.warning(_STAYS, name, MAYBE_STALE)
        else:
            _log.warning("%s: %s; %s", name, MAYBE_STALE, MAYBE_STALE_REMEDY)
        return True

    def _doubted(self, table: TableState) -> TableState | None:
        """The table with a doubt about its rows that is new, or that the policy accepts; None for nothing new."""
        if table.status not in AT_REST or excluded_sources(table, self._job):
            return None
        found = self._left_behind(table, self._unclear)
        doubt_ms = max(table.doubt_ms, 0 if found is None else found.scan.timestamp)
        if doubt_ms <= table.heard_ms:
            return None
        if self._job.options_for(SourceTable(*table.source)).on_resnapshot is OnResnapshot.UPSERT:
            return replace(table, heard_ms=doubt_ms)
        return replace(table, doubt_ms=doubt_ms) if doubt_ms > table.doubt_ms else None

    def _find(self, state: LedgerState) -> None:
        """What snapshots of each connector have found empty, by its topic prefix."""
        self._scans, self._unclear = {}, {}
        for prefix, tables in self._by_prefix(state.tables.values()).items():
            told, seen = self._told.of(prefix), state.runs.get(prefix, {})
            runs = {*seen, *(run for table in tables for run in runs_of(table))}
            found, unclear = empty_scans(told, runs), list[EmptyScan]()
            unshown = unshown_snapshots(told, runs)
            if unshown and self._reading.has_passed(prefix, last_beginning(told), tables, state.topics):
                collections = [
                    self._debezium.collection_of(table, None) for table in tables if not gone_meanwhile(table)
                ]
                for snapshot in unshown:
                    scans = [EmptyScan(snapshot.told_ms, scan, shown=False) for scan in snapshot.empty]
                    match judge(snapshot, seen, collections):
                        case Unshown.INITIAL:
                            found += scans
                        case Unshown.UNCLEAR:
                            unclear += scans
                        case Unshown.ASKED:
                            pass
                        case kind:
                            assert_never(kind)
            self._scans[prefix], self._unclear[prefix] = found, unclear

    def _by_prefix(self, tables: Iterable[TableState]) -> dict[str, list[TableState]]:
        by_prefix: dict[str, list[TableState]] = {}
        for table in tables:
            prefix = self._debezium.prefix_of(table)
            if prefix is not None:
                by_prefix.setdefault(prefix, []).append(table)
        return by_prefix

    def _left_behind(self, table: TableState, found: Mapping[str, Collection[EmptyScan]]) -> EmptyScan | None:
        if table.status not in AT_REST or not any(found.values()) or excluded_sources(table, self._job):
            return None
        if self._job.options_for(SourceTable(*table.source)).mode is TableMode.HISTORY:
            return None
        prefix = self._debezium.prefix_of(table)
        scans = () if prefix is None else found.get(prefix, ())
        return left_behind(table, scans, self._debezium.collection_of(table, None))

    def _stopped(self, table: TableState, why: tuple[str, str] | None, message: str) -> TableState:
        remedy = _REMEDY
        if why is not None:
            message, remedy = f"{message}; it is not rebuilt, since {why[0]}", why[1]
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
