"""Planning a micro-batch: what of Spark's range is new, and which topics have to merge."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from connectors.debezium.schema import SourceTable
from connectors.errors import Transient
from connectors.landing_zone.errors import RECREATED_REMEDY, OffsetGapError, TopicRecreatedError
from connectors.landing_zone.ledger.state import KEPT_PASSED_OVER, Dropped, LedgerState, PlannedTopic, TopicOffsets
from streaming.driver.checkpoint import Planned
from streaming.plan import BatchPlan, JobOptions, TopicPlan
from streaming.sources import Source


class TopicGoneError(Transient):
    """A topic of the running query does not exist any more, or is another one by now."""


def planned_topics(planned: Planned, state: LedgerState, ids: Mapping[str, str]) -> dict[str, PlannedTopic]:
    """The range of every partition in the batch, trimmed to begin where the ledger ends.

    Args:
        planned: Spark's range; a partition that it begins in this batch has no recorded start.
        ids: Kafka's topic ids now.

    Raises:
        OffsetGapError: Spark would begin a partition above the ledger's offset.
        TopicGoneError: a topic does not exist any more, or has another id than the ledger recorded.
    """
    topics: dict[str, PlannedTopic] = {}
    for topic, ends in sorted(planned.end.items()):
        recorded = state.topics.get(topic)
        topic_id = ids.get(topic)
        if topic_id is None:
            raise TopicGoneError(
                "the topic was deleted while the query ran",
                remedy="nothing: the job starts again without it, and a table whose topic kafka.topics names stands "
                "still (topic_gone); if the topic is made again, it stands still (topic_recreated) until a resync",
                topic=topic,
            )
        if recorded is not None and recorded.id != topic_id:
            raise _made_again(topic)
        ranges: dict[int, tuple[int, int]] = {}
        for partition, end in sorted(ends.items()):
            start = planned.start.get(topic, {}).get(partition)
            known = (start or 0) if recorded is None else recorded.next_offset(partition)
            if start is not None and start > known:
                raise OffsetGapError(
                    f"Spark would go on at offset {start}, but {known} is the next one to land",
                    remedy="restart the job: it sets Spark's checkpoint aside and reads on where the ledger ends; if "
                    "Kafka no longer has these offsets, that start says so, and what to do",
                    topic=topic,
                    partition=partition,
                    offset=known,
                )
            ranges[partition] = (known, max(known, end))
        topics[topic] = PlannedTopic(id=topic_id, partitions=ranges)
    return topics


def require_still_the_same(topics: Mapping[str, PlannedTopic], ids: Mapping[str, str]) -> None:
    """Return if the topics of a range that was read are those that it was planned for.

    A topic that is made again between the two holds other records at the same offsets. One that was deleted since is
    none of this: what was read of it is all that is left of it.

    Raises:
        TopicGoneError: one has another id by now.
    """
    for topic, planned in topics.items():
        if ids.get(topic, planned.id) != planned.id:
            raise _made_again(topic)


def _made_again(topic: str) -> TopicGoneError:
    return TopicGoneError(
        "the topic was deleted and created again while the query ran",
        remedy="nothing: the job starts again, and says what becomes of the topic's tables",
        topic=topic,
    )


def require_same_topic(topic: str, recorded: TopicOffsets | None, found_id: str) -> None:
    """Return if the topic is the one whose offsets the ledger recorded, or if it recorded none.

    Raises:
        TopicRecreatedError: the topic was deleted and made again.
    """
    if recorded is not None and recorded.id != found_id:
        raise TopicRecreatedError(
            "the topic was deleted and created again: its offsets no longer mean what the ledger recorded",
            remedy=RECREATED_REMEDY,
            topic=topic,
            recorded_id=recorded.id,
            found_id=found_id,
        )


def is_new(topics: Mapping[str, PlannedTopic], state: LedgerState) -> bool:
    """Whether the range holds any offset that the ledger has not recorded, or a partition that it does not know."""
    for topic, planned in topics.items():
        recorded = state.topics.get(topic)
        for partition, (start, end) in planned.partitions.items():
            if end > start or recorded is None or partition not in recorded.partitions:
                return True
    return False


def plan_batch(
    job: JobOptions,
    state: LedgerState,
    topics: Mapping[str, PlannedTopic],
    unique: str,
    merging: frozenset[str],
    doubtful: frozenset[str] = frozenset(),
    only: str | None = None,
    drops: Mapping[Source, Dropped] = MappingProxyType({}),
) -> BatchPlan:
    """What the tasks are told.

    Args:
        unique: tells this attempt's staged files from any other's.
        merging: topics that must merge besides those that the ledger knows.
        doubtful: tables in which nothing may be taken as new.
        drops: source tables that were dropped at the source in this range, and where.
        only: the one table that lands, from a range that the ledger's offsets have passed already.
    """
    plans: dict[str, TopicPlan] = {}
    forced = merging.union(state.merging)
    for topic, planned in topics.items():
        filled = sum(end > start for start, end in planned.partitions.values())
        plans[topic] = TopicPlan(
            id=planned.id, ranges=dict(planned.partitions), merges=filled > 1 or (topic in forced and filled > 0)
        )
    tables = state.tables
    if only is not None:
        # What other tables have seen since says nothing about where this one's events stand.
        tables = {only: tables[only]}
    return BatchPlan(
        job=job,
        epoch=state.epoch,
        commit=state.commits + 1,
        unique=unique,
        topics=plans,
        tables=dict(tables),
        schemas={table.schema: state.schemas[table.schema] for table in tables.values() if table.schema},
        streamed_runs=frozenset(run for table in tables.values() for run in table.streamed_runs),
        doubtful=doubtful,
        drops=dict(drops),
        passed_over=frozenset(
            source for source in state.passed_over if job.decode.rules.decoding_for(SourceTable(*source)) is not None
        ),
        passed_over_full=len(state.passed_over) >= KEPT_PASSED_OVER,
        only=only,
    )
