"""Records that Kafka's retention removed before they were landed: the table they belong to stands still, no other.

The ledger passes the lost offsets in the very version that parks the table, as it passes the offsets of any table that
stands still. ``resume`` is refused from then on, since Kafka does not hold what it would read; ``resync`` helps.

That is sound only where it is known which table the lost records were of. So a topic that feeds several tables, none
that the ledger knows, or one of another name than the topic's stays an error that stops the job.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from connectors.command_lines import command
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState, Parked, PlannedTopic, TableState, TableStatus
from streaming.driver.resuming import resume_of
from streaming.lifecycle.debezium import topic_suffix
from streaming.lifecycle.generations import feeding_topics
from streaming.lifecycle.stopping import StopReason
from streaming.log_context import about_work

_log = logging.getLogger(__name__)


def park_behind_retention(ledger: Ledger, present: Mapping[str, TopicDescription]) -> None:
    """Park each table whose own topic has lost records that were not landed, and let the ledger go on behind them.

    Args:
        present: the topics as Kafka has them now.

    Raises:
        FencedError: another driver owns the zone.
        Transient: the storage failed; nothing or all of it is written.
    """
    state = ledger.state
    planned: dict[str, PlannedTopic] = {}
    tables: dict[str, TableState] = {}
    stopped: dict[str, str] = {}
    for topic, name, lost in _losses(state, present):
        epochs = {one: epoch for one, epoch in present[topic].epochs.items() if one in lost}
        planned[topic] = PlannedTopic(state.topics[topic].id, lost, epochs)
        table = tables.get(name, state.tables[name])
        if table.parked is None:
            parked = _parked(name, table, state, topic, lost)
            tables[name] = replace(table, status=TableStatus.PARKED, parked=parked)
            stopped[name] = parked.message
    if planned:
        with about_work(lambda: ledger.state.version):
            ledger.commit(Draft(planned=planned, tables=tables))
            for name, message in stopped.items():
                _log.error("%s stands still: %s", name, message)


def _losses(
    state: LedgerState, present: Mapping[str, TopicDescription]
) -> Iterator[tuple[str, str, dict[int, tuple[int, int]]]]:
    """Topic, the one table that it feeds, and the range that is gone of each partition that has lost something."""
    for topic, recorded in sorted(state.topics.items()):
        found = present.get(topic)
        if found is None or found.id != recorded.id:
            continue
        lost = {
            partition: (offset, earliest)
            for partition, (earliest, _) in sorted(found.partitions.items())
            if earliest > (offset := recorded.next_offset(partition))
        }
        name = only_table(state, topic)
        if lost and name is not None:
            yield topic, name, lost


def only_table(state: LedgerState, topic: str) -> str | None:
    """The table that the topic's name names, if the topic is known to feed it and no other."""
    fed = [name for name, table in state.tables.items() if topic in feeding_topics(table)]
    if len(fed) != 1:
        return None
    return fed[0] if topic.endswith(topic_suffix(state.tables[fed[0]])) else None


def _parked(
    name: str, table: TableState, state: LedgerState, topic: str, lost: Mapping[int, tuple[int, int]]
) -> Parked:
    partition, (offset, _) = next(iter(lost.items()))
    gone = ", ".join(f"{start} to {end - 1} of {topic}/{number}" for number, (start, end) in lost.items())
    return Parked(
        reason=StopReason.RETENTION_PASSED.value,
        message=f"Kafka's retention has removed offsets that were not landed: {gone}",
        remedy=f"rebuild the table with {command('resync CONFIG {}', name)}, and give its topics a longer retention "
        "than the longest outage",
        topic=topic,
        partition=partition,
        offset=offset,
        resume=resume_of(table, state.topics),
    )
