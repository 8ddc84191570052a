"""Kafka keys, parsed and typed: which columns identify a row, and their values where the value does not have them.

Key fields are in key order. A key is never compared as bytes: one row's key can be written in two ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from connectors.debezium.avro_reader import AvroReader
from connectors.debezium.avro_registry import AvroReaders
from connectors.debezium.bodies import Bodies
from connectors.debezium.embedded_schema import WRAPPING, EmbeddedSchemas
from connectors.debezium.errors import SchemaError
from connectors.debezium.events import Int64s
from connectors.debezium.framing import AvroRows, Framed
from connectors.debezium.json_kernel.keys import KeyCheck
from connectors.debezium.json_kernel.native import Kernel
from connectors.debezium.json_probe import rejection
from connectors.debezium.key_members import ExactMembers, JsonKeyColumns, are_all
from connectors.debezium.physical import Physical, plain
from connectors.debezium.record_schema import RecordSchema
from connectors.debezium.schema import Field
from connectors.debezium.values import physical_type
from connectors.debezium.verdicts import BadReason, Rejection
from connectors.debezium.wire import SchemaId
from connectors.json_errors import DECODE_ERRORS

NO_KEY = -1
UNREADABLE = -2

# Somebody who gives every key other fields, or very many, must not fill the memory.
_KEPT_SHAPES = 4096
_KEPT_FIELDS = 100_000

ReadColumns = Callable[[Bodies, Sequence[Field]], dict[str, Physical]]
ReadPlain = Callable[[list[bytes]], list[dict[str, Any]]]


@dataclass(frozen=True, eq=False)
class KeyShape:
    """The fields of a key, and how their values are read.

    Attributes:
        names: in key order.
        fields: with their types; ``None`` for schemaless JSON, whose values have the types of the row's columns.
        read: the values of some fields, by name, from the encoded keys; together, since a table may have very many.
        plain: the encoded keys as JSON would have them without a schema; no members for one that cannot be read.
    """

    names: tuple[str, ...]
    fields: tuple[Field, ...] | None
    read: ReadColumns
    plain: ReadPlain

    def field(self, row_field: Field) -> Field:
        """The key's own field of that name."""
        return self._by_name.get(row_field.name, row_field)

    @cached_property
    def _by_name(self) -> dict[str, Field]:
        return {field.name: field for field in self.fields or ()}


@dataclass(frozen=True)
class RecordKeys:
    """The keys of a batch.

    Attributes:
        shapes: the different shapes.
        shape_of: per record, an index of ``shapes``, :data:`NO_KEY` for null or :data:`UNREADABLE`.
        bodies: the encoded fields, without schema or schema id; only null where there are none.
        unreadable: what is wrong, per record whose key cannot be read.
    """

    shapes: list[KeyShape]
    shape_of: Int64s
    bodies: Sequence[bytes | None] | Bodies
    unreadable: dict[int, Rejection]

    def names_at(self, row: int) -> tuple[str, ...]:
        """The key's field names of one record; empty where it has none."""
        shape = int(self.shape_of[row])
        return self.shapes[shape].names if shape >= 0 else ()

    def all_names(self) -> frozenset[str]:
        return frozenset(name for shape in self.shapes for name in shape.names)

    def plain(self, rows: Int64s) -> list[dict[str, Any]]:
        """The keys of some records as JSON would have them without a schema; no members where there is no key."""
        found: list[dict[str, Any]] = [{} for _ in rows]
        for number, shape in enumerate(self.shapes):
            places = np.flatnonzero(self.shape_of[rows] == number).tolist()
            keys = shape.plain([self.bodies[int(rows[place])] or b"" for place in places])
            for place, key in zip(places, keys, strict=True):
                found[place] = key
        return found

    def columns(self, rows: Int64s, fields: Sequence[Field]) -> dict[str, Physical]:
        """The values of the key's own ``fields``, by name, for records of one shape that has them."""
        if len(rows) == 0:
            return {field.name: Physical(pa.nulls(0, physical_type(field))) for field in fields}
        if isinstance(self.bodies, Bodies):
            bodies = self.bodies.select(rows)
        else:
            bodies = Bodies.of_texts([self.bodies[row] or b"" for row in rows.tolist()])
        return self.shapes[int(self.shape_of[rows[0]])].read(bodies, fields)


