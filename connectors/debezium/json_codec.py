"""JSON values become event groups.

The usual batch has one schema and one table and is decoded in one go. Whatever does not fit the layout that is tried
first (another table, a control record, a bad record) is looked at one by one and decoded with its own layout; so what
is tried first decides the speed and never the result.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import assert_never, cast

import numpy as np

from connectors.debezium import semantics
from connectors.debezium.bodies import Bodies
from connectors.debezium.embedded_schema import EmbeddedSchema, EmbeddedSchemas, is_json
from connectors.debezium.errors import SchemaError
from connectors.debezium.event_group import EventGroup
from connectors.debezium.events import Int64s, SkipReason
from connectors.debezium.flattened import is_metadata
from connectors.debezium.json_flattened import FlattenedLayout
from connectors.debezium.json_kernel.native import KERNEL, Kernel
from connectors.debezium.json_layout import EnvelopeLayout
from connectors.debezium.json_probe import failure, is_control, origin_of
from connectors.debezium.learned_rows import learned_groups
from connectors.debezium.options import DecodeOptions
from connectors.debezium.origin import Origin, RecordForm
from connectors.debezium.record_key import RecordKeys
from connectors.debezium.schema import ConnectType, Field
from connectors.debezium.verdicts import BadReason, Rejection, Verdicts

DOCUMENT_FIELDS = (
    Field("_id", ConnectType.STRING, optional=False, semantic=semantics.JSON),
    Field("document", ConnectType.STRING, semantic=semantics.JSON),
)
"""Columns of a MongoDB collection: the key's ``id`` and the document, both Extended JSON text."""

# Somebody who writes another schema into every record must not fill the memory.
_KEPT_LAYOUTS = 4096
_KEPT_COLUMNS = 100_000

Layout = EnvelopeLayout | FlattenedLayout


@dataclass(frozen=True)
class _Part:
    """Records of one batch with one embedded schema, or without any.

    Attributes:
        wrapped: the bodies with the schema around them, where they have only been recognised by how they begin.
    """

    topic: str
    schema: EmbeddedSchema | None
    rows: Int64s
    bodies: Bodies
    wrapped: Bodies | None = None

    @property
    def names(self) -> frozenset[str] | None:
        """The records' members, where a schema lists them."""
        return None if self.schema is None else self.schema.names


