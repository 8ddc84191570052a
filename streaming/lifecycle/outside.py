"""What the chores ask of Kafka."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from connectors.kafka.topics import Admin, TopicDescription, describe_present
from connectors.landing_zone.ledger.state import PlannedTopic
from streaming.driver.action import spark_action
from streaming.driver.batch import DecodeAndLand
from streaming.driver.spark_errors import spark_errors
from streaming.plan import BatchPlan
from streaming.task.results import Results

Ranges = Mapping[str, PlannedTopic]
"""``[start, end)`` per topic and partition, with Kafka's id of each topic."""

GONE_SECONDS = 5.0
"""How long a topic has to be missing until it is taken to be gone."""
_AGAIN_SECONDS = 0.5


@dataclass(frozen=True)
class Outside:
    """Kafka, as the chores need it.

    Attributes:
        topics: describes those of the topics that exist, by name.
        subscribed: names of the topics that the bridge reads.
        wanted: whether the settings have a topic of this name read, be it there or not; names: those that they name one
            by one.
        read: how a plan over these ranges is carried out, beside the stream.
    """

    topics: Callable[[Sequence[str]], Mapping[str, TopicDescription]]
    subscribed: Callable[[], Collection[str]]
    wanted: Callable[[str], bool]
    names: Collection[str]
    read: Callable[[Ranges], DecodeAndLand]


def topics_to_read(
    admin: Admin,
    wanted: Sequence[str] | re.Pattern[str],
    known: Callable[[], Collection[str]],
    gone: set[str] | None = None,
) -> dict[str, TopicDescription]:
    """The subscribed topics. One that is named and was deleted is not there: it stops its tables, and no other.

    Args:
        known: the topics that the ledger knows; asked only if one is missing.
        gone: named topics that were found to be gone before, and are now. Another one is asked about for
            :data:`GONE_SECONDS`: a broker that has just started, or loads its ACLs, shows fewer topics for a moment.
            None asks once.

    Raises:
        TopicNotFoundError: a name that nothing was ever read of, or none that the ledger knows is there.
        BridgeError: as :func:`connectors.kafka.topics.describe_topics`, and what ``known`` raises.
    """
    names = set() if isinstance(wanted, re.Pattern) else set(wanted)
    deadline = time.monotonic() + GONE_SECONDS
    while True:
        present, error = describe_present(admin, wanted)
        missing = names.difference(present)
        if error is not None:
            read = set(known())
            if read.isdisjoint(present) or not read.issuperset(missing):
                raise error
        if gone is None or missing <= gone or time.monotonic() >= deadline:
            break
        time.sleep(_AGAIN_SECONDS)
    if gone is not None:
        gone.clear()
        gone.update(missing)
    return present


def spark_reader(spark: SparkSession) -> Callable[[Ranges], DecodeAndLand]:
    """Reads ranges with a Spark job that decodes and lands as a micro-batch does."""

    def read(ranges: Ranges) -> DecodeAndLand:
        del ranges  # They are those of the plan.

        def land(plan: BatchPlan) -> Results:
            with spark_errors():
                return spark_action(spark)(plan)

        return land

    return read
