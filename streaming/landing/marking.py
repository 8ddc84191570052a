"""Which row marker an event gets, and how a key change becomes two rows (architecture, "Row markers").

Markers 1 and 4 do the same at the destination; 0 inserts without looking for the key. So the one decision is 0 or 4,
and 0 is only right where the row is proven new.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Bools, Int64s, Op, UInt64s
from connectors.debezium.options import DecodeOptions, EnvelopeForm, TombstonePolicy
from connectors.debezium.schema import SourceTable
from connectors.landing_zone.row_marker import RowMarker
from streaming.landing.rows import Int32s, OrderedRows
from streaming.plan import TableOptions
from streaming.policies import Markers, OnTruncate


def leaves_events_out(decode: DecodeOptions, source: SourceTable) -> bool:
    """Whether the settings drop operations without which a key may still be there when it is created again."""
    decoding = decode.rules.decoding_for(source)
    forms = (decode.envelope, *(form for _, form in decode.envelope_forms))
    if decode.tombstones is TombstonePolicy.SKIP and EnvelopeForm.FLATTENED in forms:
        return True  # a tombstone may be the only sign of a delete
    return decoding is not None and not {Op.UPDATE, Op.DELETE, Op.TRUNCATE}.isdisjoint(decoding.excluded_operations)


def proves_nothing(options: TableOptions, decode: DecodeOptions, source: SourceTable) -> bool:
    """Whether the settings let no row of the table be proven new.

    Positions of several sources prove nothing to each other. A deleted row stays where its delete lands as an update or
    is left out, and where truncates are ignored, or drops that are told of late, which the same policy decides.
    """
    return (
        options.merge_sources
        or bool(options.soft_delete)
        or options.on_truncate is OnTruncate.IGNORE
        or leaves_events_out(decode, source)
    )


@dataclass(frozen=True)
class HighWater:
    """The highest merge key that the table has seen in any partition, for proofs that a row is new.

    Only within the key's own epoch does a comparison prove anything.

    Attributes:
        words: the merge key's three words.
    """

    words: tuple[int, int, int]


@dataclass(frozen=True)
class Proof:
    """What proves that a created row is new to the table.

    Attributes:
        high: the table's high water before these events.
        loaded: the highest position of a loading snapshot's row: a stream may begin before its snapshot was taken, so
            what was created up to there may have been loaded.
        certain: how many of these events, from the first on, come before anything was left out.
    """

    high: HighWater
    loaded: tuple[int, int]
    certain: int


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
    events: OrderedRows,
    rows: pa.RecordBatch,
    old_rows: pa.RecordBatch | None,
    markers: Markers,
    keys: tuple[str, ...],
    proof: Proof | None,
    *,
    keep_deleted: bool = False,
) -> Marked:
    """Row markers for events without truncates, or for those of a history.

    Args:
        rows: what lands of each event: one row per event, columns named by source.
        old_rows: what lands of each key before its change, one row per entry of ``events.key_changed``.
        keys: the table's key columns; empty for a table that can only append: every row is an insert.
        proof: None when nothing can be proven (a tainted table).
        keep_deleted: a deleted row stays, and lands as an upsert that says so.
    """
    straight = np.arange(len(events), dtype=np.int64)
    changed = events.key_changed
    if old_rows is None and len(changed):
        raise ValueError("key changes without the old keys")
    if not keys:
        inserts = np.full(len(events), RowMarker.INSERT, np.int32)
        if old_rows is None:
            return Marked(rows, inserts, straight)
        return _split_key_changes(changed, rows, old_rows, inserts, RowMarker.INSERT)
    deleted = RowMarker.UPSERT if keep_deleted else RowMarker.DELETE
    chosen = np.full(len(events), RowMarker.UPSERT, np.int32)
    chosen[events.ops == Op.UPDATE] = RowMarker.UPDATE
    chosen[events.ops == Op.DELETE] = deleted
    proven: Bools = np.zeros(len(events), np.bool_)
    # A deleted row that stays is still there when its key is created again.
    if markers is Markers.NATURAL and not keep_deleted and proof is not None and events.positioned:
        proven = _above_all_before(events.keys, proof.high) & ~at_or_below(events.keys[:, 1:], proof.loaded)
        proven[proof.certain :] = False
        chosen[(events.ops == Op.CREATE) & proven] = RowMarker.INSERT
    if old_rows is None:
        return Marked(rows, chosen, straight)
    chosen[changed] = np.where(proven[changed], RowMarker.INSERT, RowMarker.UPSERT)
    return _split_key_changes(changed, rows, old_rows, chosen, deleted)


def _above_all_before(keys: UInt64s, high: HighWater) -> Bools:
    """Rows whose merge key is above the high water and above every row before them, in the high water's epoch.

    A slice's keys ascend, but may begin below the high water; a row below it is not above all before.
    """
    words = np.vstack([np.array([high.words], np.uint64), keys])
    new: Bools = ~at_or_below(keys, high.words) & below(words[:-1], words[1:])
    same_epoch: Bools = (keys[:, 0] >> np.uint64(32)) == np.uint64(high.words[0] >> 32)
    return new & same_epoch


def at_or_below(rows: UInt64s, limit: tuple[int, ...]) -> Bools:
    """Row by row, not above ``limit``, word by word."""
    return ~below(np.array([limit], np.uint64), rows)


def below(left: UInt64s, right: UInt64s) -> Bools:
    """Row by row, left before right, word by word; one of them may be a single row."""
    less: Bools = np.zeros(max(len(left), len(right)), np.bool_)
    for word in reversed(range(right.shape[1])):
        less = (left[:, word] < right[:, word]) | ((left[:, word] == right[:, word]) & less)
    return less


def _split_key_changes(
    changed: Int64s, rows: pa.RecordBatch, old_rows: pa.RecordBatch, chosen: Int32s, old_marker: RowMarker
) -> Marked:
    """Put the old key's row right before each row whose key changed (contract, "Incremental changes")."""
    count, changes = len(chosen), len(changed)
    repeats = np.ones(count, np.int64)
    repeats[changed] = 2
    origin = np.repeat(np.arange(count, dtype=np.int64), repeats)
    old_places = np.cumsum(repeats)[changed] - 2
    source = origin.copy()
    source[old_places] = count + np.arange(changes)
    both = pa.concat_batches([rows, old_rows]).take(pa.array(source))
    markers = chosen[origin]
    markers[old_places] = old_marker
    return Marked(both, markers, origin)
