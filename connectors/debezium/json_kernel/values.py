"""Members of a scan that are no columns, as Python values."""

from __future__ import annotations

from types import UnionType
from typing import Any

import msgspec

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
        """Its value in each record; one that all of them have is decoded once."""
        if scan.is_same(self._slot):
            return gather.repeated(scan, self._slot, self._decoder)
        if self._annotation is int:
            return gather.integer_values(scan, self._slot)
        if self._annotation is str:
            texts: list[str | None] = gather.texts(scan, self._slot).to_pylist()
            return texts
        return gather.decoded(scan, self._slot, self._decoder)
