"""Stage 2 of a micro-batch: one ordered file per table whose rows several tasks decoded.

Spark brings all runs of a table into one task, sorted by (table, order key of the first row); results of stage 1 pass
through untouched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pyarrow as pa

from connectors.errors import BridgeError
from streaming.landing.steps import Step, Steps, added
from streaming.plan import BatchPlan, ResultKind, TableResult
from streaming.task.bad_records import settling
from streaming.task.blobs import Blob, unpack
from streaming.task.guarded import GuardedLander
from streaming.task.merging import merge_runs
from streaming.task.results import ResultRow, failure_row, table_row, together
from streaming.task.run_files import RunReader
from streaming.task.tables import TableDirectory
from streaming.task.uploads import Uploads
from streaming.task.worker import Worker, worker_for


@dataclass(frozen=True)
class MergeAndLand:
    """The function that Spark calls once per task of stage 2."""

    plan: BatchPlan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return together(merge_and_land(batches, self.plan, worker_for(self.plan.job)))


def merge_and_land(batches: Iterable[pa.RecordBatch], plan: BatchPlan, worker: Worker) -> Iterator[ResultRow]:
    """Land every table whose runs are in ``batches`` (rows of :data:`streaming.task.results.RESULT_SCHEMA`, sorted)."""
    with Uploads(worker.zone, plan.job.upload_threads) as uploads:
        yield from _merge_and_land(_Rows(batches), plan, worker, uploads)


def _merge_and_land(rows: _Rows, plan: BatchPlan, worker: Worker, uploads: Uploads) -> Iterator[ResultRow]:
    directory = TableDirectory(plan)
    last: TableResult | None = None
    try:
        while (kind := rows.next_kind()) is not None:
            if kind is not ResultKind.BLOB:
                yield rows.pass_on()
                continue
            if last is not None:
                yield table_row(last)
            last = _land_table(rows, plan, worker, directory, uploads)
        if last is not None:
            steps = Steps()
            with steps.measured(Step.STAGE):
                uploads.finish()
            yield table_row(msgspec.structs.replace(last, seconds=added(last.seconds, steps.seconds)))
    except BridgeError as error:
        yield failure_row(error)


def _land_table(
    rows: _Rows, plan: BatchPlan, worker: Worker, directory: TableDirectory, uploads: Uploads
) -> TableResult:
    merged = rows.next_table()
    files = None if plan.runs is None else RunReader(Path(plan.runs))
    steps = Steps()
    lander: GuardedLander | None = None
    ends: dict[tuple[str, int], Blob] = {}

    def runs() -> Iterator[Blob]:
        while rows.next_kind() is ResultKind.BLOB and rows.next_table() == merged:
            payload = rows.take_payload()
            blob = unpack(payload if files is None else files.get(payload))
            ends[blob.topic, blob.partition] = blob
            yield blob

    try:
        for ordered in steps.measured_each(Step.ORDER, merge_runs(runs())):
            if lander is None:
                table, state = directory.find(ordered.table)
                lander = GuardedLander(plan, ordered.table, table, state, uploads, direct=False)
            lander.add(ordered)
        if lander is None:
            raise ValueError(f"no rows in the runs of {merged}")
        for (topic, partition), blob in ends.items():
            lander.set_carry(topic, partition, blob.carry)
        result = lander.finish()
        settling(worker, again=plan.only is not None)(lander.left_out)
        return msgspec.structs.replace(result, seconds=added(result.seconds, steps.seconds))
    except BaseException:
        if lander is not None:
            lander.abandon()
        raise


class _Rows:
    """The incoming rows one at a time, with a look at the next one."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = iter(batches)
        self._batch: pa.RecordBatch | None = None
        self._index = 0

    def next_kind(self) -> ResultKind | None:
        while self._batch is None or self._index >= self._batch.num_rows:
            self._batch = next(self._batches, None)
            self._index = 0
            if self._batch is None:
                return None
        return ResultKind(self._batch.column("kind")[self._index].as_py())

    def next_table(self) -> str:
        return str(self._current().column("table")[self._index].as_py())

    def take_payload(self) -> bytes:
        payload: bytes = self._current().column("payload")[self._index].as_py()
        self._index += 1
        return payload

    def pass_on(self) -> ResultRow:
        [row] = self._current().slice(self._index, 1).to_pylist()
        self._index += 1
        return ResultRow(ResultKind(row["kind"]), row["payload"], row["table"], row["sort_key"])

    def _current(self) -> pa.RecordBatch:
        if self._batch is None:
            raise ValueError("no row to look at")
        return self._batch
