"""What the chores ask of Kafka."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from connectors.kafka.topics import Admin, TopicDescription, describe_topics
from connectors.landing_zone.ledger.state import PlannedTopic
from streaming.driver.action import spark_action
from streaming.driver.batch import DecodeAndLand
from streaming.driver.spark_errors import spark_errors
from streaming.plan import BatchPlan
from streaming.task.results import Results

Ranges = Mapping[str, PlannedTopic]
"""``[start, end)`` per topic and partition, with Kafka's id of each topic."""

_OF_STREAMS = ("subscribe", "subscribePattern", "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")


@dataclass(frozen=True)
class Outside:
    """Kafka, as the chores need it.

    Attributes:
        topics: describes those of the topics that exist, by name.
        read: how a plan over these ranges is carried out, beside the stream.
    """

    topics: Callable[[Sequence[str]], Mapping[str, TopicDescription]]
    read: Callable[[Ranges], DecodeAndLand]


def existing_topics(admin: Admin, names: Sequence[str]) -> dict[str, TopicDescription]:
    """The description of each topic that exists; raises as :func:`connectors.kafka.topics.describe_topics`."""
    return describe_topics(admin, re.compile("|".join(map(re.escape, names)))) if names else {}


def spark_reader(spark: SparkSession, source_options: Mapping[str, str]) -> Callable[[Ranges], DecodeAndLand]:
    """Reads ranges with a Spark batch job that decodes and lands as a micro-batch does.

    Args:
        source_options: those of the streaming query's source.
    """
    options = {name: value for name, value in source_options.items() if name not in _OF_STREAMS}

    def read(ranges: Ranges) -> DecodeAndLand:
        def land(plan: BatchPlan) -> Results:
            with spark_errors():
                frame = spark.read.format("kafka").options(**options, **_bounds(ranges)).load()
                return spark_action(frame)(plan)

        return land

    return read


def _bounds(ranges: Ranges) -> dict[str, str]:
    """Spark's options for a batch that reads exactly these ranges."""
    chosen = {
        topic: {str(partition): span for partition, span in planned.partitions.items()}
        for topic, planned in ranges.items()
    }
    return {
        "assign": json.dumps({topic: [int(partition) for partition in spans] for topic, spans in chosen.items()}),
        "startingOffsets": json.dumps(
            {topic: {partition: start for partition, (start, _) in spans.items()} for topic, spans in chosen.items()}
        ),
        "endingOffsets": json.dumps(
            {topic: {partition: end for partition, (_, end) in spans.items()} for topic, spans in chosen.items()}
        ),
    }
