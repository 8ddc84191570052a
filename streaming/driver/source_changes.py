"""The changes of tables that a batch's schema-change records tell, by the table that each is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from connectors.debezium.schema import SourceTable
from connectors.debezium.table_change import TableChange, TableChangeKind
from connectors.landing_zone.ledger.state import LedgerState
from streaming.sources import Source, in_order, source_of, source_text, sources_of
from streaming.task.results import Results


def changes_by_source(results: Results, state: LedgerState) -> dict[Source, list[TableChange]]:
    """Each table's changes, in the order in which they were sent.

    Args:
        state: what the ledger knows before the batch; a statement's first records may be in the batch before.
    """
    changes: dict[Source, list[TableChange]] = {}
    for partition in results.partitions:
        begun = list(_begun(partition.table_changes, state))
        for change in _without_stopovers([*begun, *partition.table_changes]):
            for told in () if change in begun else _of_each_table(change, results, state):
                changes.setdefault(source_of(told.table), []).append(told)
    return changes


def _of_each_table(change: TableChange, results: Results, state: LedgerState) -> Iterator[TableChange]:
    """The change itself; of a database's drop one for each of its tables that have landed."""
    if change.kind is not TableChangeKind.DROP_DATABASE:
        yield change
        return
    tables = [*state.tables.values(), *(result.state for result in results.tables)]
    for source in in_order({source for table in tables for source in sources_of(table)}):
        if source[:2] == (change.table.database, change.table.schema):
            yield replace(change, kind=TableChangeKind.DROP, table=SourceTable(*source))


def _begun(changes: Sequence[TableChange], state: LedgerState) -> Iterator[TableChange]:
    """The renames known from an earlier batch whose statement goes on with the name that they gave."""
    for table in state.tables.values():
        dropped = table.dropped
        if dropped is None or dropped.by_lsn or not dropped.renamed:
            continue
        position = (int(dropped.position[:16], 16), int(dropped.position[16:], 16))
        for change in changes:
            before = change.table if change.kind is TableChangeKind.RENAME else change.other
            if change.position == position and before and source_text(source_of(before)) == dropped.renamed:
                source = SourceTable(*table.source)
                yield TableChange(TableChangeKind.RENAME, source, position, dropped.source_ms, other=before)
                break


def _without_stopovers(changes: Iterable[TableChange]) -> list[TableChange]:
    """The changes as if a statement that renames a table twice had done so at once, as in a swap of two names.

    Debezium sends a record for each of a statement's pairs; all of them have the statement's position.
    """
    found: list[TableChange] = []
    for change in changes:
        index = next((index for index, earlier in enumerate(found) if _leads_to(earlier, change)), None)
        if index is None:
            found.append(change)
        elif change.kind is TableChangeKind.RENAME:
            found[index] = replace(found[index], other=change.other)
        else:
            found.append(replace(change, other=found[index].table))
    return [change for change in found if change.other != change.table]


def _leads_to(earlier: TableChange, change: TableChange) -> bool:
    """Whether the change goes on with the name that the same statement has given a table before."""
    if earlier.kind is not TableChangeKind.RENAME or earlier.position != change.position or not any(change.position):
        return False
    if change.kind is TableChangeKind.RENAME:
        return earlier.other == change.table
    # Its own RENAME stands before it, and leads on to its name already.
    return change.other is not None and earlier.other == change.table and earlier.table != change.other
