"""The schema of a change event's row, whatever its wire format.

Embedded JSON schemas, Avro writer schemas and columns declared in the settings all become a :class:`RowSchema`: Kafka
Connect's type system plus Debezium's semantic names (Debezium documentation, "Data type mappings" of each connector).
"""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import NewType

import msgspec

SchemaFingerprint = NewType("SchemaFingerprint", str)


class ConnectType(enum.StrEnum):
    """Physical types of Kafka Connect (``org.apache.kafka.connect.data.Schema.Type``)."""

    BOOLEAN = "boolean"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    STRING = "string"
    BYTES = "bytes"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"


@dataclass(frozen=True)
class Field:
    """One field: its name, physical type and, where Debezium gives one, its meaning.

    Attributes:
        semantic: the Connect schema's name, such as ``io.debezium.time.MicroTimestamp``; ``None`` for a plain type.
        parameters: the Connect schema's parameters (``scale``, ``connect.decimal.precision``, ``length``), sorted.
        children: fields of a struct; one element schema of an array; key and value schema of a map.
    """

    name: str
    type: ConnectType
    optional: bool = True
    semantic: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    children: tuple[Field, ...] = ()

    def parameter(self, name: str) -> str | None:
        return dict(self.parameters).get(name)


@dataclass(frozen=True)
class RowSchema:
    """The columns of a row image and which of them identify it.

    Attributes:
        fields: in the order of the source's schema; names are unique.
        key: names of the key's fields in key order; empty when the records carry no key.
        learned: True when the types were learned from schemaless JSON rather than declared by anybody.
    """

    fields: tuple[Field, ...]
    key: tuple[str, ...] = ()
    learned: bool = False

    @cached_property
    def fingerprint(self) -> SchemaFingerprint:
        """32 hexadecimal digits; equal for equal schemas in every process and version of Python."""
        body = msgspec.json.encode(self)
        return SchemaFingerprint(hashlib.sha256(body).hexdigest()[:32])

    @cached_property
    def by_name(self) -> dict[str, Field]:
        return {column.name: column for column in self.fields}


@dataclass(frozen=True)
class SourceTable:
    """A table as its source names it; never derived from the topic's name.

    ``schema`` is ``None`` for sources without schemas (MySQL, MariaDB, MongoDB), ``database`` may be empty where the
    source block has none.
    """

    database: str
    schema: str | None
    name: str

    def __str__(self) -> str:
        return ".".join(part for part in (self.schema or self.database, self.name) if part)
