"""The one Spark action of a micro-batch."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from streaming.decode import DecodeAndLand
from streaming.merge import MergeAndLand
from streaming.plan import BatchPlan
from streaming.results import RESULT_DDL, Results, read_results
from streaming.runs import SOURCE_COLUMNS


def spark_action(frame: DataFrame) -> Callable[[BatchPlan], Results]:
    """How Spark carries out a plan on a batch of Kafka's records.

    Stage 1 has one task per core, whatever the number of partitions: ``coalesce`` puts whole partitions after each
    other and shuffles nothing. Stage 2 is there only if a topic has to merge.
    """
    cores = frame.sparkSession.sparkContext.defaultParallelism

    def run(plan: BatchPlan) -> Results:
        rows = frame.select(*SOURCE_COLUMNS).coalesce(cores).mapInArrow(DecodeAndLand(plan), RESULT_DDL)
        if any(topic.merges for topic in plan.topics.values()):
            rows = (
                rows.repartition(cores, "table")
                .sortWithinPartitions("table", "sort_key")
                .mapInArrow(MergeAndLand(plan), RESULT_DDL)
            )
        return read_results((row.kind, bytes(row.payload)) for row in rows.select("kind", "payload").collect())

    return run