class JsonCodec:
    """Decodes JSON values; belongs to one decoder and remembers schemas and layouts.

    Args:
        kernel: reads most records; ``None`` to decode them all by msgspec.
    """

    def __init__(self, options: DecodeOptions, kernel: Kernel | None = KERNEL) -> None:
        self._options = options
        self._kernel = kernel
        self._embedded = EmbeddedSchemas(kernel)
        self._layouts: dict[object, Layout | SkipReason | Rejection | None] = {}
        self._columns = 0
        self._latest: dict[tuple[str, EmbeddedSchema | None], Origin] = {}
        self._numeric: set[object] = set()

    def decode(
        self, topic: str, rows: Int64s, bodies: Bodies, keys: RecordKeys, verdicts: Verdicts
    ) -> list[EventGroup]:
        """The row events among the values; verdicts on all others.

        Args:
            rows: the values' places among the raw records, ascending.
        """
        groups: list[EventGroup] = []
        for part in self._parts(topic, rows, bodies, verdicts):
            groups += self._decode_part(part, keys, verdicts)
        return groups

    def _parts(self, topic: str, rows: Int64s, bodies: Bodies, verdicts: Verdicts) -> list[_Part]:
        common = self._embedded.common(topic, bodies)
        if common is not None:
            return [_Part(topic, common[0], rows, common[1], None if common[0] is None else bodies)]
        return self._split(topic, rows, bodies, verdicts)

    def _split(self, topic: str, rows: Int64s, bodies: Bodies, verdicts: Verdicts) -> list[_Part]:
        places: dict[EmbeddedSchema | None, list[int]] = {}
        payloads: dict[EmbeddedSchema | None, list[bytes]] = {}
        for place, body in enumerate(bodies):
            try:
                schema, payload = self._embedded.split(topic, body)
            except SchemaError as error:
                verdicts.reject(int(rows[place]), BadReason.UNUSABLE_SCHEMA, str(error))
                continue
            places.setdefault(schema, []).append(place)
            payloads.setdefault(schema, []).append(payload)
        return [_Part(topic, schema, rows[places[schema]], Bodies.of_texts(some)) for schema, some in payloads.items()]

    def _decode_part(self, part: _Part, keys: RecordKeys, verdicts: Verdicts) -> list[EventGroup]:
        groups: list[EventGroup] = []
        usual = self._latest.get((part.topic, part.schema)) or self._first_origin(part, keys)
        rest = np.arange(len(part.rows))
        if usual is not None:
            layout = self._layout(part, usual, keys.all_names())
            if isinstance(layout, (EnvelopeLayout, FlattenedLayout)):
                self._latest[(part.topic, part.schema)] = usual
                group, rest = self._try(part, layout, rest, keys)
                groups += group
        if part.wrapped is not None:
            broken = [place for place in rest.tolist() if not is_json(part.bodies[place])]
            if broken:
                for other in self._split(
                    part.topic, part.rows[broken], part.wrapped.select(np.array(broken)), verdicts
                ):
                    groups += self._decode_part(other, keys, verdicts)
                rest = np.setdiff1d(rest, broken)
        by_origin: dict[Origin, list[int]] = defaultdict(list)
        for place in rest.tolist():
            row = int(part.rows[place])
            origin = origin_of(part.bodies[place], part.topic, keys.names_at(row), self._options, part.names)
            if isinstance(origin, Origin):
                by_origin[origin].append(place)
            else:
                verdicts.settle(row, origin)
        for origin, places in by_origin.items():
            groups += self._decode_origin(part, origin, np.array(places), keys, verdicts)
        return groups

    def _first_origin(self, part: _Part, keys: RecordKeys) -> Origin | None:
        for row, body in zip(part.rows.tolist(), part.bodies, strict=True):
            origin = origin_of(body, part.topic, keys.names_at(row), self._options, part.names)
            if isinstance(origin, Origin):
                return origin
        return None

    def _try(self, part: _Part, layout: Layout, places: Int64s, keys: RecordKeys) -> tuple[list[EventGroup], Int64s]:
        """The events that the layout decodes and that are of its origin, and the places of the others, ascending."""
        whole = len(places) == len(part.rows)
        read = layout.read(part.rows[places], part.bodies if whole else part.bodies.select(places))
        group = read.group
        if not len(group):
            return [], places
        good = np.delete(places, read.failed)
        others = np.zeros(len(group), dtype=np.bool_) if read.foreign is None else read.foreign
        if read.doubtful is not None:
            for at in np.flatnonzero(read.doubtful).tolist():
                place = int(good[at])
                names = keys.names_at(int(part.rows[place]))
                others[at] |= is_control(part.bodies[place], part.topic, names, self._options)
        if others.any():
            group = group.select(np.flatnonzero(~others))
        rest = np.sort(np.concatenate([places[read.failed], good[others]]))
        return ([group] if len(group) else []), rest

    def _decode_origin(
        self, part: _Part, origin: Origin, places: Int64s, keys: RecordKeys, verdicts: Verdicts
    ) -> list[EventGroup]:
        names = keys.all_names()
        layout = self._layout(part, origin, names)
        if layout is None:
            bodies = part.bodies.select(places).listed()
            return learned_groups(part.topic, origin, part.rows[places].tolist(), bodies, keys, self._options, verdicts)
        if layout is SkipReason.EXCLUDED_TABLE:
            verdicts.exclude(origin.table, len(places))
            return []
        if not isinstance(layout, (EnvelopeLayout, FlattenedLayout)):
            for row in part.rows[places].tolist():
                verdicts.settle(row, layout)
            return []
        groups, rest = self._tried(part, origin, places, keys, names)
        # What of ``before`` is read is what any key names; a record that fails by that is read by its own key alone.
        by_own: dict[frozenset[str], list[int]] = defaultdict(list)
        for place in rest.tolist():
            by_own[names.intersection(keys.names_at(int(part.rows[place])))].append(place)
        for own, some in by_own.items():
            more, left = self._tried(part, origin, np.array(some), keys, own) if own != names else ([], np.array(some))
            groups += more
            for place in left.tolist():
                verdicts.settle(int(part.rows[place]), self._why(part, origin, place, own))
        return groups

    def _why(self, part: _Part, origin: Origin, place: int, names: frozenset[str]) -> SkipReason | Rejection:
        """The verdict on a record that no layout of its origin decodes."""
        layout = self._layout(part, origin, names)
        if isinstance(layout, (EnvelopeLayout, FlattenedLayout)):
            numeric = self._layout(part, origin, names, numeric=True) if _has_decimals(layout.fields) else None
            return numeric if isinstance(numeric, Rejection) else failure(layout.decode, part.bodies[place])
        return cast("SkipReason | Rejection", layout)

    def _tried(
        self, part: _Part, origin: Origin, places: Int64s, keys: RecordKeys, names: frozenset[str]
    ) -> tuple[list[EventGroup], Int64s]:
        """As :meth:`_try`, with numbers as decimals where that does not do."""
        groups: list[EventGroup] = []
        for numeric in (False, True):
            layout = self._layout(part, origin, names, numeric=numeric)
            if not isinstance(layout, (EnvelopeLayout, FlattenedLayout)):
                break
            if len(places) and (not numeric or _has_decimals(layout.fields)):
                more, places = self._try(part, layout, places, keys)
                groups += more
                if numeric and more:
                    self._numeric.add((part.topic, part.schema, origin))
        return groups, places

    def _layout(
        self, part: _Part, origin: Origin, names: frozenset[str], *, numeric: bool = False
    ) -> Layout | SkipReason | Rejection | None:
        """How records of the origin are decoded, the verdict on all of them, or ``None`` to learn their columns.

        Args:
            names: what the records' keys name.
        """
        numeric = numeric or (part.topic, part.schema, origin) in self._numeric
        fields = self._fields(part, origin)
        # Of what keys name, only columns make a difference; the rest may be anything.
        key = names.intersection(field.name for field in fields)
        identity = (part.topic, part.schema, origin, key, numeric)
        if identity not in self._layouts:
            if len(self._layouts) >= _KEPT_LAYOUTS or self._columns + len(fields) > _KEPT_COLUMNS:
                self._layouts.clear()
                self._latest.clear()
                self._numeric.clear()
                self._columns = 0
            self._layouts[identity] = self._new_layout(part, origin, fields, key, numeric)
            self._columns += len(fields)
        return self._layouts[identity]

    def _fields(self, part: _Part, origin: Origin) -> tuple[Field, ...]:
        """The columns by the records' own schema, or as declared; none where they are learned, or are documents."""
        if part.schema is not None:
            record = part.schema.record
            return record.row_fields if origin.form is RecordForm.ENVELOPE else record.fields
        decoding = self._options.rules.decoding_for(origin.table)
        return () if decoding is None or _holds_documents(origin) else decoding.declared

    def _new_layout(
        self, part: _Part, origin: Origin, fields: tuple[Field, ...], key: frozenset[str], numeric: bool
    ) -> Layout | SkipReason | Rejection | None:
        options = self._options
        if options.is_signal_table(origin.table):
            return SkipReason.SIGNAL
        decoding = options.rules.decoding_for(origin.table)
        if decoding is None:
            return SkipReason.EXCLUDED_TABLE
        if part.schema is None and not fields and not _holds_documents(origin):
            if decoding.learn:
                return None
            return Rejection(
                BadReason.NO_COLUMN_TYPES,
                f"JSON without a schema carries no types; declare the columns of {origin.table} in the settings, "
                "or set schema: learn",
            )
        try:
            match origin.form:
                case RecordForm.ENVELOPE:
                    return EnvelopeLayout(
                        origin,
                        fields,
                        key | set(decoding.keys),
                        fixed_connector=options.connector != "auto",
                        documents=_holds_documents(origin),
                        numeric_decimals=numeric,
                        kernel=self._kernel,
                    )
                case RecordForm.FLATTENED:
                    columns = tuple(field for field in fields if not is_metadata(field.name, options.metadata_prefix))
                    return FlattenedLayout(
                        origin,
                        columns,
                        part.names,
                        fixed_connector=options.connector != "auto",
                        prefix=options.metadata_prefix,
                        topic=part.topic,
                        numeric_decimals=numeric,
                        kernel=self._kernel,
                    )
        except SchemaError as error:
            return Rejection(BadReason.UNUSABLE_SCHEMA, str(error))
        assert_never(origin.form)


def _holds_documents(origin: Origin) -> bool:
    return origin.form is RecordForm.ENVELOPE and origin.connector == "mongodb"


def _has_decimals(fields: tuple[Field, ...]) -> bool:
    return any(field.semantic == semantics.DECIMAL and field.type is ConnectType.BYTES for field in fields)
