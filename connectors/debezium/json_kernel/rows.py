"""Row images of a scan as columns."""

from __future__ import annotations

import msgspec
import pyarrow as pa

from connectors.debezium.events import Bools
from connectors.debezium.json_images import JsonImages
from connectors.debezium.json_kernel import gather
from connectors.debezium.json_kernel.scan import Program, Scan, Slot, Wanted
from connectors.debezium.json_structs import JsonColumn, RowStruct
from connectors.debezium.physical import Physical

_NULL = b"null"


def wanted_columns(struct: RowStruct) -> tuple[Wanted, ...]:
    """What is wanted of a row image."""
    return tuple(Wanted(column.field.name) for column in struct.json_columns)


class RowColumns:
    """How the columns of row images come out of a scan.

    Args:
        path: the names of the members that the image is in; none where the record is the image.
    """

    def __init__(self, program: Program, struct: RowStruct, *path: str) -> None:
        self._columns = [
            _RowColumn(column, program.slot(*path, column.field.name, required=column.required))
            for column in struct.json_columns
        ]

    def images(self, scan: Scan, present: Bools) -> JsonImages:
        """The columns; null where the image is not ``present``, which is where its object is not there."""
        return JsonImages(present, {column.name: column.read(scan) for column in self._columns})


class _RowColumn:
    def __init__(self, column: JsonColumn, slot: Slot) -> None:
        self.name = column.field.name
        self._column = column
        self._slot = slot
        self._decoder = msgspec.json.Decoder(column.annotation) if pa.types.is_struct(column.kind) else None

    def read(self, scan: Scan) -> Physical:
        if self._column.raw:
            raws = gather.raws(scan, self._slot).to_pylist()
            return self._column.physical([_NULL if raw is None else raw for raw in raws])
        if self._decoder is not None:
            return self._column.physical(gather.decoded(scan, self._slot, self._decoder))
        return Physical(self._plain(scan, self._column.kind))

    def _plain(self, scan: Scan, kind: pa.DataType) -> pa.Array:
        if pa.types.is_boolean(kind):
            return gather.booleans(scan, self._slot)
        if pa.types.is_integer(kind):
            return gather.integers(scan, self._slot, kind)
        if pa.types.is_floating(kind):
            return gather.floats(scan, self._slot, kind)
        if pa.types.is_string(kind):
            return gather.texts(scan, self._slot)
        return gather.base64_bytes(scan, self._slot)
