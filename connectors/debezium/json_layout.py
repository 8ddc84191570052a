"""How one kind of JSON record is decoded: an envelope or a flattened row of known columns from a known connector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import attrgetter
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa

from connectors.debezium.event_group import EventGroup, NoImages, present_mask
from connectors.debezium.events import Bools, Int64s
from connectors.debezium.flattened import first_present, metadata_fields, operations, topic_table
from connectors.debezium.json_images import ImageColumns, JsonImages
from connectors.debezium.json_members import Member
from connectors.debezium.json_structs import RowStruct
from connectors.debezium.origin import Origin
from connectors.debezium.physical import Physical
from connectors.debezium.schema import Field
from connectors.debezium.source_block import name_fields, position_members, tables_of
from connectors.json_errors import DECODE_ERRORS

_TOGETHER = 500
"""Records that become columns before more are decoded: so many records' Python objects stay in a processor's cache, and
columns of 10,000 together take a third longer (docs/performance.md)."""


@dataclass(frozen=True)
class Reading:
    """What one layout makes of records.

    Attributes:
        group: the records that decode.
        failed: the places of the others among the records, ascending.
        foreign: which of the group are of another table; ``None`` when none is.
    """

    group: EventGroup
    failed: list[int]
    foreign: Bools | None = None


class EnvelopeLayout:
    """Decodes envelopes of one table; those of another connector or table fail to decode.

    Args:
        origin: connector and table.
        fixed_connector: True where the settings fix the connector, whatever the records say.
        fields: the row's columns; empty for documents.
        before: names of the columns of ``before`` that are always decoded (the key's).
        documents: True where the images are JSON text (MongoDB).
        numeric_decimals: True for ``decimal.format=NUMERIC``.
    """

    def __init__(
        self,
        origin: Origin,
        fields: tuple[Field, ...],
        before: frozenset[str],
        *,
        fixed_connector: bool = False,
        documents: bool = False,
        numeric_decimals: bool = False,
    ) -> None:
        self.fields = fields
        self._origin = origin
        self._documents = documents
        self._numeric = numeric_decimals
        self._members = tuple(position_members(origin.connector))
        self._row = RowStruct(fields, numeric_decimals=numeric_decimals)
        self._key = RowStruct(
            (field for field in fields if field.name in before), required=False, numeric_decimals=numeric_decimals
        )
        image = str if documents else self._row.type
        old_image = str if documents else self._key.type
        self.decode = msgspec.json.Decoder(
            msgspec.defstruct(
                "Envelope",
                [
                    ("op", str),
                    ("source", _source_struct(origin, fixed_connector)),
                    ("before", old_image | None, None),
                    ("after", image | None, None),
                ],
                kw_only=True,
                gc=False,
            )
        ).decode

    def read(self, rows: Int64s, bodies: list[bytes]) -> Reading:
        """The records that decode as columns; no event is foreign."""
        ops: list[str] = []
        source: dict[str, list[Any]] = {name: [] for name in self._members}
        after, before = ImageColumns(self._row), ImageColumns(self._key)
        afters: list[str | None] = []
        befores: list[str | None] = []
        failed: list[int] = []
        for events in _decoded(self.decode, bodies, failed):
            ops += map(attrgetter("op"), events)
            sources = list(map(attrgetter("source"), events))
            for name in source:
                source[name] += map(attrgetter(name), sources)
            if self._documents:
                afters += map(attrgetter("after"), events)
                befores += map(attrgetter("before"), events)
            else:
                after.add(list(map(attrgetter("after"), events)))
                before.add(list(map(attrgetter("before"), events)))
        good = np.delete(np.arange(len(bodies)), failed)
        group = EventGroup(
            rows=rows[good],
            connector=self._origin.connector,
            table=self._origin.table,
            ops=ops,
            source=source,
            fields=self.fields,
            before=DocumentImages(befores)
            if self._documents
            else before.images(lambda places: self._whole_before(bodies, good[places])),
            after=DocumentImages(afters) if self._documents else after.images(),
            documents=self._documents,
        )
        return Reading(group, failed)

    @cached_property
    def _whole(self) -> tuple[RowStruct, Callable[[bytes], Any]]:
        struct = RowStruct(self.fields, required=False, numeric_decimals=self._numeric)
        envelope = msgspec.defstruct("Before", [("before", struct.type | None, None)], gc=False)
        return struct, msgspec.json.Decoder(envelope).decode

    def _whole_before(self, bodies: list[bytes], places: Int64s) -> JsonImages:
        struct, decode = self._whole
        columns = ImageColumns(struct)
        for start in range(0, len(places), _TOGETHER):
            images: list[Any] = []
            for place in places[start : start + _TOGETHER].tolist():
                try:
                    images.append(decode(bodies[place]).before)
                except DECODE_ERRORS:
                    images.append(None)
            columns.add(images)
        return columns.images()


class FlattenedLayout:
    """Decodes flattened rows.

    Args:
        origin: connector and table; rows of others are decoded too, and reported as foreign.
        columns: the row's columns.
        names: the record's fields; ``None`` where no schema lists them, so that any metadata field may be there.
    """

    def __init__(
        self,
        origin: Origin,
        columns: tuple[Field, ...],
        names: frozenset[str] | None,
        *,
        prefix: str,
        topic: str,
        numeric_decimals: bool = False,
    ) -> None:
        self.fields = columns
        self._origin = origin
        self._assumed = topic_table(topic, origin.connector)
        positions = position_members(origin.connector)
        members = dict.fromkeys(name_fields(origin.connector), str) | positions
        self._members = tuple(positions)
        self._prefix = prefix
        beside: list[Member] = []
        for member in (*members, "op", "deleted"):
            annotation: Any = {"op": str, "deleted": bool | str}.get(member) or members[member]
            for name in metadata_fields(member, prefix):
                if names is None or name in names:
                    beside.append(Member(name, annotation | None))
        self._row = RowStruct(columns, numeric_decimals=numeric_decimals, beside=beside)
        self.decode = msgspec.json.Decoder(self._row.type).decode

    def read(self, rows: Int64s, bodies: list[bytes]) -> Reading:
        """The records that decode as columns, and which of them are of another table."""
        after = ImageColumns(self._row)
        said: dict[str, list[Any]] = {}
        failed: list[int] = []
        for events in _decoded(self.decode, bodies, failed):
            after.add(events)
            for name, values in self._row.beside(events):
                said.setdefault(name, []).extend(values)
        good = np.delete(rows, failed)
        count = len(good)
        assumed = (self._assumed.database, self._assumed.schema, self._assumed.name)
        named = [
            [value or default for value in self._values(member, said, count)]
            for member, default in zip(name_fields(self._origin.connector), assumed, strict=True)
        ]
        group = EventGroup(
            rows=good,
            connector=self._origin.connector,
            table=self._origin.table,
            ops=operations(self._values("op", said, count), self._values("deleted", said, count)),
            source={member: self._values(member, said, count) for member in self._members},
            fields=self.fields,
            before=NoImages(count),
            after=after.images(),
        )
        foreign = np.ones(count, dtype=np.bool_)
        foreign[tables_of(*named).get(self._origin.table, [])] = False
        return Reading(group, failed, foreign if foreign.any() else None)

    def _values(self, member: str, said: Mapping[str, list[Any]], count: int) -> list[Any]:
        """A member of the source block, ``op`` or ``deleted`` of each record, from what stands beside the columns."""
        found = [said[name] for name in metadata_fields(member, self._prefix) if name in said]
        return reduce(first_present, found) if found else [None] * count


class DocumentImages:
    """MongoDB's images: Extended JSON documents as text. They have the one column ``document``."""

    def __init__(self, documents: list[str | None]) -> None:
        self._documents = documents
        self.present = present_mask(documents)

    def column(self, column: Field) -> Physical:
        return Physical(pa.array(self._documents, pa.string()))

    def select(self, places: Int64s) -> DocumentImages:
        return DocumentImages([self._documents[place] for place in places.tolist()])


def _decoded(decode: Callable[[bytes], Any], bodies: list[bytes], failed: list[int]) -> Iterator[list[Any]]:
    """The decoded bodies, some at a time; the places of those that fail are added to ``failed``."""
    for start in range(0, len(bodies), _TOGETHER):
        some = bodies[start : start + _TOGETHER]
        try:
            yield list(map(decode, some))
        except DECODE_ERRORS:
            events: list[Any] = []
            for place, body in enumerate(some, start):
                try:
                    events.append(decode(body))
                except DECODE_ERRORS:
                    failed.append(place)
            yield events


def _source_struct(origin: Origin, fixed_connector: bool) -> type[msgspec.Struct]:
    """The source block of one table: its names are constants, so that another table's block does not decode."""
    named = (origin.table.database, origin.table.schema, origin.table.name)
    constants = dict(zip(name_fields(origin.connector), named, strict=True))
    if not fixed_connector:
        constants["connector"] = origin.connector
    members: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        (name, Literal[value]) if value else (name, Literal[""] | None, None) for name, value in constants.items()
    ]
    members += [(name, kind | None, None) for name, kind in position_members(origin.connector).items()]
    return msgspec.defstruct("Source", members, kw_only=True, gc=False)
