"""The changes of tables that a batch's schema-change records tell, by the table that each is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from connectors.debezium.table_change import TableChange, TableChangeKind
from streaming.sources import Source, source_of
from streaming.task.results import Results


def changes_by_source(results: Results) -> dict[Source, list[TableChange]]:
    """Each table's changes, in the order in which they were sent."""
    changes: dict[Source, list[TableChange]] = {}
    for partition in results.partitions:
        for change in _without_stopovers(partition.table_changes):
            changes.setdefault(source_of(change.table), []).append(change)
    return changes


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
