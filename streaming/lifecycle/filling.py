"""Whether the snapshot that is to fill a rebuilt table may begin, is complete, has failed, or has to be asked anew."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence

from connectors.debezium.schema import SourceTable
from connectors.kafka.signals import Notification, SnapshotKind
from connectors.landing_zone.ledger.state import LedgerState, Rebuild, RebuildKind, TableState, TableStatus
from streaming.lifecycle.connector_runs import ToldSnapshots, snapshot_under_way
from streaming.lifecycle.cut_short import MOST_ASKED, WHERE_READ_ONLY, CutShort, cut_short
from streaming.lifecycle.debezium import Debezium, snapshot_complete, snapshot_failure, snapshot_kind
from streaming.lifecycle.forgotten_signals import ForgottenSignals
from streaming.plan import JobOptions
from streaming.policies import TableMode

_log = logging.getLogger(__name__)

LISTEN_SECONDS = 2.0
"""Between two looks for notifications about one table."""


class Filling:
    """The snapshots that this driver waits for.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, job: JobOptions, debezium: Debezium, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._job = job
        self._debezium = debezium
        self._clock = clock
        self._listened: dict[str, float] = {}
        self._held_up: dict[str, float] = {}
        self._complete: dict[str, Mapping[str, Mapping[int, int]]] = {}
        self._signals = ForgottenSignals(clock)
        self._unanswered: dict[str, str] = {}
        self._cut_short: dict[str, int] = {}

    def forget(self, name: str) -> None:
        """The table is to be filled anew, or not at all."""
        self._complete.pop(name, None)
        self._unanswered.pop(name, None)
        self._cut_short.pop(name, None)
        self._signals.forget(name)

    def kind(self, table: TableState, rebuild: Rebuild) -> SnapshotKind:
        """Which kind of snapshot fills the table."""
        source = SourceTable(*table.source)
        decoding = self._job.decode.rules.decoding_for(source)
        history = self._job.options_for(source).mode is TableMode.HISTORY
        return snapshot_kind(rebuild.keyless, decoding is not None and bool(decoding.keys), history)

    def held_up(self, name: str, table: TableState, rebuild: Rebuild, told: ToldSnapshots) -> bool:
        """Whether the connector makes another snapshot, whose rows would be taken for those of a table without key.

        Told in the log when it begins; whether it is over is asked every two seconds.

        Raises:
            BridgeError: the notifications cannot be read now.
        """
        prefix = self._debezium.prefix_of(table)
        if not rebuild.keyless or rebuild.kind is not RebuildKind.SNAPSHOT or prefix is None:
            return False
        last = self._held_up.get(name)
        if last is not None and self._clock() < last + LISTEN_SECONDS:
            return True
        told.look()
        if not snapshot_under_way(told.of(prefix)):
            self._held_up.pop(name, None)
            return False
        if last is None:
            _log.warning("%s: its rebuild waits until the snapshot that the connector makes is over", name)
        self._held_up[name] = self._clock()
        return True

    def listen(self, name: str, table: TableState, rebuild: Rebuild) -> str | None:
        """Hear, if it is time to, what Debezium tells of the snapshot; why it failed, or None if it has not.

        Raises:
            BridgeError: the notifications cannot be read now.
        """
        notifications = self._debezium.notifications
        last = self._listened.get(name)
        if name in self._complete or notifications is None:
            return None
        if last is not None and self._clock() < last + LISTEN_SECONDS:
            return None
        self._listened[name] = self._clock()
        told = notifications(rebuild.heard)
        complete, failure = self._ended(table, rebuild, told)
        if complete and failure is None and (short := self._ended_early(table, rebuild, told)):
            asked = self._cut_short[name] = self._cut_short.get(name, 0) + 1
            if asked == MOST_ASKED:
                return f"{short}; so it was {asked} times, {WHERE_READ_ONLY}"
            self._unanswered[name] = str(short)
        elif complete and failure is None:
            ends = self._debezium.ends_of(table)
            self._complete[name] = {topic: each for topic, each in ends.items() if self._debezium.subscribed(topic)}
        elif failure is None and self._is_forgotten(name, table, rebuild, told):
            self._unanswered[name] = "Debezium tells nothing of the snapshot that is to fill it"
        return failure

    def unanswered(self, name: str) -> str | None:
        """Why the signal has to be sent once more, if it has to; asked once for each :meth:`listen`."""
        return self._unanswered.pop(name, None)

    def landed(self, name: str, state: LedgerState) -> bool:
        """Whether the snapshot was seen to be complete, and the ledger has passed Kafka's ends of that moment."""
        ends = self._complete.get(name)
        return ends is not None and _passed(ends, state)

    def may_bring_rows(self, table: TableState) -> bool:
        """Whether a table without key may still get rows of the blocking snapshot that was asked for to fill it.

        Raises:
            BridgeError: the notifications cannot be read now.
        """
        rebuild, debezium = table.rebuild, self._debezium
        if rebuild is None or rebuild.kind is not RebuildKind.SNAPSHOT or not rebuild.keyless:
            return False
        if not rebuild.signal and table.status is not TableStatus.CLEARED:
            return False
        if debezium.notifications is None:
            return True
        complete, failure = self._ended(table, rebuild, debezium.notifications(rebuild.heard))
        return not complete and failure is None

    def _is_forgotten(self, name: str, table: TableState, rebuild: Rebuild, told: Sequence[Notification]) -> bool:
        """Rows of a blocking snapshot may be appended, so only a person may ask for one twice."""
        debezium = self._debezium
        prefix = debezium.prefix_of(table)
        if not debezium.forgets or prefix is None or self.kind(table, rebuild) is not SnapshotKind.INCREMENTAL:
            return False
        return self._signals.forgotten(name, told, rebuild.signal, debezium.collection_of(table, rebuild), prefix)

    def _ended_early(self, table: TableState, rebuild: Rebuild, told: Sequence[Notification]) -> CutShort | None:
        """How far an incremental snapshot came that ended before its table, as none asked for in the log does."""
        if not self._debezium.forgets or self.kind(table, rebuild) is not SnapshotKind.INCREMENTAL:
            return None
        return cut_short(told, self._debezium.collection_of(table, rebuild))

    def _ended(self, table: TableState, rebuild: Rebuild, told: Sequence[Notification]) -> tuple[bool, str | None]:
        """Whether the snapshot is complete, and why it failed if it has."""
        asked = (rebuild.signal, self.kind(table, rebuild), self._debezium.collection_of(table, rebuild))
        return snapshot_complete(told, *asked), snapshot_failure(told, *asked)


def _passed(ends: Mapping[str, Mapping[int, int]], state: LedgerState) -> bool:
    """Whether the ledger has come as far as these ends."""
    return all(
        end <= (state.topics[topic].partitions.get(partition, 0) if topic in state.topics else 0)
        for topic, partitions in ends.items()
        for partition, end in partitions.items()
    )
