"""Whether Kafka's log is still the one that landed: else offsets that are passed over would hold other records by now.

The ledger knows each partition's next offset together with the leader epoch in which the log reached up to there. Where
another leader is found, at a start or by the batch that reads on, Kafka is asked whether its log still does
(:mod:`connectors.kafka.leaders`). The epoch of a batch is asked for before the batch is read: one whose log is cut off
between is found out by the next look.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from connectors.kafka.leaders import Leading, Place
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.errors import CARRY_ELSEWHERE, OffsetGapError
from connectors.landing_zone.ledger.state import LedgerState, PlannedTopic
from streaming.task.worker import RecordsMissingError

CutOff = Callable[[Mapping[Place, tuple[int, int]]], Mapping[Place, int | None]]
"""As :func:`connectors.kafka.leaders.cut_off`."""


@dataclass(frozen=True)
class Leaders:
    """Questions to Kafka, as :mod:`connectors.kafka.leaders` answers them.

    Attributes:
        now: what the leader of each partition says; cut_off: the partitions whose log is not what it was.
    """

    now: Callable[[Collection[Place]], Mapping[Place, Leading]]
    cut_off: CutOff


def require_landed_log(state: LedgerState, present: Mapping[str, TopicDescription], cut_off: CutOff) -> None:
    """Return if the topics' logs are those of which the ledger's offsets are, as far as leader epochs tell.

    Raises:
        OffsetGapError: what stands at offsets that have landed is something else by now.
        BrokerUnavailableError, KafkaAccessError: Kafka does not say.
    """
    _require(
        state, {(topic, one): epoch for topic, found in present.items() for one, epoch in found.epochs.items()}, cut_off
    )


def with_epochs(topics: Mapping[str, PlannedTopic], state: LedgerState, leaders: Leaders) -> dict[str, PlannedTopic]:
    """The ranges of a batch, with the leader epoch of each partition that it reads on.

    Raises:
        OffsetGapError: as :func:`require_landed_log`.
        RecordsMissingError: a partition's leader does not hold all of its range.
        BrokerUnavailableError, KafkaAccessError: Kafka does not say.
    """
    ends = {
        (topic, partition): end
        for topic, planned in topics.items()
        for partition, (start, end) in planned.partitions.items()
        if end > start
    }
    said = leaders.now(ends) if ends else {}
    epochs = {place: led.epoch for place, led in said.items() if led.epoch is not None}
    _require(state, epochs, leaders.cut_off)
    for (topic, partition), end in ends.items():
        if said[topic, partition].end < end:
            raise RecordsMissingError(
                f"the micro-batch was planned up to offset {end}, but the partition ends at "
                f"{said[topic, partition].end}",
                remedy="nothing: the job starts again by itself, and then says what is missing and what to do",
                topic=topic,
                partition=partition,
            )
    return {
        topic: replace(
            planned, epochs={one: epochs[topic, one] for one in planned.partitions if (topic, one) in epochs}
        )
        for topic, planned in topics.items()
    }


def _require(state: LedgerState, epochs: Mapping[Place, int], cut_off: CutOff) -> None:
    seen = {
        (topic, partition): (recorded.partitions[partition], epoch)
        for topic, recorded in state.topics.items()
        for partition, epoch in recorded.epochs.items()
        if epochs.get((topic, partition), epoch) != epoch
    }
    found = cut_off(seen) if seen else {}
    for (topic, partition), first in sorted(found.items()):
        offset, epoch = seen[topic, partition]
        since = "" if first is None else f" from offset {first} on"
        raise OffsetGapError(
            "records that have landed are gone from the partition, and others have their offsets: it is another log"
            f"{since}, but offset {offset} is the next one to land",
            remedy="the topic has lost records, as in an unclean leader election, and those in their place would be "
            f"passed over: {CARRY_ELSEWHERE}",
            topic=topic,
            partition=partition,
            offset=offset,
            first=first,
            epoch=epoch,
            found_epoch=epochs[topic, partition],
        )
