"""One source's records and what must come of them."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from connectors.debezium.decoder import Decoder
from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.events import Decoded, RawRecords
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.debezium.schema import Field
from connectors.debezium.wire import SchemaIdKind, SchemaLookup
from connectors.kafka.headers import HEADERS_TYPE

Row = Mapping[str, Any]


class Standing(enum.Enum):
    """Where records come from."""

    LIVE = "live"
    """A real connector wrote them for a real server."""
    DOCUMENTED = "documented"
    """They have the form that the connector's documentation gives."""


class WireFormat(enum.StrEnum):
    """How keys and values are encoded."""

    JSON = "json"
    JSON_WITH_SCHEMA = "json-with-schema"
    AVRO = "avro"
    AVRO_HEADER_IDS = "avro-header-ids"


@dataclass(frozen=True)
class GoldenRecord:
    """One Kafka record; ``timestamp`` is Kafka's, milliseconds since the epoch."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True)
class Traffic:
    """Records of one connector in one format.

    Attributes:
        name: unique; part of test names.
        versions: of the connector and the server; empty for documented events.
        schemas: Avro schemas by registry id.
        declared: columns per pattern of tables, for JSON without schema.
        rows: final rows by the landing zone's name of the table; in no order.
        parked: reason by the landing zone's name, for tables that must park.
    """

    name: str
    connector: str
    standing: Standing
    format: WireFormat
    records: Sequence[GoldenRecord]
    rows: Mapping[str, Sequence[Row]]
    versions: Mapping[str, str] = field(default_factory=dict)
    schemas: Mapping[int, str] = field(default_factory=dict)
    declared: Mapping[str, tuple[Field, ...]] = field(default_factory=dict)
    parked: Mapping[str, str] = field(default_factory=dict)

    @property
    def options(self) -> DecodeOptions:
        """The defaults, and the declared columns."""
        tables = tuple((pattern, TableDecoding(declared=columns)) for pattern, columns in self.declared.items())
        return DecodeOptions(rules=TableRules(tables=tables))

    def decode(self, schemas: SchemaLookup | None = None) -> list[Decoded]:
        """What a decoder makes of the records, one partition after the other, by topic and partition.

        Args:
            schemas: a registry that is asked instead of :attr:`schemas`.
        """
        decoder = Decoder(self.options, schemas or KnownSchemas(self.schemas))
        by_partition: dict[tuple[str, int], list[GoldenRecord]] = {}
        for record in self.records:
            by_partition.setdefault((record.topic, record.partition), []).append(record)
        return [decoder.decode(raw_records(by_partition[place])) for place in sorted(by_partition)]


@dataclass(frozen=True)
class KnownSchemas:
    """A schema registry that has been written down."""

    texts: Mapping[int, str]

    def avro_schema(self, schema_id: int, kind: SchemaIdKind) -> str:
        if schema_id not in self.texts:
            raise UnknownSchemaError("The registry has no such schema", remedy="register it", schema_id=schema_id)
        return self.texts[schema_id]


def raw_records(records: Sequence[GoldenRecord]) -> RawRecords:
    """Records of one partition, in offset order, as the decoder takes them."""
    headers = [[{"key": name, "value": value} for name, value in record.headers] for record in records]
    return RawRecords(
        topic=records[0].topic,
        partition=records[0].partition,
        keys=pa.array([record.key for record in records], pa.binary()),
        values=pa.array([record.value for record in records], pa.binary()),
        offsets=np.array([record.offset for record in records], dtype=np.int64),
        timestamps=np.array([record.timestamp for record in records], dtype=np.int64),
        headers=pa.array(headers, HEADERS_TYPE),
    )
