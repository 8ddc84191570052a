"""What a statement of MariaDB or MySQL drops without a word of it in the schema-change record's structured part.

Debezium tells of a ``DROP DATABASE`` by its statement alone, whatever tables the database had. Of a ``CREATE OR REPLACE
TABLE`` it tells nothing more, where it knows a table of that name, and otherwise a ``CREATE``; with ``LIKE`` that is a
``CREATE`` in both cases. Which name is meant stands at the statement's head, so that nothing behind it has to be read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from connectors.debezium.schema import SourceTable
from connectors.debezium.table_change import TableChange, TableChangeKind

_MAY_DROP = re.compile(
    r"\A(?:\s|/\*.*?\*/|(?:--\s|#)[^\n]*\n)*(?:drop\s+(?:database|schema)|create\s+or\s+replace\s+table)\b",
    re.IGNORECASE | re.DOTALL,
)
_CONDITIONAL = re.compile(r"\A\s*/\*M?!\d*(.*?)\*/", re.DOTALL)
"""A statement as dumps have it: only servers from some version on read what stands in such a comment, as this one."""
_REPLACE = ("CREATE", "OR", "REPLACE", "TABLE")
_QUOTED = ("IDENTIFIER", "STRING")


class StatedDrop(NamedTuple):
    """What a statement drops.

    Attributes:
        database: None where it is left to the session.
        table: None for the whole database.
        like: the table is made again as a copy of another one's columns, which Debezium always tells as a ``CREATE``.
    """

    database: str | None
    table: str | None
    like: bool = False


class _Word(NamedTuple):
    text: str
    quoted: bool

    def is_one_of(self, *words: str) -> bool:
        return not self.quoted and self.text.upper() in words


def stated_drops(
    told: Sequence[TableChange], statement: str, database: object, moment: TableChange
) -> list[TableChange]:
    """What the record's statement drops beside what its structured part tells.

    Args:
        told: what that tells.
        database: what the record names: the one that is dropped, or the session's.
        moment: a change with the record's position, time and statement.
    """
    stated = drop_in(statement)
    if stated is None or not isinstance(database, str) or (told and not stated.like):
        return []
    if stated.table is None:
        if (stated.database or "").lower() != database.lower():
            return []
        return [replace(moment, kind=TableChangeKind.DROP_DATABASE, table=SourceTable(database, None, ""))]
    table = told[0].table if told else SourceTable(stated.database or database, None, stated.table)
    return [replace(moment, kind=TableChangeKind.DROP, table=table, stale_columns=not told)]


def drop_in(statement: str) -> StatedDrop | None:
    """What the statement drops; None for any other one, and for one whose head cannot be read."""
    statement = _CONDITIONAL.sub(r"\1", statement, count=1)
    if _MAY_DROP.match(statement) is None:
        return None
    words = _words(statement)
    if len(words) > len(_REPLACE) and all(word.is_one_of(one) for word, one in zip(words, _REPLACE, strict=False)):
        return _replaced(words[len(_REPLACE) :])
    rest = words[2:]
    if len(rest) > 2 and rest[0].is_one_of("IF") and rest[1].is_one_of("EXISTS"):
        rest = rest[2:]
    while rest and rest[-1].is_one_of(";"):
        rest = rest[:-1]
    return StatedDrop(rest[0].text, None) if len(rest) == 1 else None


def _replaced(words: Sequence[_Word]) -> StatedDrop:
    """The table whose name the words begin with."""
    qualified = len(words) > 2 and words[1].is_one_of(".")
    database, name, rest = (words[0].text, words[2], words[3:]) if qualified else (None, words[0], words[1:])
    like = [word for word in rest[:2] if not word.is_one_of("(")][:1]
    return StatedDrop(database, name.text, like=bool(like) and like[0].is_one_of("LIKE"))


def _words(statement: str) -> list[_Word]:
    """The statement's words without comments; none where they cannot be told apart."""
    return _tokenizer()(statement)


@cache
def _tokenizer() -> _Tokenizer:
    # Loaded when a statement first may drop something: few batches ever see one. Kept, since it has no state.
    return _Tokenizer()


class _Tokenizer:
    """The tokenizer of the SQL parser sqlglot, which knows how names are quoted."""

    def __init__(self) -> None:
        import sqlglot
        from sqlglot import errors

        self._dialect = sqlglot.Dialect.get_or_raise("mysql")
        self._unread = errors.SqlglotError

    def __call__(self, statement: str) -> list[_Word]:
        try:
            tokens = self._dialect.tokenize(statement)
        except self._unread:
            return []
        return [_Word(token.text, token.token_type.name in _QUOTED) for token in tokens]
