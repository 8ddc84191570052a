"""A row of Debezium's signal table, in a database that lives in this process."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from connectors.source_database.database import SourceDatabase
from connectors.source_database.errors import DatabaseRequestError
from connectors.source_database.location import DatabaseKind, DatabaseLocation
from connectors.source_database.row_count import count_rows
from connectors.source_database.signal_table import insert_signal


class InProcess(SourceDatabase):
    """A database of this process, with the schema ``public``."""

    def __init__(self) -> None:
        super().__init__(DatabaseLocation(DatabaseKind.POSTGRESQL, "nowhere", 1, "shop"))
        self._open = sa.create_engine("sqlite://").connect()
        self._open.exec_driver_sql("ATTACH ':memory:' AS public")
        self._open.exec_driver_sql('CREATE TABLE public."my signal" (a TEXT, b TEXT, c TEXT)')

    @contextlib.contextmanager
    def signalling(self) -> Iterator[sa.Connection]:
        with self.errors("a signal"):
            yield self._open

    @contextlib.contextmanager
    def connection(self) -> Iterator[sa.Connection]:
        yield self._open


def test_a_signal_is_a_row_whatever_the_columns_are_called_and_only_one() -> None:
    database = InProcess()
    arguments = {"type": "INCREMENTAL", "data-collections": ["public.it's"]}
    sent = [insert_signal(database, "public.my signal", "id-1", "execute-snapshot", arguments) for _ in range(2)]
    assert sent == [True, False]
    with database.connection() as connection:
        rows = connection.exec_driver_sql('SELECT * FROM public."my signal"').all()
    assert [tuple(row) for row in rows] == [("id-1", "execute-snapshot", json.dumps(arguments))]


def test_a_signal_table_that_is_not_there_is_an_error() -> None:
    with pytest.raises(DatabaseRequestError, match="the source database does not do what was asked"):
        insert_signal(InProcess(), "public.nothing", "id-1", "execute-snapshot", {})


def test_a_tables_rows_are_counted() -> None:
    database = InProcess()
    insert_signal(database, "public.my signal", "id-1", "execute-snapshot", {})
    assert count_rows(database, "public", "my signal") == 1
