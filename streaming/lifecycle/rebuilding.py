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
from collections.abc import Callable, Collection, Mapping
from typing import assert_never

from msgspec.structs import replace

from connectors.debezium.schema import SourceTable
from connectors.errors import Terminal
from connectors.failpoints import Failpoint, pass_failpoint
from connectors.kafka.signals import SnapshotKind, SnapshotSignal
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import (
    LedgerState,
    Parked,
    Rebuild,
    RebuildKind,
    TableState,
    TableStatus,
)
from connectors.landing_zone.removal import remove_folder, require_no_folder
from streaming.lifecycle.asked_rebuilds import settings_ask
from streaming.lifecycle.debezium import Debezium, refusal, snapshot_complete, snapshot_failure, snapshot_kind
from streaming.lifecycle.generations import (
    AMBIGUOUS_SNAPSHOT,
    FROM_KAFKA,
    SECOND_SNAPSHOT,
    TRUNCATE,
    cleared,
    deleted,
    deleting,
    filled,
    filling,
    from_kafka,
    never_filled,
    nothing_landed_behind,
)
from streaming.lifecycle.stopping import StopReason, stop_table
from streaming.plan import JobOptions
from streaming.policies import TableMode
from streaming.run_starts import surely_initial
from streaming.startup import OpenZone, excluded_sources
from streaming.stops import AMBIGUOUS_REMEDY

_log = logging.getLogger(__name__)

_ELSEWHERE = (
    "rows of a snapshot arrived under a connector run that had streamed other rows before; whether they are of a "
    "second initial snapshot or of one that somebody asked for cannot be told, and nothing was removed"
)

LISTEN_SECONDS = 2.0
"""Between two looks for notifications about one table."""


class SnapshotRefusedError(Terminal):
    """Debezium cannot be asked for a table's snapshot, or did not make it."""


