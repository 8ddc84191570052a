"""How connector runs began: with an initial snapshot, or without one.

Debezium tells of each start of a connector: ``STARTED`` where it makes an initial snapshot, ``SKIPPED`` where it goes
on from its offsets. A blocking snapshot is told in the same words, but never before its run's own beginning. The
notifications name no run; but a run's id is a UUID of version 7, so it holds the moment at which the run began by the
clock that the notifications have. A run's beginning is therefore the first one told at or after that moment (seen with
Debezium 3.5.0 and 3.6.1; of a run whose id is of another kind nothing is known).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from connectors.kafka.errors import TopicNotFoundError
from connectors.kafka.signals import INITIAL_SNAPSHOT, Notification, SnapshotProgress
from connectors.landing_zone.ledger.state import TableState
from streaming.lifecycle.debezium import Debezium

_BEGINNINGS = frozenset({SnapshotProgress.STARTED, SnapshotProgress.SKIPPED})
_TELLING = _BEGINNINGS | {SnapshotProgress.TABLE_SCAN_COMPLETED}
_UUID_WITH_TIME = 7
_BITS_BELOW_TIME = 80


@dataclass(frozen=True)
class RunBeginning:
    """How a connector run began.

    Attributes:
        snapshot: whether with an initial snapshot.
        scans: what was told of the tables that this snapshot has read so far.
    """

    run: str
    snapshot: bool
    scans: tuple[Notification, ...] = ()


class ToldSnapshots:
    """What the source's connectors have told of initial snapshots, as far as the notifications topic still holds it."""

    def __init__(self, debezium: Debezium) -> None:
        self._debezium = debezium
        self._told: list[Notification] = []
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
        new = [one for one in told if one.aggregate == INITIAL_SNAPSHOT and one.progress in _TELLING]
        # What came in between the two requests is read again, and says the same.
        self._told = sorted([*self._told, *new], key=_in_time)
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
    if told[mine].progress is SnapshotProgress.SKIPPED:
        return RunBeginning(run, snapshot=False)
    end = next((index for index in places if index > mine), len(told))
    return RunBeginning(run, snapshot=True, scans=tuple(told[mine + 1 : end]))


def runs_of(table: TableState) -> tuple[str, ...]:
    """The connector runs whose events the table has landed, or has met in standing still."""
    loaded = () if table.snapshot is None else (table.snapshot.run_id,)
    met = () if table.parked is None or not table.parked.run else (table.parked.run,)
    return (*loaded, *table.streamed_runs, *met)


def _in_time(one: Notification) -> tuple[int, bool]:
    """A scan that ended in the millisecond in which its snapshot began comes behind it."""
    return one.timestamp, one.progress not in _BEGINNINGS
