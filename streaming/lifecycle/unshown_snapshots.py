"""Snapshots that found tables empty, and of which no record shows the connector run that made them.

A run that reads nothing but empty tables sends no row, and so may end without a record that names it: PostgreSQL's
connector names its run in rows only (heartbeats, transaction records and notifications name none). Was it such a run's
initial snapshot, which loses deletes, or one that somebody asked an earlier run for, which loses none? Both are told in
the same words. What is known of the runs before it decides, once everything has been read that Kafka held when the
connector had begun again:

- a run that began before it has sent a record after it: that run was asked for it;
- no record at all came behind it, and it read every table of the connector and not one row: whoever made it, no row of
  any table was there, so it is taken for an initial one;
- anything else is not clear.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from connectors.kafka.signals import Notification, SnapshotProgress
from streaming.lifecycle.connector_runs import CLOCKS_APART_MS, began_ms, beginning_of
from streaming.lifecycle.debezium import is_scan_of, rows_scanned


class Unshown(enum.Enum):
    """What a snapshot was whose run no record shows."""

    ASKED = "asked"
    INITIAL = "initial"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class UnshownSnapshot:
    """A snapshot that found tables empty, and whose run no record shows.

    Attributes:
        told_ms: when its start was told, milliseconds since 1970 by Kafka Connect's clock.
        scans: what was told of the tables that it read, empty or not.
    """

    told_ms: int
    scans: tuple[Notification, ...]

    @property
    def empty(self) -> tuple[Notification, ...]:
        """The scans that found no row."""
        return tuple(one for one in self.scans if rows_scanned(one) == 0)


def last_beginning(told: Iterable[Notification]) -> int:
    """When the connector last told that it goes on from its offsets, milliseconds since 1970; 0 for never."""
    return max((one.timestamp for one in told if one.progress is SnapshotProgress.SKIPPED), default=0)


def unshown_snapshots(told: Sequence[Notification], runs: Iterable[str]) -> list[UnshownSnapshot]:
    """The snapshots that found a table empty and began no known run, where the connector has begun again since.

    Args:
        told: by their connector, in order of time.
        runs: those of its runs that records have shown.
    """
    shown = {beginning.told_ms for run in runs if (beginning := beginning_of(run, told)) is not None}
    again = last_beginning(told)
    return [one for one in _snapshots(told) if one.empty and one.told_ms not in shown and one.told_ms < again]


def judge(snapshot: UnshownSnapshot, seen: Mapping[str, int], collections: Collection[str]) -> Unshown:
    """What the snapshot was; see the module.

    Args:
        seen: the connector's runs that records have named, each with Kafka's time of its newest record; a snapshot is
            taken for an initial one only where the run before it is among them.
        collections: the connector's tables in the mirror as Debezium names them, see
            :meth:`streaming.lifecycle.debezium.Debezium.collection_of`.
    """
    before = [at for run, at in seen.items() if (began := began_ms(run)) is not None and began < snapshot.told_ms]
    newest = max(before, default=None)
    if newest is None:
        return Unshown.UNCLEAR
    if newest > snapshot.told_ms:
        return Unshown.ASKED if newest > snapshot.told_ms + CLOCKS_APART_MS else Unshown.UNCLEAR
    nothing_there = len(snapshot.empty) == len(snapshot.scans) and all(
        any(is_scan_of(one, collection) for one in snapshot.scans) for collection in collections
    )
    return Unshown.INITIAL if nothing_there else Unshown.UNCLEAR


def _snapshots(told: Iterable[Notification]) -> Iterator[UnshownSnapshot]:
    began, scans = 0, list[Notification]()
    for one in told:
        if one.progress in (SnapshotProgress.STARTED, SnapshotProgress.SKIPPED):
            if began:
                yield UnshownSnapshot(began, tuple(scans))
            began, scans = one.timestamp, []
        elif one.progress is SnapshotProgress.TABLE_SCAN_COMPLETED:
            scans.append(one)
    if began:
        yield UnshownSnapshot(began, tuple(scans))
