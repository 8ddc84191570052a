"""How one kind of JSON envelope is decoded: of known columns, from a known connector and table.

The kernel reads what it is sure of, msgspec the rest, and all of it where there is no kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa

from connectors.debezium.bodies import Bodies
from connectors.debezium.event_group import EventGroup, present_mask
from connectors.debezium.events import Int64s
from connectors.debezium.json_images import ImageColumns, JsonImages
from connectors.debezium.json_kernel.layouts import EnvelopeReader
from connectors.debezium.json_kernel.native import Kernel
from connectors.debezium.json_reading import Found, Reading, completed, decoded_together, slices
from connectors.debezium.json_structs import RowStruct
from connectors.debezium.origin import Origin
from connectors.debezium.physical import Images, Physical
from connectors.debezium.schema import Field
from connectors.debezium.source_block import name_fields, position_members
from connectors.json_errors import DECODE_ERRORS


class EnvelopeLayout:
    """Decodes envelopes of one table; those of another connector or table fail to decode.

    Args:
        origin: connector and table.
        fixed_connector: True where the settings fix the connector, whatever the records say.
        fields: the row's columns; empty for documents.
        before: names of the columns of ``before`` that are always decoded (the key's).
        documents: True where the images are JSON text (MongoDB).
        numeric_decimals: True for ``decimal.format=NUMERIC``.
        kernel: reads most records; ``None`` to decode them all by msgspec.
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
        kernel: Kernel | None = None,
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
        constants = _constants(origin, fixed_connector)
        image = str if documents else self._row.type
        old_image = str if documents else self._key.type
        self.decode = msgspec.json.Decoder(
            msgspec.defstruct(
                "Envelope",
                [
                    ("op", str),
                    ("source", _source_struct(origin, constants)),
                    ("before", old_image | None, None),
                    ("after", image | None, None),
                ],
                kw_only=True,
                gc=False,
            )
        ).decode
        self._reader = EnvelopeReader.of(
            kernel,
            constants,
            position_members(origin.connector),
            {} if documents else {"before": self._key, "after": self._row},
        )

    def read(self, rows: Int64s, bodies: Bodies) -> Reading:
        """The records that decode as columns; no event is foreign."""
        found, failed = self._found(bodies)
        good = np.delete(np.arange(len(bodies)), failed)
        before: Images
        after: Images
        if self._documents:
            before, after = DocumentImages(found.values["before"]), DocumentImages(found.values["after"])
        else:
            before = found.images["before"].with_all(lambda places: self._whole_before(bodies, good[places]))
            after = found.images["after"]
        group = EventGroup(
            rows=rows[good],
            connector=self._origin.connector,
            table=self._origin.table,
            ops=found.values["op"],
            source={name: found.values[f"source.{name}"] for name in self._members},
            fields=self.fields,
            before=before,
            after=after,
            documents=self._documents,
        )
        return Reading(group, failed)

    def _found(self, bodies: Bodies) -> tuple[Found, list[int]]:
        """What the records hold, but for those that do not decode, and their places."""
        if self._reader is None:
            return self._objects(bodies.listed())
        found, left = self._reader.read(bodies)
        if not len(left):
            return found, []
        return completed(found, len(bodies), left, *self._objects(bodies.select(left).listed()))

    def _objects(self, bodies: list[bytes]) -> tuple[Found, list[int]]:
        """The same by msgspec."""
        values: dict[str, list[Any]] = {"op": []} | {f"source.{name}": [] for name in self._members}
        if self._documents:
            values |= {"before": [], "after": []}
        getters = {name: attrgetter(name) for name in values}
        after, before = ImageColumns(self._row), ImageColumns(self._key)
        failed: list[int] = []
        for events in decoded_together(self.decode, bodies, failed):
            for name, get in getters.items():
                values[name] += map(get, events)
            if not self._documents:
                after.add(list(map(attrgetter("after"), events)))
                before.add(list(map(attrgetter("before"), events)))
        images = {} if self._documents else {"before": before.images(), "after": after.images()}
        return Found(values, images), failed

    @cached_property
    def _whole(self) -> tuple[RowStruct, Callable[[bytes], Any]]:
        struct = RowStruct(self.fields, required=False, numeric_decimals=self._numeric)
        envelope = msgspec.defstruct("Before", [("before", struct.type | None, None)], gc=False)
        return struct, msgspec.json.Decoder(envelope).decode

    def _whole_before(self, bodies: Bodies, places: Int64s) -> JsonImages:
        struct, decode = self._whole
        columns = ImageColumns(struct)
        for within in slices(len(places)):
            images: list[Any] = []
            for place in places[within].tolist():
                try:
                    images.append(decode(bodies[place]).before)
                except DECODE_ERRORS:
                    images.append(None)
            columns.add(images)
        return columns.images()


class DocumentImages:
    """MongoDB's images: Extended JSON documents as text. They have the one column ``document``."""

    def __init__(self, documents: Sequence[str | None]) -> None:
        self._documents = documents
        self.present = present_mask(documents)

    def column(self, column: Field) -> Physical:
        return Physical(pa.array(self._documents, pa.string()))

    def select(self, places: Int64s) -> DocumentImages:
        return DocumentImages([self._documents[place] for place in places.tolist()])


def _constants(origin: Origin, fixed_connector: bool) -> dict[str, str]:
    """What the members of the source block that name connector and table have to be; empty for absent or null."""
    named = (origin.table.database, origin.table.schema, origin.table.name)
    constants = {name: value or "" for name, value in zip(name_fields(origin.connector), named, strict=True)}
    if not fixed_connector:
        constants["connector"] = origin.connector
    return constants


def _source_struct(origin: Origin, constants: dict[str, str]) -> type[msgspec.Struct]:
    """The source block of one table: its names are constants, so that another table's block does not decode."""
    members: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        (name, Literal[value]) if value else (name, Literal[""] | None, None) for name, value in constants.items()
    ]
    members += [(name, kind | None, None) for name, kind in position_members(origin.connector).items()]
    return msgspec.defstruct("Source", members, kw_only=True, gc=False)