class KeyReader:
    """Reads keys. Belongs to one decoder and remembers schemas, which changes its speed and never its results.

    Args:
        kernel: looks at many JSON keys at once; ``None`` to do without.
    """

    def __init__(self, readers: AvroReaders, kernel: Kernel | None = None) -> None:
        self._avro = readers
        self._kernel = kernel
        self._embedded = EmbeddedSchemas(kernel)
        self._objects = KeyCheck.of(kernel, (), closed=False)
        self._read_json = JsonKeyColumns(kernel).read
        self._shapes: dict[object, KeyShape] = {}
        self._fields = 0
        self._strict: dict[tuple[str, ...], ExactMembers] = {}

    def read(self, topic: str, encoded: pa.BinaryArray, framed: Framed) -> RecordKeys:
        """The keys of one batch of one topic.

        Args:
            framed: where the keys' formats and schema ids are sorted out.

        Raises:
            Transient: the schema registry cannot be asked.
        """
        if 0 < len(encoded) == len(framed.json):
            usual = self._usual(topic, Bodies.of_array(encoded, framed.json))
            if usual is not None:
                return usual
        if len(framed.avro) == 1 and len(framed.avro[0].rows) == len(encoded):
            every = self._avro_keys(encoded, framed.avro[0])
            if every is not None:
                return every
        keys: list[bytes | None] = encoded.to_pylist()
        places: dict[KeyShape, int] = {}
        shape_of = np.full(len(keys), NO_KEY, dtype=np.int64)
        bodies: list[bytes | None] = [None] * len(keys)
        unreadable = {
            row: Rejection(BadReason.BAD_KEY, f"the key: {wrong.reason}: {wrong.detail}")
            for row, wrong in framed.rejected.items()
        }
        for row in framed.json.tolist():
            found = self._json_key(topic, keys[row] or b"")
            if isinstance(found, Rejection):
                unreadable[row] = found
            else:
                shape, bodies[row] = found
                shape_of[row] = places.setdefault(shape, len(places))
        for part in framed.avro:
            avro_shape = self._avro_shape(part.schema_id)
            rows = part.rows.tolist()
            if isinstance(avro_shape, Rejection):
                unreadable |= dict.fromkeys(rows, avro_shape)
                continue
            shape_of[part.rows] = places.setdefault(avro_shape, len(places))
            for row in rows:
                bodies[row] = (keys[row] or b"")[part.start :]
        shape_of[list(unreadable)] = UNREADABLE
        return RecordKeys(list(places), shape_of, bodies, unreadable)

    def _usual(self, topic: str, present: Bodies) -> RecordKeys | None:
        """The usual batch, or ``None``: every key is JSON of the first one's shape."""
        common = self._embedded.common(topic, present)
        schema, payloads = (None, present) if common is None else common
        every = np.zeros(len(present), dtype=np.int64)
        if schema is not None:
            if not are_all(payloads, self._objects, _ANY.decode):
                return None
            return RecordKeys([self._typed_shape(schema, schema.record)], every, payloads, {})
        first, last = self._json_key(topic, present[0]), self._json_key(topic, present[len(present) - 1])
        # A type is made of the names, which takes long of many: seldom for nothing.
        if isinstance(first, Rejection) or isinstance(last, Rejection) or first[0] is not last[0] or len(present) == 1:
            return None
        shape, _ = first
        # With just these members some may be a schema and its key, and others not.
        if set(shape.names) == WRAPPING:
            return None
        # Made for the keys of a whole batch only: a type takes far more memory than the names that it is made of.
        if shape.names not in self._strict:
            self._strict[shape.names] = ExactMembers(shape.names, self._kernel)
        if not self._strict[shape.names].have_all(present):
            return None
        return RecordKeys([shape], every, present, {})

    def _avro_keys(self, encoded: pa.BinaryArray, part: AvroRows) -> RecordKeys | None:
        """The keys where all are of one writer schema, or ``None`` where that is of no use."""
        shape = self._avro_shape(part.schema_id)
        if isinstance(shape, Rejection):
            return None
        bodies = Bodies.of_array(encoded, part.rows).without(part.start, 0)
        return RecordKeys([shape], np.zeros(len(encoded), dtype=np.int64), bodies, {})

    def _json_key(self, topic: str, key: bytes) -> tuple[KeyShape, bytes] | Rejection:
        try:
            schema, body = self._embedded.split(topic, key)
        except SchemaError as error:
            return Rejection(BadReason.UNUSABLE_SCHEMA, f"the key's schema: {error}")
        try:
            # A schema is recognised by its bytes; that what follows is JSON has to be seen each time.
            if schema is not None:
                _ANY.decode(body)
                return self._typed_shape(schema, schema.record), body
            names = tuple(_OBJECT.decode(body))
        except DECODE_ERRORS as error:
            return Rejection(BadReason.BAD_KEY, f"the key is not a JSON object: {rejection(body, error).detail}")
        shape = self._shapes.get(names) or self._keep(names, KeyShape(names, None, self._read_json, _plain_json))
        return shape, body

    def _avro_shape(self, schema_id: SchemaId) -> KeyShape | Rejection:
        reader = self._avro.reader(schema_id)
        if isinstance(reader, Rejection):
            return Rejection(reader.reason, f"the key: {reader.detail}")
        shape = self._shapes.get(reader)
        return shape or self._keep(reader, _typed(reader.record, _avro_columns(reader), _avro_plain(reader)))

    def _typed_shape(self, identity: object, record: RecordSchema) -> KeyShape:
        return self._shapes.get(identity) or self._keep(identity, _typed(record, self._read_json, _plain_json))

    def _keep(self, identity: object, shape: KeyShape) -> KeyShape:
        if len(self._shapes) >= _KEPT_SHAPES or self._fields + len(shape.names) > _KEPT_FIELDS:
            self._shapes.clear()
            self._strict.clear()
            self._fields = 0
        self._shapes[identity] = shape
        self._fields += len(shape.names)
        return shape


