"""How an Avro payload names its writer schema, and who knows that schema.

Forms: byte 0 and a 4-byte id (Confluent, also Apicurio 3 with content ids), byte 0 and an 8-byte global id
(Apicurio 2), ids in headers with a bare payload (Apicurio ``headers.enabled=true``, newer Confluent serializers).
All integers are big-endian.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from connectors.debezium.headers import RecordHeaders
from connectors.debezium.options import SchemaIdFraming
from connectors.debezium.verdicts import BadReason, Rejection

QUESTIONS_AT_ONCE = 16
"""Schemas that a registry is asked for at the same time, by one task."""


class SchemaIdKind(enum.StrEnum):
    """Which of a registry's id spaces an id belongs to."""

    CONFLUENT = "confluent"
    CONTENT = "content"
    GLOBAL = "global"


class SchemaLookup(Protocol):
    """The schema registry, as far as decoding needs it; asked by several threads at once."""

    def avro_schema(self, schema_id: int, kind: SchemaIdKind) -> str:
        """The Avro schema's JSON text, references resolved.

        Raises:
            UnknownSchemaError: the registry answers and has no such schema; the record is a bad record.
            Transient: the registry cannot be asked now; nothing is decided about the record.
        """
        ...


@dataclass(frozen=True)
class SchemaId:
    """A writer schema's id in its id space."""

    kind: SchemaIdKind
    value: int


@dataclass(frozen=True)
class Datum:
    """An Avro payload: its writer schema's id and where the encoded datum starts."""

    schema_id: SchemaId
    start: int


class SchemaIdHeaders:
    """The schema ids that headers give, per record of a batch, for its keys or its values.

    Args:
        headers: headers of the batch's records.
        part: ``key`` or ``value``.
    """

    def __init__(self, headers: RecordHeaders, part: str) -> None:
        self._content = _listed(headers.values(f"apicurio.{part}.contentId"))
        self._global = _listed(headers.values(f"apicurio.{part}.globalId"))
        self._confluent = _listed(headers.values(f"__{part}_schema_id"))

    def __bool__(self) -> bool:
        return any((self._content, self._global, self._confluent))

    def framing(self, index: int) -> Datum | Rejection | None:
        """The schema id that record ``index`` names in its headers, or ``None`` when it names none."""
        for values, kind in ((self._content, SchemaIdKind.CONTENT), (self._global, SchemaIdKind.GLOBAL)):
            value = values[index] if values else None
            if value is not None:
                if len(value) not in (4, 8):
                    return Rejection(
                        BadReason.UNSUPPORTED_FRAMING, f"the {kind} id header has {len(value)} bytes, not 8"
                    )
                return Datum(SchemaId(kind, int.from_bytes(value)), 0)
        value = self._confluent[index] if self._confluent else None
        if value is None:
            return None
        if len(value) == 5 and value[0] == 0:
            return Datum(SchemaId(SchemaIdKind.CONFLUENT, int.from_bytes(value[1:])), 0)
        return Rejection(
            BadReason.UNSUPPORTED_FRAMING, "the schema id header holds a GUID; only numeric schema ids are supported"
        )


def _listed(values: pa.BinaryArray | None) -> list[bytes | None]:
    return [] if values is None else values.to_pylist()


def read_prefix(payload: bytes, framing: SchemaIdFraming) -> Datum | Rejection:
    """The schema id in front of an Avro payload."""
    if not payload:
        return Rejection(BadReason.EMPTY_VALUE, "the payload has no bytes")
    if framing is SchemaIdFraming.HEADERS:
        return Rejection(BadReason.UNSUPPORTED_FRAMING, "no schema id header, and the settings expect one")
    if payload[0] != 0:
        return Rejection(
            BadReason.WRONG_MAGIC_BYTE, f"an Avro payload starts with byte 0, this one with byte {payload[0]}"
        )
    if len(payload) < 5:
        return Rejection(BadReason.TRUNCATED, f"{len(payload)} bytes are too few for a schema id")
    short = int.from_bytes(payload[1:5])
    if framing is SchemaIdFraming.APICURIO8 or (framing is SchemaIdFraming.AUTO and short == 0):
        if len(payload) < 9:
            return Rejection(BadReason.TRUNCATED, f"{len(payload)} bytes are too few for an 8-byte schema id")
        return Datum(SchemaId(SchemaIdKind.GLOBAL, int.from_bytes(payload[1:9])), 9)
    return Datum(SchemaId(SchemaIdKind.CONFLUENT, short), 5)
