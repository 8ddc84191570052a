"""Row events of one landing-zone table in apply order, from one partition or merged from several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.debezium.events import Bools, ChangeChunk, Int8s, Int64s, UInt64s
from connectors.debezium.schema import RowSchema, SourceTable

Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True)
class OrderedRows:
    """n row events with one row schema, in the order in which they must be applied.

    The attributes that :class:`~connectors.debezium.events.ChangeChunk` has too mean the same here.

    Attributes:
        tables: at the source, that ``table_index`` (int32 per row) points into; several where they land in one.
        identified: whether the rows hold their source's names in front of their key, as those of a merged table do.
        topics: names that ``topic_index`` (int32 per row) points into.
        partitions: Kafka partition per row (int32).
        keys: (n, 3) uint64 merge keys, see :func:`connectors.debezium.position.merge_keys`; their running maximum
            hides what ``positions`` (n, 2) says where the log's positions have fallen.
    """

    tables: tuple[SourceTable, ...]
    table_index: Int32s
    schema: RowSchema
    connector: str
    positioned: bool
    topics: tuple[str, ...]
    topic_index: Int32s
    partitions: Int32s
    rows: pa.RecordBatch
    ops: Int8s
    offsets: Int64s
    keys: UInt64s
    positions: UInt64s
    snapshots: Int8s
    run_ids: pa.StringArray
    source_ms: Int64s
    key_changed: Int64s
    old_keys: pa.RecordBatch | None = None
    unavailable: dict[str, Bools] = field(default_factory=dict)
    clamped: int = 0
    from_before: int = 0
    identified: bool = False

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def table(self) -> SourceTable:
        """The source table of the first row, and of all where only one lands in the table."""
        return self.table_at(0)

    def table_at(self, index: int) -> SourceTable:
        """The source table of one row."""
        return self.tables[self.table_index[index]] if len(self) else self.tables[0]

    @staticmethod
    def of_chunk(chunk: ChangeChunk, keys: UInt64s) -> OrderedRows:
        """A chunk's rows as they are: one partition's offset order is the apply order."""
        count = len(chunk)
        return OrderedRows(
            tables=(chunk.table,),
            table_index=np.zeros(count, np.int32),
            schema=chunk.schema,
            connector=chunk.connector,
            positioned=chunk.positioned,
            topics=(chunk.topic,),
            topic_index=np.zeros(count, np.int32),
            partitions=np.full(count, chunk.partition, np.int32),
            rows=chunk.rows,
            ops=chunk.ops,
            offsets=chunk.offsets,
            keys=keys,
            positions=chunk.positions,
            snapshots=chunk.snapshots,
            run_ids=chunk.run_ids,
            source_ms=chunk.source_ms,
            key_changed=chunk.key_changed,
            old_keys=chunk.old_keys,
            unavailable=chunk.unavailable,
            clamped=chunk.clamped,
            from_before=chunk.from_before,
        )

    def slice(self, start: int, stop: int) -> OrderedRows:
        """Rows ``start`` to ``stop`` (exclusive), without copying the columns."""
        if start == 0 and stop == len(self):
            return self
        inside = (self.key_changed >= start) & (self.key_changed < stop)
        old_keys = self.old_keys
        if old_keys is not None:
            old_keys = old_keys.take(pa.array(np.flatnonzero(inside)))
        return replace(
            self,
            table_index=self.table_index[start:stop],
            topic_index=self.topic_index[start:stop],
            partitions=self.partitions[start:stop],
            rows=self.rows.slice(start, stop - start),
            ops=self.ops[start:stop],
            offsets=self.offsets[start:stop],
            keys=self.keys[start:stop],
            positions=self.positions[start:stop],
            snapshots=self.snapshots[start:stop],
            run_ids=self.run_ids.slice(start, stop - start),
            source_ms=self.source_ms[start:stop],
            key_changed=self.key_changed[inside] - start,
            old_keys=old_keys,
            unavailable={name: mask[start:stop] for name, mask in self.unavailable.items()},
            clamped=self.clamped if start == 0 else 0,
            from_before=self.from_before if start == 0 else 0,
        )

    def take(self, order: Int64s) -> OrderedRows:
        """The rows in another order; ``order`` is a permutation or a selection of row indexes, each at most once."""
        indexes = pa.array(order)
        place = np.full(len(self), -1, np.int64)
        place[order] = np.arange(len(order))
        moved = place[self.key_changed]
        kept = np.flatnonzero(moved >= 0)
        by_place = kept[np.argsort(moved[kept], kind="stable")]
        return replace(
            self,
            table_index=self.table_index[order],
            topic_index=self.topic_index[order],
            partitions=self.partitions[order],
            rows=self.rows.take(indexes),
            ops=self.ops[order],
            offsets=self.offsets[order],
            keys=self.keys[order],
            positions=self.positions[order],
            snapshots=self.snapshots[order],
            run_ids=self.run_ids.take(indexes),
            source_ms=self.source_ms[order],
            key_changed=moved[by_place],
            old_keys=None if self.old_keys is None else self.old_keys.take(pa.array(by_place)),
            unavailable={name: mask[order] for name, mask in self.unavailable.items()},
        )


def position_at(rows: OrderedRows, index: int) -> tuple[int, int]:
    """The log position that the source gave one row, as two words; zeros where it gave none."""
    high, low = rows.positions[index].tolist()
    return high, low


def concat(parts: list[OrderedRows]) -> OrderedRows:
    """The rows of several parts after each other; all of one landing-zone table and one row schema.

    Tables and topics are renumbered; a column that only some parts report as unavailable is filled with "available".
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    tables = tuple(dict.fromkeys(table for part in parts for table in part.tables))
    topics = tuple(dict.fromkeys(topic for part in parts for topic in part.topics))
    starts = np.cumsum([0, *(len(part) for part in parts)])
    unavailable_names = dict.fromkeys(name for part in parts for name in part.unavailable)
    old_keys = [part.old_keys for part in parts if part.old_keys is not None and len(part.key_changed)]
    return replace(
        first,
        positioned=all(part.positioned for part in parts),
        tables=tables,
        table_index=_renumbered(tables, [(part.tables, part.table_index) for part in parts]),
        topics=topics,
        topic_index=_renumbered(topics, [(part.topics, part.topic_index) for part in parts]),
        partitions=np.concatenate([part.partitions for part in parts]),
        rows=pa.concat_batches([part.rows for part in parts]),
        ops=np.concatenate([part.ops for part in parts]),
        offsets=np.concatenate([part.offsets for part in parts]),
        keys=np.concatenate([part.keys for part in parts]),
        positions=np.concatenate([part.positions for part in parts]),
        snapshots=np.concatenate([part.snapshots for part in parts]),
        run_ids=pa.concat_arrays([part.run_ids for part in parts]),
        source_ms=np.concatenate([part.source_ms for part in parts]),
        key_changed=np.concatenate([part.key_changed + start for part, start in zip(parts, starts, strict=False)]),
        old_keys=pa.concat_batches(old_keys) if old_keys else None,
        unavailable={
            name: np.concatenate([part.unavailable.get(name, np.zeros(len(part), np.bool_)) for part in parts])
            for name in unavailable_names
        },
        clamped=sum(part.clamped for part in parts),
        from_before=sum(part.from_before for part in parts),
    )


def _renumbered(names: Sequence[object], parts: Sequence[tuple[Sequence[object], Int32s]]) -> Int32s:
    """The parts' indexes after each other, pointing into ``names`` instead of each part's own."""
    number = {name: place for place, name in enumerate(names)}
    return np.concatenate([np.array([number[name] for name in own], np.int32)[index] for own, index in parts])
