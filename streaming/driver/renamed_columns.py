"""Columns that the source has renamed, recorded with the batch that tells it.

Nothing moves in the mirror: a renamed column is a new one there, and the old one stays (schema changes, "Rename a
column"). What is recorded is which is which, so that a person can see where a row's value is to be found.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import msgspec

from connectors.debezium.table_change import TableChange
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import LedgerState, RenamedColumns, TableState
from connectors.landing_zone.schema import PinnedSchema
from streaming.driver.source_changes import changes_by_source
from streaming.landing.source_drop import position_text, reached
from streaming.task.results import Results


def record_renamed_columns(draft: Draft, results: Results, before: LedgerState) -> Draft:
    """The draft with the columns that the batch's schema-change records say were renamed.

    Args:
        before: what the ledger knows before the batch.
    """
    tables = dict(draft.tables)
    schemas = {**before.schemas, **draft.schemas}
    # A table into which several source tables land has columns of each.
    names = {table.source: name for name, table in {**before.tables, **tables}.items() if not table.sources}
    for source, changes in changes_by_source(results, before).items():
        renaming = [change for change in changes if change.columns and any(change.position)]
        name = names.get(source)
        if name is None or not renaming:
            continue
        table = tables.get(name) or before.tables[name]
        after = _after(table, renaming, schemas)
        if after != table.renamed_columns:
            tables[name] = msgspec.structs.replace(table, renamed_columns=after)
    return replace(draft, tables=tables)


def _after(table: TableState, changes: Collection[TableChange], schemas: Mapping[str, str]) -> RenamedColumns | None:
    """What is known of the table's renamed columns after these changes, in the order of the log."""
    known = table.renamed_columns
    if not table.schema:
        return known
    pinned = msgspec.json.decode(schemas[table.schema], type=PinnedSchema)
    landed = {column.source for column in pinned.columns}
    epoch = reached(table)[0]
    for change in changes:
        position = position_text(change)
        sent_again = known is not None and (epoch, position) <= (known.epoch, known.position)
        if sent_again or table.loaded >= position:
            continue
        columns = renamed({} if known is None else known.columns, change.columns, landed)
        if columns or known is not None:
            known = RenamedColumns(epoch, position, columns)
    return known


def renamed(known: Mapping[str, str], pairs: Collection[tuple[str, str]], landed: Collection[str]) -> dict[str, str]:
    """The name of each landed column by now, where it is another one.

    Args:
        known: the same before.
        pairs: names before, as a statement spells them (in MariaDB and MySQL upper and lower case are one), and after;
            all at once.
        landed: the source's names of columns that have landed.
    """
    present = {*landed, *known.values()}
    moved = {_spelled(before, present): after for before, after in pairs}
    after = {column: moved.get(name, name) for column, name in known.items()}
    after |= {column: name for column, name in moved.items() if column in landed and column not in known}
    return {column: name for column, name in after.items() if column != name}


def _spelled(name: str, present: Collection[str]) -> str:
    """The name as the source has spelled it in its events, if only one can be meant."""
    alike = [one for one in present if one.casefold() == name.casefold()]
    return alike[0] if name not in present and len(alike) == 1 else name
