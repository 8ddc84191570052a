"""JSON records that carry their schema: ``{"schema": {...}, "payload": ...}`` (JsonConverter, ``schemas.enable=true``).

All records of one schema version start with the same bytes, several times longer than the payload. So a schema is
parsed once, and later records are recognised by that prefix and only their payload is decoded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import msgspec

from connectors.debezium.bodies import Bodies
from connectors.debezium.connect_schema import row_schema_of
from connectors.debezium.errors import SchemaError
from connectors.debezium.json_kernel.native import Kernel
from connectors.debezium.record_schema import RecordSchema
from connectors.json_errors import DECODE_ERRORS

_OPENING = re.compile(rb'\{"([^"\\]+)":')
WRAPPING = frozenset({"schema", "payload"})
"""Members of an object that carries its schema; it has no others."""

_WRAPPING = tuple(member.encode() for member in WRAPPING)
_KEPT_PER_TOPIC = 64
_KEPT_TEXTS = 2048
# Somebody who writes another schema into every record must not fill the memory.
_KEPT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, eq=False)
class EmbeddedSchema:
    """A parsed schema; one object per schema text, so that it can be compared by identity."""

    record: RecordSchema

    @cached_property
    def names(self) -> frozenset[str]:
        """The record's members."""
        return frozenset(field.name for field in self.record.root.children)


class _Wrapped(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    schema: msgspec.Raw
    payload: msgspec.Raw


_WRAPPED = msgspec.json.Decoder(_Wrapped)
_ANY = msgspec.json.Decoder(msgspec.Raw)


def is_json(text: bytes) -> bool:
    """Whether the text is one JSON value."""
    try:
        _ANY.decode(text)
    except DECODE_ERRORS:
        return False
    return True


class EmbeddedSchemas:
    """The schemas seen so far. Belongs to one decoder, which lives as long as its worker; what it remembers changes
    how fast a record is read, never what is read.

    Args:
        kernel: looks at many records at once; ``None`` to do without.
    """

    def __init__(self, kernel: Kernel | None = None) -> None:
        self._kernel = kernel
        self._prefixes: dict[str, list[tuple[bytes, EmbeddedSchema]]] = {}
        self._texts: dict[bytes, EmbeddedSchema] = {}
        self._held = 0

    def common(self, topic: str, bodies: Bodies) -> tuple[EmbeddedSchema | None, Bodies] | None:
        """Schema and payloads when all bodies have the first one's schema, or none has any; else ``None``.

        They are recognised by how they begin and end: a body whose payload is not JSON is none of them, and is to be
        split.
        """
        if not len(bodies):
            return None
        opening = _OPENING.match(bodies[0])
        if opening is not None and opening[1] not in _WRAPPING:
            # An object whose first member is another one has no embedded schema.
            return (None, bodies) if bodies.are_framed(opening[0], b"", self._kernel) else None
        try:
            self.split(topic, bodies[0])
        except SchemaError:
            return None
        known = self._prefixes.get(topic)
        if not known:
            return None
        # What was split last is known first, if its schema can be recognised by a prefix.
        prefix, schema = known[0]
        if not bodies.are_framed(prefix, b"}", self._kernel):
            return None
        return schema, bodies.without(len(prefix), 1)

    def split(self, topic: str, body: bytes) -> tuple[EmbeddedSchema | None, bytes]:
        """Schema and payload of one record; ``None`` and the body itself when it carries no schema.

        Raises:
            SchemaError: there is a schema, and it cannot be understood.
        """
        known = self._prefixes.setdefault(topic, [])
        for place, (prefix, schema) in enumerate(known):
            if body.startswith(prefix) and body.endswith(b"}"):
                payload = body[len(prefix) : -1]
                # Else it is another object that begins alike: what it is must not depend on what was seen before.
                if not is_json(payload):
                    break
                if place:
                    known.insert(0, known.pop(place))
                return schema, payload
        try:
            wrapped = _WRAPPED.decode(body)
        except DECODE_ERRORS:
            # No schema can be told apart; what is wrong with the value shows when it is decoded.
            return None, body
        text, payload = bytes(wrapped.schema), bytes(wrapped.payload)
        if text == b"null" and payload.startswith(b"{"):
            return None, payload
        if not text.startswith(b"{"):
            return None, body
        schema = self._parsed(text)
        if body.endswith(payload + b"}") and payload != text:
            known.insert(0, (body[: len(body) - len(payload) - 1], schema))
            del known[_KEPT_PER_TOPIC:]
        return schema, payload

    def _parsed(self, text: bytes) -> EmbeddedSchema:
        schema = self._texts.get(text)
        if schema is None:
            schema = EmbeddedSchema(row_schema_of(text))
            if len(self._texts) >= _KEPT_TEXTS or self._held + len(text) > _KEPT_BYTES:
                self._texts.clear()
                self._prefixes.clear()
                self._held = 0
            self._texts[text] = schema
            self._held += len(text)
        return schema
