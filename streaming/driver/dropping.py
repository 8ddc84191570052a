"""What the driver makes of tables dropped or renamed at the source.

A drop is one record in a topic of its own, and the table's events are in others, so no task sees both. So is a rename,
which leaves the name as a drop does. The driver finds them in what the tasks report, and where the table has events in
the same batch, the batch runs once more with the drops known. Then it records them with the batch's offsets, in the
same version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from connectors.debezium.schema import SourceTable
from connectors.landing_zone.ledger.adopted import NOT_ADOPTED
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.lost import UNPROVEN
from connectors.landing_zone.ledger.state import (
    Dropped,
    LedgerState,
    PlannedTopic,
    RebuildKind,
    TableState,
    TableStatus,
)
from connectors.landing_zone.ledger.table_state import NAME_COLLISION
from streaming.driver.drop_bounds import as_landed, keeping_bounds, of_generation
from streaming.driver.resuming import (
    COLUMN_REPLACED,
    REBUILDING,
    RECREATED,
    Resume,
    beneath_fault,
    stopped,
    with_untold,
)
from streaming.driver.source_changes import changes_by_source
from streaming.landing.inserted import has_inserted
from streaming.landing.source_drop import (
    at_the_first,
    drop_of,
    has_landed_behind,
    place,
)
from streaming.landing.stops.recreated import TAKEN_REMEDY, made_again_text, taken_text
from streaming.lifecycle.stopping import StopReason
from streaming.plan import JobOptions, TableOptions
from streaming.policies import OnDrop, OnTruncate, TableMode
from streaming.sources import Source
from streaming.task.results import Results

Drops = Mapping[Source, Dropped]

_ONLY_BY_A_PERSON = (NAME_COLLISION, StopReason.TOPIC_RECREATED, UNPROVEN, NOT_ADOPTED)
_AT_REST = (TableStatus.LOADING, TableStatus.STREAMING, TableStatus.PARKED)
_DOUBLED = "and rows may be there twice, since `markers: natural` had them land as new ones (marker 0)"
_TOLD_BY_TOPIC = (
    "which the schema-change topic told only after events of the new table had landed, so mirrored rows may be of the "
    "table that is gone"
)


def drops_in(results: Results, state: LedgerState) -> Drops:
    """The tables that the batch's schema-change records say were dropped, as far as that is new.

    A drop that is told of only after events from behind it have landed is ``back`` from the beginning. A table into
    which several source tables land outlives each of them.

    Args:
        state: what the ledger knows before the batch.
    """
    tables = {result.state.source: msgspec.structs.replace(result.state, dropped=None) for result in results.tables}
    tables |= {table.source: table for table in state.tables.values()}
    recorded = {table.source: table for table in state.tables.values()}
    found: dict[Source, Dropped] = {}
    for source, changes in changes_by_source(results, state).items():
        table = tables.get(source)
        dropped = None if table is None or table.sources else drop_of(table, changes)
        if dropped is not None:
            late = source in recorded and has_landed_behind(recorded[source], dropped)
            found[source] = msgspec.structs.replace(dropped, back=late)
    return found


def record_drops(
    draft: Draft, drops: Drops, before: LedgerState, planned: Mapping[str, PlannedTopic], job: JobOptions
) -> Draft:
    """The draft with the tables that were dropped at the source, each as its policies say.

    Args:
        drops: those that the tasks knew of, too.
        before: what the ledger knows before the batch.
    """
    tables = dict(draft.tables)
    names = {table.source: name for name, table in {**before.tables, **tables}.items()}
    for source, dropped in drops.items():
        name = names.get(source)
        if name is not None:
            tables[name] = with_drop(tables.get(name) or before.tables[name], dropped, before, planned, job)
    return replace(draft, tables=tables)


def with_drop(
    table: TableState,
    dropped: Dropped,
    before: LedgerState,
    planned: Mapping[str, PlannedTopic],
    job: JobOptions,
    told: str = "",
) -> TableState:
    """The table after it was dropped at the source, as its policies say.

    Args:
        before: what the ledger knows before the batch, or now between two batches; planned: the batch's ranges.
        told: of a drop that is ``back`` already, what the mirrored rows are by that; for people.
    """
    options = job.options_for(SourceTable(*table.source))
    resume = _beginning_anew(table, before, planned)
    known = next((one for one in before.tables.values() if one.source == table.source), None)
    dropped = of_generation(table, dropped, known)

    def change(table: TableState) -> TableState:
        if dropped.back:
            words = told or f"{made_again_text(dropped)}, {_TOLD_BY_TOPIC}"
            return _told_late(table, dropped, options, resume, words)
        if dropped.taken_by:
            # Its rows are another table's from here on, be there events of that one or not.
            back = msgspec.structs.replace(dropped, back=True)
            return _told_late(table, back, options, resume, taken_text(dropped))
        follows = options.on_drop is OnDrop.DROP and not dropped.renamed
        if not follows and known is not None and dropped.first and has_landed_behind(known, at_the_first(dropped)):
            words = f"{made_again_text(dropped)}, {_TOLD_BY_TOPIC}"
            return _told_late(table, as_landed(table, dropped), options, resume, words)
        return _dropped(table, dropped, options, resume)

    return beneath_fault(keeping_bounds(table, known), change)


def with_replaced_columns(
    table: TableState,
    replaced: Mapping[str, str],
    before: LedgerState,
    planned: Mapping[str, PlannedTopic],
    job: JobOptions,
) -> TableState:
    """The table after columns got names under which values of other columns have landed, as its policies say.

    Rows that do not change would show these values for good: no event says that they are another column's.

    Args:
        replaced: by such a name, the one that its column had before; empty for a column that was made with it.
        before, planned: as for :func:`with_drop`.
    """
    options = job.options_for(SourceTable(*table.source))
    kept = options.on_truncate is OnTruncate.IGNORE or options.mode is TableMode.HISTORY
    if kept or not replaced or table.sequence == 0:
        return table
    names = ", ".join(
        f"{name} (before: {former})" if former else f"{name} (a new column)"
        for name, former in sorted(replaced.items())
    )
    resume = _beginning_anew(table, before, planned)

    def change(table: TableState) -> TableState:
        if _keeps_no_row(table) or _stands_for_its_own_reason(table):
            return table
        after = stopped(
            table,
            resume,
            reason=COLUMN_REPLACED,
            message=f"the source has given columns names under which other columns' values have landed: {names}; rows "
            "that have not changed since show those",
            remedy=TAKEN_REMEDY,
            rebuild=RebuildKind.SNAPSHOT if _rebuilt_when_told_late(table, options) else None,
        )
        return with_untold(after, table)

    return beneath_fault(table, change)


def _keeps_no_row(table: TableState) -> bool:
    """Whether a rebuild is still to remove the folder, at once or when a person lets it."""
    return _is_being_removed(table) or (table.parked is not None and table.parked.postponed is not None)


def _is_being_removed(table: TableState) -> bool:
    """Whether a rebuild is removing the folder, or could not go on with that."""
    removed = table.status is TableStatus.PARKED and table.parked is not None and table.parked.reason == REBUILDING
    return table.status is TableStatus.DELETING or removed


def _beginning_anew(table: TableState, before: LedgerState, planned: Mapping[str, PlannedTopic]) -> Resume:
    """Where the table that is made again has to be looked for.

    One that stands still may have passed over its events already; those of the table that is gone are told apart by
    the drop's place.
    """
    if table.parked is not None and table.parked.resume:
        return table.parked.resume
    return _ends(table, before, planned)


def _ends(table: TableState, before: LedgerState, planned: Mapping[str, PlannedTopic]) -> Resume:
    """Where the table's topics end with this batch."""
    ends: Resume = {}
    for topic in sorted({*table.partitions, *table.starts}):
        recorded = before.topics.get(topic)
        ends[topic] = {} if recorded is None else dict(recorded.partitions)
        if topic in planned:
            ends[topic] |= {partition: end for partition, (_, end) in planned[topic].partitions.items()}
    return ends


