"""Records of Arrow batches, cut into runs of one topic partition."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.events import Int64s, RawRecords


def partition_runs(batches: Iterable[pa.RecordBatch]) -> Iterator[RawRecords]:
    """The records of batches of ``RAW_SCHEMA``, cut wherever topic or partition changes."""
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


def _changes(topics: pa.Array, partitions: np.ndarray[tuple[int], np.dtype[np.int32]]) -> list[int]:
    moved = partitions[1:] != partitions[:-1]
    other = pc.not_equal(topics.slice(1), topics.slice(0, len(topics) - 1)).to_numpy(zero_copy_only=False)
    return [int(index) + 1 for index in np.flatnonzero(moved | other)]


def _milliseconds(timestamps: pa.Array) -> Int64s:
    micros = timestamps.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return np.asarray(micros // 1000, np.int64)