_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ANY = msgspec.json.Decoder(msgspec.Raw)
_PLAIN = msgspec.json.Decoder(dict[str, Any])


def _typed(record: RecordSchema, read: ReadColumns, plain: ReadPlain) -> KeyShape:
    return KeyShape(tuple(field.name for field in record.fields), record.fields, read, plain)


def _plain_json(bodies: list[bytes]) -> list[dict[str, Any]]:
    keys: list[dict[str, Any]] = []
    for body in bodies:
        try:
            keys.append(_PLAIN.decode(body))
        except DECODE_ERRORS:
            keys.append({})
    return keys


def _avro_plain(reader: AvroReader) -> ReadPlain:
    fields = reader.record.fields

    def read(bodies: list[bytes]) -> list[dict[str, Any]]:
        keys: list[dict[str, Any]] = [{} for _ in bodies]
        parts, _ = reader.read(Bodies.of_texts(bodies))
        for part in parts:
            for field in fields:
                for place, value in zip(part.places.tolist(), part.records.values(field.name), strict=True):
                    keys[place][field.name] = msgspec.to_builtins(plain(value, field))
        return keys

    return read


def _avro_columns(reader: AvroReader) -> ReadColumns:
    def read(bodies: Bodies, fields: Sequence[Field]) -> dict[str, Physical]:
        parts, bad = reader.read(bodies)
        order = np.concatenate([part.places for part in parts] or [np.empty(0, dtype=np.int64)])
        source = np.full(len(bodies), -1, dtype=np.int64)
        source[order] = np.arange(len(order))
        places = pa.array(source, mask=source < 0)
        images = [part.records.images() for part in parts]
        columns: dict[str, Physical] = {}
        for field in fields:
            found = [image.column(field) for image in images]
            values = pa.chunked_array([column.values for column in found], physical_type(field)).combine_chunks()
            wrong = {place: f"the key: {error}" for place, error in bad.items()}
            for part, column in zip(parts, found, strict=True):
                wrong |= {int(part.places[place]): what for place, what in column.bad.items()}
            columns[field.name] = Physical(values.take(places), wrong)
        return columns

    return read
