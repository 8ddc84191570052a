"""Merging a table's sorted runs from several partitions into apply order.

Runs arrive sorted by the order key of their first row. So once the next run begins at key k, every buffered row below k
is final: rows leave in order, and no more than twice the overlap of the runs, and one run, is held in memory.

What was looked through without leaving is not looked through again before as many rows have come: with each run that
begins, the work would grow with the square of the partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from streaming.landing.interleaving import in_apply_order
from streaming.landing.rows import OrderedRows
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
            yield from in_apply_order(ready)
            waiting = still
            held = stayed = sum(map(len, still))
        waiting.append(blob.rows)
        held += len(blob.rows)
    yield from in_apply_order(waiting)


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
