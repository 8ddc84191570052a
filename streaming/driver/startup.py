"""What a start does before the query runs: claim the zone, roll forward, and find where to read from.

Nothing of it needs Kafka's records: recovery works on what the ledger says is pending.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from connectors.command_lines import command
from connectors.debezium.schema import SourceTable
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.errors import CARRY_ELSEWHERE, LedgerBehindError, OffsetGapError, ZoneOwnedError
from connectors.landing_zone.layout import PARTNER_EVENTS_FILE
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.history import prune
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.owner import (
    ensure_belongs,
    ensure_no_foreign_files,
    ensure_owner,
    ensure_unowned,
    withdraw_first_claim,
)
from connectors.landing_zone.ledger.state import LedgerState, PlannedTopic, TableState, TableStatus
from connectors.landing_zone.publisher import Publisher
from connectors.landing_zone.recovery import inspect_tables, recover
from connectors.landing_zone.storage.protocol import Storage
from connectors.landing_zone.vacuum import vacuum
from streaming.driver.planning import require_same_topic
from streaming.driver.publishing import (
    ZonePublisher,
    metadata_as_written,
    park_tables,
    settle,
    table_metadata,
    waiting_files,
)
from streaming.driver.resuming import resume_of, stopped
from streaming.landing.marking import leaves_events_out
from streaming.plan import JobOptions
from streaming.sources import sources_of

_log = logging.getLogger(__name__)

EARLIEST = -2
"""What ``startingOffsets`` says for a topic that no offset is known of (Structured Streaming + Kafka guide)."""


PRUNE_EVERY = 100
"""Versions between two prunings of the ledger."""


@dataclass(frozen=True)
class OpenZone:
    """A landing zone that this driver has claimed, with nothing of its past left to do.

    Attributes:
        zone: the landing zone itself; state: where the ledger is.
    """

    zone: Storage
    state: Storage
    ledger: Ledger
    publisher: ZonePublisher

    def prune(self) -> None:
        """Remove versions of the ledger that nobody needs any more, now and then."""
        if self.ledger.state.version % PRUNE_EVERY == 0:
            prune(self.state, now_ms=_now_ms())


def open_zone(
    zone: Storage,
    state: Storage,
    job: JobOptions,
    *,
    source: str,
    writer: str,
    host: str,
    partner: bytes,
    threads: int,
    told: Callable[[LedgerState], None] = lambda claimed: None,
    sleep: Callable[[float], None] = time.sleep,
) -> OpenZone:
    """Claim the zone and bring it to where the ledger says it is.

    Args:
        source: the source's name, which the ledger remembers.
        writer: this run's id, never used before.
        partner: content of ``_partnerEvents.json``.
        told: hears what the ledger knows once it is claimed: before what is pending, and may fail, is rolled forward.
        sleep: waits so many seconds before a request to the storage is repeated.

    Raises:
        FencedError, ZoneOwnedError, ForeignLedgerError, LedgerBehindError, LedgerCorruptError: somebody else's zone or
            ledger, or a broken one.
        Transient: the storage does not answer; try again.
    """
    ledger = Ledger.open(state, now_ms=_now_ms, zone=zone, sleep=sleep)
    try:
        ensure_belongs(zone, state, ledger.state, source)
        if not ledger.state.tables:
            ensure_no_foreign_files(zone)
        if not ledger.state.version:
            ensure_unowned(zone)
    except (LedgerBehindError, ZoneOwnedError):
        ledger.check_fence()
        raise
    claimed = ledger.claim(writer, host, source)
    told(claimed)
    try:
        ensure_owner(zone, claimed.ledger_id, source)
    except ZoneOwnedError:
        withdraw_first_claim(state, claimed)
        raise
    zone.put_if_absent(PARTNER_EVENTS_FILE, partner)
    pending = waiting_files(claimed)
    if pending:
        _log.info("making sure of %d file(s) of the last commit: one that is not there yet is published", len(pending))
        metadata = table_metadata(pending, claimed, job)
        settle(ledger, recover(zone, pending, metadata, threads=threads, sleep=sleep))
    at_rest = {
        name: table
        for name, table in ledger.state.tables.items()
        if table.status not in (TableStatus.PARKED, TableStatus.DELETING) and name not in ledger.state.pending
    }
    written = metadata_as_written(at_rest, ledger.state, job)
    park_tables(ledger, inspect_tables(zone, at_rest, written, threads=threads, sleep=sleep))
    park_excluded(ledger, job)
    taint_incomplete(ledger, job)
    removed = vacuum(zone, state, ledger.state, threads=threads)
    if removed:
        _log.info("removed %d staged file(s) of attempts that were never committed", len(removed))
    prune(state, now_ms=_now_ms())
    return OpenZone(zone, state, ledger, ZonePublisher(Publisher(zone, threads, sleep=sleep), job))


def park_excluded(ledger: Ledger, job: JobOptions) -> None:
    """Let the tables stand still that the settings leave out by now: the events that pass by would be missing for ever.

    A table that is included again stays parked, so that nobody takes its mirror for complete. Where several source
    tables land in one, leaving out any of them is enough. A table without a folder of its present generation stays as
    it is: :class:`streaming.lifecycle.rebuilding.Rebuilding` goes on with it once it is included again.
    """
    state = ledger.state
    excluded = {
        name: (table, sources)
        for name, table in state.tables.items()
        if table.status not in (TableStatus.PARKED, TableStatus.DELETING, TableStatus.CLEARED)
        and (sources := excluded_sources(table, job))
    }
    if not excluded:
        return
    ledger.commit(
        Draft(tables={name: _excluded(name, table, sources, state) for name, (table, sources) in excluded.items()})
    )


def excluded_sources(table: TableState, job: JobOptions) -> tuple[str, ...]:
    """The source tables of a table that the settings leave out, as ``database.schema.table``."""
    sources = [SourceTable(*source) for source in sources_of(table)]
    return tuple(f"{one.database}.{one}" for one in sources if job.decode.rules.decoding_for(one) is None)


def _excluded(name: str, table: TableState, sources: tuple[str, ...], state: LedgerState) -> TableState:
    message = "the settings exclude the table since then, so its events are not landed"
    resume = f"restart, and {command('resume CONFIG {}', name)}"
    remedy = f"nothing, if the mirrored table may stay as it is; otherwise include it again, {resume}"
    if len(sources) < len(table.sources):
        message = (
            f"the settings exclude {', '.join(sources)} since then, whose rows are in the table, so none of its events "
            "are landed"
        )
        remedy = f"include it again, even if it is gone at the source, {resume}"
    return stopped(table, resume_of(table, state.topics), reason="excluded", message=message, remedy=remedy)


def taint_incomplete(ledger: Ledger, job: JobOptions) -> None:
    """Take no row for new any more in tables of which the settings leave out updates, deletes or truncates.

    What is left out reaches no lander: a batch with nothing else of the table would pass by without a trace.
    """
    incomplete = {
        name: msgspec.structs.replace(table, tainted=True)
        for name, table in ledger.state.tables.items()
        if not table.tainted
        and any(leaves_events_out(job.decode, SourceTable(*source)) for source in sources_of(table))
    }
    if incomplete:
        ledger.commit(Draft(tables=incomplete))


def check_topics(state: LedgerState, present: Mapping[str, TopicDescription]) -> None:
    """Return if everything that the ledger has not landed is still there.

    Raises:
        TopicRecreatedError: a topic was deleted and made again.
        OffsetGapError: retention has removed records that are not landed, or a partition ends too early.
    """
    for topic, recorded in state.topics.items():
        found = present.get(topic)
        if found is None:
            continue
        require_same_topic(topic, recorded, found.id)
        for partition in sorted({*recorded.partitions, *found.partitions}):
            offset = recorded.next_offset(partition)
            earliest, end = found.partitions.get(partition, (0, 0))
            if earliest > offset:
                raise OffsetGapError(
                    f"Kafka's retention has removed {earliest - offset} offsets that are not landed",
                    remedy=f"{CARRY_ELSEWHERE}; give the topic a longer retention than the longest outage",
                    topic=topic,
                    partition=partition,
                    offset=offset,
                    earliest=earliest,
                )
            if end < offset:
                raise OffsetGapError(
                    f"the partition ends at offset {end}, but offset {offset} is the next one to land",
                    remedy=f"the topic has lost records: {CARRY_ELSEWHERE}",
                    topic=topic,
                    partition=partition,
                    offset=offset,
                )


def begin_at_ends(ledger: Ledger, present: Mapping[str, TopicDescription]) -> None:
    """Let a ledger that knows no topic begin at the ends of the partitions, once: ``kafka.starting: latest``.

    Spark remembers such a start only from its first batch on, and a record that comes while nobody runs would be lost.
    """
    if ledger.state.topics or not present:
        return
    ledger.commit(
        Draft(
            planned={
                topic: PlannedTopic(
                    found.id,
                    {partition: (end, end) for partition, (_, end) in sorted(found.partitions.items())},
                    found.epochs,
                )
                for topic, found in sorted(present.items())
            }
        )
    )


def starting_offsets(state: LedgerState, present: Mapping[str, TopicDescription]) -> str:
    """Spark's ``startingOffsets``: the ledger's offset of every partition, or the first record of unknown topics."""
    offsets: dict[str, dict[str, int]] = {}
    for topic, found in present.items():
        recorded = state.topics.get(topic)
        offsets[topic] = {
            str(partition): EARLIEST if recorded is None else recorded.next_offset(partition)
            for partition in sorted(found.partitions)
        }
    return json.dumps(offsets, sort_keys=True)


def offsets_to_land(state: LedgerState, present: Mapping[str, TopicDescription]) -> int:
    """How many offsets lie between the ledger and the ends of the partitions."""
    total = 0
    for topic, found in present.items():
        total += sum(
            end - state.next_offset(topic, partition, earliest)
            for partition, (earliest, end) in found.partitions.items()
        )
    return total


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
