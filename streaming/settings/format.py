"""How the records are encoded, where they don't say so themselves."""

from __future__ import annotations

import enum
from typing import Annotated

from pydantic import Field

from connectors.debezium.options import (
    EnvelopeForm,
    InexactKeys,
    OutOfRange,
    PayloadFormat,
    SchemaIdFraming,
    TombstonePolicy,
)
from streaming.settings.scalars import NULL_IS_A_CHOICE
from streaming.settings.section import Section


class Connector(enum.StrEnum):
    """Debezium's connectors, as ``source.connector`` names them."""

    AUTO = "auto"
    POSTGRESQL = "postgresql"
    MYSQL = "mysql"
    MARIADB = "mariadb"
    SQLSERVER = "sqlserver"
    ORACLE = "oracle"
    DB2 = "db2"
    MONGODB = "mongodb"
    INFORMIX = "informix"
    VITESS = "vitess"
    SPANNER = "spanner"


class TopicFormat(Section):
    """Format of some topics; a key that is not set here is taken from format."""

    value: PayloadFormat | None = Field(default=None, examples=["avro"])
    """Encoding of values."""
    key: PayloadFormat | None = Field(default=None, examples=["avro"])
    """Encoding of keys."""
    envelope: EnvelopeForm | None = Field(default=None, examples=["flattened"])
    """Debezium envelopes (auto, envelope), or rows flattened by ExtractNewRecordState."""


class Control(Section):
    """Records that carry no rows. They are recognised by content; these names settle what the content leaves open."""

    signal_tables: list[str] = Field(default=["debezium_signal", "*.debezium_signal"])
    """Glob patterns of Debezium's signalling tables."""
    heartbeat_topics: list[str] = Field(default=["__debezium-heartbeat*"])
    """Glob patterns of heartbeat topics."""
    transaction_topics: list[str] = Field(default=["*.transaction"])
    """Glob patterns of topics with transaction metadata."""
    schema_change_topics: list[str] = Field(default=[], examples=[["shop"]])
    """Glob patterns of topics with schema changes."""


class Format(Section):
    """Encoding of the records."""

    value: PayloadFormat = PayloadFormat.AUTO
    """Encoding of values; auto looks at the headers and the first byte of each record."""
    key: PayloadFormat = PayloadFormat.AUTO
    """Encoding of keys; auto looks at the headers and the first byte of each record."""
    envelope: EnvelopeForm = EnvelopeForm.AUTO
    """Debezium envelopes (auto, envelope), or rows flattened by ExtractNewRecordState, which must be said here."""
    topics: dict[str, TopicFormat] = Field(default={}, examples=[{"shop.public.orders": {"value": "avro"}}])
    """Formats of some topics, by glob pattern of the topic's name; the first match counts."""
    framing: SchemaIdFraming = SchemaIdFraming.AUTO
    """Where Avro carries its schema's id: before the data (confluent: 4 bytes, apicurio8: 8 bytes), or in headers."""
    tombstones: TombstonePolicy = TombstonePolicy.AUTO
    """A record without a value: nothing (skip) or a delete from the topic's table; auto: delete where flattened."""
    flattened_prefix: str = Field(default="__", min_length=1)
    """Prefix of the fields that ExtractNewRecordState adds (add.fields.prefix)."""
    placeholder: str = Field(default="__debezium_unavailable_value", min_length=1)
    """What the connector writes for a large value that the source did not send (unavailable.value.placeholder)."""
    out_of_range: Annotated[OutOfRange, NULL_IS_A_CHOICE] = OutOfRange.CLAMP
    """Dates that a landing file can't hold: write the nearest one (clamp), NULL, or dead-letter the record."""
    inexact_keys: InexactKeys = InexactKeys.DEAD_LETTER
    """Keys that it can't hold exactly (dates as above, digits below the microsecond): dead-letter, or the nearest."""
    control: Control = Control()
    """Records that carry no rows."""
