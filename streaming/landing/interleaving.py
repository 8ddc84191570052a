"""Sorted parts of one table's events become one sequence in apply order.

Source tables that land in one, and row schemas, take turns in the log. Rows of one schema stay together as long as the
log lets them, whichever source they are from; where schemas take turns, so do the pieces.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from connectors.debezium.events import Int64s
from streaming.landing.rows import OrderedRows, concat


def in_apply_order(parts: list[OrderedRows]) -> Iterator[OrderedRows]:
    """The rows of several sorted parts by merge key, topic, partition and offset, cut where the row schema changes.

    What is counted of a part as a whole is counted once.
    """
    if not parts:
        return
    if len(parts) == 1:
        yield parts[0]
        return
    kinds: dict[object, list[OrderedRows]] = {}
    for part in parts:
        kinds.setdefault((part.schema, part.connector, part.identified), []).append(part)
    groups = [concat(alike) for alike in kinds.values()]
    order = _order(groups)
    if len(groups) == 1:
        yield groups[0].take(order)
        return
    bounds = np.cumsum([0, *(len(group) for group in groups)])
    group_of = np.searchsorted(bounds, order, side="right") - 1
    cuts = [0, *(np.flatnonzero(group_of[1:] != group_of[:-1]) + 1).tolist(), len(order)]
    for start, stop in itertools.pairwise(cuts):
        number = int(group_of[start])
        yield groups[number].take(order[start:stop] - bounds[number])
        groups[number] = replace(groups[number], clamped=0, from_before=0)


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
