"""What a batch's schema-change records are worth telling a person."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from connectors.debezium.table_change import TableChange, TableChangeKind
from connectors.landing_zone.ledger.state import Dropped, LedgerState
from streaming.driver.source_changes import changes_by_source
from streaming.landing.source_drop import other_name, position_text
from streaming.lifecycle.generations import gone_meanwhile
from streaming.renamed import columns_note, rename_note, renamed_columns
from streaming.sources import Source, source_of, source_text, sources_of
from streaming.task.results import Results

_STALE_COLUMNS = (
    " - Debezium reads the new table by the old one's columns: if they differ, restart its connector with "
    "`snapshot.mode: recovery` and have the mirror filled by `cdc-bridge resync CONFIG TABLE`"
)


def change_notes(results: Results, before: LedgerState, after: LedgerState) -> list[str]:
    """The notes, each with its table.

    Args:
        before, after: what the ledger knows before and after the batch.
    """
    known = {source for table in before.tables.values() for source in sources_of(table)}
    left = {table.source for table in before.tables.values() if gone_meanwhile(table)}
    ends = {table.source: table.dropped for table in after.tables.values()}
    notes: list[str] = []
    for source, changes in changes_by_source(results, before).items():
        told = _of_known(changes, ends.get(source), source in left) if source in known else _of_new(changes, known)
        notes += [f"{source_text(source)}: {note}" for note in told]
    return [*notes, *_renamed_columns(before, after)]


def _renamed_columns(before: LedgerState, after: LedgerState) -> Iterator[str]:
    for name, table in after.tables.items():
        columns = renamed_columns(table)
        if columns and (name not in before.tables or columns != renamed_columns(before.tables[name])):
            yield f"{name}: {columns_note(columns)}"


def _of_known(changes: Sequence[TableChange], dropped: Dropped | None, left_before: bool) -> Iterator[str]:
    """The notes of a table that has landed.

    Args:
        dropped: where it ended, by what is known after the batch.
        left_before: it had been dropped or renamed before the batch, and nothing showed that its name was taken again.
    """
    nobody = left_before
    for index, change in enumerate(changes):
        dropped_nothing = nobody and change.kind is TableChangeKind.DROP
        nobody = _has_left(change, nobody)
        if dropped_nothing:
            continue
        if change.kind is TableChangeKind.DROP:
            yield f"dropped at the source: {change.statement}{_STALE_COLUMNS if change.stale_columns else ''}"
        elif change.kind is TableChangeKind.RENAME:
            if not any(_is_return(later, change) for later in changes[index + 1 :]):
                yield rename_note(other_name(change))
        elif change.other is not None:
            left = next((one for one in reversed(changes[:index]) if one.kind is TableChangeKind.RENAME), None)
            known = dropped is not None and dropped.returned and dropped.position == position_text(change)
            if _is_return(change, left) if left is not None else known:
                yield (
                    f"renamed to {other_name(change)} at the source and back again; rows that changed in between are "
                    "not in this mirror"
                )
            else:
                yield f"another table has its name at the source now: {other_name(change)} was renamed to it"
        elif change.unread:
            yield f"what this statement renames cannot be told, so nothing follows from it: {change.statement}"


def _has_left(change: TableChange, before: bool) -> bool:
    """Whether nobody has the name after the change."""
    if change.kind in (TableChangeKind.DROP, TableChangeKind.RENAME):
        return True
    return before and change.kind is not TableChangeKind.CREATE and change.other is None


def _is_return(change: TableChange, left: TableChange) -> bool:
    """Whether the table has its name back from the one that it left for; in a swap both happen at one place."""
    taken = change.kind is TableChangeKind.ALTER and change.other is not None
    return taken and change.other == left.other and change.position != left.position


def _of_new(changes: Collection[TableChange], known: Collection[Source]) -> Iterator[str]:
    kinds = {change.kind for change in changes}
    if TableChangeKind.ALTER not in kinds or TableChangeKind.CREATE in kinds:
        return
    altered = [change for change in changes if change.kind is TableChangeKind.ALTER]
    given = next((change for change in altered if change.other is not None), None)
    if given is None or given.other is None:
        yield (
            f"altered at the source without having landed before: {altered[0].statement} - if a table was renamed to "
            "it, its rows from before are in the old table's mirror only, which gets no more changes; "
            "`cdc-bridge resync CONFIG TABLE` fills the new one"
        )
    elif source_of(given.other) not in known:
        yield (
            f"{other_name(given)}, which has not landed, was renamed to it at the source; its rows from before are "
            "not in the mirror until they change; `cdc-bridge resync CONFIG TABLE` fills it"
        )
