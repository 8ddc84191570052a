"""Stage 1 of a micro-batch, inside an executor's Python worker: read and decode records, land what can be landed.

A topic that only one partition feeds in this batch is ordered by its offsets: its tables land right here. Rows of the
others leave as sorted runs for stage 2 (:mod:`streaming.task.merge`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from connectors.debezium.events import BadRecord, ChangeChunk, Int64s, Op, RawRecords, SkipReason
from connectors.debezium.headers import SeenRuns, merge_runs
from connectors.debezium.merge_keys import PositionCarry, merge_keys
from connectors.debezium.schema import SourceTable
from connectors.debezium.table_change import TableChange
from connectors.errors import BridgeError
from connectors.kafka.reading.ranges import PartitionRange
from connectors.landing_zone.ledger.state import KEPT_PASSED_OVER, TableState
from streaming.landing.carry import partition_carry
from streaming.landing.generation import SUPERSEDED, Beginning
from streaming.landing.interleaving import in_apply_order
from streaming.landing.rows import OrderedRows
from streaming.landing.shaping.merged_sources import with_identity
from streaming.landing.steps import Step, Steps
from streaming.plan import BatchPlan, PartitionResult
from streaming.sources import Source, in_order, source_of
from streaming.task.ahead import one_ahead
from streaming.task.bad_records import TOO_MANY_TABLES, settling
from streaming.task.blobs import Blob, pack, sort_key
from streaming.task.guarded import GuardedLander
from streaming.task.results import ResultRow, blob_row, failure_row, partition_row, table_row, together
from streaming.task.run_files import RunWriter, run_writer
from streaming.task.table_room import TableRoom
from streaming.task.tables import TableDirectory
from streaming.task.uploads import Uploads
from streaming.task.worker import Worker, worker_for


@dataclass(frozen=True)
class ReadAndLand:
    """What a task of stage 1 does, for either of Spark's interfaces.

    Attributes:
        shares: what each task reads of Kafka, by the number that is its only row.
    """

    plan: BatchPlan
    shares: tuple[tuple[PartitionRange, ...], ...]

    def rows(self, numbers: Iterable[int]) -> Iterator[ResultRow]:
        """The function of ``RDD.mapPartitions``, for the numbers of shares."""
        worker = worker_for(self.plan.job)
        for number in numbers:
            with closing(one_ahead(worker.read(self.shares[number]))) as records:
                yield from decode_and_land(records, self.plan, worker)

    def batches(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The function of ``DataFrame.mapInArrow``, for the numbers of shares in the first column."""
        return together(self.rows(number for batch in numbers for number in batch.column(0).to_pylist()))


def decode_and_land(records: Iterable[RawRecords], plan: BatchPlan, worker: Worker) -> Iterator[ResultRow]:
    """Decode and land the records of whole topic partitions, one partition after the other.

    Args:
        records: of the plan's ranges and nothing else; of each partition together and in offset order.

    Yields:
        what came of them; after an error, one failure row and nothing else.
    """
    with Uploads(worker.zone, plan.job.upload_threads) as uploads, run_writer(plan) as runs:
        yield from _decode_and_land(records, _Task(plan, worker, TableDirectory(plan), uploads, runs, Steps()))


@dataclass(frozen=True)
class _Task:
    """What the partitions of one task have in common."""

    plan: BatchPlan
    worker: Worker
    directory: TableDirectory
    uploads: Uploads
    runs: RunWriter | None
    steps: Steps


def _decode_and_land(fetched: Iterable[RawRecords], task: _Task) -> Iterator[ResultRow]:
    partition: _Partition | None = None
    try:
        for records in task.steps.measured_each(Step.READ, fetched):
            if partition is not None and not partition.continues(records):
                yield from partition.land()
                yield partition.report()
                partition = None
            if partition is None:
                partition = _Partition(records.topic, records.partition, task)
            yield from partition.add(records)
        if partition is not None:
            yield from partition.land()
            with task.steps.measured(Step.STAGE):
                task.uploads.finish()
            yield partition.report()
            partition = None
    except BridgeError as error:
        yield failure_row(error)
    finally:
        if partition is not None:
            partition.abandon()


