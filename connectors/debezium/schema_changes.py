"""What Debezium's schema-change topic tells about tables: created, altered, dropped.

Connectors that read their source's data definition (MariaDB, MySQL, SQL Server, Oracle, Db2) send it to a topic named
by the bare ``topic.prefix`` (Debezium documentation, "Schema change topic" of each connector). What happened to which
table is in the structured part, ``tableChanges``, where a rename is an ``ALTER`` of the new name: only the statement
says the old one, see :mod:`connectors.debezium.stated_renames`, and only a statement says that a database was dropped
or a table replaced, see :mod:`connectors.debezium.stated_drops`. What a snapshot writes there describes the tables as
they are, and begins with a ``DROP TABLE IF EXISTS`` of each, so it says nothing about what happened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from connectors.debezium.events import SnapshotKind
from connectors.debezium.position import positions
from connectors.debezium.schema import SourceTable
from connectors.debezium.source_block import database_field, fits, position_members, snapshot_kinds
from connectors.debezium.stated_drops import stated_drops
from connectors.debezium.stated_renames import with_renames
from connectors.debezium.table_change import TableChange, TableChangeKind
from connectors.json_errors import DECODE_ERRORS

LONGEST_STATEMENT = 300
"""Characters of a statement that are kept."""

_PART = re.compile(r'"((?:[^"]|"")*)"')
_WITHOUT_SCHEMAS = frozenset({"mysql", "mariadb"})
_TOLD = (TableChangeKind.CREATE, TableChangeKind.ALTER, TableChangeKind.DROP)
"""What Debezium calls changes."""


def read_table_changes(value: object, connector: str) -> tuple[TableChange, ...]:
    """The changes in one schema-change record; none in one of a snapshot, or of a form that is not known.

    Args:
        value: the record's value, decoded: plain Python values.
        connector: the one that the settings fix, or ``auto``.
    """
    if not isinstance(value, Mapping):
        return ()
    source, changes = value.get("source"), value.get("tableChanges")
    if not isinstance(source, Mapping) or not isinstance(changes, list):
        return ()
    named = source.get("connector") if connector == "auto" else connector
    connector = named if isinstance(named, str) else ""
    if any(not fits(source.get(name), kind) for name, kind in position_members(connector).items()):
        return ()
    if snapshot_kinds([source.get("snapshot")])[0] != SnapshotKind.NONE:
        return ()
    return tuple(_changes(value, source, changes, connector))


def payload_of(body: bytes) -> object:
    """A JSON record's value without its embedded schema; None where it is no JSON."""
    try:
        value = msgspec.json.decode(body)
    except DECODE_ERRORS:
        return None
    if isinstance(value, dict) and value.keys() == {"schema", "payload"}:
        return value["payload"]
    return value


def _changes(
    value: Mapping[str, Any], source: Mapping[str, Any], changes: list[object], connector: str
) -> list[TableChange]:
    places, _ = positions(connector, {name: [member] for name, member in source.items()}, 1)
    high, low = places[0].tolist()
    millis, ddl = source.get("ts_ms"), value.get("ddl")
    statement = ddl if isinstance(ddl, str) else ""
    moment = TableChange(
        TableChangeKind.ALTER,
        SourceTable("", None, ""),
        (high, low),
        millis if isinstance(millis, int) else 0,
        " ".join(statement.split())[:LONGEST_STATEMENT],
    )
    told: list[TableChange] = []
    columns: dict[SourceTable, frozenset[str]] = {}
    for change in changes:
        if not isinstance(change, Mapping) or change.get("type") not in _TOLD:
            continue
        table = _table(change.get("id"), source, connector)
        if table is not None:
            columns[table] = _columns(change.get("table"))
            told.append(replace(moment, kind=TableChangeKind(change["type"]), table=table))
    if connector not in _WITHOUT_SCHEMAS:
        return told
    database = value.get("databaseName")
    dropped = stated_drops(told, statement, database, moment)
    return [*dropped, *with_renames(told, columns, statement, database, moment)]


def _columns(table: object) -> frozenset[str]:
    """The names of a table's columns, as far as they are told."""
    columns = table.get("columns") if isinstance(table, Mapping) else None
    names = [column.get("name") for column in columns if isinstance(column, Mapping)] if columns else []
    return frozenset(name for name in names if isinstance(name, str))


def _table(identifier: object, source: Mapping[str, Any], connector: str) -> SourceTable | None:
    """The table of an id such as ``"inventory"."orders"``, named as its rows' source blocks name it."""
    if not isinstance(identifier, str):
        return None
    parts = [part.replace('""', '"') for part in _PART.findall(identifier)]
    database = source.get(database_field(connector))
    match parts:
        case [owner, name] if connector in _WITHOUT_SCHEMAS:
            return SourceTable(owner, None, name)
        case [owner, name]:
            return SourceTable(database if isinstance(database, str) else "", owner, name)
        case [owner, schema, name]:
            return SourceTable(owner, schema, name)
    return None
