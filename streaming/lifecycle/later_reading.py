"""Reading what Kafka holds from left-out records on to where the table has landed: which ranges, how much at most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from connectors.command_lines import command
from connectors.errors import Terminal
from connectors.kafka.errors import RecordsGoneError, TopicNotFoundError
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LedgerState, TableState
from streaming.dead_letters.coordinates import Coordinates
from streaming.driver.planning import require_same_topic
from streaming.lifecycle.landed_letters import landed_ends
from streaming.lifecycle.later_events import LaterEvents
from streaming.lifecycle.letter_topics import LetterTopics
from streaming.wording import count_text

MOST_OFFSETS = 2_000_000
"""Offsets read for one request and table at most: half a minute in which no micro-batch begins."""

CLOCK_SLACK_MS = 3_600_000
"""By how much the clocks of whoever writes the topics may disagree."""

Spans = dict[tuple[str, int], tuple[int, int]]
"""``[start, end)`` by topic and partition."""


class TooMuchToReadError(Terminal):
    """More would have to be read than one request may cost."""


def read_later(
    name: str,
    table: TableState,
    records: Iterable[Coordinates],
    state: LedgerState,
    kafka: LetterTopics,
    later: LaterEvents,
    *,
    most: int = MOST_OFFSETS,
) -> int:
    """Let ``later`` read everything that has landed since the records; returns how many offsets that were.

    Args:
        name: of the table; table: its state, which names the topics that feed it and how far it has landed.
        records: the left-out ones.

    Raises:
        RecordsGoneError: retention has removed records that may be newer, or Kafka has lost some that landed.
        TopicNotFoundError, TopicRecreatedError: a topic is not there any more, or another one by now.
        TooMuchToReadError: more than ``most`` offsets.
        Transient: Kafka or the registry does not answer.
    """
    first: dict[tuple[str, int], int] = {}
    for at in records:
        first[at.topic, at.partition] = min(at.offset, first.get((at.topic, at.partition), at.offset))
    wanted = {*table.partitions, *table.landed_to, *(topic for topic, _ in first)} & state.topics.keys()
    ends = {topic: landed_ends(topic, table, state) for topic in sorted(wanted)}
    spans = _spans(name, table, first, ends, state, kafka)
    total = sum(end - start for start, end in spans.values())
    if total > most:
        raise TooMuchToReadError(
            f"{count_text(total, 'offset')} would have to be read to tell whether a newer event of the row has landed; "
            f"{most:,} are the most",
            remedy=f"rebuild the table with {command('resync CONFIG {}', name)}, or replay newer letters only",
            table=name,
        )
    for (topic, partition), (start, end) in spans.items():
        for batch in kafka.records(topic, partition, start, end):
            later.read(batch)
    return total


def _spans(
    name: str,
    table: TableState,
    first: Mapping[tuple[str, int], int],
    ends: Mapping[str, Mapping[int, int]],
    state: LedgerState,
    kafka: LetterTopics,
) -> Spans:
    present = kafka.topics(list(ends))
    spans: Spans = {}
    others: list[tuple[str, int]] = []
    for topic, partitions in ends.items():
        found = _require(topic, name, present)
        require_same_topic(topic, state.topics[topic], found.id)
        for partition, end in partitions.items():
            start = first.get((topic, partition))
            if start is None:
                others.append((topic, partition))
                continue
            earliest, latest = found.partitions.get(partition, (end, end))
            if earliest > start:
                gone = f"Kafka's retention has removed the records from {start} to {earliest - 1}"
                raise _records_gone(gone, topic, partition, name)
            _require_end(topic, partition, end, latest, name)
            spans[topic, partition] = (start, end)
    if others:
        moment = _written_ms(spans, kafka)
        for topic in dict.fromkeys(topic for topic, _ in others):
            since = {} if moment is None else kafka.since(topic, present[topic], moment - CLOCK_SLACK_MS)
            for partition in (number for each, number in others if each == topic):
                end = ends[topic][partition]
                earliest, latest = present[topic].partitions.get(partition, (0, end))
                start = max(earliest, since.get(partition, earliest))
                # Records as new as the left-out one are the first that are left: those before may be as new, too.
                if moment is not None and start == earliest > table.starts.get(topic, {}).get(partition, 0):
                    gone = f"Kafka's retention has removed the records up to {earliest - 1}"
                    raise _records_gone(gone, topic, partition, name)
                if start < end:
                    _require_end(topic, partition, end, latest, name)
                    spans[topic, partition] = (start, end)
    return spans


def _require_end(topic: str, partition: int, end: int, latest: int, name: str) -> None:
    """What has landed is still there to be read: a log that was cut off cannot tell what its lost records were."""
    if latest < end:
        raise _records_gone(f"Kafka no longer holds the records from {latest} to {end - 1}", topic, partition, name)


def _records_gone(what: str, topic: str, partition: int, name: str) -> RecordsGoneError:
    return RecordsGoneError(
        f"{what} of {topic}/{partition}, which may be newer events of the row",
        remedy=f"rebuild the table with {command('resync CONFIG {}', name)}",
        table=name,
    )


def _require(topic: str, name: str, present: Mapping[str, TopicDescription]) -> TopicDescription:
    found = present.get(topic)
    if found is None:
        raise TopicNotFoundError(
            "the topic that holds what has come since the record does not exist",
            remedy=f"rebuild the table with {command('resync CONFIG {}', name)}",
            topic=topic,
            table=name,
        )
    return found


def _written_ms(spans: Spans, kafka: LetterTopics) -> int | None:
    """When the oldest of the first records was written; None where one of them is not in Kafka any more."""
    moments: list[int] = []
    for (topic, partition), (start, _) in spans.items():
        batches = list(kafka.records(topic, partition, start, start + 1))
        if not batches:
            return None
        moments.append(int(batches[0].timestamps[0]))
    return min(moments, default=None)
