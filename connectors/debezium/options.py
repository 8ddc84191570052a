"""Choices about decoding that the settings offer."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TypeVar, assert_never

from connectors.debezium.events import Op
from connectors.debezium.schema import Field, SourceTable


class OutOfRange(enum.StrEnum):
    """What becomes of a date or timestamp that a landing file cannot hold: infinity, or a year outside 1 to 9999.

    ``CLAMP`` writes the nearest value that exists, ``NULL`` writes NULL; both are counted. ``DEAD_LETTER`` makes the
    whole record a bad record.
    """

    CLAMP = "clamp"
    NULL = "null"
    DEAD_LETTER = "dead_letter"


class InexactKeys(enum.StrEnum):
    """What becomes of a record whose key a landing file cannot hold exactly.

    Such keys are dates and timestamps that :class:`OutOfRange` is about, and times with digits below the microsecond.
    ``DEAD_LETTER`` makes the whole record a bad record; ``NEAREST`` lets the key land like any other column, and rows
    of the source whose keys become the same are one row then.
    """

    DEAD_LETTER = "dead_letter"
    NEAREST = "nearest"


class PayloadFormat(enum.StrEnum):
    """How a key or value is encoded; ``AUTO`` looks at the headers and the first byte of each record."""

    AUTO = "auto"
    JSON = "json"
    AVRO = "avro"


class EnvelopeForm(enum.StrEnum):
    """Whether values are Debezium envelopes or flattened rows (``ExtractNewRecordState``).

    ``AUTO`` reads envelopes; a flattened record is bad then, since only the settings can say what its topic's
    tombstones mean. ``FLATTENED`` takes every value for a row.
    """

    AUTO = "auto"
    ENVELOPE = "envelope"
    FLATTENED = "flattened"


class TombstonePolicy(enum.StrEnum):
    """What a record without a value means.

    ``AUTO``: a delete where the settings say :attr:`EnvelopeForm.FLATTENED`, else nothing (a ``d`` has said it before).
    Where a tombstone deletes, the topic's name says of which table, for its rows too: the last segments of
    ``prefix.schema.table``, ``prefix.database.schema.table`` or, for a connector without schemas that the settings
    name, ``prefix.database.table``. Patterns of tables then match that name.
    """

    AUTO = "auto"
    SKIP = "skip"
    DELETE = "delete"


class SchemaIdFraming(enum.StrEnum):
    """Where an Avro payload carries its schema's id.

    ``AUTO``: headers when they are there, else byte 0 and 4 bytes (Confluent, Apicurio 3), or 8 bytes (Apicurio 2)
    when the first 4 are zero. The others fix one form.
    """

    AUTO = "auto"
    CONFLUENT = "confluent"
    APICURIO8 = "apicurio8"
    HEADERS = "headers"


@dataclass(frozen=True)
class TableDecoding:
    """What the settings say about reading one table's records.

    Attributes:
        declared: columns of schemaless JSON; columns that are not declared are left out.
        learn: take the columns of schemaless JSON from the records themselves.
        keys: key columns, replacing those of the Kafka key; empty to take the Kafka key's.
        excluded_operations: operations that are counted and left out.
        before_images: let deletes and key changes hold the whole row before, as far as the event has it.
        append: every event stands for itself, so that no record needs a key.
    """

    declared: tuple[Field, ...] = ()
    learn: bool = False
    keys: tuple[str, ...] = ()
    excluded_operations: tuple[Op, ...] = ()
    before_images: bool = False
    append: bool = False


@dataclass(frozen=True)
class TableRules:
    """Which tables are carried and how their records are read.

    Patterns are shell globs, matched with case against ``schema.table`` (``database.table`` where the source has no
    schemas) and against ``database.schema.table``.

    Attributes:
        include: tables to carry; empty for all.
        exclude: tables to leave out; wins over ``include``.
        tables: decoding rules, the first matching pattern wins; a table without one has :class:`TableDecoding`'s
            defaults.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tables: tuple[tuple[str, TableDecoding], ...] = ()

    def decoding_for(self, table: SourceTable) -> TableDecoding | None:
        """How ``table`` is read, or ``None`` when it is excluded."""
        names = _names(table)
        if _matches(names, self.exclude) or (self.include and not _matches(names, self.include)):
            return None
        for pattern, decoding in self.tables:
            if _matches(names, (pattern,)):
                return decoding
        return _DEFAULT_DECODING

    def with_every_operation(self) -> TableRules:
        """The same rules with no operation left out: for records that have landed under the settings of another day."""
        tables = tuple((pattern, replace(each, excluded_operations=())) for pattern, each in self.tables)
        return replace(self, tables=tables)


