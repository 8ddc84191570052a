"""Chunks of one table in offset order, each as long as its row schema lasts."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from connectors.debezium.assembly import Piece, select
from connectors.debezium.events import Bools, ChangeChunk
from connectors.debezium.schema import SourceTable


def in_offset_order(pieces: Sequence[Piece]) -> list[ChangeChunk]:
    """The chunks of all tables. Pieces of one schema are joined; where schemas alternate, chunks alternate."""
    by_table: dict[SourceTable, list[Piece]] = defaultdict(list)
    for piece in pieces:
        by_table[piece.chunk.table].append(piece)
    chunks: list[ChangeChunk] = []
    for of_table in by_table.values():
        if len(of_table) == 1:
            chunks.append(of_table[0].chunk)
        else:
            chunks += _interleaved(of_table)
    return chunks


def _interleaved(pieces: list[Piece]) -> list[ChangeChunk]:
    kinds: dict[tuple[object, ...], list[Piece]] = defaultdict(list)
    for piece in pieces:
        chunk = piece.chunk
        kinds[(chunk.schema.fingerprint, chunk.connector, chunk.positioned)].append(piece)
    joined = [_joined(same) for same in kinds.values()]
    rows = np.concatenate([piece.rows for piece in joined])
    owners = np.concatenate([np.full(len(piece.rows), number) for number, piece in enumerate(joined)])
    places = np.concatenate([np.arange(len(piece.rows)) for piece in joined])
    order = np.argsort(rows, kind="stable")
    owners, places = owners[order], places[order]
    cuts = np.flatnonzero(np.diff(owners)) + 1
    chunks: list[ChangeChunk] = []
    counted: set[int] = set()
    for run_owners, run_places in zip(np.split(owners, cuts), np.split(places, cuts), strict=True):
        owner = int(run_owners[0])
        chunk = select(joined[owner].chunk, run_places)
        # The counts belong to the whole piece: only its first chunk carries them.
        chunks.append(dataclasses.replace(chunk, clamped=0, from_before=0) if owner in counted else chunk)
        counted.add(owner)
    return chunks


def _joined(pieces: list[Piece]) -> Piece:
    """Pieces of one table and one schema as one, in offset order."""
    if len(pieces) == 1:
        return pieces[0]
    chunks = [piece.chunk for piece in pieces]
    starts = np.cumsum([0, *(len(chunk) for chunk in chunks[:-1])])
    rows = np.concatenate([piece.rows for piece in pieces])
    old = [chunk.old_keys for chunk in chunks if chunk.old_keys is not None]
    whole = ChangeChunk(
        table=chunks[0].table,
        schema=chunks[0].schema,
        topic=chunks[0].topic,
        partition=chunks[0].partition,
        connector=chunks[0].connector,
        rows=_concatenated([chunk.rows for chunk in chunks]),
        ops=np.concatenate([chunk.ops for chunk in chunks]),
        offsets=np.concatenate([chunk.offsets for chunk in chunks]),
        positions=np.concatenate([chunk.positions for chunk in chunks]),
        positioned=chunks[0].positioned,
        snapshots=np.concatenate([chunk.snapshots for chunk in chunks]),
        run_ids=pa.concat_arrays([chunk.run_ids for chunk in chunks]),
        source_ms=np.concatenate([chunk.source_ms for chunk in chunks]),
        key_changed=np.concatenate([chunk.key_changed + start for chunk, start in zip(chunks, starts, strict=True)]),
        old_keys=_concatenated(old) if old else None,
        unavailable=_masks(chunks),
        clamped=sum(chunk.clamped for chunk in chunks),
        from_before=sum(chunk.from_before for chunk in chunks),
    )
    order = np.argsort(rows, kind="stable")
    return Piece(rows[order], _reordered(whole, order))


def _reordered(chunk: ChangeChunk, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> ChangeChunk:
    if np.array_equal(order, np.arange(len(order))):
        return chunk
    place_of = np.empty(len(order), dtype=np.int64)
    place_of[order] = np.arange(len(order))
    changed = place_of[chunk.key_changed]
    by_place = np.argsort(changed)
    return dataclasses.replace(
        chunk,
        rows=chunk.rows.take(pa.array(order)),
        ops=chunk.ops[order],
        offsets=chunk.offsets[order],
        positions=chunk.positions[order],
        snapshots=chunk.snapshots[order],
        run_ids=chunk.run_ids.take(pa.array(order)),
        source_ms=chunk.source_ms[order],
        key_changed=changed[by_place],
        old_keys=None if chunk.old_keys is None else chunk.old_keys.take(pa.array(by_place)),
        unavailable={name: mask[order] for name, mask in chunk.unavailable.items()},
    )


def _masks(chunks: list[ChangeChunk]) -> dict[str, Bools]:
    names = dict.fromkeys(name for chunk in chunks for name in chunk.unavailable)
    return {
        name: np.concatenate([chunk.unavailable.get(name, np.zeros(len(chunk), dtype=np.bool_)) for chunk in chunks])
        for name in names
    }


def _concatenated(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.concat_batches(batches)
