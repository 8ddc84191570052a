"""How connector runs began: with an initial snapshot, or without one.

Debezium tells of each start of a connector: ``STARTED`` where it makes an initial snapshot, ``SKIPPED`` where it goes
on from its offsets. A blocking snapshot is told in the same words, but never before its run's own beginning. The
notifications name no run; but a run's id is a UUID of version 7, so it holds the moment at which the run began by the
clock that the notifications have. A run's beginning is therefore the first one told at or after that moment (seen with
Debezium 3.5.0 and 3.6.1; of a run whose id is of another kind nothing is known).

That one may be missing: retention removes what was told, and the connector may have begun to tell later. Then the first
that is left is a later run's, or a blocking snapshot's. So it is surely the run's own only if something from before the
run is still there, or if it was told soon; and a row's own time says whether what it tells was before the row.
"""

from __future__ import annotations

import enum
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from connectors.kafka.errors import TopicNotFoundError
from connectors.kafka.signals import INITIAL_SNAPSHOT, Notification, SnapshotProgress
from connectors.landing_zone.ledger.state import TableState
from streaming.lifecycle.debezium import Debezium, is_scan_of

_BEGINNINGS = frozenset({SnapshotProgress.STARTED, SnapshotProgress.SKIPPED})
_ENDS = frozenset({SnapshotProgress.COMPLETED, SnapshotProgress.ABORTED})
_TELLING = _BEGINNINGS | _ENDS | {SnapshotProgress.TABLE_SCAN_COMPLETED}
_UUID_WITH_TIME = 7
_BITS_BELOW_TIME = 80
_LONGEST_START_MS = 600_000
"""From the beginning of a run until it is told how: connections are made, and the schema history is read, meanwhile."""
CLOCKS_APART_MS = 5_000
"""By which the clocks of the database, which a snapshot's rows have, and of Kafka Connect may differ."""
_SECOND_MS = 1_000


@dataclass(frozen=True)
class RunBeginning:
    """How a connector run began.

    Attributes:
        snapshot: whether with an initial snapshot.
        told_ms: when that was told, milliseconds since 1970 by Kafka Connect's clock.
        scans: what was told of the tables that this snapshot has read so far.
        next_ms: when the start of the next snapshot was told; 0 for none.
        surely: whether nothing that the run told before can be missing.
    """

    run: str
    snapshot: bool
    told_ms: int
    scans: tuple[Notification, ...] = ()
    next_ms: int = 0
    surely: bool = True


class RowsOrigin(enum.Enum):
    """Whose snapshot rows are, as far as their connector tells."""

    UNTOLD = "untold"
    """It tells nothing against an initial snapshot."""
    ASKED = "asked"
    UNCLEAR = "unclear"


class ToldSnapshots:
    """What the source's connectors have told of initial snapshots, as far as the notifications topic still holds it."""

    def __init__(self, debezium: Debezium) -> None:
        self._debezium = debezium
        self._told: list[Notification] = []
        self._known: set[tuple[object, ...]] = set()
        self._read_to: dict[int, int] = {}

    @property
    def latest_ms(self) -> int:
        """When the latest was told, milliseconds since 1970 by Kafka Connect's clock; 0 for none."""
        return self._told[-1].timestamp if self._told else 0

    def look(self) -> bool:
        """Read what has been told since the last look; False if there was nothing, or the settings name no topic.

        Raises:
            BridgeError: as :func:`connectors.kafka.signals.notifications_since`, but for a topic that nobody has made.
        """
        heard, notifications = self._debezium.heard, self._debezium.notifications
        if heard is None or notifications is None:
            return False
        try:
            ends = dict(heard())
            if ends == self._read_to:
                return False
            told = notifications(self._read_to)
        except TopicNotFoundError:  # the first notification makes it
            return False
        for one in told:
            # What comes in between the two requests is read again, and Kafka Connect may deliver twice.
            if one.aggregate == INITIAL_SNAPSHOT and one.progress in _TELLING and _identity(one) not in self._known:
                self._known.add(_identity(one))
                self._told.append(one)
        self._told.sort(key=_in_time)
        self._read_to = ends
        return True

    def of(self, prefix: str) -> Sequence[Notification]:
        """What one connector has told, in order of time.

        Args:
            prefix: its topic prefix.
        """
        return [one for one in self._told if one.details.get("connector_name", prefix) == prefix]