def _dropped(table: TableState, dropped: Dropped, options: TableOptions, resume: Resume) -> TableState:
    """The table as the drop leaves it, where its events end with the drop or have been stopped behind it."""
    told = as_landed(table, dropped)
    if told is not dropped and told.generation == dropped.generation:
        told = msgspec.structs.replace(told, renamed=dropped.renamed)
    table = msgspec.structs.replace(table, dropped=told)
    # Rows behind a drop of an earlier generation are the first of this one: all that has landed is the new table's.
    of_these_rows = table.sequence > 0 and told.generation >= table.generation
    follows = options.on_drop is OnDrop.DROP and not told.back and of_these_rows and _may_stop(table)
    if not follows or told.renamed or _stands_for_its_own_reason(table):
        return table
    return stopped(
        table,
        resume,
        reason="dropped",
        message="the source dropped the table, and the settings have its mirror dropped with it",
        remedy="nothing: the folder is deleted; if the table is made again, its events begin the mirror anew",
        rebuild=RebuildKind.KAFKA,
    )


def _may_stop(table: TableState) -> bool:
    """Whether the table is not under way to somewhere else: a rebuild ends as it has been decided."""
    at_rest = table.status in _AT_REST and not _is_being_removed(table)
    return at_rest or (table.status is TableStatus.CATCHING_UP and table.rebuild is None)


