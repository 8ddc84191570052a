"""What the model's drivers land: six events of two tables in one topic, and the task that stages them.

Table ``a`` has an event in every batch, ``b`` has none in the second one, so its number lags behind, and its place in
the topic is told by the other's files only. Files are real Parquet with real footers: a lost ledger is made from them.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from connectors.debezium.options import DecodeOptions
from connectors.landing_zone.footer import Footer, PartitionEnd
from connectors.landing_zone.ledger.state import LandedFile, PartitionState, Phase, TableState, TableStatus
from connectors.landing_zone.numbering import SequenceNumber
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from connectors.landing_zone.staging import staged_path
from connectors.landing_zone.storage.location import StorageLocation
from connectors.landing_zone.storage.protocol import Storage
from streaming.plan import BatchPlan, JobOptions, PartitionResult, TableResult
from streaming.task.results import Results

TOPIC = "shop"
TOPIC_IDS = {TOPIC: "id-of-shop"}
EVENTS = ("public.a", "public.b", "public.a", "public.a", "public.b", "public.a")
"""The table of each offset."""
TABLES = ("public.a", "public.b")
OFFSETS = {table: tuple(offset for offset, owner in enumerate(EVENTS) if owner == table) for table in TABLES}

Cut = tuple[int, ...]
CUTS: tuple[Cut, ...] = ((2, 4, 6), (1, 6))
"""End offsets of the batches as a source may plan them; the first is the usual one."""

JOB = JobOptions(fingerprint="model", decode=DecodeOptions(), zone=StorageLocation("file:///zone"))

_SCHEMA = PinnedSchema((PinnedColumn("offset", "offset", "int64", key=True),))
_FINGERPRINT = str(_SCHEMA.fingerprint)
_SCHEMA_TEXT = msgspec.json.encode(_SCHEMA).decode()

_rows_of: dict[bytes, tuple[int, ...]] = {}


def folder_of(table: str) -> str:
    """``public.schema/a`` for ``public.a``."""
    schema, _, name = table.partition(".")
    return f"{schema}.schema/{name}"


def rows_in(body: bytes) -> tuple[int, ...]:
    """The offsets of a landing file's rows, in their order."""
    known = _rows_of.get(body)
    if known is None:
        known = tuple(pq.read_table(pa.BufferReader(body)).column("offset").to_pylist())
        _rows_of[body] = known
    return known


def land(zone: Storage, plan: BatchPlan, unique: str) -> Results:
    """Stage the range's rows, as the job's tasks do; the lander's rules are reduced to where each table goes on.

    Args:
        unique: part of the staged files' names that no other process has.
    """
    start, end = plan.topics[TOPIC].ranges[0]
    tables = [result for table in TABLES if (result := _land(zone, plan, table, (start, end), unique)) is not None]
    return Results(tuple(tables), (PartitionResult(TOPIC, 0, records=end - start),))


def _land(zone: Storage, plan: BatchPlan, table: str, span: tuple[int, int], unique: str) -> TableResult | None:
    start, end = span
    known = plan.tables.get(table) or _new(table)
    landed_to = known.landed_to.get(TOPIC, {}).get(0, 0)
    rows = tuple(offset for offset in OFFSETS[table] if max(start, landed_to) <= offset < end)
    if not rows or known.status is TableStatus.PARKED:
        return None
    sequence = known.sequence + 1
    state = msgspec.structs.replace(
        known,
        status=TableStatus.STREAMING,
        sequence=sequence,
        schema=_FINGERPRINT,
        partitions={TOPIC: {0: PartitionState(phase=Phase.STREAMING)}},
        rows={"4": known.rows.get("4", 0) + len(rows)},
        sha256="",
    )
    body = _file(table, sequence, plan.commit, msgspec.json.encode(state).decode(), max(end, landed_to), rows)
    staged = staged_path(plan.epoch, known.folder, sequence, f"{unique}-{plan.commit}", "parquet")
    zone.put(staged, body)
    file = LandedFile(
        table=table,
        generation=known.generation,
        sequence=sequence,
        staged=staged,
        target=f"{known.folder}/{sequence:020d}.parquet",
        sha256=hashlib.sha256(body).hexdigest(),
        logical="",
        bytes=len(body),
        rows={"4": len(rows)},
        schema=_FINGERPRINT,
        ranges={TOPIC: {0: (rows[0], rows[-1])}},
    )
    return TableResult(table, state, file, {_FINGERPRINT: _SCHEMA_TEXT}, direct_topics=(TOPIC,), events=len(rows))


def _new(table: str) -> TableState:
    schema, _, name = table.partition(".")
    return TableState(source=("shop", schema, name), folder=folder_of(table), keys=("offset",))


@lru_cache(maxsize=1 << 14)
def _file(table: str, sequence: int, commit: int, state: str, end: int, rows: tuple[int, ...]) -> bytes:
    footer = Footer(
        table=table,
        generation=1,
        sequence=SequenceNumber(sequence),
        commit=commit,
        schema=_SCHEMA,
        state=state,
        topics=TOPIC_IDS,
        vector={TOPIC: {0: PartitionEnd(end)}},
        ranges={TOPIC: {0: (rows[0], rows[-1])}},
    )
    content = pa.table({"offset": pa.array(rows, pa.int64())}).replace_schema_metadata(footer.to_metadata())
    sink = pa.BufferOutputStream()
    pq.write_table(content, sink)
    body: bytes = sink.getvalue().to_pybytes()
    _rows_of[body] = rows
    return body
