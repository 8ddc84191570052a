"""What to do about a dead letter, by the reason that it gives."""

from __future__ import annotations

from typing import assert_never

from connectors.debezium.verdicts import BadReason
from streaming.landing.shaping.refusals import CAST_FAILURE, UNAVAILABLE_VALUE
from streaming.task.bad_records import MORE_TABLES, TOO_MANY_TABLES

_REPLAY = "then restart the bridge and `cdc-bridge dead-letters replay CONFIG COORDINATE`"


def remedy_of(reason: str) -> str:
    """One sentence; for a reason that another version of the bridge gave, a general one."""
    if reason == UNAVAILABLE_VALUE:
        return (
            "the source did not send an unchanged large value: set REPLICA IDENTITY FULL (PostgreSQL) for later ones; "
            f"for this one, set policies.on_unavailable to null, {_REPLAY}, or "
            "`cdc-bridge resync CONFIG TABLE`"
        )
    if reason == CAST_FAILURE:
        return f"change the type under casts, or set policies.on_cast_failure to null, {_REPLAY}"
    if reason == TOO_MANY_TABLES:
        return f"{MORE_TABLES}, {_REPLAY}"
    if reason not in {known.value for known in BadReason}:
        return f"mend what the detail names, {_REPLAY}"
    return _remedy_of(BadReason(reason))


def _remedy_of(reason: BadReason) -> str:
    match reason:
        case BadReason.UNKNOWN_SCHEMA_ID:
            return (
                "register the schema under this id again, or let registry.url name the registry that the connector "
                f"writes to, {_REPLAY}"
            )
        case BadReason.UNUSABLE_SCHEMA:
            return (
                "mend the connector's converter or transformation for later records; a schema that is in this record "
                "stays as it is: `cdc-bridge resync CONFIG TABLE` brings its row. If the schema comes from a registry "
                f"that is not the connector's, let registry.url name the right one, {_REPLAY}"
            )
        case BadReason.NO_COLUMN_TYPES:
            return f"declare the table's columns, or set its schema to learn, {_REPLAY}"
        case BadReason.WRONG_MAGIC_BYTE | BadReason.UNSUPPORTED_FRAMING | BadReason.FLATTENED:
            return f"set format to what the connector's converter and transforms write, {_REPLAY}"
        case BadReason.NOT_JSON | BadReason.NOT_UTF8 | BadReason.NOT_A_CHANGE_EVENT | BadReason.UNSUPPORTED_CONNECTOR:
            return (
                f"if the topic is in another format, set format for it, {_REPLAY}; a record that no Debezium connector "
                "wrote does not belong into the topic"
            )
        case BadReason.MISSING_KEY | BadReason.BAD_KEY:
            return f"declare the table's keys, or mend the connector's key converter, {_REPLAY}"
        case BadReason.UNFORESEEN:
            return (
                "`cdc-bridge resync CONFIG TABLE` brings its row; a later version may read the record: update, "
                f"{_REPLAY}"
            )
        case BadReason.OUT_OF_RANGE:
            return f"set format.out_of_range to clamp or null, {_REPLAY}"
        case BadReason.INEXACT_KEY:
            return (
                "declare other columns as the table's keys (tables.overrides[].keys), or, if no two of its keys would "
                f"land as the same value, set format.inexact_keys to nearest, {_REPLAY}"
            )
        case BadReason.TYPE_MISMATCH | BadReason.MISSING_FIELD:
            return f"correct the table's declared columns where the settings have any, {_REPLAY}"
        case (
            BadReason.TRUNCATED
            | BadReason.EMPTY_VALUE
            | BadReason.CORRUPT_AVRO
            | BadReason.TRAILING_BYTES
            | BadReason.OTHER_TABLE
            | BadReason.MISSING_OP
            | BadReason.UNKNOWN_OP
            | BadReason.MISSING_AFTER
            | BadReason.MISSING_SOURCE
        ):
            return "the record itself is damaged: `cdc-bridge resync CONFIG TABLE` if its row is wrong"
        case _:
            assert_never(reason)