def _stands_for_its_own_reason(table: TableState) -> bool:
    """Whether the table is about to be rebuilt, or only a snapshot can fill it.

    What Kafka does not hold any more may be events of the table that was made again: a rebuild from Kafka lacks them.
    """
    parked = table.parked
    return parked is not None and (parked.rebuild is not None or parked.reason in _ONLY_BY_A_PERSON)


def _told_late(table: TableState, dropped: Dropped, options: TableOptions, resume: Resume, told: str) -> TableState:
    """The table when the drop was told of too late: rows of the table that is gone may be among those that stayed.

    A rebuild that is still to remove the folder keeps none of them, nor does one that a person has postponed. One that
    has landed rows since would end with them among its own, so the table stops there, too. A table whose events have no
    positions is gone for all that is known, so nobody is asked for its rows.

    Rows that landed as new ones may be there twice, whatever the policy lets stay.
    """
    doubled = table.doubled or has_inserted(table)
    table = msgspec.structs.replace(table, dropped=dropped, tainted=True, doubled=doubled)
    kept = options.mode is TableMode.HISTORY or (options.on_truncate is OnTruncate.IGNORE and not doubled)
    # What the catalog shows may come before the old table's rows do.
    nothing = table.sequence == 0 and not dropped.by_lsn
    if kept or nothing or _keeps_no_row(table) or _stands_for_its_own_reason(table):
        return table
    after = stopped(
        table,
        resume,
        reason=RECREATED,
        message=f"{told}; {_DOUBLED}" if doubled else told,
        remedy="`cdc-bridge resync CONFIG TABLE`" if doubled else TAKEN_REMEDY,
        rebuild=RebuildKind.SNAPSHOT if any(place(dropped)) and _rebuilt_when_told_late(table, options) else None,
    )
    return with_untold(after, table)


def _rebuilt_when_told_late(table: TableState, options: TableOptions) -> bool:
    """Whether the policy has the table begin anew at once: one that stands still waits for a person.

    So does one without key that waits for its snapshot: the rows of a second one would land beside those of the first.
    """
    doubled = table.rebuild is not None and table.rebuild.keyless
    return options.on_truncate is OnTruncate.REBUILD and table.parked is None and not doubled
