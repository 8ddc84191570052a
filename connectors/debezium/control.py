"""Records that tell something other than a row's change: heartbeats, transactions, schema changes.

They are recognised by their fields. A topic's name or the key only settles a shape that a table could have too.
Shapes: Debezium documentation, "Heartbeat", "Transaction metadata" and "Schema change topic" of each connector.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np

from connectors.debezium.event_group import EventGroup
from connectors.debezium.events import Bools, SkipReason
from connectors.debezium.options import DecodeOptions

_TIMES = frozenset({"ts_ms", "ts_us", "ts_ns"})
_TRANSACTION_MARK = frozenset({"status", "id"})
_TRANSACTION = frozenset({"status", "id", "event_count", "data_collections"})
_SCHEMA_CHANGE = frozenset({"ddl", "databaseName"})
_SCHEMA_CHANGE_FIELDS = _SCHEMA_CHANGE | {"source", "schemaName", "tableChanges"}
_ENVELOPE = frozenset({"before", "after", "op"})

_FIELDS = _TIMES | _TRANSACTION | _SCHEMA_CHANGE_FIELDS
"""All that control records of Debezium have."""


def control_kind(
    names: frozenset[str], topic: str, key_names: Sequence[str], options: DecodeOptions
) -> SkipReason | None:
    """What kind of control record has these fields; ``None`` for a record that may be about a row.

    Args:
        names: the value's top-level fields.
        key_names: the key's fields; empty for a null key.
    """
    if names & _ENVELOPE:
        return None
    if (
        "ts_ms" in names
        and names <= _TIMES
        and (tuple(key_names) == ("serverName",) or _named(topic, options.heartbeat_topics))
    ):
        return SkipReason.HEARTBEAT
    # A flattened table may be called transaction and have a status; it has other columns too.
    if names <= _TRANSACTION | _TIMES and (
        names >= _TRANSACTION or (names >= _TRANSACTION_MARK and _named(topic, options.transaction_topics))
    ):
        return SkipReason.TRANSACTION
    if names >= _SCHEMA_CHANGE and (
        "tableChanges" in names or tuple(key_names) == ("databaseName",) or _named(topic, options.schema_change_topics)
    ):
        return SkipReason.SCHEMA_CHANGE
    return None


def may_be_control(group: EventGroup) -> Bools:
    """Which of n flattened rows have a value only in columns that control records have, too.

    Rows are read by their columns, and other fields are passed over: so is all that tells a control record.
    """
    doubtful = np.ones(len(group), dtype=np.bool_)
    for column in group.fields:
        if column.name not in _FIELDS:
            doubtful &= np.asarray(group.after.column(column).values.is_null())
            if not doubtful.any():
                break
    return doubtful


def _named(topic: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(topic, pattern) for pattern in patterns)
