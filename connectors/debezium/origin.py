"""What kind of record a value is, judged by the names of its fields, and which table it is about."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from connectors.debezium.control import control_kind
from connectors.debezium.events import SkipReason
from connectors.debezium.flattened import is_metadata, metadata_value, topic_table
from connectors.debezium.options import DecodeOptions, EnvelopeForm
from connectors.debezium.schema import SourceTable
from connectors.debezium.source_block import database_field, table_field, table_of
from connectors.debezium.verdicts import BadReason, Rejection, sample

UNSUPPORTED_CONNECTORS = {
    "cassandra": "Cassandra's events hold single cells without a before image or an order; they cannot become rows"
}


class RecordForm(enum.Enum):
    """How a record about a row is laid out."""

    ENVELOPE = "envelope"
    FLATTENED = "flattened"


@dataclass(frozen=True)
class Origin:
    """Which connector's table a record is about, and how it is laid out.

    Attributes:
        connector: empty where nothing says.
    """

    form: RecordForm
    connector: str
    table: SourceTable


def form_of(
    names: frozenset[str], topic: str, key_names: Sequence[str], options: DecodeOptions
) -> RecordForm | SkipReason | Rejection:
    """The form of a value with these top-level fields."""
    control = control_kind(names, topic, key_names, options)
    if control is not None:
        return control
    if options.envelope_of(topic) is EnvelopeForm.FLATTENED:
        return RecordForm.FLATTENED
    if "op" in names:
        if "source" in names:
            return RecordForm.ENVELOPE
        if names & {"before", "after"}:
            return Rejection(BadReason.MISSING_SOURCE, "the envelope has no source block")
    added = sorted(name for name in names if is_metadata(name, options.metadata_prefix))
    if added:
        return Rejection(
            BadReason.FLATTENED,
            f"a row that ExtractNewRecordState has flattened, by its field {added[0]}; set format.envelope, or "
            "format.topics.<topic>.envelope, to flattened: it also decides whether a tombstone is a delete",
        )
    if names & {"before", "after"}:
        return Rejection(BadReason.MISSING_OP, "the envelope has no op")
    shown = ", ".join(sorted(names)[:8]) or "none"
    return Rejection(
        BadReason.NOT_A_CHANGE_EVENT,
        f"not an envelope; its fields: {shown}; set format.envelope to flattened if the topic holds bare rows",
    )


def envelope_origin(op: object, source: object, options: DecodeOptions) -> Origin | SkipReason | Rejection:
    """The origin of an envelope with this ``op`` and ``source``."""
    if not isinstance(op, str):
        return Rejection(BadReason.MISSING_OP, f"op is {sample(op)}")
    if op == "m":
        return SkipReason.MESSAGE
    if not isinstance(source, Mapping):
        return Rejection(BadReason.MISSING_SOURCE, "the source block is missing or null")
    connector = connector_of(source, options)
    if connector in UNSUPPORTED_CONNECTORS:
        return Rejection(BadReason.UNSUPPORTED_CONNECTOR, UNSUPPORTED_CONNECTORS[connector])
    table = table_of(connector, source)
    if table is None:
        return Rejection(BadReason.MISSING_SOURCE, "the source block names no table")
    return Origin(RecordForm.ENVELOPE, connector, table)


def connector_of(source: Mapping[str, Any], options: DecodeOptions) -> str:
    """The connector that the settings fix, else the one the source block names; empty when neither does."""
    if options.connector != "auto":
        return options.connector
    named = source.get("connector")
    return named if isinstance(named, str) else ""


def flattened_origin(row: Mapping[str, Any], topic: str, options: DecodeOptions) -> Origin:
    """The origin of a flattened record; from the topic's name where no metadata field names the table."""

    def named(member: str) -> str:
        value = metadata_value(member, row, options.metadata_prefix)
        return value if isinstance(value, str) else ""

    connector = options.connector if options.connector != "auto" else named("connector")
    assumed = topic_table(topic, connector)
    table = SourceTable(
        named(database_field(connector)) or assumed.database,
        named("schema") or assumed.schema,
        named(table_field(connector)) or assumed.name,
    )
    return Origin(RecordForm.FLATTENED, connector, table)
