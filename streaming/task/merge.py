"""Stage 2 of a micro-batch: one ordered file per table whose rows several tasks decoded.

Spark brings all runs of a table into one task, sorted by (table, order key of the first row); results of stage 1 pass
through untouched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec
import pyarrow as pa

from connectors.errors import BridgeError
from streaming.landing.steps import Step, Steps, added
from streaming.plan import BatchPlan, ResultKind
from streaming.task.bad_records import settling
from streaming.task.blobs import Blob, unpack
from streaming.task.guarded import GuardedLander
from streaming.task.merging import merge_runs
from streaming.task.results import failure_row, table_row
from streaming.task.tables import TableDirectory
from streaming.task.worker import Worker, worker_for


@dataclass(frozen=True)
class MergeAndLand:
    """The function that Spark calls once per task of stage 2."""

    plan: BatchPlan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return merge_and_land(batches, self.plan, worker_for(self.plan.job))


def merge_and_land(batches: Iterable[pa.RecordBatch], plan: BatchPlan, worker: Worker) -> Iterator[pa.RecordBatch]:
    """Land every table whose runs are in ``batches`` (rows of :data:`streaming.task.results.RESULT_SCHEMA`, sorted)."""
    directory = TableDirectory(plan)
    rows = _Rows(batches)
    try:
        while (kind := rows.next_kind()) is not None:
            if kind is not ResultKind.BLOB:
                yield rows.pass_on()
                continue
            yield _land_table(rows, plan, worker, directory)
    except BridgeError as error:
        yield failure_row(error)


def _land_table(rows: _Rows, plan: BatchPlan, worker: Worker, directory: TableDirectory) -> pa.RecordBatch:
    merged = rows.next_table()
    steps = Steps()
    lander: GuardedLander | None = None
    ends: dict[tuple[str, int], Blob] = {}

    def runs() -> Iterator[Blob]:
        while rows.next_kind() is ResultKind.BLOB and rows.next_table() == merged:
            blob = unpack(rows.take_payload())
            ends[blob.topic, blob.partition] = blob
            yield blob

    try:
        for ordered in steps.measured_each(Step.ORDER, merge_runs(runs())):
            if lander is None:
                table, state = directory.find(ordered.table)
                lander = GuardedLander(plan, ordered.table, table, state, worker.zone, direct=False)
            lander.add(ordered)
        if lander is None:
            raise ValueError(f"no rows in the runs of {merged}")
        for (topic, partition), blob in ends.items():
            lander.set_carry(topic, partition, blob.carry)
        result = lander.finish()
        settling(worker, again=plan.only is not None)(lander.left_out)
        return table_row(msgspec.structs.replace(result, seconds=added(result.seconds, steps.seconds)))
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

    def pass_on(self) -> pa.RecordBatch:
        row = self._current().slice(self._index, 1)
        self._index += 1
        return row

    def _current(self) -> pa.RecordBatch:
        if self._batch is None:
            raise ValueError("no row to look at")
        return self._batch
