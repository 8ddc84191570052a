"""How far what has landed is behind Kafka, and how long until Kafka forgets what has not: functions of plain values.

Kafka is looked at now and then (:mod:`streaming.metrics.kafka_watch`), the ledger's state is always the present one:
what has landed since then is not behind any more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LedgerState, TableState

Place = tuple[str, int, int]
"""Topic, partition, offset."""


@dataclass(frozen=True)
class KafkaView:
    """What Kafka told when it was last looked at.

    Attributes:
        at_ms: when, milliseconds since 1970.
        topics: the subscribed topics.
        first_ms: per topic and partition, for some of the offsets that wait, Kafka's timestamp of the first record from
            there on.
        newest_ms: per topic, Kafka's timestamp of its newest record; topics that never had one are missing.
        emptied_ms: when the topics were first seen to be empty although they have had records, if they are still; what
            Kafka had removed by then was written before.
        beats: whether one of the topics holds the connector's heartbeats, or has held some.
    """

    at_ms: int
    topics: Mapping[str, TopicDescription]
    first_ms: Mapping[tuple[str, int], Mapping[int, int]] = field(default_factory=dict)
    newest_ms: Mapping[str, int] = field(default_factory=dict)
    emptied_ms: int | None = None
    beats: bool = False

    @property
    def silence_seconds(self) -> float | None:
        """How old the newest record of all topics was at the look, at least; None where nothing is known of any."""
        newest = max(self.newest_ms.values(), default=self.emptied_ms)
        return None if newest is None else max(0.0, (self.at_ms - newest) / 1000)


@dataclass(frozen=True)
class Waiting:
    """A partition's records that have not landed.

    Attributes:
        landed: the first offset that has not.
        earliest: the first that Kafka still has; end: the first that is not committed yet.
    """

    topic: str
    partition: int
    landed: int
    earliest: int
    end: int
    retention_ms: int | None

    @property
    def behind(self) -> int:
        """Offsets that wait; 0 where the ledger has passed what Kafka told."""
        return max(0, self.end - max(self.landed, self.earliest))

    @property
    def place(self) -> Place:
        return self.topic, self.partition, max(self.landed, self.earliest)


def stream_waiting(state: LedgerState, view: KafkaView) -> list[Waiting]:
    """Every subscribed partition, from the ledger's offset on."""
    found = []
    for topic, description in view.topics.items():
        for partition, (earliest, end) in description.partitions.items():
            landed = state.next_offset(topic, partition, earliest)
            found.append(Waiting(topic, partition, landed, earliest, end, description.retention_ms))
    return found


def table_waiting(table: TableState, state: LedgerState, view: KafkaView) -> list[Waiting]:
    """The partitions that feed a table: from the ledger's offset, or from where it stopped."""
    resume = {} if table.parked is None else table.parked.resume
    found = []
    for topic in sorted({*table.partitions, *resume}):
        description = view.topics.get(topic)
        if description is None:
            continue
        stopped = resume.get(topic, {})
        for partition, (earliest, end) in description.partitions.items():
            landed = stopped.get(partition, state.next_offset(topic, partition, earliest))
            found.append(Waiting(topic, partition, landed, earliest, end, description.retention_ms))
    return found


def places_that_wait(state: LedgerState, view: KafkaView) -> list[Place]:
    """Where the oldest records that have not landed are: the stream's first, then those of tables that stand still."""
    places = [waiting.place for waiting in _most_first(stream_waiting(state, view))]
    for table in state.tables.values():
        if table.parked is not None:
            places += [waiting.place for waiting in _most_first(table_waiting(table, state, view))]
    return list(dict.fromkeys(places))


def waited_seconds(waiting: list[Waiting], view: KafkaView, now_ms: int) -> float | None:
    """How long the oldest record among these partitions has waited; 0 where none does, None where it is unknown.

    A partition whose ledger has gone on since Kafka was looked at counts from where it was then.
    """
    behind = [one for one in waiting if one.behind]
    if not behind:
        return 0.0
    since = [found for one in behind if (found := _first_ms(one, view)) is not None]
    return max(0.0, (now_ms - min(since)) / 1000) if since else None


def headroom_seconds(waiting: Waiting, view: KafkaView, now_ms: int) -> float | None:
    """Time until Kafka may remove the first record that has not landed; infinite without a limit, None if unknown.

    A partition that is not behind has all of the time that its topic keeps records.
    """
    if waiting.landed < waiting.earliest and waiting.behind:
        return 0.0
    if waiting.retention_ms is None:
        return None
    if waiting.retention_ms < 0:
        return math.inf
    if not waiting.behind:
        return waiting.retention_ms / 1000
    first = _first_ms(waiting, view)
    return None if first is None else max(0.0, (first + waiting.retention_ms - now_ms) / 1000)


def _first_ms(waiting: Waiting, view: KafkaView) -> int | None:
    """When the first record that waits came; a time from further back, where the ledger has gone on since."""
    topic, partition, offset = waiting.place
    known = view.first_ms.get((topic, partition), {})
    return max(((at, moment) for at, moment in known.items() if at <= offset), default=(0, None))[1]


def _most_first(found: list[Waiting]) -> Iterator[Waiting]:
    return iter(sorted((one for one in found if one.behind), key=lambda one: (-one.behind, one.place)))
