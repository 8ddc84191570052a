"""The two stages under a real Spark, without Kafka: a DataFrame of raw records in place of the Kafka source."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyspark.sql import SparkSession

from streaming.demo.workload import Record
from streaming.driver.action import spark_action
from streaming.plan import PartitionResult
from streaming.policies import OnBadRecord
from streaming.task.bad_records import BadRecordError
from streaming.task.results import Results, TaskFailedError
from tests.spark.raw_frames import frame, plan
from tests.support.records import Table

pytestmark = pytest.mark.spark

ORDERS = Table("shop.public.orders")
CUSTOMERS = Table("shop.public.customers", "customers")


def run(spark: SparkSession, zone: Path, *partitions: Sequence[Record], merges: bool = False, **job: Any) -> Results:
    return spark_action(frame(spark, *partitions))(plan(zone, *partitions, merges=merges, **job))


def staged(zone: Path, results: Results) -> dict[str, bytes]:
    return {
        result.table: (zone / result.file.staged).read_bytes() for result in results.tables if result.file is not None
    }


def creates(table: Table, *keys: int) -> list[Record]:
    return [table.create({"id": key, "name": f"n{key}"}, lsn=key) for key in keys]


def untimed(results: Results) -> list[PartitionResult]:
    """What the partitions came to, but for the seconds that it took."""
    return [msgspec.structs.replace(result, seconds={}) for result in results.partitions]


def test_the_direct_path_and_the_merge_path_make_the_same_bytes(spark: SparkSession, tmp_path: Path) -> None:
    partitions = [creates(ORDERS, *range(1, 30)), creates(CUSTOMERS, 3, 1, 2)]

    direct = run(spark, tmp_path / "direct", *partitions)
    merged = run(spark, tmp_path / "merged", *partitions, merges=True)

    assert [result.table for result in direct.tables] == ["public.customers", "public.orders"]
    assert staged(tmp_path / "direct", direct) == staged(tmp_path / "merged", merged)
    assert [result.state for result in direct.tables] == [result.state for result in merged.tables]
    assert untimed(direct) == untimed(merged)


def test_the_number_of_tasks_changes_no_byte_of_a_merged_table(spark: SparkSession, tmp_path: Path) -> None:
    partitions = [creates(ORDERS.at(number), *range(number + 1, 60, 3)) for number in range(3)]
    action = plan(tmp_path / "one", *partitions, merges=True)

    several = run(spark, tmp_path / "several", *partitions, merges=True)
    single = spark_action(frame(spark, *partitions).coalesce(1))(action)

    assert staged(tmp_path / "several", several) == staged(tmp_path / "one", single)
    [result] = several.tables
    assert result.file is not None
    assert result.file.rows == {"4": 59}


def test_a_failure_in_a_task_becomes_an_error_with_its_kind_facts_and_remedy(
    spark: SparkSession, tmp_path: Path
) -> None:
    good, last = creates(ORDERS, 1, 2)
    records = [good, replace(good, value=b"no JSON"), last]

    with pytest.raises(TaskFailedError, match="a record cannot be decoded") as raised:
        run(spark, tmp_path, records, creates(CUSTOMERS, 1), on_bad_record=OnBadRecord.FAIL)

    assert raised.value.facts == {
        "topic": ORDERS.topic,
        "partition": "0",
        "offset": "1",
        "error": BadRecordError.__name__,
    }
    assert "on_bad_record" in raised.value.remedy


def test_a_task_that_is_tried_again_leaves_one_file_that_counts(tmp_path: Path) -> None:
    # In a process of its own: a local session tries a task again only if its master says so.
    program = "import sys, pathlib; from tests.spark.retried_task import main; main(pathlib.Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr[-4_000:]
    named = json.loads(done.stdout.splitlines()[-1])
    found = sorted(str(path.relative_to(tmp_path / "zone")) for path in tmp_path.rglob("*.parquet"))
    assert len(named) == 1
    assert len(found) == 2, "the lost attempt has left its file under a name of its own"
    assert set(named) <= set(found)
    first, second = ((tmp_path / "zone" / path).read_bytes() for path in found)
    assert first == second
