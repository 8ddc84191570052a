"""Signals that Debezium has forgotten: nothing would ever fill the table that waits for one.

Debezium reads the signal topic with a consumer group of its own, which has a signal behind it within seconds, and notes
what it is to do with the offsets of what it sends. Killed before Kafka Connect has stored those, it goes on without the
signal. What it knows of it tells: the start of an incremental snapshot, and before each chunk all tables that are still
to be read ("Notifications", ``data_collections``; seen with 3.5.0 and 3.6.1).

Asking twice does no harm: the rows of an incremental snapshot have keys, and land as what they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from connectors.kafka.signals import INCREMENTAL_SNAPSHOT, INITIAL_SNAPSHOT, Notification, SnapshotProgress
from streaming.lifecycle.debezium import concerns_table

SILENT_SECONDS = 60.0
"""After a connector has begun again, or has ended another snapshot, until what it tells nothing of is forgotten."""
UNTOLD_SECONDS = 600.0
"""After a signal, until one of which nothing at all is told is taken for lost; twice as long after each further one."""


class ForgottenSignals:
    """Which signals for incremental snapshots are to be sent once more, as far as this driver has watched.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._quiet: dict[str, tuple[int, float]] = {}
        self._untold: dict[str, int] = {}

    def forget(self, name: str) -> None:
        """The table waits for no signal any more."""
        self._quiet.pop(name, None)
        self._untold.pop(name, None)

    def forgotten(self, name: str, told: Sequence[Notification], signal: str, collection: str, prefix: str) -> bool:
        """Whether the signal is to be sent once more; the next one is then waited for as this one was.

        Args:
            told: since the signal was sent; signal: its id; collection: the table as Debezium names it; prefix: of the
                connector's topics.
        """
        in_time = sorted(told, key=lambda one: one.timestamp)
        about = _latest(
            in_time, lambda one: one.aggregate == INCREMENTAL_SNAPSHOT and concerns_table(one, signal, collection)
        )
        silence = max(
            _latest(in_time, lambda one: _begins_again(one, prefix)), _latest(in_time, lambda one: _ends(one, prefix))
        )
        if about > silence:
            self._quiet.pop(name, None)
            return False
        asked = self._untold.get(name, 0)
        patience = SILENT_SECONDS if silence >= 0 else UNTOLD_SECONDS * 2**asked
        since = self._quiet.get(name)
        if since is None or since[0] != silence:
            since = self._quiet[name] = (silence, self._clock())
        if self._clock() < since[1] + patience:
            return False
        self._quiet.pop(name)
        self._untold[name] = asked + (silence < 0)
        return True


def _latest(told: Sequence[Notification], is_one: Callable[[Notification], bool]) -> int:
    """The place of the last such notification; -1 for none."""
    return next((place for place in range(len(told) - 1, -1, -1) if is_one(told[place])), -1)


def _ends(one: Notification, prefix: str) -> bool:
    """Whether an incremental snapshot is over: not the one that was asked for, which would have filled the table."""
    over = (SnapshotProgress.COMPLETED, SnapshotProgress.ABORTED)
    return one.aggregate == INCREMENTAL_SNAPSHOT and one.progress in over and _is_of(one, prefix)


def _begins_again(one: Notification, prefix: str) -> bool:
    """Whether the connector tells that it goes on from its offsets, as only one that starts does."""
    return one.aggregate == INITIAL_SNAPSHOT and one.progress is SnapshotProgress.SKIPPED and _is_of(one, prefix)


def _is_of(one: Notification, prefix: str) -> bool:
    return one.details.get("connector_name", prefix) == prefix
