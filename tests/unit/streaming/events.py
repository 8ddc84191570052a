"""Small builders of row events, plans and landers for the tests of landing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from connectors.debezium.events import ChangeChunk, Op, SnapshotKind
from connectors.debezium.merge_keys import PositionCarry, merge_keys
from connectors.debezium.options import DecodeOptions
from connectors.debezium.schema import ConnectType, Field, RowSchema, SourceTable
from connectors.landing_zone.ledger.state import TableState
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import StorageLocation
from streaming.landing.land import TableLander
from streaming.landing.rows import OrderedRows
from streaming.plan import BatchPlan, JobOptions, TableOptions, TableResult, TopicPlan

OPS = {"c": Op.CREATE, "u": Op.UPDATE, "d": Op.DELETE, "r": Op.READ, "t": Op.TRUNCATE}
ORDERS = SourceTable("shop", "public", "orders")
SCHEMA = RowSchema(
    (
        Field("id", ConnectType.INT64, optional=False),
        Field("name", ConnectType.STRING),
        Field("doc", ConnectType.STRING),
    ),
    key=("id",),
)
ARROW = {ConnectType.INT64: pa.int64(), ConnectType.INT32: pa.int32(), ConnectType.STRING: pa.string()}
MISSING = object()
MARKER = "__rowMarker__"


@dataclass
class Event:
    """One row event; ``row`` by column, :data:`MISSING` for a value that the source did not send."""

    op: str
    row: dict[str, Any] = field(default_factory=dict)
    lsn: int = 0
    offset: int | None = None
    run: str | None = "run-1"
    old_key: dict[str, Any] | None = None
    snapshot: SnapshotKind | None = None


def row(key: int, name: object = "a", doc: object = "d") -> dict[str, Any]:
    """A row of :data:`SCHEMA`."""
    return {"id": key, "name": name, "doc": doc}


def chunk(
    events: Sequence[Event],
    *,
    schema: RowSchema = SCHEMA,
    topic: str = "shop.public.orders",
    partition: int = 0,
    first_offset: int = 0,
    table: SourceTable = ORDERS,
) -> ChangeChunk:
    """The events as the decoder would hand them on; offsets count up from ``first_offset`` where not given."""
    names = [column.name for column in schema.fields]
    offsets = [first_offset + index if event.offset is None else event.offset for index, event in enumerate(events)]
    columns = [
        pa.array(
            [None if event.row.get(column.name) is MISSING else event.row.get(column.name) for event in events],
            ARROW[column.type],
        )
        for column in schema.fields
    ]
    changed = [index for index, event in enumerate(events) if event.old_key is not None]
    old_keys = None
    if changed:
        old_keys = pa.RecordBatch.from_pydict(
            {
                name: pa.array(
                    [(events[index].old_key or {})[name] for index in changed], columns[names.index(name)].type
                )
                for name in schema.key
            }
        )
    unavailable = {
        name: np.array([event.row.get(name) is MISSING for event in events])
        for name in names
        if any(event.row.get(name) is MISSING for event in events)
    }
    snapshots = [
        event.snapshot
        if event.snapshot is not None
        else (SnapshotKind.INITIAL if event.op == "r" else SnapshotKind.NONE)
        for event in events
    ]
    return ChangeChunk(
        table=table,
        schema=schema,
        topic=topic,
        partition=partition,
        connector="postgresql",
        rows=pa.RecordBatch.from_arrays(columns, names=names) if names else _empty_rows(len(events)),
        ops=np.array([OPS[event.op] for event in events], np.int8),
        offsets=np.array(offsets, np.int64),
        positions=np.array([[event.lsn, event.lsn] for event in events], np.uint64).reshape(-1, 2),
        positioned=True,
        snapshots=np.array(snapshots, np.int8),
        run_ids=pa.array([event.run for event in events], pa.string()),
        source_ms=np.array([1_000 + event.lsn for event in events], np.int64),
        key_changed=np.array(changed, np.int64),
        old_keys=old_keys,
        unavailable=unavailable,
    )


def _empty_rows(count: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_struct_array(pa.array([{}] * count, pa.struct([])))


def rows(events: Sequence[Event], *, carry: PositionCarry | None = None, **where: Any) -> OrderedRows:
    """The events of one partition in apply order."""
    built = chunk(events, **where)
    keys, _, _ = merge_keys(built.positions, built.snapshots, carry or PositionCarry())
    return OrderedRows.of_chunk(built, keys)


def plan(
    zone: Path, *, options: TableOptions | None = None, end: int = 1_000, partitions: Sequence[int] = (0,), **job: Any
) -> BatchPlan:
    """A batch over ``shop.public.orders`` that lands into the local folder ``zone``."""
    return BatchPlan(
        job=JobOptions(
            **{
                "fingerprint": "test",
                "decode": DecodeOptions(),
                "zone": StorageLocation(f"file://{zone}"),
                "defaults": options or TableOptions(),
                **job,
            }
        ),
        epoch=1,
        commit=1,
        unique="attempt",
        topics={"shop.public.orders": TopicPlan("topic-id", dict.fromkeys(partitions, (0, end)), merges=False)},
    )


def following(result: TableResult, batch_plan: BatchPlan) -> BatchPlan:
    """The plan of the next batch: it knows what the result has made of the table."""
    return replace(
        batch_plan,
        commit=batch_plan.commit + 1,
        unique="next",
        tables={result.table: result.state},
        schemas={**batch_plan.schemas, **result.schemas},
        streamed_runs=frozenset(result.state.streamed_runs),
    )


def new_table() -> TableState:
    return TableState(source=("shop", "public", "orders"), folder="public.schema/orders")


def land(
    zone: Path,
    *batches: Sequence[Event] | OrderedRows,
    state: TableState | None = None,
    batch_plan: BatchPlan | None = None,
    options: TableOptions | None = None,
    **job: Any,
) -> TableResult:
    """Land the batches of events one after the other and close the file; offsets run through."""
    storage = LocalStorage(zone)
    batch_plan = batch_plan or plan(zone, options=options, **job)
    lander = TableLander(batch_plan, ORDERS, "public.orders", state or new_table(), storage, direct=True)
    offset = 0
    for batch in batches:
        events = batch if isinstance(batch, OrderedRows) else rows(batch, first_offset=offset)
        offset += len(events)
        lander.add(events)
    return lander.finish()


def landed(zone: Path, result: TableResult) -> list[dict[str, Any]]:
    """The staged file's rows."""
    assert result.file is not None
    content: list[dict[str, Any]] = pq.read_table(zone / result.file.staged).to_pylist()
    return content