class Rebuilding:
    """The step that brings a rebuild to its next phase.

    Args:
        release_wait: seconds from the removal of the folder until the replicator has dropped the table.
        now_ms: the wall clock; clock: seconds that never go back.
    """

    def __init__(
        self,
        opened: OpenZone,
        job: JobOptions,
        debezium: Debezium,
        release_wait: float,
        *,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._opened = opened
        self._job = job
        self._debezium = debezium
        self._release_ms = release_wait * 1000
        self._now_ms = now_ms
        self._clock = clock
        self._waiting: set[str] = set()
        self._listened: dict[str, float] = {}
        self._complete: dict[str, Mapping[str, Mapping[int, int]]] = {}

    def __call__(self, name: str) -> bool:
        """Do what the table's state asks for; False if nothing is to be done now.

        Raises:
            ForeignFolderError: something else has made the folder anew.
            BridgeError: of Kafka, the source database or the storage; call again.
        """
        table = self._opened.ledger.state.tables[name]
        parked, rebuild = table.parked, table.rebuild
        if excluded_sources(table, self._job):
            return self._stand_still(name, table)
        if table.status is TableStatus.PARKED and parked is not None and parked.rebuild is not None:
            self._begin_as_asked(name, table, parked, parked.rebuild)
            return True
        if rebuild is None:
            return False
        match table.status:
            case TableStatus.DELETING:
                return self._delete(name, table, rebuild)
            case TableStatus.CLEARED:
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
        after = deleting(ledger.state.tables[name], kind, reason, ledger.state.topics)
        if kind is RebuildKind.SNAPSHOT:
            self._debezium.ends_of(after)
        dropped = (name,) if name in ledger.state.pending else ()
        state = ledger.commit(Draft(tables={name: after}, dropped=dropped, handled=handled))
        pass_failpoint(Failpoint.REBUILD_BEGUN)
        self._complete.pop(name, None)
        return state

    def refusal(self, name: str, table: TableState) -> tuple[str, str] | None:
        """Why the table can't be filled by a snapshot, and what to do; None if it can."""
        return refusal(self._debezium, name, table, keyless=_is_keyless(table))

    def may_be_snapshotted(self, table: TableState) -> bool:
        """Whether a table without key may still get rows of the blocking snapshot that was asked for to fill it."""
        rebuild, debezium = table.rebuild, self._debezium
        if rebuild is None or rebuild.kind is not RebuildKind.SNAPSHOT or not rebuild.keyless:
            return False
        if not rebuild.signal and table.status is not TableStatus.CLEARED:
            return False
        if debezium.notifications is None:
            return True
        told = debezium.notifications(rebuild.heard)
        asked = (rebuild.signal, self._kind(table, rebuild), debezium.collection_of(table, rebuild))
        return not snapshot_complete(told, *asked) and snapshot_failure(told, *asked) is None

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

    def _begin_as_asked(self, name: str, table: TableState, parked: Parked, kind: RebuildKind) -> None:
        """Begin the rebuild that the table's policy asks for, or leave it parked where that can't be done."""
        if not settings_ask(parked.reason, self._job.options_for(SourceTable(*table.source))):
            stays = replace(
                parked, rebuild=None, message=f"{parked.message}; the settings do not ask for its rebuild any more"
            )
            self._opened.ledger.commit(Draft(tables={name: replace(table, parked=stays)}))
            return
        tables = self._opened.ledger.state.tables.values()
        if parked.reason == SECOND_SNAPSHOT and not surely_initial(parked, tables):
            unclear = replace(
                parked, reason=AMBIGUOUS_SNAPSHOT, message=_ELSEWHERE, remedy=AMBIGUOUS_REMEDY, rebuild=None
            )
            self._opened.ledger.commit(Draft(tables={name: replace(table, parked=unclear)}))
            return
        if kind is RebuildKind.KAFKA and not kafka_tells(table, parked, tables):
            kind = RebuildKind.SNAPSHOT
        why = self.refusal(name, table) if kind is RebuildKind.SNAPSHOT else None
        if why is None:
            _log.warning("%s is rebuilt: %s", name, parked.message)
            self.begin(name, kind, parked.reason)
            return
        message, remedy = why
        stays = replace(
            parked, rebuild=None, message=f"{parked.message}; it is not rebuilt, since {message}", remedy=remedy
        )
        self._opened.ledger.commit(Draft(tables={name: replace(table, parked=stays)}))

    def _delete(self, name: str, table: TableState, rebuild: Rebuild) -> bool:
        zone, ledger = self._opened.zone, self._opened.ledger
        if not rebuild.deleted_ms:
            remove_folder(zone, name, table.folder, table.sequence, ledger.check_fence)
            pass_failpoint(Failpoint.REBUILD_DELETED)
            ledger.commit(Draft(tables={name: deleted(table, rebuild, self._now_ms())}))
            return True
        require_no_folder(zone, name, table.folder)
        if 0 <= self._now_ms() - rebuild.deleted_ms < self._release_ms:
            return False
        pass_failpoint(Failpoint.REBUILD_RELEASED)
        match rebuild.kind:
            case RebuildKind.KAFKA:
                if table.parked is not None:
                    ledger.commit(Draft(tables={name: from_kafka(table, rebuild, table.parked)}))
            case RebuildKind.SNAPSHOT:
                debezium = self._debezium
                heard = {} if debezium.heard is None else debezium.heard()
                ends = debezium.ends_of(table)
                starts = {topic: dict(partitions) for topic, partitions in ends.items()}
                ledger.commit(Draft(tables={name: cleared(table, rebuild, starts, heard)}))
            case _:
                assert_never(rebuild.kind)
        pass_failpoint(Failpoint.REBUILD_CLEARED)
        return True

    def _ask(self, name: str, table: TableState, rebuild: Rebuild) -> None:
        """Send the signal and note that it was sent; one that was sent before a crash is not sent again."""
        ledger, debezium = self._opened.ledger, self._debezium
        prefix = debezium.prefix_of(table)
        if debezium.send is None or prefix is None:
            message, remedy = refusal(debezium, name, table, keyless=False) or ("", "")
            stop_table(ledger, name, SnapshotRefusedError(message, remedy=remedy), StopReason.SNAPSHOT_FAILED)
            return
        signal = SnapshotSignal(
            id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{ledger.state.ledger_id}/{name}/{table.generation}")),
            collection=debezium.collection_of(table, rebuild),
            kind=self._kind(table, rebuild),
        )
        ledger.check_fence()
        debezium.send(prefix, signal)
        pass_failpoint(Failpoint.REBUILD_SIGNALLED)
        after = filling(table, rebuild, signal.id)
        if debezium.notifications is None:
            _log.warning(
                "%s: a snapshot was asked for; when it is complete cannot be seen without source.notifications_topic",
                name,
            )
            after = filled(after)
        ledger.commit(Draft(tables={name: after}))

    def _kind(self, table: TableState, rebuild: Rebuild) -> SnapshotKind:
        source = SourceTable(*table.source)
        decoding = self._job.decode.rules.decoding_for(source)
        history = self._job.options_for(source).mode is TableMode.HISTORY
        return snapshot_kind(rebuild.keyless, decoding is not None and bool(decoding.keys), history)

    def _listen(self, name: str, table: TableState, rebuild: Rebuild) -> bool:
        """End the rebuild once its snapshot is complete and the ledger has passed Kafka's ends of that moment."""
        ledger, debezium = self._opened.ledger, self._debezium
        if debezium.notifications is None:
            if rebuild.keyless:
                return False  # the settings named a notifications topic when this began, and have to again
            ledger.commit(Draft(tables={name: filled(table)}))
            return True
        if name not in self._complete:
            last = self._listened.get(name)
            if last is not None and self._clock() < last + LISTEN_SECONDS:
                return False
            self._listened[name] = self._clock()
            told = debezium.notifications(rebuild.heard)
            kind = self._kind(table, rebuild)
            collection = debezium.collection_of(table, rebuild)
            failure = snapshot_failure(told, rebuild.signal, kind, collection)
            if failure is not None:
                stop_table(ledger, name, _snapshot_failed(failure, name), StopReason.SNAPSHOT_FAILED)
                return True
            if not snapshot_complete(told, rebuild.signal, kind, collection):
                return False
            self._complete[name] = debezium.ends_of(table)
        if not _passed(self._complete[name], ledger.state):
            return False
        self._complete.pop(name)
        waited_in_vain = rebuild.keyless and not table.partitions
        ledger.commit(Draft(tables={name: never_filled(table) if waited_in_vain else filled(table)}))
        pass_failpoint(Failpoint.REBUILD_FILLED)
        return True


def kafka_tells(table: TableState, parked: Parked, tables: Collection[TableState]) -> bool:
    """Whether Kafka holds all of the generation that begins with the event which parked the table.

    A row that was inserted after a truncate may have landed from another partition before the truncate was read: the
    rebuild would remove it, and the catch-up begins behind it.

    A second snapshot is told from what came before it by its connector run; where rows of that run have landed from
    another partition already, the rebuild would remove them, too. Where several source tables land in one, an event of
    one of them says nothing about the others' rows.

    Args:
        tables: all that the ledger knows.
    """
    if parked.reason not in FROM_KAFKA or len(table.sources) > 1:
        return False
    if parked.reason == TRUNCATE:
        return nothing_landed_behind(table, parked)
    if parked.reason == SECOND_SNAPSHOT:
        return surely_initial(parked, tables) and parked.run not in table.streamed_runs
    return True


def _is_keyless(table: TableState) -> bool:
    if table.schema:
        return not table.keys and not table.history
    return table.rebuild is not None and table.rebuild.keyless


def _passed(ends: Mapping[str, Mapping[int, int]], state: LedgerState) -> bool:
    """Whether the ledger has come as far as these ends."""
    return all(
        end <= (state.topics[topic].partitions.get(partition, 0) if topic in state.topics else 0)
        for topic, partitions in ends.items()
        for partition, end in partitions.items()
    )


def _snapshot_failed(failure: str, name: str) -> SnapshotRefusedError:
    return SnapshotRefusedError(
        f"the snapshot that was to fill the table failed: {failure}",
        remedy=f"read Debezium's log, mend the cause, then `cdc-bridge resync CONFIG {name}`",
    )
