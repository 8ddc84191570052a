"""What becomes of a mirrored table after a look into the source's catalog, and what a person should know of it."""

from __future__ import annotations

from typing import assert_never

import msgspec

from connectors.landing_zone.ledger.state import Dropped, LedgerState, Relation, TableState, TableStatus
from connectors.source_database.relations import LogEnd
from streaming.driver.dropping import with_drop, with_replaced_columns
from streaming.landing.source_drop import drop_nowhere, drop_seen, first_place, has_positions
from streaming.landing.stops.recreated import taken_text
from streaming.lifecycle.catalog_columns import replaced_columns, with_columns
from streaming.lifecycle.catalog_look import Columned, Finding, Gone, Renamed, Replaced, Seen
from streaming.lifecycle.generations import UNDER_WAY
from streaming.plan import JobOptions
from streaming.renamed import columns_note, rename_note, renamed_columns, renamed_to

TOLD_BY_CATALOG = (
    "another table has the name at the source by now (made again, or renamed), which its catalog has shown only after "
    "that, so mirrored rows may be of the table that is gone"
)
TOLD_WITHOUT_POSITIONS = (
    "the source has dropped the table, as its catalog shows, and its events have no log positions to tell them from "
    "those of a later table of its name, so mirrored rows may be of the table that is gone"
)


def recorded(finding: Finding, table: TableState, state: LedgerState, job: JobOptions) -> TableState:
    """The table after what a look has found, as its policies say.

    Args:
        state: what the ledger knows.
    """
    match finding:
        case Columned():
            replaced = replaced_columns(finding.mirrored.columns, finding.columns)
            return with_replaced_columns(with_columns(table, finding.columns), replaced, state, {}, job)
        case Seen():
            same = _is_same(table.relation, finding.relation)
            numbers = table.column_numbers if same else ()
            after = table if finding.end is None else _returned(table, finding.end, state, job)
            stopped = after.parked != table.parked
            after = msgspec.structs.replace(after, relation=finding.relation, column_numbers=numbers)
            if finding.columns is None:
                return after
            replaced = replaced_columns(finding.mirrored.columns, finding.columns) if same and not stopped else {}
            return with_replaced_columns(with_columns(after, finding.columns), replaced, state, {}, job)
        case Renamed():
            return msgspec.structs.replace(table, relation=finding.relation)
        case Gone():
            dropped = drop_seen(table, finding.end.lsn, finding.end.at_ms)
            if (known := _before(table)) is not None:
                dropped = msgspec.structs.replace(dropped, first=first_place(known))
            if _begins_behind_a_drop(table) and table.status not in UNDER_WAY:
                # It begins behind this one, then: of what lies before it nothing is in the mirror.
                dropped = msgspec.structs.replace(dropped, generation=table.generation - 1, back=False)
            # Whichever table gets the name next is seen anew.
            told = TOLD_BY_CATALOG
            if table.sequence and not has_positions(table):
                dropped, told = drop_nowhere(table, finding.end.at_ms), TOLD_WITHOUT_POSITIONS
            after = with_drop(table, dropped, state, {}, job, told)
            return _forgetting_columns(after, None)
        case Replaced():
            late = msgspec.structs.replace(drop_seen(table, finding.end.lsn, finding.end.at_ms), back=True)
            if table.status is TableStatus.CLEARED:
                # The snapshot that fills it is still to be asked for.
                late = msgspec.structs.replace(late, generation=table.generation - 1)
                return _forgetting_columns(msgspec.structs.replace(table, dropped=late), finding.relation)
            after = with_drop(table, late, state, {}, job, TOLD_BY_CATALOG)
            if _begins_behind_a_drop(table) and after.parked == table.parked:
                after = msgspec.structs.replace(after, dropped=table.dropped)
            return _forgetting_columns(after, finding.relation)
        case _:
            assert_never(finding)


def _returned(table: TableState, end: LogEnd, state: LedgerState, job: JobOptions) -> TableState:
    """The table after it had another name, under which its rows may have changed: those changes are not its mirror's.

    One that a snapshot is still to be asked for gets them with that.
    """
    if table.status is TableStatus.CLEARED:
        return table
    name = renamed_to(table)
    seen = drop_seen(table, end.lsn, end.at_ms)
    back = msgspec.structs.replace(seen, back=True, renamed=name, taken_by=name, returned=True)
    after = with_drop(table, back, state, {}, job, taken_text(back))
    return after if after.parked != table.parked else msgspec.structs.replace(after, dropped=table.dropped)


def _forgetting_columns(table: TableState, relation: Relation | None) -> TableState:
    """The table that another one follows, whose columns are others whatever they are called."""
    return msgspec.structs.replace(table, relation=relation, column_numbers=(), renamed_columns=None)


def _is_same(known: Relation | None, found: Relation) -> bool:
    return known is not None and (known.database, known.oid) == (found.database, found.oid)


def _before(table: TableState) -> Dropped | None:
    """A drop behind which nothing has landed: whatever comes behind it is of another table, be that one gone or not."""
    dropped = table.dropped
    return None if dropped is None or dropped.back or dropped.generation < table.generation else dropped


def _begins_behind_a_drop(table: TableState) -> bool:
    """Whether nothing has landed since an earlier generation's table was dropped, whose tail may still come."""
    dropped = table.dropped
    return dropped is not None and dropped.generation < table.generation and table.sequence == 0


def is_elsewhere(finding: Finding, table: TableState) -> bool:
    """Whether the table was known in another database."""
    known = table.relation
    return isinstance(finding, Seen) and known is not None and known.database != finding.relation.database


def note_of(finding: Finding, table: TableState) -> str | None:
    """What a person should know of it; None for nothing, or nothing that is the table's own."""
    match finding:
        case Seen():
            back = table.relation is not None and not is_elsewhere(finding, table)
            return "has its name at the source again" if back else None
        case Columned():
            renamed = renamed_columns(with_columns(table, finding.columns))
            return columns_note(renamed) if renamed and renamed != renamed_columns(table) else None
        case Renamed():
            return rename_note(finding.relation.renamed)
        case Gone():
            return "dropped at the source, as its catalog shows"
        case Replaced():
            return "dropped at the source and made again, or replaced by a renamed table"
        case _:
            assert_never(finding)
