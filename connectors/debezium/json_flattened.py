"""How one kind of flattened JSON row is decoded: of known columns, from a known connector.

The kernel reads what it is sure of, msgspec the rest, and all of it where there is no kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import msgspec
import numpy as np

from connectors.debezium import control
from connectors.debezium.bodies import Bodies
from connectors.debezium.event_group import EventGroup, NoImages
from connectors.debezium.events import Bools, Int64s
from connectors.debezium.flattened import first_present, metadata_fields, operations, topic_table
from connectors.debezium.json_images import ImageColumns
from connectors.debezium.json_kernel.layouts import FlatReader
from connectors.debezium.json_kernel.native import Kernel
from connectors.debezium.json_members import Member
from connectors.debezium.json_reading import Found, Reading, completed, decoded_together
from connectors.debezium.json_structs import RowStruct
from connectors.debezium.origin import Origin
from connectors.debezium.schema import Field
from connectors.debezium.source_block import name_fields, position_members, tables_of
from connectors.debezium.unsigned import Values, listed


class FlattenedLayout:
    """Decodes flattened rows.

    Args:
        origin: connector and table; rows of others are decoded too, and reported as foreign.
        fixed_connector: True where the settings fix the connector, whatever the records say.
        columns: the row's columns.
        names: the record's fields; ``None`` where no schema lists them, so that any metadata field may be there.
        kernel: reads most records; ``None`` to decode them all by msgspec.
    """

    def __init__(
        self,
        origin: Origin,
        columns: tuple[Field, ...],
        names: frozenset[str] | None,
        *,
        fixed_connector: bool = False,
        prefix: str,
        topic: str,
        numeric_decimals: bool = False,
        kernel: Kernel | None = None,
    ) -> None:
        self.fields = columns
        self._origin = origin
        self._assumed = topic_table(topic, origin.connector)
        positions = position_members(origin.connector)
        members = dict.fromkeys(name_fields(origin.connector), str) | positions
        self._members = tuple(positions)
        self._prefix = prefix
        if not fixed_connector:
            members["connector"] = str
        self._fixed_connector = fixed_connector
        beside: dict[str, Any] = {}
        for member in (*members, "op", "deleted"):
            annotation: Any = {"op": str, "deleted": bool | str}.get(member) or members[member]
            for name in metadata_fields(member, prefix):
                if names is None or name in names:
                    beside[name] = annotation
        self._row = RowStruct(
            columns,
            numeric_decimals=numeric_decimals,
            beside=[Member(name, annotation | None) for name, annotation in beside.items()],
        )
        self.decode = msgspec.json.Decoder(self._row.type).decode
        self._beside = tuple(beside)
        self._reader = FlatReader.of(kernel, self._row, beside)

    def read(self, rows: Int64s, bodies: Bodies) -> Reading:
        """The records that decode as columns, and which of them are of another table."""
        found, failed = self._found(bodies)
        good = np.delete(rows, failed)
        count = len(good)
        assumed = (self._assumed.database, self._assumed.schema, self._assumed.name)
        named = [
            [value or default for value in self._values(member, found.values, count)]
            for member, default in zip(name_fields(self._origin.connector), assumed, strict=True)
        ]
        group = EventGroup(
            rows=good,
            connector=self._origin.connector,
            table=self._origin.table,
            ops=operations(self._values("op", found.values, count), self._values("deleted", found.values, count)),
            source={member: self._values(member, found.values, count) for member in self._members},
            fields=self.fields,
            before=NoImages(count),
            after=found.images["after"],
        )
        foreign = np.ones(count, dtype=np.bool_)
        foreign[tables_of(*named).get(self._origin.table, [])] = False
        if not self._fixed_connector:
            connectors = [name or "" for name in self._values("connector", found.values, count)]
            if connectors.count(self._origin.connector) < count:
                foreign |= np.array([name != self._origin.connector for name in connectors], dtype=np.bool_)
        return Reading(group, failed, foreign if foreign.any() else None, self._doubtful(found, count))

    def _doubtful(self, found: Found, count: int) -> Bools | None:
        """The rows that a control record would look like: fields that are no columns are passed over."""
        doubtful = np.ones(count, dtype=np.bool_)
        for column in self.fields:
            if column.name not in control.FIELDS:
                doubtful &= np.asarray(found.images["after"].column(column).values.is_null())
                if not doubtful.any():
                    return None
        for values in (listed(some, count) for some in found.values.values()):
            if values.count(None) < count:
                doubtful &= np.array([value is None for value in values], dtype=np.bool_)
                if not doubtful.any():
                    return None
        return doubtful

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
        after = ImageColumns(self._row)
        values: dict[str, list[Any]] = {name: [] for name in self._beside}
        failed: list[int] = []
        for events in decoded_together(self.decode, bodies, failed):
            after.add(events)
            for name, some in self._row.beside(events):
                values[name] += some
        return Found(values, {"after": after.images()}), failed

    def _values(self, member: str, said: Mapping[str, Values], count: int) -> Sequence[Any]:
        """A member of the source block, ``op`` or ``deleted`` of each record, from what stands beside the columns."""
        found = [listed(said[name], count) for name in metadata_fields(member, self._prefix) if name in said]
        return reduce(first_present, found) if found else [None] * count
