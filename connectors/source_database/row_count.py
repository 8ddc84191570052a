"""How many rows a source table has, and whether it has any."""

from __future__ import annotations

import sqlalchemy as sa

from connectors.source_database.database import SourceDatabase


def count_rows(database: SourceDatabase, schema: str, name: str) -> int:
    """The number of rows now; for MySQL and MariaDB ``schema`` is the database.

    Raises:
        DatabaseUnreachableError, DatabaseAccessError, DatabaseRequestError: see
            :meth:`connectors.source_database.database.SourceDatabase.connection`.
    """
    with database.connection() as connection, database.errors("counting a table's rows"):
        counted = connection.execute(sa.select(sa.func.count()).select_from(sa.table(name, schema=schema)))
        return int(counted.scalar_one())


def has_rows(database: SourceDatabase, schema: str, name: str) -> bool:
    """Whether there is any row now; arguments and errors as of :func:`count_rows`."""
    with database.connection() as connection, database.errors("looking for a table's rows"):
        one = sa.select(sa.literal(1)).select_from(sa.table(name, schema=schema)).limit(1)
        return connection.execute(one).first() is not None
