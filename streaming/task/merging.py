"""Merging a table's sorted runs from several partitions into apply order.

Runs arrive sorted by the order key of their first row. So once the next run begins at key k, every buffered row below k
is final: rows leave in order, and no more than twice the overlap of the runs, and one run, is held in memory.

What was looked through without leaving is not looked through again before as many rows have come: with each run that
begins, the work would grow with the square of the partitions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from connectors.debezium.events import Int64s
from streaming.landing.rows import OrderedRows, concat
from streaming.task.blobs import Blob, sort_key


def merge_runs(blobs: Iterable[Blob]) -> Iterator[OrderedRows]:
    """All rows of one table's runs in apply order, as slices with one row schema each.

    Args:
        blobs: runs of one table, ascending by :func:`~streaming.task.blobs.sort_key` of their first row; runs of one
            partition follow each other in offset order.
    """
    waiting: list[OrderedRows] = []
    held = stayed = 0
    for blob in blobs:
        if not len(blob.rows):
            continue
        if held >= 2 * stayed:
            first = sort_key(blob.rows, 0)
            ready: list[OrderedRows] = []
            still: list[OrderedRows] = []
            for rows in waiting:
                below = _count_below(rows, first)
                if below:
                    ready.append(rows.slice(0, below))
                if below < len(rows):
                    still.append(rows.slice(below, len(rows)))
            yield from _in_order(ready)
            waiting = still
            held = stayed = sum(map(len, still))
        waiting.append(blob.rows)
        held += len(blob.rows)
    yield from _in_order(waiting)


def _count_below(rows: OrderedRows, key: bytes) -> int:
    """How many rows of a sorted run come before ``key``: binary search."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        if sort_key(rows, middle) < key:
            low = middle + 1
        else:
            high = middle
    return low


def _in_order(parts: list[OrderedRows]) -> Iterator[OrderedRows]:
    """The rows of several sorted parts in apply order, cut where the row schema changes."""
    if not parts:
        return
    if len(parts) == 1:
        yield parts[0]
        return
    # Several sources may land in one table: their rows keep their own source.
    kinds = list(dict.fromkeys((part.schema, part.table) for part in parts))
    groups = [concat([part for part in parts if (part.schema, part.table) == kind]) for kind in kinds]
    if len(groups) == 1:
        yield groups[0].take(_order(groups))
        return
    order = _order(groups)
    bounds = np.cumsum([0, *(len(group) for group in groups)])
    group_of = np.searchsorted(bounds, order, side="right") - 1
    cuts = [0, *(np.flatnonzero(group_of[1:] != group_of[:-1]) + 1).tolist(), len(order)]
    for start, stop in itertools.pairwise(cuts):
        group = int(group_of[start])
        yield groups[group].take(order[start:stop] - bounds[group])


def _order(groups: list[OrderedRows]) -> Int64s:
    """The permutation that sorts the groups' rows, numbered through, by merge key, topic, partition and offset."""
    names = sorted({topic for group in groups for topic in group.topics}, key=str.encode)
    topics = np.concatenate(
        [np.array([names.index(topic) for topic in group.topics])[group.topic_index] for group in groups]
    )
    keys = np.concatenate([group.keys for group in groups])
    partitions = np.concatenate([group.partitions for group in groups])
    offsets = np.concatenate([group.offsets for group in groups])
    return np.lexsort((offsets, partitions, topics, keys[:, 2], keys[:, 1], keys[:, 0])).astype(np.int64)
