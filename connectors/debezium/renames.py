"""What a MariaDB or MySQL statement renames or makes anew: read by a SQL parser, nothing where it cannot read it all.

Debezium's schema-change topic tells what a table is called after a statement, not what it was called before, and a
table's columns only as they are then. The statement is the one place that says which name became which, and that a
column is another one than before, though called alike. Debezium sends one record, with a statement of its own, for each
pair of a ``RENAME TABLE``.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

_MAY_RENAME = re.compile(r"\b(?:rename|change)\b", re.IGNORECASE)
_MAY_DROP = re.compile(r"\b(?:drop|rename|change)\b", re.IGNORECASE)
_MAY_ADD = re.compile(r"\badd\b", re.IGNORECASE)
_LONGEST = 100_000
"""Characters of a statement that are worth reading: a parser's time and depth grow with it."""


class Named(NamedTuple):
    """A table as a statement names it; None where it leaves the database to the session."""

    database: str | None
    name: str


@dataclass(frozen=True)
class Renames:
    """What one statement renames.

    Attributes:
        table: what it is about, by the name before; new: the name after, None where that stays.
        columns: pairs of the name before and after, all renamed at once.
        anew: columns that it adds under names that it takes away from others.
    """

    table: Named
    new: Named | None
    columns: tuple[tuple[str, str], ...]
    anew: tuple[str, ...] = ()


def may_rename(statement: str) -> bool:
    """Whether the statement has a word without which nothing is renamed."""
    return _MAY_RENAME.search(statement) is not None


def may_make_anew(statement: str) -> bool:
    """Whether the statement has the words without which no column is made anew under a name that another one had."""
    return _MAY_ADD.search(statement) is not None and _MAY_DROP.search(statement) is not None


def renames_in(statement: str) -> Renames | None:
    """What the statement renames and makes anew; None for one that the parser cannot read from end to end."""
    return None if len(statement) > _LONGEST else _parser()(statement)


@cache
def _parser() -> _Parser:
    # Loaded when a statement first may rename something: few batches ever see one. Kept, since it has no state.
    return _Parser()


class _Parser:
    """The SQL parser sqlglot, strict: a statement that it does not know whole is not read."""

    def __init__(self) -> None:
        import sqlglot
        from sqlglot import errors, expressions

        # It warns of each statement that it does not read; here whoever asks is told instead.
        logging.getLogger("sqlglot").setLevel(logging.ERROR)
        self._dialect = sqlglot.Dialect.get_or_raise("mysql")
        self._exp = expressions
        self._unread = (errors.SqlglotError, RecursionError)

    def __call__(self, statement: str) -> Renames | None:
        try:
            altering = self._as_alter(statement)
            if altering is None:
                return None
            [parsed] = self._dialect.parse(altering)
        except (*self._unread, ValueError):
            return None
        exp = self._exp
        if not isinstance(parsed, exp.Alter) or parsed.args.get("kind") != "TABLE":
            return None
        table, new = self._named(parsed.this), None
        columns: list[tuple[str, str]] = []
        added: list[str] = []
        dropped: list[str] = []
        for action in parsed.args.get("actions") or []:
            if isinstance(action, exp.Command):
                return None  # whatever follows is in it, unread
            if isinstance(action, exp.AlterRename):
                if new is not None:
                    return None
                new = self._named(action.this)
                if new is None:
                    return None
            elif isinstance(action, exp.RenameColumn) and action.args.get("exists"):
                return None  # whether it was there, the statement does not say
            elif isinstance(action, exp.RenameColumn):
                columns.append((action.this.name, action.args["to"].name))
            elif isinstance(action, exp.ModifyColumn) and action.args.get("rename_from") is not None:
                columns.append((action.args["rename_from"].name, action.this.name))
            elif isinstance(action, exp.ColumnDef):
                added.append(action.name)
            elif isinstance(action, exp.Drop) and action.args.get("kind") == "COLUMN":
                dropped += [column.name for column in action.args.get("tables") or []]
        renamed = tuple((before, after) for before, after in columns if before != after)
        taken = {name.casefold() for name in (*dropped, *(before for before, _ in renamed))}
        anew = tuple(name for name in added if name.casefold() in taken)
        return None if table is None else Renames(table, None if new == table else new, renamed, anew)

    def _as_alter(self, statement: str) -> str | None:
        """The statement as ``ALTER TABLE``; ``RENAME TABLE a TO b`` is ``ALTER TABLE a RENAME TO b`` by another name.

        None for a ``RENAME TABLE`` with several pairs, or none.
        """
        first, *rest = self._dialect.tokenize(statement)
        if first.text.upper() != "RENAME":
            return statement
        # The tokenizer leaves whatever follows a word that begins no statement it knows as one text.
        renaming = "".join(token.text for token in rest)
        tokens = self._dialect.tokenize(renaming)
        quoted = ("IDENTIFIER", "STRING")
        pairs = [one for one in tokens if one.text.upper() == "TO" and one.token_type.name not in quoted]
        if len(pairs) != 1 or tokens[0].text.upper() not in ("TABLE", "TABLES"):
            return None
        [to] = pairs
        return f"ALTER TABLE {renaming[tokens[0].end + 1 : to.start]} RENAME TO {renaming[to.end + 1 :]}"

    def _named(self, table: object) -> Named | None:
        if not isinstance(table, self._exp.Table) or table.catalog or not table.name:
            return None
        return Named(table.db or None, table.name)
