"""From the tasks' results to one draft for the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from connectors.debezium.headers import SeenRuns, merge_runs
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, Parked, PlannedTopic, TableState, TableStatus
from connectors.landing_zone.ledger.table_state import NAME_COLLISION
from connectors.landing_zone.row_marker import RowMarker
from streaming.plan import TableResult
from streaming.sources import Source, in_order, source_text, sources_of
from streaming.task.bad_records import LEFT_OUT_LATE
from streaming.task.results import Results


@dataclass(frozen=True)
class MustMerge:
    """The attempt is worthless: these topics feed one table, and their rows were landed apart from each other."""

    topics: tuple[str, ...]


def assemble(
    results: Results, planned: Mapping[str, PlannedTopic], state: LedgerState, merging: frozenset[str]
) -> Draft | MustMerge:
    """The version that these results make.

    Args:
        planned: the batch's range per topic.
        merging: topics found to share a table in this batch; the ledger will remember them.
    """
    shared = _shared_topics(results.tables)
    if shared:
        return MustMerge(shared)
    tables: dict[str, TableState] = {}
    files: dict[str, LandedFile] = {}
    schemas: dict[str, str] = {}
    folders = {
        known.folder.casefold(): (name, known.source) for name, known in state.tables.items() if known.owns_folder
    }
    for result in sorted(
        results.tables, key=lambda result: (result.table, result.state.source[0], str(result.state.source))
    ):
        owner, source = folders.setdefault(result.state.folder.casefold(), (result.table, result.state.source))
        if source != result.state.source:
            if result.table in state.tables and state.tables[result.table].source == result.state.source:
                tables[result.table] = result.state
            else:
                tables[_collision_name(result)] = _collided(result, owner, planned)
            continue
        tables[result.table] = result.state
        schemas.update(result.schemas)
        if result.file is not None:
            files[result.table] = result.file
    _taint(results, state, tables)
    _feed_excluded(results, planned, state, tables)
    return Draft(
        planned=planned,
        files=files,
        tables=tables,
        schemas=schemas,
        merging=tuple(sorted(merging)),
        passed_over=_passed_over(results, state),
        runs=_runs(results),
        counters=_counters(results, files),
    )


def doubtful_tables(results: Results) -> frozenset[str]:
    """Tables with proven inserts or filled gaps, fed by a topic of which a record was set aside.

    It may have been any event of theirs, and so the one that made a row exist already, or an earlier value out of date.

    The attempt is worthless then, since a task cannot know of records that another one, or the same one later, sets
    aside: the batch runs once more, takes no row of these tables as new, and fills no gap in them.
    """
    spoiled = {result.topic for result in results.partitions if result.bad}
    # A lander knows of the events that it leaves out itself, but not of records that never became an event.
    unread = {result.topic for result in results.partitions if result.bad.keys() - LEFT_OUT_LATE}
    return frozenset(
        result.table
        for result in results.tables
        if result.file is not None
        and (
            (
                result.state.keys
                and result.file.rows.get(str(RowMarker.INSERT.value))
                and spoiled.intersection(result.file.ranges)
            )
            or (result.filled and unread.intersection(result.file.ranges))
        )
    )


def _shared_topics(tables: tuple[TableResult, ...]) -> tuple[str, ...]:
    by_source: dict[object, list[TableResult]] = {}
    for result in tables:
        by_source.setdefault(result.table if result.state.sources else result.state.source, []).append(result)
    return tuple(
        sorted(
            {topic for same in by_source.values() if len(same) > 1 for result in same for topic in result.direct_topics}
        )
    )


def _passed_over(results: Results, state: LedgerState) -> tuple[Source, ...]:
    """Source tables that were left out here, and that no table is known of: those that are known get parked instead."""
    known = {source for table in state.tables.values() for source in sources_of(table)}
    return in_order({source for result in results.partitions for source in result.passed_over} - known)


def _runs(results: Results) -> SeenRuns:
    runs: SeenRuns = {}
    for result in results.partitions:
        merge_runs(runs, result.runs)
    return runs


def _collision_name(result: TableResult) -> str:
    return f"{result.table} <- {source_text(result.state.source)}"


def _collided(result: TableResult, owner: str, planned: Mapping[str, PlannedTopic]) -> TableState:
    """A table whose folder another source table has: it lands nothing until it gets a name of its own."""
    topics = result.state.partitions or {topic: {} for topic in result.direct_topics}
    resume = {
        topic: {partition: start for partition, (start, _) in planned[topic].partitions.items()}
        for topic in topics
        if topic in planned
    }
    topic = next(iter(resume), "")
    partition = next(iter(resume.get(topic, {})), 0)
    parked = Parked(
        reason=NAME_COLLISION,
        message=f"its folder {result.state.folder} belongs to the table {owner} of another source table",
        remedy="exclude it, and carry it with a second bridge: another name, landing zone and state, and a snapshot of "
        "its own",
        topic=topic,
        partition=partition,
        offset=resume.get(topic, {}).get(partition, 0),
        resume=resume,
        skipped=result.events,
    )
    return TableState(
        source=result.state.source,
        folder=result.state.folder,
        extension=result.state.extension,
        column_separator=result.state.column_separator,
        status=TableStatus.PARKED,
        parked=parked,
        sources=result.state.sources,
    )


def _taint(results: Results, state: LedgerState, tables: dict[str, TableState]) -> None:
    """A record that was set aside may have been an event of any table that its topic feeds."""
    spoiled = {result.topic for result in results.partitions if result.bad}
    for name, known in {**state.tables, **tables}.items():
        if not known.tainted and spoiled.intersection(known.partitions):
            tables[name] = msgspec.structs.replace(known, tainted=True)


def _feed_excluded(
    results: Results, planned: Mapping[str, PlannedTopic], state: LedgerState, tables: dict[str, TableState]
) -> None:
    """Let a table that is left out go on, once it is included again, in a topic that has begun to feed it meanwhile.

    Its events reach no lander, which would remember for each topic where the table goes on.
    """
    by_source = {source: name for name, table in state.tables.items() for source in sources_of(table)}
    for result in results.partitions:
        for name in {by_source[source] for source in result.excluded if source in by_source}:
            table = tables.get(name, state.tables[name])
            parked = table.parked
            if parked is None or result.topic in parked.resume:
                continue
            starts = {partition: start for partition, (start, _) in planned[result.topic].partitions.items()}
            resume = {**parked.resume, result.topic: starts}
            tables[name] = msgspec.structs.replace(table, parked=msgspec.structs.replace(parked, resume=resume))


def _counters(results: Results, files: Mapping[str, LandedFile]) -> dict[str, int]:
    counters: Counter[str] = Counter()
    for partition in results.partitions:
        counters["records"] += partition.records
        counters["position_resets"] += partition.epochs
        for reason, count in partition.skipped.items():
            counters[f"skipped.{reason}"] += count
        for reason, count in partition.bad.items():
            counters[f"dead_letters.{reason}"] += count
    for result in results.tables:
        counters["clamped"] += result.clamped
        counters.update(result.counts)
        if not result.direct_topics:
            # What a merge leaves out is in no partition's count.
            counters.update({f"dead_letters.{reason}": count for reason, count in result.left_out.items()})
    counters["files"] += len(files)
    counters["bytes"] += sum(file.bytes for file in files.values())
    for file in files.values():
        for marker, count in file.rows.items():
            counters[f"rows.{marker or 'unmarked'}"] += count
    return {name: count for name, count in sorted(counters.items()) if count}
