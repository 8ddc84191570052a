"""Cutting what Spark hands to a task into runs of one topic partition.

``coalesce`` concatenates whole parent partitions, so each Kafka partition arrives contiguous and in offset order, but
an Arrow batch can hold the end of one and the start of the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.events import Int64s, RawRecords

# The columns that the query selects from Spark's Kafka source, in this order.
SOURCE_COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "headers")


def partition_runs(batches: Iterable[pa.RecordBatch]) -> Iterator[RawRecords]:
    """The records of ``batches`` (columns :data:`SOURCE_COLUMNS`), cut wherever topic or partition changes."""
    for batch in batches:
        if batch.num_rows == 0:
            continue
        topics = batch.column("topic")
        partitions = batch.column("partition").to_numpy(zero_copy_only=False)
        starts = [0, *_changes(topics, partitions), batch.num_rows]
        for start, stop in itertools.pairwise(starts):
            piece = batch.slice(start, stop - start)
            yield RawRecords(
                topic=topics[start].as_py(),
                partition=int(partitions[start]),
                keys=piece.column("key"),
                values=piece.column("value"),
                offsets=piece.column("offset").to_numpy(zero_copy_only=False),
                timestamps=_milliseconds(piece.column("timestamp")),
                headers=piece.column("headers"),
            )


def trim(records: RawRecords, start: int, end: int) -> RawRecords | None:
    """The records with ``start <= offset < end``, or None when there are none; offsets are ascending."""
    first, last = np.searchsorted(records.offsets, [start, end])
    if first >= last:
        return None
    if first == 0 and last == len(records):
        return records
    length = int(last - first)
    return RawRecords(
        topic=records.topic,
        partition=records.partition,
        keys=records.keys.slice(first, length),
        values=records.values.slice(first, length),
        offsets=records.offsets[first:last],
        timestamps=records.timestamps[first:last],
        headers=None if records.headers is None else records.headers.slice(first, length),
    )


def _changes(topics: pa.Array, partitions: np.ndarray[tuple[int], np.dtype[np.int32]]) -> list[int]:
    moved = partitions[1:] != partitions[:-1]
    other = pc.not_equal(topics.slice(1), topics.slice(0, len(topics) - 1)).to_numpy(zero_copy_only=False)
    return [int(index) + 1 for index in np.flatnonzero(moved | other)]


def _milliseconds(timestamps: pa.Array) -> Int64s:
    micros = timestamps.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return np.asarray(micros // 1000, np.int64)
