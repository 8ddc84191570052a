"""What a batch's schema-change records are worth telling a person."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from connectors.debezium.table_change import TableChange, TableChangeKind
from connectors.landing_zone.ledger.state import LedgerState
from streaming.driver.source_changes import changes_by_source
from streaming.landing.source_drop import other_name
from streaming.renamed import columns_note, rename_note, renamed_columns
from streaming.sources import Source, source_of, source_text, sources_of
from streaming.task.results import Results


def change_notes(results: Results, before: LedgerState, after: LedgerState) -> list[str]:
    """The notes, each with its table.

    Args:
        before, after: what the ledger knows before and after the batch.
    """
    known = {source for table in before.tables.values() for source in sources_of(table)}
    notes: list[str] = []
    for source, changes in changes_by_source(results, before).items():
        told = _of_known(changes) if source in known else _of_new(changes, known)
        notes += [f"{source_text(source)}: {note}" for note in told]
    return [*notes, *_renamed_columns(before, after)]


def _renamed_columns(before: LedgerState, after: LedgerState) -> Iterator[str]:
    for name, table in after.tables.items():
        columns = renamed_columns(table)
        if columns and (name not in before.tables or columns != renamed_columns(before.tables[name])):
            yield f"{name}: {columns_note(columns)}"


def _of_known(changes: Iterable[TableChange]) -> Iterator[str]:
    for change in changes:
        if change.kind is TableChangeKind.DROP:
            yield f"dropped at the source: {change.statement}"
        elif change.kind is TableChangeKind.RENAME:
            yield rename_note(other_name(change))
        elif change.other is not None:
            yield f"another table has its name at the source now: {other_name(change)} was renamed to it"
        elif change.unread:
            yield f"what this statement renames cannot be told, so nothing follows from it: {change.statement}"


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
