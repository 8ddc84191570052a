"""Which row marker an event gets, and how a key change becomes two rows (architecture, "Row markers").

Markers 1 and 4 do the same at the destination; 0 inserts without looking for the key. So the one decision is 0 or 4,
and 0 is only right where the row is proven new.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Bools, Int64s, Op, UInt64s
from connectors.landing_zone.row_marker import RowMarker
from streaming.policies import Markers
from streaming.rows import Int32s, OrderedRows


@dataclass(frozen=True)
class HighWater:
    """The highest merge key that the table has seen in any partition, for proofs that a row is new.

    Attributes:
        epoch: the only epoch in which a comparison proves anything.
        words: the merge key's three words.
    """

    epoch: int
    words: tuple[int, int, int]


@dataclass(frozen=True)
class Marked:
    """Rows as they land.

    Attributes:
        rows: the row images; a key change has become the old key's delete followed by the new row.
        markers: int32 :class:`RowMarker` per row.
        origin: index of the event that each row came from.
    """

    rows: pa.RecordBatch
    markers: Int32s
    origin: Int64s


def mark(
    events: OrderedRows, rows: pa.RecordBatch, markers: Markers, keys: tuple[str, ...], proof: HighWater | None
) -> Marked:
    """Row markers for events without truncates.

    Args:
        rows: what lands of each event: one row per event, columns named by source.
        keys: the table's key columns; empty for a table that can only append: every row is an insert.
        proof: the table's high water before these events; None when nothing can be proven (a tainted table).
    """
    straight = np.arange(len(events), dtype=np.int64)
    if not keys:
        return Marked(rows, np.full(len(events), RowMarker.INSERT, np.int32), straight)
    chosen = np.full(len(events), RowMarker.UPSERT, np.int32)
    chosen[events.ops == Op.UPDATE] = RowMarker.UPDATE
    chosen[events.ops == Op.DELETE] = RowMarker.DELETE
    proven: Bools = np.zeros(len(events), np.bool_)
    if markers is Markers.NATURAL and proof is not None and events.positioned:
        proven = _above_all_before(events.keys, proof)
        chosen[(events.ops == Op.CREATE) & proven] = RowMarker.INSERT
    if not len(events.key_changed):
        return Marked(rows, chosen, straight)
    chosen[events.key_changed] = np.where(proven[events.key_changed], RowMarker.INSERT, RowMarker.UPSERT)
    return _split_key_changes(events, rows, chosen)


def _above_all_before(keys: UInt64s, proof: HighWater) -> Bools:
    """Rows whose merge key is above the high water and above every row before them, in the proof's epoch."""
    words = np.vstack([np.array([proof.words], np.uint64), keys])
    above = np.zeros(len(keys), np.bool_)
    undecided = np.ones(len(keys), np.bool_)
    for word in range(3):
        above |= undecided & (words[1:, word] > words[:-1, word])
        undecided &= words[1:, word] == words[:-1, word]
    same_epoch = (keys[:, 0] >> np.uint64(32)) == np.uint64(proof.epoch)
    # Merge keys never fall inside a partition, but across a merge's end they may: compare with the running maximum.
    if _falls(words):
        high = proof.words
        for index, row in enumerate(keys.tolist()):
            above[index] = tuple(row) > high
            high = max(high, tuple(row))
    proven: Bools = above & same_epoch
    return proven


def _falls(words: UInt64s) -> bool:
    lower = np.zeros(len(words) - 1, np.bool_)
    undecided = np.ones(len(words) - 1, np.bool_)
    for word in range(3):
        lower |= undecided & (words[1:, word] < words[:-1, word])
        undecided &= words[1:, word] == words[:-1, word]
    return bool(lower.any())


def _split_key_changes(events: OrderedRows, rows: pa.RecordBatch, chosen: Int32s) -> Marked:
    """Put the old key's delete right before each row whose key changed (contract, "Incremental changes")."""
    if events.old_keys is None:
        raise ValueError("key changes without the old keys")
    count, changes = len(events), len(events.key_changed)
    deletes = _key_only_rows(rows.take(pa.array(events.key_changed)), events.old_keys, events.rows.schema.names)
    repeats = np.ones(count, np.int64)
    repeats[events.key_changed] = 2
    origin = np.repeat(np.arange(count, dtype=np.int64), repeats)
    delete_places = np.cumsum(repeats)[events.key_changed] - 2
    source = origin.copy()
    source[delete_places] = count + np.arange(changes)
    both = pa.concat_batches([rows, deletes]).take(pa.array(source))
    markers = chosen[origin]
    markers[delete_places] = RowMarker.DELETE
    return Marked(both, markers, origin)


def _key_only_rows(rows: pa.RecordBatch, keys: pa.RecordBatch, source_columns: list[str]) -> pa.RecordBatch:
    """``rows`` with the old keys, the other source columns NULL and the metadata columns as they are."""
    columns = []
    for index, field in enumerate(rows.schema):
        if field.name in keys.schema.names:
            columns.append(keys.column(field.name))
        elif field.name in source_columns:
            columns.append(pa.nulls(rows.num_rows, field.type))
        else:
            columns.append(rows.column(index))
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)
