"""What a test runs in a process of its own: a batch that loses its worker, under a master that tries tasks again."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from streaming.driver.action import share_out
from streaming.task.decode import ReadAndLand
from streaming.task.results import ResultRow, read_results
from tests.spark.planned import plan
from tests.support.bridge import QUICK_START
from tests.support.cluster import Cluster
from tests.support.records import Table


@dataclass(frozen=True)
class DiesOnce:
    """Stage 1; the worker that runs it first is gone before it can say what it has done."""

    stage: ReadAndLand
    mark: str

    def __call__(self, numbers: Iterable[int]) -> Iterator[ResultRow]:
        done = list(self.stage.rows(numbers))
        if not Path(self.mark).exists():
            Path(self.mark).touch()
            os._exit(1)
        yield from done


def main(path: str, servers: str) -> None:
    """Run it in a folder, on a topic of these servers, and print the staged files that the results name."""
    folder = Path(path)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    conf = {"spark.ui.enabled": "false", **QUICK_START}
    session = SparkSession.builder.master("local[1,2]").config(map=conf).getOrCreate()
    cluster = Cluster(servers)
    orders = Table(cluster.topic())
    records = [orders.create({"id": key, "name": "x"}, lsn=key) for key in range(1, 10)]
    cluster.send(*records)
    planned = plan(servers, folder / "zone", records)
    stage = DiesOnce(ReadAndLand(planned, share_out(planned, 1)), str(folder / "mark"))
    rows = session.sparkContext.parallelize([0], 1).mapPartitions(stage).collect()
    results = read_results((row.kind, row.payload) for row in rows)
    sys.stdout.write(json.dumps([result.file.staged for result in results.tables if result.file]) + "\n")
    session.stop()