def began_ms(run: str) -> int | None:
    """When a connector run began, milliseconds since 1970 by Kafka Connect's clock; None if its id does not tell."""
    try:
        known = uuid.UUID(run)
    except ValueError:
        return None
    return known.int >> _BITS_BELOW_TIME if known.version == _UUID_WITH_TIME else None


def beginning_of(run: str, told: Sequence[Notification]) -> RunBeginning | None:
    """How the run began; None if its id or what was told does not say.

    Args:
        told: by its connector, in order of time.
    """
    began = began_ms(run)
    if began is None:
        return None
    places = [index for index, one in enumerate(told) if one.progress in _BEGINNINGS]
    mine = next((index for index in places if told[index].timestamp >= began), None)
    if mine is None:
        return None
    first = told[mine]
    surely = first.timestamp <= began + _LONGEST_START_MS or told[0].timestamp < began
    if first.progress is SnapshotProgress.SKIPPED:
        return RunBeginning(run, snapshot=False, told_ms=first.timestamp, surely=surely)
    end = next((index for index in places if index > mine), len(told))
    later = (told[index] for index in places if index > mine)
    return RunBeginning(
        run,
        snapshot=True,
        told_ms=first.timestamp,
        scans=tuple(one for one in told[mine + 1 : end] if one.progress is SnapshotProgress.TABLE_SCAN_COMPLETED),
        next_ms=next((one.timestamp for one in later if one.progress is SnapshotProgress.STARTED), 0),
        surely=surely,
    )


def rows_origin(beginning: RunBeginning | None, collection: str, row_ms: int) -> RowsOrigin:
    """Whether somebody asked for the snapshot rows of a run that has not streamed before them.

    Nobody did if the run's own snapshot has read the table. Of a later one they can only be if it was told to start
    before them.

    Args:
        beginning: of their run, as far as it is known.
        collection: the table as Debezium names it, see :meth:`streaming.lifecycle.debezium.Debezium.collection_of`.
        row_ms: when the first of them was read by the database's clock, milliseconds since 1970; 0 where unknown.
    """
    if beginning is None:
        return RowsOrigin.UNTOLD
    if not beginning.snapshot:
        return _told_before(beginning.told_ms, row_ms)
    if not beginning.surely:
        before = _told_before(beginning.told_ms, row_ms)
        return RowsOrigin.UNTOLD if before is RowsOrigin.UNTOLD else RowsOrigin.UNCLEAR
    if not beginning.next_ms or any(is_scan_of(one, collection) for one in beginning.scans):
        return RowsOrigin.UNTOLD
    return _told_before(beginning.next_ms, row_ms)


def _told_before(told_ms: int, row_ms: int) -> RowsOrigin:
    """Rows are asked for if this was told before them; some databases tell their time in whole seconds."""
    if not row_ms:
        return RowsOrigin.UNCLEAR
    latest = row_ms if row_ms % _SECOND_MS else row_ms + _SECOND_MS - 1
    if told_ms <= latest:
        return RowsOrigin.ASKED
    return RowsOrigin.UNCLEAR if told_ms <= row_ms + CLOCKS_APART_MS else RowsOrigin.UNTOLD


def snapshot_under_way(told: Sequence[Notification]) -> bool:
    """Whether a connector has told that it began an initial or a blocking snapshot, and not yet that it is over.

    Args:
        told: by the connector, in order of time.
    """
    latest = next((one for one in reversed(told) if one.progress in _BEGINNINGS | _ENDS), None)
    return latest is not None and latest.progress is SnapshotProgress.STARTED


def runs_of(table: TableState) -> tuple[str, ...]:
    """The connector runs whose events the table has landed, or has met in standing still."""
    loaded = () if table.snapshot is None else (table.snapshot.run_id,)
    met = () if table.parked is None or not table.parked.run else (table.parked.run,)
    return (*loaded, *table.streamed_runs, *met)


def _in_time(one: Notification) -> tuple[int, bool]:
    """A scan that ended in the millisecond in which its snapshot began comes behind it."""
    return one.timestamp, one.progress not in _BEGINNINGS


def _identity(one: Notification) -> tuple[object, ...]:
    return one.id, one.progress, one.timestamp, *sorted(one.details.items())
