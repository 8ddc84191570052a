"""Keys by which the partitions of one table merge.

Inside a Kafka partition the offset is the apply order and is never violated. Across partitions events go by log
position, so the key of an event is the running maximum of ``(epoch, phase, position)`` in its partition: sorting by
``(key, partition, offset)`` orders across partitions and keeps each partition's own order whatever positions do.

- Phase 0 holds the rows of an initial snapshot, phase 1 everything else. A transaction that was open when the snapshot
  was taken is streamed with a position before the snapshot's; by its phase it comes after.
- A second snapshot after streaming keeps the maximum: its rows stay where they arrived.
- Positions that stay below the maximum for many events in a row mean that the log has started again (failover, RESET
  BINARY LOGS, restore): a new epoch opens, whose positions are not compared with those before. A connector's repeat
  after a crash also falls back; a repeat shorter than the limit passes unnoticed, a longer one opens an epoch that
  costs nothing but an alert.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from connectors.debezium.events import Int8s, SnapshotKind

Int64s = npt.NDArray[np.int64]
UInt64s = npt.NDArray[np.uint64]

LASTING_FALL = 1000
"""Events in a row below the maximum after which a fall counts as a new epoch."""

_SNAPSHOT, _STREAMING = 0, 1


@dataclass(frozen=True)
class PositionCarry:
    """What a partition's next events need to know of those before.

    Attributes:
        epoch: number of the source's epoch, 32 bits.
        phase: of the running maximum: 0 while only an initial snapshot has been seen, then 1.
        high: both words of the running maximum; ``None`` before the first event.
        below: how many events in a row have had a position below it.
    """

    epoch: int = 0
    phase: int = 0
    high: tuple[int, int] | None = None
    below: int = 0


class Merged(NamedTuple):
    """Merge keys of consecutive events.

    Attributes:
        keys: (n, 3) uint64, never decreasing: ``epoch << 32 | phase << 24``, then the running maximum's two words.
        carry: for the next events of the partition.
        epochs_opened: how many epochs have opened among these events; more than none is worth an alert.
    """

    keys: UInt64s
    carry: PositionCarry
    epochs_opened: int


def merge_keys(positions: UInt64s, snapshots: Int8s, carry: PositionCarry, lasting_fall: int = LASTING_FALL) -> Merged:
    """The merge keys of consecutive events of one partition of one table.

    However the events are cut into calls, with the carry passed on, they get the same keys.

    Args:
        positions: (n, 2) uint64; zeros for an event without position, which takes the running maximum.
        snapshots: n values of :class:`SnapshotKind`.
        carry: what the previous call has returned.
        lasting_fall: events in a row below the maximum that open a new epoch.
    """
    phases = np.where(snapshots == SnapshotKind.INITIAL, _SNAPSHOT, _STREAMING).astype(np.uint64)
    events = np.column_stack([phases, positions]).astype(np.uint64, copy=False)
    maxima = np.empty_like(events)
    epochs = np.empty(len(events), dtype=np.uint64)
    first_epoch, start = carry.epoch, 0
    while start < len(events):
        taken, carry = _run(events[start:], carry, lasting_fall, maxima[start:])
        epochs[start : start + taken] = carry.epoch
        start += taken
        if start < len(events):
            phase, high, low = (int(word) for word in events[start])
            carry = PositionCarry(carry.epoch + 1, phase, (high, low), 0)
    keys = maxima
    keys[:, 0] = epochs << np.uint64(32) | maxima[:, 0] << np.uint64(24)
    return Merged(keys, carry, carry.epoch - first_epoch)


def _run(events: UInt64s, carry: PositionCarry, lasting_fall: int, maxima: UInt64s) -> tuple[int, PositionCarry]:
    """Running maxima up to the event that opens the next epoch: how many events, and the carry after them."""
    before = np.array([[carry.phase, *carry.high]] if carry.high else [], dtype=np.uint64).reshape(-1, 3)
    together = np.concatenate([before, events])
    if _ascending(together):
        maxima[:] = events
        return len(events), _after(events[-1], carry.epoch, 0)
    highest = _running_maximum(together)
    ours = highest[len(before) :]
    # The maximum that each event met; the first of all meets itself.
    met = np.concatenate([highest[:1], highest[:-1]])[len(before) :]
    fallen = _less(events, met)
    placed = events[:, 1:].any(axis=1)
    below = fallen & placed & _less(events[:, 1:], met[:, 1:])
    counts = _counts(below, fallen & ~below & ~placed, carry.below)
    opening = np.flatnonzero(counts >= lasting_fall)
    taken = int(opening[0]) if len(opening) else len(events)
    maxima[:taken] = ours[:taken]
    if taken == 0:
        return 0, carry
    return taken, _after(ours[taken - 1], carry.epoch, int(counts[taken - 1]))


def _after(highest: UInt64s, epoch: int, below: int) -> PositionCarry:
    phase, high, low = (int(word) for word in highest)
    return PositionCarry(epoch, phase, (high, low), below)


def _counts(below: npt.NDArray[np.bool_], neutral: npt.NDArray[np.bool_], carried: int) -> Int64s:
    """Length of the run of ``below`` that each event stands in; neutral events neither lengthen nor end it."""
    total = np.cumsum(below)
    ends = np.where(below | neutral, -1, total)
    since = np.maximum.accumulate(ends)
    return np.where(since < 0, total + carried, total - since)


def _ascending(words: UInt64s) -> bool:
    return not bool(_less(words[1:], words[:-1]).any())


def _less(left: UInt64s, right: UInt64s) -> npt.NDArray[np.bool_]:
    """Row by row, left before right, word by word."""
    less = np.zeros(len(left), dtype=np.bool_)
    for place in range(left.shape[1] - 1, -1, -1):
        less = (left[:, place] < right[:, place]) | ((left[:, place] == right[:, place]) & less)
    return less


def _running_maximum(words: UInt64s) -> UInt64s:
    """The greatest row so far: rows are ranked, and ranks have a running maximum."""
    order = np.lexsort(words.T[::-1])
    ranks = np.empty(len(words), dtype=np.int64)
    ranks[order] = np.arange(len(words))
    return words[order[np.maximum.accumulate(ranks)]]
