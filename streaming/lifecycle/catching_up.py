"""Catching a table up: what was passed over while it stood still lands, chunk by chunk, until it joins the stream.

The range to land is ``[resume, the ledger's offset)`` of each partition that feeds the table. A chunk of it becomes the
table's next file, in a version that leaves the ledger's offsets alone and moves ``resume``; when ``resume`` has reached
them, the table streams. A driver that dies between plans the same chunk again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from connectors.command_lines import command
from connectors.errors import Terminal
from connectors.failpoints import Failpoint, pass_failpoint
from connectors.kafka.errors import RecordsGoneError, TopicNotFoundError
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.errors import TopicRecreatedError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import (
    LedgerState,
    Parked,
    PlannedTopic,
    Rebuild,
    RebuildKind,
    TableState,
    TableStatus,
    TopicOffsets,
)
from streaming.driver.batch import BatchReport
from streaming.driver.planning import require_same_topic, require_still_the_same
from streaming.driver.resuming import resume_of
from streaming.driver.startup import OpenZone
from streaming.lifecycle.generations import from_kafka
from streaming.lifecycle.outside import Outside, Ranges
from streaming.lifecycle.side import Landed, land_beside
from streaming.lifecycle.stopping import StopReason, stop_table
from streaming.plan import JobOptions

LONGEST_CHUNK = 500_000
"""Offsets of a chunk at most, so that the stream of the other tables need not wait for long."""

NOT_MENDED = "the cause is not mended: "


class CatchUp:
    """The step that lands the next chunk of a table that is catching up.

    Args:
        chunk: offsets of a chunk at most, over all partitions.
        on_batch: told what each chunk did.
    """

    def __init__(
        self,
        opened: OpenZone,
        job: JobOptions,
        outside: Outside,
        chunk: int,
        on_batch: Callable[[BatchReport], None],
    ) -> None:
        self._opened = opened
        self._job = job
        self._outside = outside
        self._chunk = min(chunk, LONGEST_CHUNK)
        self._on_batch = on_batch

    def __call__(self, name: str) -> bool:
        """Land the table's next chunk; False if it is not catching up.

        Raises:
            BridgeError: about this table, or as :func:`streaming.lifecycle.side.land_beside`; call again.
        """
        opened, ledger = self._opened, self._opened.ledger
        if ledger.state.tables[name].status is not TableStatus.CATCHING_UP:
            return False
        opened.publisher.publish_pending(ledger)
        table = ledger.state.tables[name]
        if table.status is not TableStatus.CATCHING_UP:
            return True
        ranges = chunk_of(ranges_to_land(table, ledger.state), self._chunk)
        if not _to_read(ranges):
            ledger.commit(Draft(tables={name: joined(table, going_on(table))}))
            return True
        try:
            require_records(ranges, self._outside.topics(sorted(ranges)), name)
        except RecordsGoneError as error:
            stop_table(ledger, name, error, StopReason.RETENTION_PASSED)
            return True
        pass_failpoint(Failpoint.CATCH_UP_BEFORE)
        report = land_beside(
            name,
            going_on(table),
            ranges,
            self._job,
            ledger,
            opened.publisher,
            self._outside.read(_to_read(ranges)),
            lambda landed: after_chunk(table, landed, ranges, ledger.state),
            unchanged=lambda: require_still_the_same(ranges, self._ids(ranges)),
        )
        pass_failpoint(Failpoint.CATCH_UP_AFTER)
        self._on_batch(report)
        return True

    def _ids(self, ranges: Ranges) -> dict[str, str]:
        """Kafka's ids of the topics that were read; one that is gone by now has none."""
        present = self._outside.topics(sorted(_to_read(ranges)))
        return {topic: found.id for topic, found in present.items()}


def ranges_to_land(table: TableState, state: LedgerState) -> dict[str, PlannedTopic]:
    """``[resume, the ledger's offset)`` of every partition of the table's topics; empty spans where nothing waits."""
    ranges: dict[str, PlannedTopic] = {}
    for topic, starts in sorted(resume_of(table, state.topics).items()):
        recorded = state.topics.get(topic)
        if recorded is None:
            continue
        # A partition that was not known when the table stopped is new since then, and new ones begin at 0.
        spans = {partition: (starts.get(partition, 0), end) for partition, end in sorted(recorded.partitions.items())}
        ranges[topic] = PlannedTopic(recorded.id, {number: (min(span), span[1]) for number, span in spans.items()})
    return ranges


def offsets_behind(table: TableState, state: LedgerState) -> int:
    """How many offsets a table that stands still or catches up has to read until it joins the stream."""
    ranges = ranges_to_land(table, state)
    return sum(end - start for topic in ranges.values() for start, end in topic.partitions.values())


