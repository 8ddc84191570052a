"""Debezium's signal table: asking a connector for something through a row in the source database.

The table has three columns, whatever they are called: the signal's id, its type and its arguments as JSON text
(Debezium, "Sending signals", structure of a signaling data collection). It is the only thing that is ever written to
the source database.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import sqlalchemy as sa

from connectors.source_database.database import SourceDatabase


def insert_signal(
    database: SourceDatabase, table: str, signal_id: str, signal_type: str, arguments: Mapping[str, object]
) -> bool:
    """Put a signal into the signal table, unless one with its id is there already.

    Args:
        table: ``schema.table``, or ``database.table`` for MySQL and MariaDB.

    Returns:
        True when the row was inserted now, False when it was there.

    Raises:
        DatabaseUnreachableError: the database did not answer; call again.
        DatabaseAccessError: this user may not read or write the table.
        DatabaseRequestError: there is no such table, or it has other columns.
    """
    schema, _, name = table.partition(".")
    with database.signalling() as connection:
        signals = sa.Table(name, sa.MetaData(), schema=schema, autoload_with=connection)
        columns = list(signals.columns)
        if connection.execute(sa.select(columns[0]).where(columns[0] == signal_id)).first() is not None:
            return False
        values = (signal_id, signal_type, json.dumps(arguments))
        connection.execute(
            signals.insert().values(dict(zip((column.name for column in columns), values, strict=False)))
        )
        return True
