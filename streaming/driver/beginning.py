"""Where topics begin that the ledger does not know: ``kafka.starting``.

The beginning is committed to the ledger before the query reads anything, so it holds from then on, whatever the
settings say later. Spark remembers such a start only from its first batch on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from connectors.errors import Terminal
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import PlannedTopic
from streaming.driver.startup import begin_at_ends
from streaming.settings.kafka import Starting

OffsetsAt = Callable[[str, TopicDescription, int], Mapping[int, int]]
"""Offset per partition of a topic at a time in milliseconds since 1970."""


class StartingOffsetError(Terminal):
    """An offset to start from that its topic does not have."""


@dataclass(frozen=True)
class Beginning:
    """What the settings say.

    Attributes:
        timestamp_ms: for ``TIMESTAMP``; offsets: for ``OFFSETS``, per topic and partition.
    """

    starting: Starting
    timestamp_ms: int = 0
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


def begin(ledger: Ledger, present: Mapping[str, TopicDescription], beginning: Beginning, offsets_at: OffsetsAt) -> None:
    """Let the topics that the ledger does not know begin where the settings say.

    Args:
        present: the subscribed topics as the broker knows them now.

    Raises:
        StartingOffsetError: an offset that a topic does not have, or of a topic or partition that is not there.
        Transient: Kafka cannot be asked.
    """
    unknown = {topic: found for topic, found in sorted(present.items()) if topic not in ledger.state.topics}
    match beginning.starting:
        case Starting.EARLIEST:
            return
        case Starting.LATEST:
            begin_at_ends(ledger, present)
        case Starting.TIMESTAMP:
            _commit(
                ledger,
                {
                    topic: PlannedTopic(
                        found.id, _empty(offsets_at(topic, found, beginning.timestamp_ms)), found.epochs
                    )
                    for topic, found in unknown.items()
                },
            )
        case Starting.OFFSETS:
            asked = {topic: of for topic, of in beginning.offsets.items() if topic not in ledger.state.topics}
            _commit(ledger, {topic: asked_topic(topic, of, present) for topic, of in sorted(asked.items())})
        case _:
            assert_never(beginning.starting)


def _commit(ledger: Ledger, planned: Mapping[str, PlannedTopic]) -> None:
    if planned:
        ledger.commit(Draft(planned=planned))


def _empty(offsets: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    return {partition: (offset, offset) for partition, offset in offsets.items()}


def asked_topic(topic: str, offsets: Mapping[int, int], present: Mapping[str, TopicDescription]) -> PlannedTopic:
    """The topic's partitions at the given offsets, those without one at their earliest.

    Raises:
        StartingOffsetError: the topic does not have one of the partitions or offsets.
    """
    found = present.get(topic)
    if found is None:
        raise StartingOffsetError(
            f"kafka.starting_offsets names the topic {topic}, which is not among those that are read",
            remedy="correct the topic's name there, or under kafka.topics or kafka.pattern",
            topic=topic,
        )
    for partition, offset in sorted(offsets.items()):
        if partition not in found.partitions:
            raise StartingOffsetError(
                f"kafka.starting_offsets names partition {partition} of {topic}, which has "
                f"{len(found.partitions)} partition(s)",
                remedy="correct the partition's number: the first one is 0",
                topic=topic,
                partition=partition,
            )
        earliest, end = found.partitions[partition]
        if not earliest <= offset <= end:
            raise StartingOffsetError(
                f"kafka.starting_offsets says {offset} for partition {partition} of {topic}, which holds the offsets "
                f"from {earliest} to {end}",
                remedy=f"choose an offset from {earliest} to {end}; what lies below is gone from Kafka",
                topic=topic,
                partition=partition,
                offset=offset,
            )
    starts = {partition: offsets.get(partition, earliest) for partition, (earliest, _) in found.partitions.items()}
    return PlannedTopic(found.id, _empty(starts), found.epochs)
