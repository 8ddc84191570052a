"""Event groups become chunks: one table, one row schema, one key, in offset order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import pyarrow as pa

from connectors.debezium.batch import Batch
from connectors.debezium.converted import distinct
from connectors.debezium.errors import SchemaError
from connectors.debezium.event_group import EventGroup, NoImages
from connectors.debezium.events import ChangeChunk, Int8s, Int64s, Op, SkipReason
from connectors.debezium.json_codec import DOCUMENT_FIELDS
from connectors.debezium.options import TableDecoding
from connectors.debezium.origin import UNSUPPORTED_CONNECTORS
from connectors.debezium.position import positions
from connectors.debezium.record_key import NO_KEY, UNREADABLE, KeyShape
from connectors.debezium.row_columns import RowReader
from connectors.debezium.schema import RowSchema
from connectors.debezium.source_block import snapshot_kinds, source_millis
from connectors.debezium.verdicts import BadReason, no_key, sample

_ROUTED_TABLE = "__dbz__physicalTableIdentifier"
_MESSAGE = 100
_UNKNOWN = 101
_OPS: Mapping[str, int] = {
    "c": int(Op.CREATE),
    "u": int(Op.UPDATE),
    "d": int(Op.DELETE),
    "r": int(Op.READ),
    "t": int(Op.TRUNCATE),
    "m": _MESSAGE,
}
_CODES: Int8s = np.array([_OPS.get(chr(letter), _UNKNOWN) for letter in range(128)], dtype=np.int8)
"""By the ASCII letter of an operation."""


@dataclass(frozen=True)
class Piece:
    """A chunk and the places of its rows among the raw records."""

    rows: Int64s
    chunk: ChangeChunk


def pieces_of(batch: Batch, group: EventGroup) -> list[Piece]:
    """The group's chunks; verdicts on events that yield no row go to ``batch.verdicts``."""
    if group.connector in UNSUPPORTED_CONNECTORS:
        for row in group.rows:
            batch.verdicts.reject(row, BadReason.UNSUPPORTED_CONNECTOR, UNSUPPORTED_CONNECTORS[group.connector])
        return []
    group, ops = _row_operations(batch, group)
    decoding = batch.options.rules.decoding_for(group.table)
    if batch.options.is_signal_table(group.table):
        batch.verdicts.skip(SkipReason.SIGNAL, len(group))
        return []
    if decoding is None:
        batch.verdicts.exclude(group.table, len(group))
        return []
    return _table_pieces(batch, group, ops, decoding)


def _row_operations(batch: Batch, group: EventGroup) -> tuple[EventGroup, Int8s]:
    """The events that concern a row, and their operations."""
    codes = _codes(group.ops)
    keep = codes < _MESSAGE
    if keep.all():
        return group, codes
    batch.verdicts.skip(SkipReason.MESSAGE, int((codes == _MESSAGE).sum()))
    for place in np.flatnonzero(codes == _UNKNOWN).tolist():
        batch.verdicts.reject(
            group.rows[place], BadReason.UNKNOWN_OP, f"op is {sample(group.ops[place])}; known are c, u, d, r, t and m"
        )
    places = np.flatnonzero(keep)
    return group.select(places), codes[places]


def _codes(ops: Sequence[str]) -> Int8s:
    """Per operation that of :class:`Op`, ``_MESSAGE`` or ``_UNKNOWN``."""
    if isinstance(ops, str) and ops.isascii():
        letters: Int8s = _CODES.take(np.frombuffer(ops.encode("ascii"), dtype=np.uint8))
        return letters
    return np.array(list(map(_OPS.get, ops, repeat(_UNKNOWN))), dtype=np.int8)


def _table_pieces(batch: Batch, group: EventGroup, ops: Int8s, decoding: TableDecoding) -> list[Piece]:
    keep = np.ones(len(ops), dtype=np.bool_)
    if decoding.excluded_operations:
        excluded = np.isin(ops, decoding.excluded_operations)
        batch.verdicts.skip(SkipReason.EXCLUDED_OPERATION, int(excluded.sum()))
        keep &= ~excluded
    needs_after = (ops == Op.CREATE) | (ops == Op.UPDATE) | (ops == Op.READ)
    for place in np.flatnonzero(keep & needs_after & ~group.after.present):
        keep[place] = False
        batch.verdicts.reject(group.rows[place], BadReason.MISSING_AFTER, _missing_after(group, int(place)))
    shapes = _shapes(batch, group, ops, decoding)
    pieces: list[Piece] = []
    for shape in distinct(shapes[keep]):
        places = np.flatnonzero(keep & (shapes == shape))
        if shape == UNREADABLE:
            for place in places:
                wrong = batch.keys.unreadable[int(group.rows[place])]
                batch.verdicts.reject(group.rows[place], wrong.reason, wrong.detail)
            continue
        piece = _piece(
            batch,
            group.select(places),
            ops[places],
            decoding,
            None if shape == NO_KEY else batch.keys.shapes[shape],
        )
        if piece is not None:
            pieces.append(piece)
    return pieces


def _missing_after(group: EventGroup, place: int) -> str:
    if group.documents:
        return "the update has no document; set capture.mode=change_streams_update_full on the connector"
    return f"op {group.ops[place]!r} needs an after image, and it is missing or null"


