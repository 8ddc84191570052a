"""Which dead letters have landed: offsets per topic and partition, as runs, so that none lands twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Runs = tuple[tuple[int, int], ...]
"""``[first, last]`` offsets, ascending, apart from each other."""

Replayed = dict[str, dict[int, Runs]]
"""Runs by topic and partition."""

KEPT_RUNS = 1_000
"""Runs of one partition; beyond that the two lowest become one, and the offsets between them count as landed."""


def has_replayed(replayed: Mapping[str, Mapping[int, Runs]], topic: str, partition: int, offset: int) -> bool:
    """Whether the letter of this record has landed, or may have: see :data:`KEPT_RUNS`."""
    return any(first <= offset <= last for first, last in replayed.get(topic, {}).get(partition, ()))


def with_replayed(
    replayed: Mapping[str, Mapping[int, Runs]], landed: Iterable[tuple[str, int, int]], kept: int = KEPT_RUNS
) -> Replayed:
    """What is recorded once these letters, as (topic, partition, offset), have landed too; sorted."""
    offsets: dict[tuple[str, int], list[tuple[int, int]]] = {
        (topic, partition): list(runs)
        for topic, partitions in replayed.items()
        for partition, runs in partitions.items()
    }
    for topic, partition, offset in landed:
        offsets.setdefault((topic, partition), []).append((offset, offset))
    after: Replayed = {}
    for (topic, partition), runs in sorted(offsets.items()):
        after.setdefault(topic, {})[partition] = _joined(sorted(runs), kept)
    return after


def _joined(runs: list[tuple[int, int]], kept: int) -> Runs:
    joined: list[tuple[int, int]] = []
    for first, last in runs:
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    surplus = len(joined) - kept
    if surplus > 0:
        joined[: surplus + 1] = [(joined[0][0], joined[surplus][1])]
    return tuple(joined)
