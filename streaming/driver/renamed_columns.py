"""Columns that the source has renamed or made anew, recorded with the batch that tells it.

Nothing moves in the mirror: a renamed column is a new one there, and the old one stays (schema changes, "Rename a
column"). What is recorded is which is which, so that a person can see where a row's value is to be found; and which
landed columns the source has not any more, so that a later one of the name is not taken for them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import msgspec

from connectors.debezium.schema import SourceTable
from connectors.debezium.table_change import TableChange, TableChangeKind
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import LedgerState, PlannedTopic, RenamedColumns, TableState
from connectors.landing_zone.schema import PinnedSchema
from streaming.driver.dropping import with_replaced_columns
from streaming.driver.source_changes import changes_by_source
from streaming.landing.own_columns import is_own
from streaming.landing.restarted_log import before_load, told_already
from streaming.landing.source_drop import LEAVES, has_positions, landed_behind, position_text, reached
from streaming.plan import JobOptions, TableOptions
from streaming.task.results import Results


def record_renamed_columns(
    draft: Draft, results: Results, before: LedgerState, planned: Mapping[str, PlannedTopic], job: JobOptions
) -> Draft:
    """The draft with the columns that the batch's schema-change records say were renamed.

    A table stops whose columns have got names under which other columns' values have landed.

    Args:
        before: what the ledger knows before the batch; planned: the batch's ranges.
    """
    tables = dict(draft.tables)
    schemas = {**before.schemas, **draft.schemas}
    # A table into which several source tables land has columns of each.
    names = {table.source: name for name, table in {**before.tables, **tables}.items() if not table.sources}
    for source, changes in changes_by_source(results, before).items():
        placed = [change for change in changes if any(change.position)]
        name = names.get(source)
        if name is None or not placed:
            continue
        table = tables.get(name) or before.tables[name]
        options = job.options_for(SourceTable(*source))
        after, replaced = _after(table, placed, schemas, before.tables.get(name), before.schemas, options)
        if after != table.renamed_columns:
            renamed_table = msgspec.structs.replace(table, renamed_columns=after)
            tables[name] = with_replaced_columns(renamed_table, replaced, before, planned, job)
    return replace(draft, tables=tables)


def _after(
    table: TableState,
    changes: Collection[TableChange],
    schemas: Mapping[str, str],
    earlier: TableState | None,
    earlier_schemas: Mapping[str, str],
    options: TableOptions,
) -> tuple[RenamedColumns | None, dict[str, str]]:
    """What is known of the table's renamed columns after these changes, in the order of the log, and what they replace.

    Args:
        earlier: the table before the batch.
    """
    known = table.renamed_columns
    if not table.schema:
        return known, {}
    landed = _landed(table, schemas)
    epoch = reached(table)[0]
    left = table.dropped is not None and not table.dropped.back
    replaced: dict[str, str] = {}
    for change in changes:
        position = position_text(change)
        sent_again = known is not None and told_already(known, epoch, position, change.source_ms)
        if sent_again or before_load(earlier or table, position, change.source_ms):
            continue
        if change.kind is TableChangeKind.CREATE and not left:
            # CREATE TABLE IF NOT EXISTS: Debezium tells it of a table that is there, too.
            continue
        left = change.kind in LEAVES
        if _is_of_another_table(change):
            if known is not None:
                known = RenamedColumns(epoch, position, {}, source_ms=change.source_ms)
            replaced = {}
            continue
        before, absent = ({}, ()) if known is None else (known.columns, _gone(known))
        columns = renamed(before, change.columns, landed)
        # Once rows from behind the change have landed, a column of the new name may be there by them.
        told_first = earlier is not None and _told_first(earlier, epoch, position, change.source_ms)
        own = _landed(earlier, earlier_schemas) if earlier is not None and told_first else ()
        own = tuple(name for name in own if not is_own(name, options))
        called = {name: before.get(name, name) for name in landed}
        replaced |= replaced_by(before, columns, landed, own if told_first else tuple(before), called)
        anew = _made_anew(change, absent, own)
        replaced |= dict.fromkeys(anew, "")
        columns = {column: name for column, name in columns.items() if column not in anew and _exists(name, change)}
        absent = _absent(change, absent, own)
        if columns or absent or anew or known is not None:
            known = RenamedColumns(epoch, position, columns, absent, change.source_ms)
    return known, replaced


def _told_first(table: TableState, epoch: int, position: str, source_ms: int) -> bool:
    """Whether the change is told before rows from behind it have landed, as far as that can be known.

    In a later epoch a change may be sent again with positions that count as new ones, so its time has to be new, too.
    """
    if not has_positions(table) and not table.loaded:
        return False
    if epoch and 0 < source_ms < table.source_ms:
        return False
    return not landed_behind(table, epoch, position, source_ms)


def _gone(known: RenamedColumns) -> tuple[str, ...]:
    """The landed names that no column has by now."""
    left = [name for name in known.columns if name not in known.columns.values()]
    return tuple(dict.fromkeys([*known.absent, *left]))


def _is_of_another_table(change: TableChange) -> bool:
    """Whether the columns behind the change are another table's than those before it."""
    begins = change.kind is TableChangeKind.CREATE or change.kind is TableChangeKind.DROP
    return begins or (change.kind is TableChangeKind.ALTER and change.other is not None)


def _exists(name: str, change: TableChange) -> bool:
    """Whether a column has the name behind the change, as far as that is told."""
    return not change.present or name in change.present


def _made_anew(change: TableChange, absent: Collection[str], own: Collection[str]) -> list[str]:
    """The landed names that a new column has got, no renamed one.

    Args:
        absent: landed names that no column had before the change; own: those that have landed before it.
    """
    if change.unread:
        return []
    given = {after for _, after in change.columns}
    back = [name for name in absent if name in change.present and name not in given]
    return [*back, *(name for name in change.anew if name in own and name not in back)]


def _absent(change: TableChange, before: Collection[str], own: Collection[str]) -> tuple[str, ...]:
    """The landed names that no column has behind the change."""
    names = dict.fromkeys([*before, *own]) if change.present else before
    return tuple(name for name in names if name not in change.present)


def _landed(table: TableState, schemas: Mapping[str, str]) -> tuple[str, ...]:
    """The source's names of the columns that have landed, in file order."""
    if not table.schema:
        return ()
    return tuple(column.source for column in msgspec.json.decode(schemas[table.schema], type=PinnedSchema).columns)


def replaced_by(
    before: Mapping[str, str],
    after: Mapping[str, str],
    landed: Sequence[str],
    own: Collection[str],
    identity: Mapping[str, object],
) -> dict[str, str]:
    """The names under which values of another column have landed, each with the name that its column had before.

    A column that gets a name back under which its own values have landed is another one there, too, if rows have landed
    under another name in between.

    Args:
        before, after: the name of each landed column, where it is another one, before and after a change.
        landed: the source's names of columns, in the order in which they have landed first; own: of those that have not
            landed by this change alone.
        identity: by each landed name what tells the source's column, before the change; one may have landed under
            several names.
    """
    found: dict[str, str] = {}
    for column in {*before, *after}:
        was, name = before.get(column, column), after.get(column, column)
        if was == name:
            continue
        if name in identity and identity[name] == identity.get(column):
            later = landed[landed.index(name) + 1 :]
            replaced = was in landed or any(identity[one] == identity[name] for one in later if one != name)
        else:
            replaced = name in own
        if replaced:
            found[name] = was
    return found


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
