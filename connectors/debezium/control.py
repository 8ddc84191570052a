"""Records that tell something other than a row's change: heartbeats, transactions, schema changes.

They are recognised by their fields. A topic's name or the key only settles a shape that a table could have too.
Shapes: Debezium documentation, "Heartbeat", "Transaction metadata" and "Schema change topic" of each connector.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from connectors.debezium.events import SkipReason
from connectors.debezium.options import DecodeOptions, EnvelopeForm

_TIMES = frozenset({"ts_ms", "ts_us", "ts_ns"})
_TRANSACTION_MARK = frozenset({"status", "id"})
_TRANSACTION = frozenset({"status", "id", "event_count", "data_collections"})
_SCHEMA_CHANGE = frozenset({"ddl", "databaseName"})
_SCHEMA_CHANGE_FIELDS = _SCHEMA_CHANGE | _TIMES | {"source", "position", "schemaName", "tableChanges"}
_ENVELOPE = frozenset({"before", "after", "op"})

FIELDS = _TIMES | _TRANSACTION | _SCHEMA_CHANGE_FIELDS
"""All that control records have where rows are flattened."""


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
    # Later releases may add fields; where rows are flattened, a table may have those columns, and others.
    if (
        names >= _SCHEMA_CHANGE
        and options.envelope_of(topic) is EnvelopeForm.FLATTENED
        and names - _SCHEMA_CHANGE_FIELDS
    ):
        return None
    if names >= _SCHEMA_CHANGE and (
        "tableChanges" in names or tuple(key_names) == ("databaseName",) or _named(topic, options.schema_change_topics)
    ):
        return SkipReason.SCHEMA_CHANGE
    return None


def _named(topic: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(topic, pattern) for pattern in patterns)
