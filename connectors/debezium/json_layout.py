"""How one kind of JSON record is decoded: an envelope or a flattened row of known columns from a known connector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa

from connectors.debezium.event_group import EventGroup, NoImages, absent_column, present_mask
from connectors.debezium.events import Bools, Int64s
from connectors.debezium.flattened import first_present, metadata_fields, operations, topic_table
from connectors.debezium.json_members import Member
from connectors.debezium.json_structs import RowStruct
from connectors.debezium.origin import Origin
from connectors.debezium.physical import Images, Physical
from connectors.debezium.schema import Field
from connectors.debezium.source_block import name_fields, position_members, tables_of
from connectors.json_errors import DECODE_ERRORS


class JsonImages:
    """Row images as msgspec structs; ``None`` for an absent image.

    Args:
        again: decodes the same images with all columns, when ``struct`` has only some of them.
    """

    def __init__(
        self, rows: Sequence[Any], struct: RowStruct, again: Callable[[Int64s], JsonImages] | None = None
    ) -> None:
        self.present = present_mask(rows)
        self._rows = rows if self.present.all() else [struct.empty if row is None else row for row in rows]
        self._struct = struct
        self._again = again
        self._whole: JsonImages | None = None

    def column(self, column: Field) -> Physical:
        if column.name in self._struct:
            return self._struct.column(self._rows, column)
        if self._again is None:
            return absent_column(column, len(self.present))
        if self._whole is None:
            self._whole = self._again(np.arange(len(self.present)))
        return self._whole.column(column)

    def select(self, places: Int64s) -> JsonImages:
        present = self.present[places].tolist()
        chosen = [self._rows[place] if there else None for place, there in zip(places.tolist(), present, strict=True)]
        again = self._again
        return JsonImages(chosen, self._struct, None if again is None else lambda within: again(places[within]))


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

    def group(self, rows: Int64s, events: list[Any], bodies: list[bytes]) -> tuple[EventGroup, Bools | None]:
        """The events as columns; ``bodies`` are what they were decoded from. No event is foreign."""
        sources = list(map(attrgetter("source"), events))
        afters = list(map(attrgetter("after"), events))
        befores = list(map(attrgetter("before"), events))
        after: Images
        before: Images
        if self._documents:
            after, before = DocumentImages(afters), DocumentImages(befores)
        else:
            after = JsonImages(afters, self._row)
            before = JsonImages(befores, self._key, lambda places: self._whole_before(bodies, places))
        group = EventGroup(
            rows=rows,
            connector=self._origin.connector,
            table=self._origin.table,
            ops=list(map(attrgetter("op"), events)),
            source={name: list(map(attrgetter(name), sources)) for name in self._members},
            fields=self.fields,
            before=before,
            after=after,
            documents=self._documents,
        )
        return group, None

    @cached_property
    def _whole(self) -> tuple[RowStruct, Callable[[bytes], Any]]:
        struct = RowStruct(self.fields, required=False, numeric_decimals=self._numeric)
        envelope = msgspec.defstruct("Before", [("before", struct.type | None, None)], gc=False)
        return struct, msgspec.json.Decoder(envelope).decode

    def _whole_before(self, bodies: list[bytes], places: Int64s) -> JsonImages:
        struct, decode = self._whole
        images: list[Any] = []
        for place in places.tolist():
            try:
                images.append(decode(bodies[place]).before)
            except DECODE_ERRORS:
                images.append(None)
        return JsonImages(images, struct)


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

    def group(self, rows: Int64s, events: list[Any], bodies: list[bytes]) -> tuple[EventGroup, Bools | None]:
        """The events as columns, and a mask of those of another table, if any."""
        assumed = (self._assumed.database, self._assumed.schema, self._assumed.name)
        named = [
            [value or default for value in self._values(member, events)]
            for member, default in zip(name_fields(self._origin.connector), assumed, strict=True)
        ]
        group = EventGroup(
            rows=rows,
            connector=self._origin.connector,
            table=self._origin.table,
            ops=operations(self._values("op", events), self._values("deleted", events)),
            source={member: self._values(member, events) for member in self._members},
            fields=self.fields,
            before=NoImages(len(events)),
            after=JsonImages(events, self._row),
        )
        foreign = np.ones(len(events), dtype=np.bool_)
        foreign[tables_of(*named).get(self._origin.table, [])] = False
        return group, foreign if foreign.any() else None

    def _values(self, member: str, events: list[Any]) -> list[Any]:
        values: list[Any] | None = None
        for name in metadata_fields(member, self._prefix):
            found = self._row.beside(events, name)
            if found is not None:
                values = found if values is None else first_present(values, found)
        return [None] * len(events) if values is None else values


class DocumentImages:
    """MongoDB's images: Extended JSON documents as text. They have the one column ``document``."""

    def __init__(self, documents: list[str | None]) -> None:
        self._documents = documents
        self.present = present_mask(documents)

    def column(self, column: Field) -> Physical:
        return Physical(pa.array(self._documents, pa.string()))

    def select(self, places: Int64s) -> DocumentImages:
        return DocumentImages([self._documents[place] for place in places.tolist()])


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
