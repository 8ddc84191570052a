"""The one Spark action of a micro-batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame

from streaming.plan import BatchPlan
from streaming.task.decode import DecodeAndLand
from streaming.task.headers_text import TEXT_COLUMNS
from streaming.task.merge import MergeAndLand
from streaming.task.results import RESULT_DDL, Results, read_results


def spark_action(frame: DataFrame) -> Callable[[BatchPlan], Results]:
    """How Spark carries out a plan on a batch of Kafka's records.

    Stage 1 has one task per core, whatever the number of partitions: ``coalesce`` puts whole partitions after each
    other and shuffles nothing. Stage 2 is there only if a topic has to merge.
    """
    context = frame.sparkSession.sparkContext
    cores = task_slots(dict(context.getConf().getAll()), context.defaultParallelism)

    def run(plan: BatchPlan) -> Results:
        rows = frame.selectExpr(*TEXT_COLUMNS).coalesce(cores).mapInArrow(DecodeAndLand(plan), RESULT_DDL)
        if any(topic.merges for topic in plan.topics.values()):
            rows = (
                rows.repartition(cores, "table")
                .sortWithinPartitions("table", "sort_key")
                .mapInArrow(MergeAndLand(plan), RESULT_DDL)
            )
        return read_results((row.kind, bytes(row.payload)) for row in rows.select("kind", "payload").collect())

    return run


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
