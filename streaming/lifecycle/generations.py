"""The states that a rebuild takes a table through, each a pure function of the one before.

``DELETING`` -> ``CLEARED`` -> ``FILLING`` -> ``STREAMING`` where a snapshot fills the table, ``DELETING`` ->
``CATCHING_UP`` -> ``STREAMING`` where Kafka still holds all that it needs. The driver commits each state before it does
what the state says, so that whoever comes next can do it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from connectors.landing_zone.ledger.state import (
    Parked,
    PartitionState,
    Rebuild,
    RebuildKind,
    SnapshotIdentity,
    TableState,
    TableStatus,
    TopicOffsets,
)
from streaming.driver.resuming import REBUILDING, Resume, first_place, resume_of
from streaming.landing.generation import place_of_text
from streaming.plan import TableOptions
from streaming.policies import OnMissingKey

TRUNCATE = "truncate"
SECOND_SNAPSHOT = "second_snapshot"
AMBIGUOUS_SNAPSHOT = "ambiguous_snapshot"
DROPPED = "dropped"
MISSING_KEY = "missing_key"
FROM_KAFKA = frozenset({TRUNCATE, SECOND_SNAPSHOT, "recreated", DROPPED})
"""Reasons of parked tables whose next generation begins with an event that Kafka holds."""

AT_REST = frozenset({TableStatus.LOADING, TableStatus.STREAMING})
"""Tables that take each event as it comes."""
UNDER_WAY = frozenset({TableStatus.DELETING, TableStatus.CLEARED, TableStatus.FILLING})
KEPT_RUNS = 16


def feeding_topics(table: TableState) -> tuple[str, ...]:
    """The topics that are known to feed the table, sorted."""
    resume = {} if table.parked is None else table.parked.resume
    return tuple(sorted({*table.partitions, *table.starts, *resume}))


def feeding_partitions(table: TableState) -> set[tuple[str, int]]:
    """The partitions that have fed the table."""
    resume = {} if table.parked is None else table.parked.resume
    return {(topic, partition) for each in (table.partitions, resume) for topic in each for partition in each[topic]}


def without_key(table: TableState, options: TableOptions) -> bool:
    """Whether the table's next generation is taken to have no key; a blocking snapshot fills it whether it has or not.

    Debezium makes no incremental snapshot of a table without key. One that has lost it since it landed is parked.

    Args:
        options: of the table.
    """
    if table.parked is not None and (table.parked.beneath or table.parked).reason == MISSING_KEY:
        return options.on_missing_key is OnMissingKey.APPEND
    # What is known of the columns is of the generation that goes.
    if table.schema and table.status is not TableStatus.DELETING:
        return not table.keys and not table.history
    return table.rebuild is not None and table.rebuild.keyless


def deleting(
    table: TableState,
    kind: RebuildKind,
    reason: str,
    topics: Mapping[str, TopicOffsets],
    *,
    keyless: bool,
    staged: str = "",
) -> TableState:
    """The table whose folder is to be removed; its events are counted and passed over meanwhile.

    Args:
        reason: what asked for the rebuild.
        keyless: :func:`without_key`.
        topics: the ledger's offsets.
        staged: path of the table's pending file, which is given up.
    """
    resume = resume_of(table, topics)
    topic, partition, offset = first_place(resume)
    before = table.parked
    parked = Parked(
        reason=REBUILDING,
        message=f"the table is being rebuilt ({reason}); what it passes over meanwhile is not lost",
        remedy="nothing: it goes on by itself; `cdc-bridge status CONFIG` shows how far it is",
        topic=topic if before is None else before.topic,
        partition=partition if before is None else before.partition,
        offset=offset if before is None else before.offset,
        resume=resume,
        skipped=0 if before is None else before.skipped,
        run="" if before is None else before.run,
        place="" if before is None else before.place,
    )
    connector = table.snapshot.connector if table.snapshot else table.rebuild.connector if table.rebuild else ""
    stop = before.beneath or before if before is not None else None
    truncated = stop.place if stop is not None and stop.reason == TRUNCATE and stop.place else table.truncated
    return replace(
        table,
        status=TableStatus.DELETING,
        truncated=truncated,
        parked=parked,
        rebuild=Rebuild(kind=kind, reason=reason, connector=connector, keyless=keyless, staged=staged),
    )


def deleted(table: TableState, rebuild: Rebuild, now_ms: int) -> TableState:
    """The table whose folder was found to be gone."""
    return replace(table, rebuild=replace(rebuild, deleted_ms=max(now_ms, 1), staged=""))


def cleared(
    table: TableState,
    rebuild: Rebuild,
    starts: Resume,
    heard: Mapping[int, int],
    heard_ms: int,
    runs: Iterable[str] = (),
) -> TableState:
    """The next generation, to be filled by a snapshot that is asked for after this is committed.

    Whichever table has the name by then is what it holds, so what the catalog has shown before counts no more.

    Args:
        starts: Kafka's ends by now; the snapshot contains the effect of all that is below them.
        heard: ends of the notifications topic.
        heard_ms: when the latest initial snapshot before was told of; 0 for none.
        runs: the connector runs that have streamed by now, in any table.
    """
    return replace(
        _next_generation(table),
        status=TableStatus.CLEARED,
        snapshot=None,
        partitions={},
        starts=starts,
        truncated=table.truncated,
        relation=None,
        tainted=True,
        parked=None,
        rebuild=replace(rebuild, heard=dict(heard), runs=tuple(sorted(set(runs)))),
        heard_ms=max(table.heard_ms, heard_ms),
    )


def filling(table: TableState, rebuild: Rebuild, signal: str) -> TableState:
    """The table whose snapshot has been asked for."""
    return replace(table, status=TableStatus.FILLING, rebuild=replace(rebuild, signal=signal))


def gone_meanwhile(table: TableState) -> bool:
    """Whether the source has dropped the table since its folder was removed, and no event shows that it is back."""
    dropped = table.dropped
    return dropped is not None and not dropped.back and dropped.generation == table.generation


def filled(table: TableState) -> TableState:
    """The table whose snapshot is complete, as far as that can be known."""
    return replace(table, status=TableStatus.STREAMING, rebuild=None)


def never_filled(table: TableState) -> TableState:
    """A table without key whose snapshot had no rows: what it passed over, waiting for them, lands after all."""
    topic, partition, offset = first_place(table.starts)
    parked = Parked(
        reason=REBUILDING,
        message="the table's snapshot had no rows; the events since then are landing",
        remedy="nothing: it goes on by itself",
        topic=topic,
        partition=partition,
        offset=offset,
        resume=table.starts,
    )
    return replace(table, status=TableStatus.CATCHING_UP, parked=parked, rebuild=None)


def from_kafka(table: TableState, rebuild: Rebuild, parked: Parked) -> TableState:
    """The next generation, which begins with the event that asked for it, or right behind it for a truncate."""
    place, source_ms = place_of_text(parked.place)
    resume = {topic: dict(offsets) for topic, offsets in parked.resume.items()}
    begun = replace(
        _next_generation(table),
        status=TableStatus.CATCHING_UP,
        rebuild=rebuild,
    )
    match rebuild.reason:
        case reason if reason == TRUNCATE:
            if parked.topic in resume:
                resume[parked.topic][parked.partition] = parked.offset + 1
            begun = replace(begun, truncated=parked.place, tainted=not parked.place)
        case reason if reason == SECOND_SNAPSHOT:
            runs = (*(run for run in table.streamed_runs if run != parked.run), *_run_of(table.snapshot))
            first_run = parked.run if parked.run not in {*runs, *table.streamed_runs} else ""
            identity = SnapshotIdentity(rebuild.connector, parked.run, f"{place[0]:016x}{place[1]:016x}")
            begun = replace(
                begun,
                snapshot=identity if parked.run else None,
                partitions={},
                streamed_runs=runs[-KEPT_RUNS:],
                first_run=first_run,
                runs_before=(*runs, first_run) if first_run else (),
                first_ms=source_ms,
                first_position=parked.place[:32] if place >= _highest(table) else "",
                tainted=True,
            )
        case _:
            begun = replace(begun, tainted=True)
    return replace(begun, parked=replace(parked, reason=REBUILDING, rebuild=None, resume=resume))


def nothing_landed_behind(table: TableState, parked: Parked) -> bool:
    """Whether no other partition than that of the parking event has landed what may lie behind it in the source's log.

    Positions tell that only where there are any, and while they have not fallen. A dead letter that was replayed counts
    as an event of another partition: it may have been read long before its place in the log.
    """
    place, _ = place_of_text(parked.place)
    known = table.partitions.get(parked.topic, {}).get(parked.partition)
    epoch = 0 if known is None else known.epoch
    replayed, replayed_epoch = place_of_text(table.replayed_to)
    if table.replayed_to and (replayed_epoch != epoch or replayed >= place):
        return False
    others = {(topic, number) for topic, numbers in parked.resume.items() for number in numbers}
    if not parked.place and others - {(parked.topic, parked.partition)}:
        return False
    return all(
        each.epoch == epoch and not each.below and bool(each.high) and _high(each) < place
        for topic, partitions in table.partitions.items()
        for partition, each in partitions.items()
        if (topic, partition) != (parked.topic, parked.partition)
    )


def _highest(table: TableState) -> tuple[int, int]:
    """The highest log position that the table's partitions have reached; zeros for none."""
    partitions = (each for of_topic in table.partitions.values() for each in of_topic.values())
    return max(map(_high, partitions), default=(0, 0))


def _high(partition: PartitionState) -> tuple[int, int]:
    position, _ = place_of_text(partition.high)
    return position


def _run_of(snapshot: SnapshotIdentity | None) -> tuple[str, ...]:
    return () if snapshot is None else (snapshot.run_id,)


def _next_generation(table: TableState) -> TableState:
    """The table with an empty folder: nothing pinned, nothing landed, and no bound of an earlier generation."""
    return replace(
        table,
        generation=table.generation + 1,
        sequence=0,
        sha256="",
        unseen=0,
        metadata="",
        schema="",
        keys=(),
        doubt_ms=0,
        rows={},
        inserted_to="",
        doubled=False,
        loaded="",
        loaded_ms=0,
        starts={},
        landed_to={},
        first_run="",
        runs_before=(),
        first_ms=0,
        first_position="",
        truncated="",
        gone=(),
        renamed_columns=None,
        column_numbers=(),
        ignored_values=0,
        history=False,
        key_forms=(),
        replayed_to="",
    )