@dataclass(frozen=True)
class DecodeOptions:
    """Everything that the settings say about decoding; plain values, so that it travels to the workers.

    Attributes:
        connector: ``source.connector`` of all records, or ``auto`` to read it from each.
        value_formats, key_formats: (topic glob, format) pairs that win over ``value_format`` and ``key_format``.
        envelope_forms: (topic glob, form) pairs that win over ``envelope``.
        placeholder: ``unavailable.value.placeholder`` of the connector.
        metadata_prefix: ``add.fields.prefix`` of flattened records.
        signal_tables: globs of Debezium's signalling tables; their rows are counted and left out.
        heartbeat_topics, transaction_topics, schema_change_topics: globs of topics that carry no rows; a record is
            still recognised by its content, the topic only settles what the content leaves open.
        framing: where Avro payloads carry the schema id.
        topic_prefix: the connector's; None to take it from the topics' names.
    """

    connector: str = "auto"
    value_format: PayloadFormat = PayloadFormat.AUTO
    key_format: PayloadFormat = PayloadFormat.AUTO
    value_formats: tuple[tuple[str, PayloadFormat], ...] = ()
    key_formats: tuple[tuple[str, PayloadFormat], ...] = ()
    envelope: EnvelopeForm = EnvelopeForm.AUTO
    envelope_forms: tuple[tuple[str, EnvelopeForm], ...] = ()
    tombstones: TombstonePolicy = TombstonePolicy.AUTO
    placeholder: bytes = b"__debezium_unavailable_value"
    metadata_prefix: str = "__"
    out_of_range: OutOfRange = OutOfRange.CLAMP
    inexact_keys: InexactKeys = InexactKeys.DEAD_LETTER
    rules: TableRules = field(default_factory=TableRules)
    signal_tables: tuple[str, ...] = ("debezium_signal", "*.debezium_signal")
    heartbeat_topics: tuple[str, ...] = ("__debezium-heartbeat*",)
    transaction_topics: tuple[str, ...] = ("*.transaction",)
    schema_change_topics: tuple[str, ...] = ()
    framing: SchemaIdFraming = SchemaIdFraming.AUTO
    topic_prefix: str | None = None

    def value_format_of(self, topic: str) -> PayloadFormat:
        return _first_match(topic, self.value_formats, self.value_format)

    def key_format_of(self, topic: str) -> PayloadFormat:
        return _first_match(topic, self.key_formats, self.key_format)

    def envelope_of(self, topic: str) -> EnvelopeForm:
        return _first_match(topic, self.envelope_forms, self.envelope)

    def tombstones_delete(self, topic: str) -> bool:
        """True where a record without a value is a delete; the settings and the topic's name decide."""
        match self.tombstones:
            case TombstonePolicy.SKIP:
                return False
            case TombstonePolicy.DELETE:
                return True
            case TombstonePolicy.AUTO:
                return self.envelope_of(topic) is EnvelopeForm.FLATTENED
        assert_never(self.tombstones)

    def is_signal_table(self, table: SourceTable) -> bool:
        return _matches(_names(table), self.signal_tables)


_DEFAULT_DECODING = TableDecoding()
_T = TypeVar("_T")


def _names(table: SourceTable) -> tuple[str, str]:
    parts = (table.database, table.schema, table.name)
    return str(table), ".".join(part for part in parts if part)


def _matches(names: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)


def _first_match(topic: str, overrides: tuple[tuple[str, _T], ...], default: _T) -> _T:
    return next((value for pattern, value in overrides if fnmatchcase(topic, pattern)), default)
