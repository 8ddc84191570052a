"""What a change event's ``source`` block says beside its position: connector, table, snapshot and time.

Fields per connector: Debezium documentation, "source" of each connector's change events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Int8s, Int64s, SnapshotKind
from connectors.debezium.position import source_fields
from connectors.debezium.schema import ConnectType, SourceTable

DATABASE_FIELDS: Mapping[str, str] = {"spanner": "database_id", "vitess": "keyspace", "cassandra": "keyspace"}
"""The field that names the database where it is not ``db``."""

TABLE_FIELDS: Mapping[str, str] = {"mongodb": "collection"}
"""The field that names the table where it is not ``table``."""

_SNAPSHOTS: Mapping[object, SnapshotKind] = {
    None: SnapshotKind.NONE,
    "false": SnapshotKind.NONE,
    False: SnapshotKind.NONE,
    True: SnapshotKind.INITIAL,
    "true": SnapshotKind.INITIAL,
    "first": SnapshotKind.INITIAL,
    "first_in_data_collection": SnapshotKind.INITIAL,
    "last_in_data_collection": SnapshotKind.INITIAL,
    "last": SnapshotKind.INITIAL,
    "incremental": SnapshotKind.INCREMENTAL,
}


_INTEGERS = frozenset({ConnectType.INT8, ConnectType.INT16, ConnectType.INT32, ConnectType.INT64})
_KINDS: Mapping[object, frozenset[ConnectType]] = {
    str: frozenset({ConnectType.STRING}),
    int: _INTEGERS,
    str | bool: frozenset({ConnectType.STRING, ConnectType.BOOLEAN}),
}
_MILLIS = 2**63


def database_field(connector: str) -> str:
    return DATABASE_FIELDS.get(connector, "db")


def table_field(connector: str) -> str:
    return TABLE_FIELDS.get(connector, "table")


def table_of(connector: str, source: Mapping[str, Any]) -> SourceTable | None:
    """The table that a source block names, or ``None`` when it names none."""
    name = source.get(table_field(connector))
    if not isinstance(name, str) or not name:
        return None
    database = source.get(database_field(connector))
    schema = source.get("schema")
    return SourceTable(
        database if isinstance(database, str) else "", schema if isinstance(schema, str) and schema else None, name
    )


def position_members(connector: str) -> dict[str, Any]:
    """The fields that order an event and tell its snapshot and time, with the Python type of each in JSON."""
    members: dict[str, Any] = {"snapshot": str | bool, "ts_ms": int}
    for name, kind in source_fields(connector).items():
        members.setdefault(name, str if kind is ConnectType.STRING else int)
    return members


def fits(value: object, kind: type | UnionType) -> bool:
    """Whether a source block's value has the type of :func:`position_members`; null always does."""
    return value is None or (isinstance(value, kind) and not (kind is int and isinstance(value, bool)))


def kinds_of(connector: str) -> dict[str, frozenset[ConnectType]]:
    """The types that a source block's schema may give to its fields that are read, for records that have a schema."""
    named = dict.fromkeys(("connector", *name_fields(connector)), frozenset({ConnectType.STRING}))
    return named | {name: _KINDS[kind] for name, kind in position_members(connector).items()}


def name_fields(connector: str) -> tuple[str, str, str]:
    """The fields that name database, schema and table."""
    return database_field(connector), "schema", table_field(connector)


def tables_of(
    databases: Sequence[str | None], schemas: Sequence[str | None], names: Sequence[str | None]
) -> dict[SourceTable | None, Int64s]:
    """The events of each table, ascending; under ``None`` those that name no table."""
    if names and names[0] and is_constant(names) and is_constant(schemas) and is_constant(databases):
        return {SourceTable(databases[0] or "", schemas[0] or None, names[0]): np.arange(len(names))}
    found: dict[SourceTable | None, list[int]] = {}
    for place, (database, schema, name) in enumerate(zip(databases, schemas, names, strict=True)):
        table = SourceTable(database or "", schema or None, name) if name else None
        found.setdefault(table, []).append(place)
    return {table: np.array(places, dtype=np.int64) for table, places in found.items()}


def is_constant(values: Sequence[object]) -> bool:
    """True when all values are equal; comparing is cheaper than hashing fresh strings. False for no values."""
    return bool(values) and values.count(values[0]) == len(values)


def snapshot_kinds(values: Sequence[object]) -> Int8s:
    """:class:`SnapshotKind` per event; null means "false" (``replace.null.with.default=false`` leaves it null)."""
    if is_constant(values):
        return np.full(len(values), _SNAPSHOTS.get(values[0], SnapshotKind.NONE), dtype=np.int8)
    return np.fromiter((_SNAPSHOTS.get(value, SnapshotKind.NONE) for value in values), np.int8, len(values))


def source_millis(values: Sequence[int | None] | pa.Array) -> Int64s:
    """``source.ts_ms`` per event, 0 where it is missing or no time at all (more than 64 bits)."""
    try:
        known = values if isinstance(values, pa.Array) else pa.array(values, pa.int64())
        if known.type != pa.int64():
            known = known.cast(pa.int64())
    except (OverflowError, pa.ArrowInvalid):
        known = pa.array([value if value is None or abs(value) < _MILLIS else None for value in values], pa.int64())
    filled: Int64s = (known.fill_null(0) if known.null_count else known).to_numpy(zero_copy_only=False)
    return filled
