"""One walk over datums, and what their values are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.debezium.avro_kernel.nodes import Node, Program
from connectors.debezium.bodies import Bodies
from connectors.debezium.events import Bools, Int64s

_NUMBERS: dict[str, tuple[pa.DataType, str, str]] = {
    "int": (pa.int32(), "u4", "i4"),
    "enum": (pa.int32(), "u4", "i4"),
    "long": (pa.int64(), "u8", "i8"),
    "float": (pa.float32(), "u4", "f4"),
    "double": (pa.float64(), "u8", "f8"),
}
"""Arrow's type, how many of a cell's bits there are, and what they are, by Avro's type."""


class Scan:
    """What the values of some datums are.

    Args:
        datums: each from its first byte to its last.

    Attributes:
        elsewhere: the places of datums, ascending, that have to be read in another way. Where there are any, the scan
            says nothing of the others.
    """

    def __init__(self, program: Program, datums: Bodies) -> None:
        self.count = len(datums)
        self._datums = datums
        self._kernel = program.kernel
        self._there = np.zeros((program.cells, self.count), dtype=np.uint8)
        self._values = np.empty((program.cells, self.count), dtype=np.uint64)
        self._sizes = np.zeros(program.cells, dtype=np.int64)
        status = np.zeros(self.count, dtype=np.uint8)
        starts, ends = np.ascontiguousarray(datums.starts), np.ascontiguousarray(datums.ends)
        ffi = self._kernel.ffi
        self._held = (
            *(ffi.from_buffer("uint8_t[]", datums.content), len(datums.content)),
            *(ffi.from_buffer("int64_t[]", starts), ffi.from_buffer("int64_t[]", ends), self.count),
        )
        self._noted = (
            ffi.from_buffer("uint8_t[]", self._there),
            ffi.from_buffer("uint64_t[]", self._values),
            ffi.from_buffer("int64_t[]", self._sizes),
            ffi.from_buffer("uint8_t[]", status),
        )
        self._source: Any = ffi.new("avro_datums *", self._held)
        self._cells: Any = ffi.new("avro_cells *", self._noted)
        found = self._kernel.lib.avro_scan(self._source, program.pointer, self._cells)
        self.elsewhere: Int64s = np.flatnonzero(status) if found else np.empty(0, dtype=np.int64)

    def present(self, node: Node) -> Bools:
        """The datums in which there is a value, and no null at its place or around it."""
        found: Bools = self._there[node.cell].view(np.bool_)
        return found

    def array(self, node: Node) -> pa.Array:
        """The values of a plain node, of Avro's own type: an enum as its symbol's number, a fixed as binary."""
        present = self.present(node)
        nulls = self.count - int(np.count_nonzero(present))
        valid = pa.py_buffer(np.packbits(present, bitorder="little")) if nulls else None
        if node.kind in _NUMBERS:
            kind, bits, meaning = _NUMBERS[node.kind]
            numbers = self._values[node.cell].astype(bits).view(meaning)
            return pa.Array.from_buffers(kind, self.count, [valid, pa.py_buffer(numbers)], nulls)
        if node.kind == "boolean":
            flags = pa.py_buffer(np.packbits((self._values[node.cell] == 1) & present, bitorder="little"))
            return pa.Array.from_buffers(pa.bool_(), self.count, [valid, flags], nulls)
        offsets, content = self._gathered(node)
        kind = pa.string() if node.kind == "string" else pa.binary()
        return pa.Array.from_buffers(kind, self.count, [valid, pa.py_buffer(offsets), pa.py_buffer(content)], nulls)

    def first(self, node: Node) -> object:
        """The value of the first datum, which has to have one, of a plain node; an enum's number."""
        if node.kind in _NUMBERS:
            _, bits, meaning = _NUMBERS[node.kind]
            return self._values[node.cell, :1].astype(bits).view(meaning).item()
        if node.kind == "boolean":
            return bool(self._values[node.cell, 0])
        [value] = self._values[node.cell, :1].tolist()
        content = self._datums[0][value & 0xFFFF_FFFF : value >> 32]
        return content.decode() if node.kind == "string" else content

    def encoded(self, node: Node) -> list[bytes | None]:
        """The values as they stand in the datums; for what is no plain node."""
        offsets, content = self._gathered(node)
        ends = offsets[1:].tolist()
        view = content.data
        return [
            view[start:end].tobytes() if there else None
            for there, start, end in zip(self.present(node).tolist(), [0, *ends], ends, strict=False)
        ]

    def is_same(self, node: Node) -> bool:
        """Whether a plain node's value is the same in all datums; False where it is null in one."""
        if not self.count or not self.present(node).all():
            return False
        if node.kind in _NUMBERS or node.kind == "boolean":
            values = self._values[node.cell]
            return bool((values == values[0]).all())
        return bool(self._kernel.lib.avro_same(self._source, self._cells, node.cell))

    def _gathered(self, node: Node) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
        offsets = np.empty(self.count + 1, dtype=np.int32)
        content = np.empty(int(self._sizes[node.cell]), dtype=np.uint8)
        buffer = self._kernel.ffi.from_buffer
        held = buffer("int32_t[]", offsets), buffer("uint8_t[]", content)
        self._kernel.lib.avro_gather(self._source, self._cells, node.cell, *held)
        return offsets, content
