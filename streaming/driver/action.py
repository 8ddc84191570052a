"""The one Spark action of a micro-batch."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from pyspark import RDD
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from connectors.kafka.reading.ranges import PartitionRange
from connectors.landing_zone.landing_file import disk_errors
from streaming.driver.session import is_local
from streaming.plan import BatchPlan
from streaming.task.decode import ReadAndLand
from streaming.task.merge import MergeAndLand
from streaming.task.results import RESULT_SCHEMA, Results, read_results

_RESULT_TYPE = from_arrow_schema(RESULT_SCHEMA)


def spark_action(session: SparkSession, tasks: int | None = None) -> Callable[[BatchPlan], Results]:
    """How Spark carries out a plan.

    Args:
        tasks: how many a stage has at most; None for one for each core that there is by then.
    """
    context = session.sparkContext
    # Each property is a call of Java's: hundreds of them take as long as a small micro-batch's tasks.
    conf = dict(context.getConf().getAll())

    @functools.cache
    def numbers(count: int) -> RDD[int]:
        """The numbers below ``count``, each in a partition of its own. Spark makes a file for them, so only once."""
        with disk_errors(Path(tempfile.gettempdir())):
            return context.parallelize(range(count), count)

    def action(plan: BatchPlan) -> Results:
        most = tasks or task_slots(conf, context.defaultParallelism)
        return merge(session, plan, most) if plan.merges else land(numbers, plan, most)

    return with_run_files(action) if is_local(str(context.master)) else action


def with_run_files(action: Callable[[BatchPlan], Results]) -> Callable[[BatchPlan], Results]:
    """The action of tasks that all are on this machine: runs wait for their merge in a folder, which is gone then."""

    def run(plan: BatchPlan) -> Results:
        if not plan.merges:
            return action(plan)
        with contextlib.ExitStack() as stack:
            with disk_errors(Path(tempfile.gettempdir())):
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cdc-bridge-runs-"))
            return action(replace(plan, runs=folder))

    return run


def land(numbers: Callable[[int], RDD[int]], plan: BatchPlan, tasks: int) -> Results:
    """Carry out a plan that merges nothing, with so many tasks at most: stage 1 alone.

    A task reads whole partitions, one after the other, and nothing is shuffled, whatever their number. So nothing needs
    Spark SQL, whose planning takes about as long as the tasks of a small micro-batch.

    Args:
        numbers: those below a count, each in a partition of its own.
    """
    shares = share_out(plan, tasks)
    landed = numbers(len(shares)).mapPartitions(ReadAndLand(plan, shares).rows)
    return read_results((row.kind, row.payload) for row in landed.collect())


def merge(session: SparkSession, plan: BatchPlan, tasks: int) -> Results:
    """Carry out a plan in both stages, with so many tasks in each at most."""
    shares = share_out(plan, tasks)
    merged = (
        session.range(0, len(shares), 1, len(shares))
        .mapInArrow(ReadAndLand(plan, shares).batches, _RESULT_TYPE)
        .repartition(tasks, "table")
        .sortWithinPartitions("table", "sort_key")
        .mapInArrow(MergeAndLand(plan), _RESULT_TYPE)
        .select("kind", "payload")
    )
    return read_results((row.kind, bytes(row.payload)) for row in merged.collect())


def task_slots(conf: Mapping[str, str], registered: int) -> int:
    """How many tasks a stage is cut into.

    Args:
        conf: of the session.
        registered: cores of the executors that are there, at least 2.

    Returns:
        the cores that are there; under dynamic allocation those that there may be. It asks for executors where tasks
        wait for a core, so as many tasks as cores would keep it where it is for ever.
    """
    if conf.get("spark.dynamicAllocation.enabled") != "true" or conf.get("spark.master", "").startswith("local["):
        return registered
    most = int(conf.get("spark.dynamicAllocation.maxExecutors", "0")) * int(conf.get("spark.executor.cores", "1"))
    return max(registered, most)


def share_out(plan: BatchPlan, tasks: int) -> tuple[tuple[PartitionRange, ...], ...]:
    """What each of so many tasks at most reads: whole partitions, those with the most records dealt out first.

    Returns:
        at least one share, which is empty where there is nothing to be read.
    """
    ranges = [
        PartitionRange(topic, partition, start, end)
        for topic, planned in plan.topics.items()
        for partition, (start, end) in planned.ranges.items()
        if start < end
    ]
    shares: list[list[PartitionRange]] = [[] for _ in range(max(1, min(tasks, len(ranges))))]
    records = [0] * len(shares)
    for each in sorted(ranges, key=lambda one: one.start - one.end):
        least = records.index(min(records))
        shares[least].append(each)
        records[least] += each.end - each.start
    return tuple(tuple(share) for share in shares)