def chunk_of(ranges: Ranges, limit: int) -> dict[str, PlannedTopic]:
    """The first part of the ranges: about ``limit`` offsets, cut in proportion, at least one of each partition."""
    total = sum(end - start for topic in ranges.values() for start, end in topic.partitions.values())
    if total <= limit:
        return dict(ranges)

    def cut(start: int, end: int) -> tuple[int, int]:
        return start, min(end, start + max(1, (end - start) * limit // total))

    return {
        topic: PlannedTopic(planned.id, {number: cut(*span) for number, span in planned.partitions.items()})
        for topic, planned in ranges.items()
    }


def going_on(table: TableState) -> TableState:
    """The table as its next event meets it.

    Its rows get markers, whatever the load that was interrupted; only a generation that begins anew loads again. One
    that waits for its snapshot still does.
    """
    if table.rebuild is not None and table.rebuild.kind is RebuildKind.SNAPSHOT:
        return replace(table, status=TableStatus.FILLING, parked=None)
    anew = table.rebuild is not None and table.rebuild.kind is RebuildKind.KAFKA and not any(table.rows)
    status = TableStatus.LOADING if anew else TableStatus.STREAMING
    return replace(table, status=status, parked=None)


def after_chunk(before: TableState, landed: Landed, ranges: Ranges, state: LedgerState) -> TableState:
    """What the ledger records of a table after a chunk: it goes on catching up, has joined the stream, or is parked.

    Args:
        before: the table, catching up.
        ranges: the chunk.
        state: of the ledger, whose offsets the table has to reach.
    """
    waited = 0 if before.parked is None else before.parked.skipped
    parked = landed.state.parked
    ends = {topic: {part: end for part, (_, end) in each.partitions.items()} for topic, each in ranges.items()}
    if parked is not None:
        skipped = max(0, waited - (landed.events - parked.skipped))
        # A topic whose part of the chunk had nothing for the table goes on behind it, as the others do.
        resume = {**ends, **parked.resume}
        again = replace(parked, resume=resume, skipped=skipped, message=_message(before, landed.state))
        return replace(landed.state, parked=again)
    if before.parked is None or _reached(ends, state):
        return joined(before, landed.state)
    still = replace(before.parked, resume=ends, skipped=max(0, waited - landed.events))
    return replace(landed.state, status=TableStatus.CATCHING_UP, parked=still)


def joined(before: TableState, landed: TableState) -> TableState:
    """The table that has reached the ledger's offsets; one that waits for its snapshot goes on waiting."""
    if before.rebuild is not None and before.rebuild.kind is RebuildKind.SNAPSHOT:
        return replace(landed, status=TableStatus.FILLING, parked=None)
    return replace(landed, parked=None, rebuild=None)


def gone_before_rebuild(
    name: str, table: TableState, parked: Parked, state: LedgerState, outside: Outside
) -> Terminal | None:
    """Why Kafka does not hold all that the table's next generation would be made of; None if it does.

    Args:
        parked: why the table stands still: the event that its next generation begins with.

    Raises:
        BridgeError: Kafka does not say what it holds.
    """
    begun = from_kafka(table, Rebuild(RebuildKind.KAFKA, parked.reason), parked)
    ranges = ranges_to_land(begun, state)
    try:
        require_records(ranges, outside.topics(sorted(ranges)), name)
    except (RecordsGoneError, TopicNotFoundError, TopicRecreatedError) as error:
        return error
    return None


def require_records(ranges: Ranges, present: Mapping[str, TopicDescription], table: str) -> None:
    """Return if Kafka holds the ranges; of a topic with nothing left to read nothing is asked.

    Raises:
        RecordsGoneError: retention has removed the beginning of one.
        TopicNotFoundError: a topic does not exist any more.
        TopicRecreatedError: a topic was deleted and made again.
    """
    gone: list[str] = []
    for topic, planned in _to_read(ranges).items():
        found = present.get(topic)
        if found is None:
            raise TopicNotFoundError(
                "the topic that the table has to catch up from does not exist",
                remedy=f"rebuild the table with {command('resync CONFIG {}', table)}: a topic that is made again is "
                "another",
                topic=topic,
                table=table,
            )
        require_same_topic(topic, TopicOffsets(planned.id, {}), found.id)
        for partition, (start, end) in planned.partitions.items():
            earliest, _ = found.partitions.get(partition, (end, end))
            if start < end and earliest > start:
                gone.append(f"{topic}/{partition} begins at offset {earliest}, and {start} is the next one to land")
    if gone:
        raise RecordsGoneError(
            f"Kafka's retention has removed what the table has to catch up from: {'; '.join(gone)}",
            remedy=f"rebuild the table with {command('resync CONFIG {}', table)}, and give its topics a longer "
            "retention",
            table=table,
        )


def _to_read(ranges: Ranges) -> dict[str, PlannedTopic]:
    """The topics of which something is to be read; one that has landed wholly may be gone by now."""
    return {
        topic: planned
        for topic, planned in ranges.items()
        if any(start < end for start, end in planned.partitions.values())
    }


def _reached(ends: Mapping[str, Mapping[int, int]], state: LedgerState) -> bool:
    """Whether these are the ledger's own offsets."""
    return all(state.topics[topic].partitions == partitions for topic, partitions in ends.items())


def _message(before: TableState, after: TableState) -> str:
    """Why the table is parked again; said plainly where it is the very event that parked it before."""
    last, now = before.parked, after.parked
    if now is None:
        return ""
    if last is None or (last.reason, last.topic, last.partition, last.offset) != (
        now.reason,
        now.topic,
        now.partition,
        now.offset,
    ):
        return now.message
    return NOT_MENDED + now.message