@dataclass
class _Counts:
    records: int = 0
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    bad: Counter[str] = field(default_factory=Counter)
    epochs: int = 0
    superseded: int = 0
    table_changes: list[TableChange] = field(default_factory=list)
    passed_over: set[Source] = field(default_factory=set)
    excluded: set[Source] = field(default_factory=set)
    runs: SeenRuns = field(default_factory=dict)
    ops: Counter[int] = field(default_factory=Counter)
    oldest_ms: int = 0
    newest_ms: int = 0

    def add(self, records: RawRecords) -> None:
        oldest, newest = int(records.timestamps.min()), int(records.timestamps.max())
        self.oldest_ms = min(oldest, self.oldest_ms) if self.records else oldest
        self.newest_ms = max(newest, self.newest_ms)
        self.records += len(records)


class _Partition:
    """One topic partition's records in one task: its tables' landers, or its runs on their way to a merge."""

    def __init__(self, topic: str, partition: int, task: _Task) -> None:
        plan, worker = task.plan, task.worker
        self._topic = topic
        self._partition = partition
        self._plan = plan
        self._worker = worker
        self._steps = task.steps
        self._directory = task.directory
        self._uploads = task.uploads
        self._runs = task.runs
        self._merges = plan.topics[topic].merges
        self._settle_all = settling(worker, again=plan.only is not None)
        self._landers: dict[str, GuardedLander] = {}
        self._carries: dict[str, PositionCarry] = {}
        self._beginnings: dict[SourceTable, Beginning] = {}
        self._known = plan.by_source.keys()
        self._room = TableRoom(plan, task.directory)
        self._counts = _Counts()

    def continues(self, records: RawRecords) -> bool:
        return (records.topic, records.partition) == (self._topic, self._partition)

    def add(self, records: RawRecords) -> Iterator[ResultRow]:
        """Decode the next records of this partition; yields runs if its tables are merged elsewhere."""
        with self._steps.measured(Step.DECODE):
            decoded = self._worker.decoder.decode(records, continued=self._counts.records > 0)
        self._counts.add(records)
        self._counts.skipped.update(decoded.skipped)
        self._counts.table_changes += decoded.table_changes
        excluded = {*map(source_of, decoded.excluded)}
        self._counts.excluded |= excluded & self._known
        if len(self._counts.passed_over) < KEPT_PASSED_OVER:
            self._counts.passed_over |= excluded - self._known
        merge_runs(self._counts.runs, decoded.runs)
        chunks = [chunk for chunk in decoded.chunks if self._plan.only is not None or self._room.has(chunk.table)]
        if len(chunks) < len(decoded.chunks):
            decoded.bad += self._refused(records, decoded.chunks, chunks)
        self._settle(decoded.bad)
        by_table: dict[str, list[ChangeChunk]] = {}
        for chunk in chunks:
            self._counts.ops.update(dict(enumerate(np.bincount(chunk.ops, minlength=len(Op)).tolist())))
            by_table.setdefault(self._directory.merge_name(chunk.table), []).append(chunk)
        for merged, of_table in by_table.items():
            yield from self._place(merged, of_table)

    def land(self) -> Iterator[ResultRow]:
        """Close the landers: a row for each table. Their files may still be on their way."""
        for merged, lander in self._landers.items():
            lander.set_carry(self._topic, self._partition, self._carries[merged])
            result = lander.finish()
            self._settle(lander.left_out)
            yield table_row(result)

    def report(self) -> ResultRow:
        """What the records came to."""
        skipped = {reason.value: count for reason, count in self._counts.skipped.items()}
        if self._counts.superseded:
            skipped[SUPERSEDED] = self._counts.superseded
        return partition_row(
            PartitionResult(
                topic=self._topic,
                partition=self._partition,
                records=self._counts.records,
                skipped=dict(sorted(skipped.items())),
                bad=dict(sorted(self._counts.bad.items())),
                epochs=self._counts.epochs,
                table_changes=tuple(self._counts.table_changes),
                passed_over=in_order(self._counts.passed_over)[:KEPT_PASSED_OVER],
                excluded=in_order(self._counts.excluded),
                runs=self._counts.runs,
                ops={Op(op).name.lower(): count for op, count in sorted(self._counts.ops.items()) if count},
                oldest_ms=self._counts.oldest_ms,
                newest_ms=self._counts.newest_ms,
                seconds=self._steps.taken(),
            )
        )

    def abandon(self) -> None:
        for lander in self._landers.values():
            lander.abandon()

    def _place(self, merged: str, chunks: list[ChangeChunk]) -> Iterator[ResultRow]:
        """Land the events of one landing-zone table, or send them on their way to the merge."""
        _, state = self._directory.find(chunks[0].table)
        if not self._plan.lands(state):
            return
        with self._steps.measured(Step.ORDER):
            parts = [part for chunk in chunks if len(part := self._rows(chunk))]
            if len({source for part in parts for source in part.tables}) > 1:
                # Sources take turns in the log. A decoder gives the events of each by themselves.
                parts = list(in_apply_order(parts))
        for part in parts:
            yield from self._place_part(merged, part)

    def _rows(self, chunk: ChangeChunk) -> OrderedRows:
        """The chunk's events that belong to the table's present generation, without merge keys."""
        _, state = self._directory.find(chunk.table)
        kept = self._belonging(chunk, state)
        rows = OrderedRows.of_chunk(chunk, np.zeros((len(chunk), 3), np.uint64))
        if kept is not None:
            rows = rows.take(kept)
        return with_identity(rows, self._plan.job.options_for(chunk.table)) if state.sources else rows

    def _place_part(self, merged: str, rows: OrderedRows) -> Iterator[ResultRow]:
        table, state = self._directory.find(rows.table)
        known = state.partitions.get(self._topic, {}).get(self._partition)
        carry = self._carries.get(merged) or partition_carry(known)
        with self._steps.measured(Step.ORDER):
            keys, carry, opened = merge_keys(rows.positions, rows.snapshots, carry, self._plan.job.lasting_fall)
            rows = replace(rows, keys=keys)
        self._carries[merged] = carry
        self._counts.epochs += opened
        if self._merges:
            with self._steps.measured(Step.ORDER):
                packed = pack(Blob(rows, self._topic, self._partition, carry))
                payload = packed.to_pybytes() if self._runs is None else self._runs.put(packed)
            yield blob_row(merged, sort_key(rows, 0), payload)
            return
        lander = self._landers.get(merged)
        if lander is None:
            lander = GuardedLander(self._plan, rows.table, table, state, self._uploads, direct=True)
            self._landers[merged] = lander
        lander.add(rows)

    def _refused(self, records: RawRecords, chunks: list[ChangeChunk], kept: list[ChangeChunk]) -> Iterator[BadRecord]:
        """The events of the chunks that are not kept, as bad records."""
        placed = {id(chunk) for chunk in kept}
        for chunk in chunks:
            if id(chunk) in placed:
                continue
            detail = self._room.refusal(chunk.table)
            for row in np.searchsorted(records.offsets, chunk.offsets).tolist():
                yield BadRecord.of(records, row, TOO_MANY_TABLES, detail)

    def _belonging(self, chunk: ChangeChunk, state: TableState) -> Int64s | None:
        """The events of the table's present generation; None for all. The others count as superseded."""
        beginning = self._beginnings.get(chunk.table)
        if beginning is None:
            beginning = self._beginnings[chunk.table] = Beginning(state, self._topic, self._partition)
        kept = beginning.belonging(chunk)
        if kept is not None:
            self._counts.superseded += len(chunk) - len(kept)
        return kept

    def _settle(self, bad: list[BadRecord]) -> None:
        self._counts.bad.update(record.reason for record in bad)
        self._settle_all(bad)
