"""Ordered runs of a table's rows as bytes, for tables whose rows several tasks decode.

One blob is an Arrow IPC stream of one record batch: the row columns, then the columns that describe the event. What is
constant for the blob travels in the schema's metadata.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.debezium.events import UInt64s
from connectors.debezium.merge_keys import PositionCarry
from connectors.debezium.schema import RowSchema, SourceTable
from streaming.landing.rows import OrderedRows

_HEADER = b"cdc_bridge.blob"
_EVENT = "\x00event:"
_OLD = "\x00old:"
_UNAVAILABLE = "\x00unavailable:"
_CHANGED = _EVENT + "key_changed"
_POSITION = _EVENT + "position"
_TABLE = _EVENT + "table"


class _BlobHeader(msgspec.Struct, frozen=True):
    tables: tuple[SourceTable, ...]
    schema: RowSchema
    connector: str
    positioned: bool
    topic: str
    partition: int
    clamped: int
    from_before: int
    has_old_keys: bool
    identified: bool
    carry: PositionCarry


@dataclass(frozen=True)
class Blob:
    """A run of one partition's rows, with the partition's running maximum after it."""

    rows: OrderedRows
    topic: str
    partition: int
    carry: PositionCarry


def sort_key(rows: OrderedRows, index: int) -> bytes:
    """The place of one row in apply order, as comparable bytes: merge key, topic, partition, offset."""
    words = b"".join(int(word).to_bytes(8, "big") for word in rows.keys[index])
    topic = rows.topics[rows.topic_index[index]].encode()
    place = int(rows.partitions[index]).to_bytes(4, "big") + int(rows.offsets[index]).to_bytes(8, "big")
    key: bytes = words + topic + b"\x00" + place
    return key


def pack(blob: Blob) -> pa.Buffer:
    """The blob as bytes; all of its rows are of one topic partition."""
    rows = blob.rows
    count = len(rows)
    columns: dict[str, pa.Array] = dict(zip(rows.rows.schema.names, rows.rows.columns, strict=True))
    if len(rows.tables) > 1:
        columns[_TABLE] = pa.array(rows.table_index)
    columns[_EVENT + "op"] = pa.array(rows.ops)
    columns[_EVENT + "offset"] = pa.array(rows.offsets)
    for word in range(3):
        columns[f"{_EVENT}key{word}"] = pa.array(np.ascontiguousarray(rows.keys[:, word]))
    if not np.array_equal(rows.positions, rows.keys[:, 1:]):
        for word in range(2):
            columns[f"{_POSITION}{word}"] = pa.array(np.ascontiguousarray(rows.positions[:, word]))
    columns[_EVENT + "snapshot"] = pa.array(rows.snapshots)
    columns[_EVENT + "run_id"] = rows.run_ids
    columns[_EVENT + "source_ms"] = pa.array(rows.source_ms)
    if rows.old_keys is not None and len(rows.key_changed):
        changed = np.zeros(count, np.bool_)
        changed[rows.key_changed] = True
        columns[_CHANGED] = pa.array(changed)
        places = np.zeros(count, np.int64)
        places[rows.key_changed] = np.arange(len(rows.key_changed))
        for name, column in zip(rows.old_keys.schema.names, rows.old_keys.columns, strict=True):
            columns[_OLD + name] = column.take(pa.array(places, mask=~changed))
    for name, mask in rows.unavailable.items():
        columns[_UNAVAILABLE + name] = pa.array(mask)
    header = _BlobHeader(
        tables=rows.tables,
        schema=rows.schema,
        connector=rows.connector,
        positioned=rows.positioned,
        topic=blob.topic,
        partition=blob.partition,
        clamped=rows.clamped,
        from_before=rows.from_before,
        has_old_keys=_CHANGED in columns,
        identified=rows.identified,
        carry=blob.carry,
    )
    batch = pa.RecordBatch.from_arrays(
        list(columns.values()),
        schema=pa.schema(
            [pa.field(name, column.type) for name, column in columns.items()],
            metadata={_HEADER: msgspec.json.encode(header)},
        ),
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue()


def unpack(body: bytes | pa.Buffer) -> Blob:
    """The other direction of :func:`pack`."""
    batch = pa.ipc.open_stream(body).read_next_batch()
    header = msgspec.json.decode(batch.schema.metadata[_HEADER], type=_BlobHeader)
    names = batch.schema.names
    row_names = [name for name in names if not name.startswith((_EVENT, _OLD, _UNAVAILABLE))]
    count = batch.num_rows
    key_changed = np.empty(0, np.int64)
    old_keys = None
    if header.has_old_keys:
        key_changed = np.flatnonzero(_numpy(batch, _CHANGED)).astype(np.int64)
        old_names = [name for name in names if name.startswith(_OLD)]
        old_keys = (
            batch.select(old_names)
            .take(pa.array(key_changed))
            .rename_columns([name[len(_OLD) :] for name in old_names])
        )
    keys = _words(batch, _EVENT + "key", 3)
    rows = OrderedRows(
        tables=header.tables,
        table_index=_numpy(batch, _TABLE) if _TABLE in names else np.zeros(count, np.int32),
        schema=header.schema,
        connector=header.connector,
        positioned=header.positioned,
        topics=(header.topic,),
        topic_index=np.zeros(count, np.int32),
        partitions=np.full(count, header.partition, np.int32),
        rows=batch.select(row_names).replace_schema_metadata(None),
        ops=_numpy(batch, _EVENT + "op"),
        offsets=_numpy(batch, _EVENT + "offset"),
        keys=keys,
        positions=_words(batch, _POSITION, 2) if f"{_POSITION}0" in names else keys[:, 1:],
        snapshots=_numpy(batch, _EVENT + "snapshot"),
        run_ids=batch.column(_EVENT + "run_id"),
        source_ms=_numpy(batch, _EVENT + "source_ms"),
        key_changed=key_changed,
        old_keys=old_keys,
        unavailable={name[len(_UNAVAILABLE) :]: _numpy(batch, name) for name in names if name.startswith(_UNAVAILABLE)},
        clamped=header.clamped,
        from_before=header.from_before,
        identified=header.identified,
    )
    return Blob(rows, header.topic, header.partition, header.carry)


def _numpy(batch: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = batch.column(name).to_numpy(zero_copy_only=False)
    return values


def _words(batch: pa.RecordBatch, name: str, count: int) -> UInt64s:
    return np.column_stack([_numpy(batch, f"{name}{word}") for word in range(count)])
