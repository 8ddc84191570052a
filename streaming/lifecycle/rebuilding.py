"""Rebuilding a table: its folder is removed, and the next generation begins with number 1.

Each phase is committed before it is acted on, so that a driver that dies at any point is followed by one that does the
same again (:mod:`streaming.lifecycle.generations` has the states):

1. ``DELETING``: remove the folder; when it is gone, wait until the replicator has dropped the table.
2. From Kafka: go on with the event that asked for the rebuild. The catch-up does the rest.
3. By a snapshot: read Kafka's ends, below which everything is in the snapshot to come; ``CLEARED``.
4. Ask Debezium for the snapshot; ``FILLING``. What arrives from now on lands beside the stream of all other tables.
5. When Debezium says that the snapshot is complete and its rows have landed: ``STREAMING``.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace

from connectors.command_lines import command
from connectors.debezium.schema import SourceTable
from connectors.errors import Terminal
from connectors.failpoints import Failpoint, pass_failpoint
from connectors.kafka.signals import SnapshotSignal
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import LedgerState, Rebuild, RebuildKind, TableState, TableStatus
from streaming.driver.startup import OpenZone, excluded_sources
from streaming.lifecycle.connector_runs import ToldSnapshots
from streaming.lifecycle.debezium import NO_PRIMARY_KEY, Debezium
from streaming.lifecycle.filling import Filling
from streaming.lifecycle.folder_removal import FolderRemoval
from streaming.lifecycle.generations import (
    DROPPED,
    cleared,
    deleting,
    filled,
    filling,
    from_kafka,
    gone_meanwhile,
    never_filled,
    without_key,
)
from streaming.lifecycle.refused_snapshots import SnapshotRefusedError, failed_snapshot, keyless_refusal, refusal
from streaming.lifecycle.stopping import StopReason, stop_table
from streaming.lifecycle.unread_topics import left_out_now, parked_left_out, unread_or_gone, unread_refusal
from streaming.plan import JobOptions
from streaming.policies import OnDrop
from streaming.renamed import renamed_to

_log = logging.getLogger(__name__)


class Rebuilding:
    """The step that brings a rebuild to its next phase.

    Args:
        told: what the connector tells of initial snapshots, where others look at it, too.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        opened: OpenZone,
        job: JobOptions,
        debezium: Debezium,
        removal: FolderRemoval,
        *,
        told: ToldSnapshots | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._opened = opened
        self._job = job
        self._debezium = debezium
        self._removal = removal
        self._told = ToldSnapshots(debezium) if told is None else told
        self._filling = Filling(job, debezium, clock=clock)
        self._waiting: set[str] = set()
        self._unsent: set[str] = set()

    def __call__(self, name: str) -> bool:
        """Do what the table's state asks for; False if nothing is to be done now.

        Raises:
            ForeignFolderError: something else has made the folder anew.
            BridgeError: of Kafka, the source database or the storage; call again.
        """
        table = self._opened.ledger.state.tables[name]
        rebuild = table.rebuild
        if excluded_sources(table, self._job):
            return self._stand_still(name, table)
        if rebuild is None:
            return False
        match table.status:
            case TableStatus.DELETING:
                return self._delete(name, table, rebuild)
            case TableStatus.CLEARED:
                if not self._follow_drop(name, table):
                    self._ask(name, table, rebuild)
                return True
            case TableStatus.FILLING:
                return self._listen(name, table, rebuild)
            case TableStatus.PARKED | TableStatus.CATCHING_UP | TableStatus.LOADING | TableStatus.STREAMING:
                return False
            case _:
                assert_never(table.status)

    def begin(self, name: str, kind: RebuildKind, reason: str, *, handled: tuple[str, ...] = ()) -> LedgerState:
        """Record that the table is to be rebuilt; its folder is removed from then on.

        Args:
            handled: ids of the requests that this carries out.

        Raises:
            BridgeError: Kafka does not say where the topics end, which a snapshot needs; nothing was written.
        """
        ledger = self._opened.ledger
        table = ledger.state.tables[name]
        pending = ledger.state.pending.get(name)
        # A rebuild that begins anew before it could delete the file has it still to do.
        staged = pending.staged if pending is not None else "" if table.rebuild is None else table.rebuild.staged
        after = deleting(table, kind, reason, ledger.state.topics, keyless=self._keyless(table), staged=staged)
        if kind is RebuildKind.SNAPSHOT:
            self._debezium.ends_of(after)
        dropped = () if pending is None else (name,)
        state = ledger.commit(Draft(tables={name: after}, dropped=dropped, handled=handled))
        pass_failpoint(Failpoint.REBUILD_BEGUN)
        self._filling.forget(name)
        return state

    def refusal(self, name: str, table: TableState) -> tuple[str, str] | None:
        """Why the table can't be filled by a snapshot, and what to do; None if it can.

        Raises:
            BridgeError: Kafka does not say which topics it has.
        """
        return self._refusal(name, table, keyless=self._keyless(table))

    def may_be_snapshotted(self, table: TableState) -> bool:
        """Whether a table without key may still get rows of the blocking snapshot that was asked for to fill it."""
        return self._filling.may_bring_rows(table)

    def _refusal(self, name: str, table: TableState, *, keyless: bool) -> tuple[str, str] | None:
        debezium = self._debezium
        if unread := unread_or_gone(name, self._opened.ledger.state, debezium.topics(), debezium.subscribed):
            return unread_refusal(unread, command("resync CONFIG {}", name))
        return refusal(debezium, name, table, keyless=keyless)

    def _keyless(self, table: TableState) -> bool:
        return without_key(table, self._job.options_for(SourceTable(*table.source)))

    def _stand_still(self, name: str, table: TableState) -> bool:
        """A table that the settings leave out stays where it is until they include it: its snapshot would pass by.

        What has landed before the snapshot is asked for may be deleted at the source meanwhile, so it goes first.
        """
        rebuild = table.rebuild
        if (
            rebuild is not None
            and table.status in (TableStatus.DELETING, TableStatus.CLEARED)
            and name not in self._waiting
        ):
            self._waiting.add(name)
            _log.warning("%s is being rebuilt, but the settings exclude it: it waits until they include it again", name)
        if rebuild is None or table.status is not TableStatus.CLEARED or not table.sequence:
            return False
        self.begin(name, rebuild.kind, rebuild.reason)
        return True

    def _delete(self, name: str, table: TableState, rebuild: Rebuild) -> bool:
        ledger = self._opened.ledger
        if self._filling.held_up(name, table, rebuild, self._told):
            return False
        done = self._removal(name, table, rebuild)
        if done is not None:
            return done
        match rebuild.kind:
            case RebuildKind.KAFKA:
                if table.parked is not None:
                    begun = from_kafka(table, rebuild, table.parked)
                    debezium = self._debezium
                    if left_out := left_out_now(name, ledger.state, debezium.topics(), debezium.subscribed):
                        begun = parked_left_out(name, begun, left_out, ledger.state)
                    ledger.commit(Draft(tables={name: begun}))
            case RebuildKind.SNAPSHOT:
                debezium = self._debezium
                try:
                    ends = debezium.ends_of(table)
                    # A snapshot whose start is told from now on has all of its rows behind these ends.
                    heard = {} if debezium.heard is None else debezium.heard()
                    self._told.look()
                except Terminal as error:
                    self._not_asked(name, error)
                    return True
                starts = {topic: dict(partitions) for topic, partitions in ends.items()}
                runs = (run for each in ledger.state.tables.values() for run in each.streamed_runs)
                after = cleared(table, rebuild, starts, heard, self._told.latest_ms, runs)
                ledger.commit(Draft(tables={name: after}))
            case _:
                assert_never(rebuild.kind)
        pass_failpoint(Failpoint.REBUILD_CLEARED)
        return True

    def _ask(self, name: str, table: TableState, rebuild: Rebuild) -> None:
        """Send the signal and note that it was sent; one that was sent before a crash is not sent again."""
        ledger = self._opened.ledger
        refused = self._refusal(name, table, keyless=rebuild.keyless)
        if refused is not None:
            self._refuse(name, *refused)
            return
        signal = self._signal_id(f"{name}/{table.generation}")
        ledger.check_fence()
        try:
            self._send(table, rebuild, signal)
        except Terminal as error:
            self._not_asked(name, error)
            return
        pass_failpoint(Failpoint.REBUILD_SIGNALLED)
        ledger.commit(Draft(tables={name: filling(table, rebuild, signal)}))

    def _not_asked(self, name: str, error: Terminal) -> None:
        """Stop a table that has no rows and no snapshot on its way: only another resync begins it anew."""
        self._refuse(name, error.message, f"{error.remedy}; then {command('resync CONFIG {}', name)}", **error.facts)

    def _refuse(self, name: str, message: str, remedy: str, **facts: object) -> None:
        error = SnapshotRefusedError(message, remedy=remedy, **facts)
        stop_table(self._opened.ledger, name, error, StopReason.SNAPSHOT_FAILED)

    def _ask_again(self, name: str, table: TableState, rebuild: Rebuild, reason: str) -> None:
        """Send a further signal for an incremental snapshot, of which Debezium then tells under the new id.

        It is noted first: a driver that dies before it is sent is followed by one that finds it lost.
        """
        ledger, heard = self._opened.ledger, self._debezium.heard
        signal = self._signal_id(rebuild.signal)
        anew = replace(rebuild, heard={} if heard is None else dict(heard()), signal=signal)
        ledger.commit(Draft(tables={name: filling(table, anew, signal)}))
        _log.warning("%s: %s; it is asked for once more", name, reason)
        self._unsent.add(name)
        self._send_unsent(name, table, anew)

    def _send_unsent(self, name: str, table: TableState, rebuild: Rebuild) -> None:
        if name in self._unsent:
            self._send(table, rebuild, rebuild.signal)
            self._unsent.discard(name)

    def _signal_id(self, of: str) -> str:
        """The same one whoever sends it, so that it is sent once."""
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._opened.ledger.state.ledger_id}/{of}"))

    def _send(self, table: TableState, rebuild: Rebuild, signal: str) -> None:
        debezium = self._debezium
        prefix = debezium.prefix_of(table)
        if debezium.send is not None and prefix is not None:
            collection, kind = debezium.collection_of(table, rebuild), self._filling.kind(table, rebuild)
            debezium.send(prefix, SnapshotSignal(id=signal, collection=collection, kind=kind))

    def _listen(self, name: str, table: TableState, rebuild: Rebuild) -> bool:
        """End the rebuild once its snapshot is complete and the ledger has passed Kafka's ends of that moment."""
        if self._debezium.notifications is None:
            return False  # the settings named a notifications topic when this began, and have to again
        self._send_unsent(name, table, rebuild)
        failure = self._filling.listen(name, table, rebuild)
        if failure is not None:
            if not self._follow_drop(name, table):
                error = failed_snapshot(failure, name, table)
                stop_table(self._opened.ledger, name, error, StopReason.SNAPSHOT_FAILED)
                if failure.endswith(NO_PRIMARY_KEY):
                    stopped = self._opened.ledger.state.tables[name]
                    keyless = replace(stopped, rebuild=replace(rebuild, keyless=True, signal=""))
                    self._opened.ledger.commit(Draft(tables={name: keyless}))
            return True
        if reason := self._filling.unanswered(name):
            self._ask_again(name, table, rebuild, reason)
            return True
        if not self._filling.landed(name, self._opened.ledger.state):
            return False
        waited_in_vain = rebuild.keyless and not table.partitions
        # In a partition that was added meanwhile, events from behind the snapshot may have counted as older.
        if rebuild.keyless and not waited_in_vain and (refused := keyless_refusal(self._debezium, name, table)):
            self._refuse(name, *refused)
            return True
        self._end(name, never_filled(table) if waited_in_vain else filled(table))
        pass_failpoint(Failpoint.REBUILD_FILLED)
        return True

    def _end(self, name: str, after: TableState) -> None:
        """Let the table go on, unless the source has dropped it meanwhile and its mirror is to go with it."""
        self._filling.forget(name)
        if not self._follow_drop(name, after):
            self._opened.ledger.commit(Draft(tables={name: after}))

    def _follow_drop(self, name: str, table: TableState) -> bool:
        """Begin the generation in which a table that was dropped meanwhile has no rows, if the settings ask for it.

        A drop changes nothing in a table that is under way (:func:`streaming.driver.dropping.record_drops`).
        """
        on_drop = self._job.options_for(SourceTable(*table.source)).on_drop
        if on_drop is not OnDrop.DROP or not gone_meanwhile(table) or renamed_to(table):
            return False
        self.begin(name, RebuildKind.KAFKA, DROPPED)
        _log.warning("%s: the source has dropped it while it was rebuilt, and its mirror is dropped with it", name)
        return True
