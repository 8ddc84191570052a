"""Members of a scan that are no columns of a row."""

from __future__ import annotations

from types import UnionType
from typing import Any

import msgspec
import pyarrow as pa

from connectors.debezium.json_kernel import gather
from connectors.debezium.json_kernel.scan import Scan, Slot


class Value:
    """A member that is no column.

    Args:
        annotation: what msgspec decodes it as where it is there.
    """

    def __init__(self, slot: Slot, annotation: type | UnionType) -> None:
        self._slot = slot
        self._annotation = annotation
        whole = annotation if slot.required else annotation | None
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(whole)

    def read(self, scan: Scan) -> list[Any]:
        """Its value in each record, as Python has it."""
        found = self.column(scan)
        values: list[Any] = found.to_pylist() if isinstance(found, pa.Array) else found
        return values

    def column(self, scan: Scan) -> list[Any] | pa.Array:
        """The same, with numbers and texts left to Arrow; a value that all records have is decoded once."""
        if scan.is_same(self._slot):
            return gather.repeated(scan, self._slot, self._decoder)
        if self._annotation is int:
            return gather.integers(scan, self._slot, pa.int64())
        if self._annotation is str:
            return gather.texts(scan, self._slot)
        return gather.decoded(scan, self._slot, self._decoder)
