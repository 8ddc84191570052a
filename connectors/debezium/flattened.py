"""Records that ``ExtractNewRecordState`` has flattened: the row itself, with what is left of the envelope beside it.

``add.fields=op,table,lsn,source.ts_ms`` gives ``__op``, ``__table``, ``__lsn``, ``__source_ts_ms``;
``delete.tombstone.handling.mode=rewrite`` gives ``__deleted`` (Debezium documentation, "New Record State Extraction").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from connectors.debezium.schema import SourceTable

_SOURCE_FIELDS = frozenset(
    [
        "version",
        "connector",
        "name",
        "snapshot",
        "sequence",
        "ts_ms",
        "ts_us",
        "ts_ns",
        "db",
        "schema",
        "table",
        "collection",
        "keyspace",
        "lsn",
        "txId",
        "xmin",
        "origin",
        "origin_lsn",
        "server_id",
        "gtid",
        "file",
        "pos",
        "row",
        "thread",
        "query",
        "change_lsn",
        "commit_lsn",
        "begin_lsn",
        "event_serial_no",
        "scn",
        "commit_scn",
        "lcr_position",
        "rs_id",
        "ssn",
        "redo_thread",
        "user_name",
        "redo_sql",
        "row_id",
        "start_scn",
        "commit_ts_ms",
        "start_ts_ms",
        "txSeq",
        "ord",
        "lsid",
        "txnNumber",
        "wallTime",
        "shard",
        "vgtid",
        "database_id",
        "project_id",
        "instance_id",
        "server_transaction_id",
        "mod_number",
    ]
)
_ENVELOPE_FIELDS = frozenset({"op"})
_STRUCTS = ("source_", "transaction_")
_WITHOUT_SCHEMAS = frozenset({"mysql", "mariadb", "mongodb", "vitess"})

DELETED = "__deleted"
"""The field that ``rewrite`` adds to every row: whether it is a delete."""

UNKNOWN_OP = "r"
"""The operation of a flattened row that does not say: it holds the row's state, as a snapshot's row does."""


def is_metadata(name: str, prefix: str) -> bool:
    """True for a field that the transformation has added; any other field is a column, whatever its name.

    ``add.fields.prefix`` does not touch ``__deleted``.
    """
    if name == DELETED:
        return True
    if not name.startswith(prefix):
        return False
    rest = name[len(prefix) :]
    return rest in _SOURCE_FIELDS or rest in _ENVELOPE_FIELDS or rest.startswith(_STRUCTS)


def metadata_fields(member: str, prefix: str) -> tuple[str, ...]:
    """The fields that may hold the source block's ``member``, ``op`` or ``deleted``; the first that has a value counts.

    Args:
        prefix: not empty, else a column could not be told from them.
    """
    if member == "deleted":
        return (DELETED,)
    return f"{prefix}source_{member}", f"{prefix}{member}"


def metadata_value(member: str, row: Mapping[str, Any], prefix: str) -> object:
    """The value of the source block's ``member``, ``op`` or ``deleted`` in a record; None where it has none."""
    values = (row[name] for name in metadata_fields(member, prefix) if name in row)
    return next((value for value in values if value is not None), None)


def topic_table(topic: str, connector: str) -> SourceTable:
    """The table that a topic of Debezium's default naming stands for.

    Used where records do not name their table, and on topics whose tombstones delete.

    ``prefix.schema.table``, ``prefix.database.schema.table``, or ``prefix.database.table`` for sources without schemas.
    """
    parts = topic.split(".")
    name = parts[-1]
    if connector in _WITHOUT_SCHEMAS:
        return SourceTable(parts[-2] if len(parts) > 2 else "", None, name)
    if len(parts) > 3:
        return SourceTable(parts[-3], parts[-2], name)
    return SourceTable("", parts[-2] if len(parts) > 2 else None, name)


def first_present(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """Value by value the first one, unless it is null."""
    return [other if value is None else value for value, other in zip(first, second, strict=True)]


def operations(ops: Sequence[object], deleted: Sequence[object]) -> list[str]:
    """``op`` per record from ``__op`` and ``__deleted`` (text or boolean); null where a field is missing."""
    return [
        "d" if gone in ("true", True) else op if isinstance(op, str) else UNKNOWN_OP
        for op, gone in zip(ops, deleted, strict=True)
    ]
