"""What a test runs in a process of its own: a batch that loses its worker, under a master that tries tasks again."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from streaming.plan import BatchPlan
from streaming.task.decode import DecodeAndLand
from streaming.task.headers_text import TEXT_COLUMNS
from streaming.task.results import RESULT_DDL, read_results
from tests.spark.raw_frames import RAW_DDL, plan
from tests.support.bridge import QUICK_START
from tests.support.records import Table, raw_batch


@dataclass(frozen=True)
class DiesOnce:
    """Stage 1; the worker that runs it first is gone before it can say what it has done."""

    plan: BatchPlan
    mark: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        done = list(DecodeAndLand(self.plan)(batches))
        if not Path(self.mark).exists():
            Path(self.mark).touch()
            os._exit(1)
        yield from done


def main(folder: Path) -> None:
    """Run it in ``folder`` and print the staged files that the results name."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    conf = {"spark.ui.enabled": "false", **QUICK_START}
    session = SparkSession.builder.master("local[1,2]").config(map=conf).getOrCreate()
    orders = Table("shop.public.orders")
    records = [orders.create({"id": key, "name": "x"}, lsn=key) for key in range(1, 10)]
    stage = DiesOnce(plan(folder / "zone", records), str(folder / "mark"))
    # Made by Java: records that Python made would cost each attempt a second worker.
    table = pa.Table.from_batches([raw_batch((record, offset) for offset, record in enumerate(records))])
    rows = (
        session.createDataFrame(table, RAW_DDL)
        .selectExpr(*TEXT_COLUMNS)
        .coalesce(1)
        .mapInArrow(stage, RESULT_DDL)
        .collect()
    )
    results = read_results((row.kind, bytes(row.payload)) for row in rows)
    sys.stdout.write(json.dumps([result.file.staged for result in results.tables if result.file]) + "\n")
    session.stop()
