"""The two stages under a real Spark, whose workers read a real Kafka: a plan in place of the driver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipimport import zipimporter

import msgspec
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streaming.demo.workload import Record
from streaming.driver.action import spark_action
from streaming.driver.spark_errors import QueryFailedError, spark_errors
from streaming.plan import PartitionResult
from streaming.policies import OnBadRecord
from streaming.task.bad_records import BadRecordError
from streaming.task.results import Results, TaskFailedError, TaskFailedTransientError
from streaming.task.worker import RecordsMissingError, worker_for
from tests.spark.planned import plan
from tests.support.cluster import Cluster
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


@pytest.fixture
def orders(cluster: Cluster) -> Table:
    return Table(cluster.topic("orders", 3))


@pytest.fixture
def customers(cluster: Cluster) -> Table:
    return Table(cluster.topic("customers"), "customers")


class Stages:
    """Runs plans over all that was sent."""

    def __init__(self, spark: SparkSession, cluster: Cluster, *partitions: Sequence[Record]) -> None:
        for records in partitions:
            cluster.send(*records)
        self._spark = spark
        self._servers = cluster.bootstrap_servers
        self._partitions = partitions

    def run(self, zone: Path, *, tasks: int | None = None, merges: bool = False, **job: Any) -> Results:
        """Carry out a plan; with as many tasks as the bridge would take where it is not said."""
        planned = plan(self._servers, zone, *self._partitions, merges=merges, **job)
        return spark_action(self._spark, tasks)(planned)


def staged(zone: Path, results: Results) -> dict[str, bytes]:
    return {
        result.table: (zone / result.file.staged).read_bytes() for result in results.tables if result.file is not None
    }


def creates(table: Table, *keys: int) -> list[Record]:
    return [table.create({"id": key, "name": f"n{key}"}, lsn=key) for key in keys]


def untimed(results: Results) -> list[PartitionResult]:
    """What the partitions came to, but for the seconds that it took."""
    return [msgspec.structs.replace(result, seconds={}) for result in results.partitions]


def test_the_direct_path_and_the_merge_path_make_the_same_bytes(
    spark: SparkSession, cluster: Cluster, orders: Table, customers: Table, tmp_path: Path
) -> None:
    stages = Stages(spark, cluster, creates(orders, *range(1, 30)), creates(customers, 3, 1, 2))

    direct = stages.run(tmp_path / "direct")
    merged = stages.run(tmp_path / "merged", merges=True)

    assert [result.table for result in direct.tables] == ["public.customers", "public.orders"]
    assert staged(tmp_path / "direct", direct) == staged(tmp_path / "merged", merged)
    assert [result.state for result in direct.tables] == [result.state for result in merged.tables]
    assert untimed(direct) == untimed(merged)


def test_the_number_of_tasks_changes_no_byte_of_a_merged_table(
    spark: SparkSession, cluster: Cluster, orders: Table, tmp_path: Path
) -> None:
    stages = Stages(spark, cluster, *(creates(orders.at(number), *range(number + 1, 60, 3)) for number in range(3)))

    several = stages.run(tmp_path / "several", tasks=3, merges=True)
    single = stages.run(tmp_path / "one", tasks=1, merges=True)

    assert staged(tmp_path / "several", several) == staged(tmp_path / "one", single)
    [result] = several.tables
    assert result.file is not None
    assert result.file.rows == {"4": 59}


def test_a_worker_begins_its_next_task_without_reading_sparks_archives(spark: SparkSession, tmp_path: Path) -> None:
    job = replace(plan("127.0.0.1:1", tmp_path).job, fingerprint="archives")

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            left = sum(isinstance(finder, zipimporter) for finder in sys.path_importer_cache.values())
            worker_for(job)
            loaders = [getattr(module, "__loader__", None) for module in sys.modules.values()]
            imported = sum(isinstance(loader, zipimporter) for loader in loaders)
            yield pa.RecordBatch.from_pydict({"worker": [os.getpid()], "left": [left], "imported": [imported]})

    tasks = spark.range(0, 1, 1, 1).mapInArrow(task, "worker bigint, left bigint, imported bigint")
    seen: set[int] = set()
    for _ in range(8):
        [told] = tasks.collect()
        assert told.imported > 0, "Spark comes from no archive: nothing was shown"
        assert told.left == 0 or told.worker not in seen
        seen.add(told.worker)
    assert len(seen) < 8, "no worker had a second task"


@pytest.mark.parametrize("sql", [True, False], ids=["a job that merges", "a job that merges nothing"])
def test_what_a_worker_dies_of_is_named(spark: SparkSession, sql: bool) -> None:
    def task(_: object) -> Iterator[pa.RecordBatch]:
        raise ModuleNotFoundError("No module named 'shop'")
        yield

    if sql:
        job = spark.range(0, 1, 1, 1).mapInArrow(task, "payload binary")
    else:
        job = spark.sparkContext.parallelize(range(1), 1).mapPartitions(task)
    with pytest.raises(QueryFailedError) as raised, spark_errors():
        job.collect()
    assert raised.value.message == "Spark's query ended: ModuleNotFoundError: No module named 'shop'"


def test_a_failure_in_a_task_becomes_an_error_with_its_kind_facts_and_remedy(
    spark: SparkSession, cluster: Cluster, orders: Table, customers: Table, tmp_path: Path
) -> None:
    good, last = creates(orders, 1, 2)
    stages = Stages(spark, cluster, [good, replace(good, value=b"no JSON"), last], creates(customers, 1))

    with pytest.raises(TaskFailedError, match="a record cannot be decoded") as raised:
        stages.run(tmp_path, on_bad_record=OnBadRecord.FAIL)

    assert raised.value.facts == {
        "topic": orders.topic,
        "partition": "0",
        "offset": "1",
        "error": BadRecordError.__name__,
    }
    assert "on_bad_record" in raised.value.remedy


def test_records_that_have_gone_since_they_were_planned_are_a_failure_that_passes(
    spark: SparkSession, cluster: Cluster, orders: Table, customers: Table, tmp_path: Path
) -> None:
    stages = Stages(spark, cluster, creates(orders, 1, 2, 3), creates(customers, 1))
    cluster.expire(orders.topic, 0, before=2)

    with pytest.raises(TaskFailedTransientError, match="records of a micro-batch are not in Kafka any more") as raised:
        stages.run(tmp_path)

    assert raised.value.facts == {
        "topic": orders.topic,
        "partition": "0",
        "offset": "0",
        "error": RecordsMissingError.__name__,
    }
    assert raised.value.remedy.startswith("nothing: the job starts again by itself")


def test_a_task_that_is_tried_again_leaves_one_file_that_counts(bootstrap_servers: str, tmp_path: Path) -> None:
    # In a process of its own: a local session tries a task again only if its master says so.
    program = (
        "import sys, pathlib; from tests.spark.retried_task import main; main(pathlib.Path(sys.argv[1]), sys.argv[2])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), bootstrap_servers], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr[-4_000:]
    named = json.loads(done.stdout.splitlines()[-1])
    found = sorted(str(path.relative_to(tmp_path / "zone")) for path in tmp_path.rglob("*.parquet"))
    assert len(named) == 1
    assert len(found) == 2, "the lost attempt has left its file under a name of its own"
    assert set(named) <= set(found)
    first, second = ((tmp_path / "zone" / path).read_bytes() for path in found)
    assert first == second