def _shapes(batch: Batch, group: EventGroup, ops: Int8s, decoding: TableDecoding) -> Int64s:
    """The key's shape per event. A truncate has no key of its own and goes with the rows around it."""
    shapes = batch.keys.shape_of[group.rows]
    if decoding.keys or decoding.append:
        shapes = np.where(shapes == UNREADABLE, NO_KEY, shapes)
    borrowing = (ops == Op.TRUNCATE) & (shapes < 0)
    if borrowing.any():
        owners = np.flatnonzero(~borrowing & (shapes >= 0))
        if len(owners):
            nearest = owners[np.clip(np.searchsorted(owners, np.arange(len(ops)), side="right") - 1, 0, None)]
            shapes = np.where(borrowing, shapes[nearest], shapes)
        else:
            shapes = np.where(borrowing, NO_KEY, shapes)
    return shapes


def _piece(
    batch: Batch,
    group: EventGroup,
    ops: Int8s,
    decoding: TableDecoding,
    shape: KeyShape | None,
) -> Piece | None:
    fields = DOCUMENT_FIELDS if group.documents else group.fields
    names = {field.name for field in fields}
    if group.documents:
        key: tuple[str, ...] = ("_id",)
    else:
        wanted = decoding.keys or (shape.names if shape is not None else ())
        key = tuple(name for name in wanted if name in names)
        missing = [name for name in wanted if name not in names and not _names_the_table(name, group)]
        if missing and not decoding.append and (ops != Op.TRUNCATE).any():
            return _without_key(batch, group, ops, decoding, missing[0])
    usable = shape if shape is not None and (group.documents or set(key) <= set(shape.names)) else None
    try:
        reader = RowReader(batch, group, fields, ops, key, usable, decoding)
        found = reader.read()
        by_name = {field.name: column for field, column in zip(fields, found.columns, strict=True)}
        changed, old = reader.old_keys(by_name)
    except SchemaError as error:
        for row in group.rows:
            batch.verdicts.reject(row, BadReason.UNUSABLE_SCHEMA, str(error))
        return None
    both, positioned = positions(group.connector, group.source, len(group))
    chunk = ChangeChunk(
        table=group.table,
        schema=RowSchema(fields, key, group.learned),
        topic=batch.topic,
        partition=batch.partition,
        connector=group.connector,
        rows=_record_batch(found.columns, [field.name for field in fields], len(group)),
        ops=ops,
        offsets=batch.offsets[group.rows],
        positions=both,
        positioned=positioned,
        snapshots=snapshot_kinds(group.source["snapshot"]),
        run_ids=batch.run_ids if len(group) == len(batch.run_ids) else batch.run_ids.take(pa.array(group.rows)),
        source_ms=source_millis(group.source["ts_ms"]),
        key_changed=changed,
        old_keys=old,
        unavailable=found.unavailable,
        clamped=found.clamped,
        from_before=found.from_before,
    )
    if not found.bad:
        return Piece(group.rows, chunk)
    for place, wrong in found.bad.items():
        batch.verdicts.reject(group.rows[place], wrong.reason, wrong.detail)
    good = np.setdiff1d(np.arange(len(group)), np.fromiter(found.bad, np.int64, len(found.bad)))
    return Piece(group.rows[good], select(chunk, good)) if len(good) else None


def _names_the_table(name: str, group: EventGroup) -> bool:
    """True for the key field by which routed tables differ, where the events' source block tells them apart anyway."""
    return name == _ROUTED_TABLE and not isinstance(group.before, NoImages)


def _without_key(batch: Batch, group: EventGroup, ops: Int8s, decoding: TableDecoding, missing: str) -> Piece | None:
    """Rejects the rows, which a part of their key would mix up; a truncate needs no key."""
    for row in group.rows[ops != Op.TRUNCATE]:
        batch.verdicts.settle(row, no_key(missing))
    truncates = np.flatnonzero(ops == Op.TRUNCATE)
    return _piece(batch, group.select(truncates), ops[truncates], decoding, None) if len(truncates) else None


def _record_batch(columns: list[pa.Array], names: list[str], count: int) -> pa.RecordBatch:
    if columns:
        return pa.RecordBatch.from_arrays(columns, names=names)
    return pa.RecordBatch.from_struct_array(pa.array([{}] * count, pa.struct([])))


def select(chunk: ChangeChunk, places: Int64s) -> ChangeChunk:
    """The chunk's rows at ``places``, ascending."""
    if len(places) == len(chunk):
        return chunk
    if len(places) and places[-1] - places[0] + 1 == len(places):
        rows = chunk.rows.slice(int(places[0]), len(places))
    else:
        rows = chunk.rows.take(pa.array(places))
    new_place = np.full(len(chunk), -1, dtype=np.int64)
    new_place[places] = np.arange(len(places))
    kept = np.flatnonzero(new_place[chunk.key_changed] >= 0)
    masks = {name: mask[places] for name, mask in chunk.unavailable.items()}
    return ChangeChunk(
        table=chunk.table,
        schema=chunk.schema,
        topic=chunk.topic,
        partition=chunk.partition,
        connector=chunk.connector,
        rows=rows,
        ops=chunk.ops[places],
        offsets=chunk.offsets[places],
        positions=chunk.positions[places],
        positioned=chunk.positioned,
        snapshots=chunk.snapshots[places],
        run_ids=chunk.run_ids.take(pa.array(places)),
        source_ms=chunk.source_ms[places],
        key_changed=new_place[chunk.key_changed[kept]],
        old_keys=chunk.old_keys.take(pa.array(kept)) if chunk.old_keys is not None and len(kept) else None,
        unavailable={name: mask for name, mask in masks.items() if mask.any()},
        clamped=chunk.clamped,
        from_before=chunk.from_before,
    )
