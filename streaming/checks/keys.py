"""Whether the records of each table have a key, and one that tells its rows apart."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from connectors.source_database.captured import gives_key
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.location import DatabaseKind
from streaming.checks.captured import Captured
from streaming.checks.check import Check, warning

_REMEDIES = {
    DatabaseKind.POSTGRESQL: (
        "set include.unknown.datatypes=true on the connector, or list all key columns in its message.key.columns, then "
        "`cdc-bridge resync CONFIG TABLE`"
    ),
    DatabaseKind.MYSQL: (
        "list all key columns in the connector's message.key.columns, or none there for this table, then "
        "`cdc-bridge resync CONFIG TABLE`"
    ),
}


def check_keys(
    kind: DatabaseKind, primary_keys: Mapping[DatabaseTable, Sequence[str]], tables: Sequence[Captured]
) -> Iterator[Check]:
    """Whether the mirror tells rows apart by all the columns by which the database does.

    PostgreSQL's connector leaves columns of types that it does not know out of a record's key as well, and any
    connector takes what ``message.key.columns`` says for the key.

    Args:
        primary_keys: of the tables that exist.
    """
    for one in tables:
        missing = [name for name in primary_keys.get(one.table, ()) if name not in one.keys] if one.keys else []
        if missing:
            yield warning(
                f"table {one.name}",
                f"has a primary key with {', '.join(missing)}, which the connector's keys lack: rows that differ in "
                "nothing else are one row in the mirror",
                _REMEDIES[kind],
            )


def check_lost_keys(
    unkeyed: Collection[DatabaseTable], tables: Sequence[Captured], config: Mapping[str, str] | None
) -> Iterator[Check]:
    """Whether tables that landed with a key have none at the source any more.

    Args:
        unkeyed: those that have neither a primary key nor a UNIQUE index that the connector takes for one.
        config: the connector's configuration, which may give a table a key; None when it is not known.
    """
    for one in tables:
        given = config is not None and gives_key(config, one.table)
        if one.keys and one.table in unkeyed and not given:
            yield warning(
                f"table {one.name}",
                f"has landed with the key {', '.join(one.keys)}, and has no primary key at the source any more: its "
                "next records have no key, so it parks; with policies.on_missing_key append and policies.on_key_change "
                "rebuild, a snapshot fills it anew, without a key",
                "give it its primary key back; or declare the key columns (tables.overrides[].keys)",
            )


def check_unkeyed(
    unkeyed: Collection[DatabaseTable], tables: Sequence[Captured], config: Mapping[str, str] | None
) -> Iterator[Check]:
    """Whether tables park at their first record, since it has no key.

    Args:
        unkeyed: those in which the connector finds nothing that could be the key of their records.
        config: the connector's configuration, which may give a table a key; None when it is not known.
    """
    for one in tables:
        given = config is not None and gives_key(config, one.table)
        if one.parks_unkeyed and one.table in unkeyed and not given:
            yield warning(
                f"table {one.name}",
                "has no primary key, and no UNIQUE index that the connector takes for one: its records have no key, so "
                "it parks at the first of them",
                "give it a primary key; or declare its key columns (tables.overrides[].keys), or set "
                "policies.on_missing_key to append",
            )
