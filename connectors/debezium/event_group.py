"""Events decoded together because their records had one wire schema, column by column.

The codecs give groups, :mod:`connectors.debezium.assembly` turns them into chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Bools, Int64s
from connectors.debezium.physical import Images, Physical
from connectors.debezium.schema import Field, SourceTable
from connectors.debezium.unsigned import taken
from connectors.debezium.values import physical_type


@dataclass(frozen=True)
class EventGroup:
    """n events of one table.

    Attributes:
        rows: the events' places among the raw records, ascending.
        connector: ``source.connector`` of all of them; empty where a flattened record does not say.
        ops: ``op`` as the record has it; may be one text where each is a single letter.
        table: the table of all of them.
        source: columns of the source block by field name, n values each, a list or an array: ``snapshot``, which is
            a list, ``ts_ms`` and what the connector's position needs.
        fields: the row's fields in the order of its schema.
        before, after: the images.
        documents: True for MongoDB, whose images are JSON documents and whose key is the field ``id``.
        learned: True when the fields were learned from the values.
    """

    rows: Int64s
    connector: str
    table: SourceTable
    ops: Sequence[str]
    source: dict[str, list[Any] | pa.Array]
    fields: tuple[Field, ...]
    before: Images
    after: Images
    documents: bool = False
    learned: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, places: Int64s) -> EventGroup:
        """The events at ``places``, ascending."""
        if len(places) == len(self.rows):
            return self
        return EventGroup(
            rows=self.rows[places],
            connector=self.connector,
            table=self.table,
            ops=[self.ops[place] for place in places.tolist()],
            source={name: taken(values, places) for name, values in self.source.items()},
            fields=self.fields,
            before=self.before.select(places),
            after=self.after.select(places),
            documents=self.documents,
            learned=self.learned,
        )


class NoImages:
    """The images of events that have none, such as ``before`` of flattened records."""

    def __init__(self, count: int) -> None:
        self.present = np.zeros(count, dtype=np.bool_)

    def column(self, column: Field) -> Physical:
        return absent_column(column, len(self.present))

    def select(self, places: Int64s) -> NoImages:
        return NoImages(len(places))


def absent_column(column: Field, count: int) -> Physical:
    """A column that the images do not have."""
    return Physical(pa.nulls(count, physical_type(column)))


def present_mask(images: Sequence[object]) -> Bools:
    """The images that are not ``None``."""
    absent = images.count(None)
    if absent in (0, len(images)):
        return np.full(len(images), absent == 0, dtype=np.bool_)
    return np.array([image is not None for image in images], dtype=np.bool_)
