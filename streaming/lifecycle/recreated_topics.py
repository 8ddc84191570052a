"""A topic that was deleted and made again: the table that it feeds stands still, no other.

Offsets of the new topic mean nothing in the old one, and what the old one held behind the ledger's offsets is gone. So
the table never goes on from where it stood: ``resume`` is refused, and ``resync`` fills its next generation by a
snapshot (decision 16). The ledger begins the new topic at its first records in the very version that parks the table;
what comes of it until then is counted and passed over.

A cluster in which no topic is the recorded one is most likely another cluster, and nothing is written then. One topic
alone may well be made again, so it parks its table.

That is sound only where it is known which table the old topic's records were of. So a topic that feeds several tables,
none that the ledger knows, or one of another name than the topic's stays an error that stops the job, as does one whose
table is being rebuilt or has a file that waits for its number.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping

from msgspec.structs import replace

from connectors.command_lines import command
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.errors import ANOTHER_CLUSTER_REMEDY, CARRY_ELSEWHERE, TopicRecreatedError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState, PlannedTopic, TableState, TableStatus
from streaming.driver.resuming import resume_of, stopped
from streaming.lifecycle.retention import only_table
from streaming.lifecycle.stopping import StopReason
from streaming.log_context import about_work

_log = logging.getLogger(__name__)

_STATUSES = frozenset({TableStatus.LOADING, TableStatus.STREAMING, TableStatus.PARKED, TableStatus.CATCHING_UP})


def park_recreated(ledger: Ledger, present: Mapping[str, TopicDescription]) -> None:
    """Park each table whose own topic was made again, and let the ledger begin the new one.

    Args:
        present: the topics as Kafka has them now.

    Raises:
        TopicRecreatedError: Kafka seems to be another cluster.
        FencedError: another driver owns the zone.
        Transient: the storage failed; nothing or all of it is written.
    """
    state = ledger.state
    require_same_cluster(state, present)
    recreated: dict[str, PlannedTopic] = {}
    tables: dict[str, TableState] = {}
    for topic, name in _recreated(state, present):
        found = present[topic]
        firsts = {partition: first for partition, (first, _) in sorted(found.partitions.items())}
        begins = {partition: (first, first) for partition, first in firsts.items()}
        recreated[topic] = PlannedTopic(found.id, begins, found.epochs)
        tables[name] = _parked(name, tables.get(name, state.tables[name]), state, topic, firsts)
    if recreated:
        with about_work(lambda: ledger.state.version):
            ledger.commit(Draft(recreated=recreated, tables=tables))
            for name, table in tables.items():
                _log.error("%s stands still: %s", name, "" if table.parked is None else table.parked.message)


def require_same_cluster(
    state: LedgerState, present: Mapping[str, TopicDescription], names: Collection[str] = ()
) -> None:
    """Return unless Kafka seems to be another cluster than the one whose offsets the ledger holds.

    One topic alone may well have been made again; where others that the ledger knows are missing as well, it has not.

    Args:
        present: the topics as Kafka has them now; names: those that the settings name one by one.

    Raises:
        TopicRecreatedError: none of the topics that Kafka has is the one that the ledger knows.
    """
    known = {topic: offsets.id for topic, offsets in sorted(state.topics.items()) if topic in present}
    expected = known.keys() | state.topics.keys() & set(names)
    if not known or len(expected) < 2 or any(present[topic].id == recorded for topic, recorded in known.items()):
        return
    topic, recorded = next(iter(known.items()))
    raise TopicRecreatedError(
        f"none of the {len(expected)} topics that the ledger knows is there as the one whose offsets it holds: this is "
        "another cluster, or all of them were deleted and created again",
        remedy=ANOTHER_CLUSTER_REMEDY,
        topic=topic,
        recorded_id=recorded,
        found_id=present[topic].id,
        topics=len(expected),
    )


def _recreated(state: LedgerState, present: Mapping[str, TopicDescription]) -> Iterator[tuple[str, str]]:
    """Each topic that is another one by now, with the one table that it feeds, where that may be parked."""
    for topic, recorded in sorted(state.topics.items()):
        found = present.get(topic)
        if found is None or found.id == recorded.id:
            continue
        name = only_table(state, topic)
        if name is None or name in state.pending:
            continue
        table = state.tables[name]
        under_way = table.rebuild is not None and table.status is not TableStatus.PARKED
        if not under_way and table.status in _STATUSES:
            yield topic, name


def _parked(name: str, table: TableState, state: LedgerState, topic: str, firsts: Mapping[int, int]) -> TableState:
    recorded = state.topics[topic]
    landed = ", ".join(
        f"{offset} of partition {partition}" for partition, offset in sorted(recorded.partitions.items())
    )
    resume = {**resume_of(table, state.topics), topic: dict(firsts)}
    starts = {other: offsets for other, offsets in table.starts.items() if other != topic}
    # An offset that is recorded there is another record by now, whose letter has not landed.
    replayed = {other: runs for other, runs in table.replayed.items() if other != topic}
    return stopped(
        replace(table, starts=starts, replayed=replayed),
        resume,
        reason=StopReason.TOPIC_RECREATED.value,
        message=f"the topic {topic} was deleted and created again; what the old one held from offset {landed} on is "
        "gone, and offsets of the new one mean something else",
        remedy=f"rebuild the table with {command('resync CONFIG {}', name)}; where that is refused, {CARRY_ELSEWHERE}",
    )
