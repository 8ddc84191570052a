"""Row images of JSON records as columns, made of some records at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from connectors.debezium.event_group import absent_column, present_mask
from connectors.debezium.events import Bools, Int64s
from connectors.debezium.json_structs import RowStruct
from connectors.debezium.physical import Physical
from connectors.debezium.schema import Field


class JsonImages:
    """Images whose columns are in Arrow; null in each column of an absent image.

    Args:
        present: the images that are there.
        columns: by name.
        again: decodes the images of some places with all columns, where ``columns`` has only some of them.
    """

    def __init__(
        self, present: Bools, columns: Mapping[str, Physical], again: Callable[[Int64s], JsonImages] | None = None
    ) -> None:
        self.present = present
        self._columns = columns
        self._again = again
        self._whole: JsonImages | None = None

    def column(self, column: Field) -> Physical:
        found = self._columns.get(column.name)
        if found is not None:
            return found
        if self._again is None:
            return absent_column(column, len(self.present))
        if self._whole is None:
            self._whole = self._again(np.arange(len(self.present)))
        return self._whole.column(column)

    def with_all(self, again: Callable[[Int64s], JsonImages]) -> JsonImages:
        """These images, which ``again`` decodes with all columns."""
        return JsonImages(self.present, self._columns, again)

    @classmethod
    def joined(cls, parts: Sequence[JsonImages]) -> JsonImages:
        """The images of one or more parts that have the same columns, and no others: nothing decodes them again."""
        columns = {
            name: _joined([part._columns[name] for part in parts], column.values.type)
            for name, column in parts[0]._columns.items()
        }
        return cls(np.concatenate([part.present for part in parts]), columns)

    def select(self, places: Int64s) -> JsonImages:
        again = self._again
        return JsonImages(
            self.present[places],
            {name: column.take(places) for name, column in self._columns.items()},
            None if again is None else lambda within: again(places[within]),
        )


class ImageColumns:
    """The columns of images that come some at a time.

    Args:
        struct: of each image.
    """

    def __init__(self, struct: RowStruct) -> None:
        self._struct = struct
        self._present: list[Bools] = []
        self._parts: dict[str, list[Physical]] = {name: [] for name in struct.kinds}

    def add(self, images: Sequence[Any]) -> None:
        """The next images; ``None`` for an absent one."""
        present = present_mask(images)
        self._present.append(present)
        if not present.any():
            found = {name: Physical(pa.nulls(len(images), kind)) for name, kind in self._struct.kinds.items()}
        elif present.all():
            found = self._struct.columns(images)
        else:
            empty = self._struct.empty
            found = self._struct.columns([empty if image is None else image for image in images])
        for name, part in self._parts.items():
            part.append(found[name])

    def images(self, again: Callable[[Int64s], JsonImages] | None = None) -> JsonImages:
        """All images so far; ``again`` is that of :class:`JsonImages`."""
        present = np.concatenate([np.empty(0, dtype=np.bool_), *self._present])
        columns = {name: _joined(parts, self._struct.kinds[name]) for name, parts in self._parts.items()}
        return JsonImages(present, columns, again)


def _joined(parts: list[Physical], kind: pa.DataType) -> Physical:
    if len(parts) == 1:
        return parts[0]
    bad: dict[int, str] = {}
    start = 0
    for part in parts:
        bad |= {start + place: what for place, what in part.bad.items()}
        start += len(part.values)
    return Physical(pa.concat_arrays([part.values for part in parts]) if parts else pa.nulls(0, kind), bad)
