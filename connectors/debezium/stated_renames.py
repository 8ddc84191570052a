"""What a schema-change record of MariaDB or MySQL tells about names: its statement and its structured part together.

Debezium's structured part says what a table and its columns are called after the statement, and the statement which
names they had before. Where the two do not agree, or the statement leaves something open, nothing is taken for a
rename: a table is then marked as one whose statement nobody could read. The same goes, but for the mark, for columns
that a statement makes anew under names that it takes away from others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from connectors.debezium.renames import Named, Renames, may_make_anew, may_rename, renames_in
from connectors.debezium.schema import SourceTable
from connectors.debezium.table_change import TableChange, TableChangeKind


def with_renames(
    told: Sequence[TableChange],
    columns: Mapping[SourceTable, frozenset[str]],
    statement: str,
    database: object,
    moment: TableChange,
) -> list[TableChange]:
    """The record's changes, with what the statement renames: a ``RENAME`` of the old name before the new one's change.

    Args:
        told: what the structured part tells; columns: of each of its tables, after the statement.
        database: what the record gives as the new name's database.
        moment: a change with the record's position, time and statement.
    """
    told = [
        replace(change, present=tuple(sorted(columns[change.table])))
        if change.kind is TableChangeKind.ALTER
        else change
        for change in told
    ]
    altered = [change for change in told if change.kind is TableChangeKind.ALTER]
    renaming = may_rename(statement)
    if not (renaming or may_make_anew(statement)) or (told and not altered):
        return list(told)
    stated = renames_in(statement)
    found = None
    if stated is not None and len(told) == len(altered) <= 1:
        found = _found(stated, altered, columns, database, moment)
    return [replace(change, unread=renaming) for change in altered] if found is None else found


def _found(
    stated: Renames,
    altered: Sequence[TableChange],
    columns: Mapping[SourceTable, frozenset[str]],
    database: object,
    moment: TableChange,
) -> list[TableChange] | None:
    after = stated.new or stated.table
    if altered:
        [change] = altered
        if not _is(after, change.table):
            return None
    elif stated.new is None or not isinstance(database, str):
        return []
    else:
        # The first of two names that one statement gives a table: Debezium knows it by the second one only.
        change = replace(moment, table=SourceTable(after.database or database, None, after.name))
    if stated.new is None:
        if not columns[change.table].issuperset((*stated.anew, *(name for _, name in stated.columns))):
            return None
        return [replace(change, columns=stated.columns, anew=stated.anew)]
    before = _before(stated.table, stated.new, change.table)
    if before is None:
        return None
    if before == change.table:
        return list(altered)
    renamed = replace(moment, kind=TableChangeKind.RENAME, table=before, other=change.table)
    return [renamed, *(replace(one, other=before) for one in altered)]


def _is(named: Named, table: SourceTable) -> bool:
    """Whether the statement's name is the table's: letter by letter, or in lower case where the server keeps that."""
    exact = named.name == table.name and named.database in (None, table.database)
    lower = named.name.lower() == table.name and (named.database or table.database).lower() == table.database
    return exact or lower


def _before(named: Named, new: Named, table: SourceTable) -> SourceTable | None:
    """The old name in full; None where its database is the session's, which nothing tells.

    A new name without database is in the session's, too, and Debezium tells that one's.
    """
    database = named.database
    if database is None:
        if new.database is not None:
            return None
        database = table.database
    if new.name != table.name:
        return SourceTable(database.lower(), None, named.name.lower())
    return SourceTable(database, None, named.name)
