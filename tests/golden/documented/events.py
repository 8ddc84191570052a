"""Events of one table, each row said once: as it is sent and as it must be decoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.golden.documented.stream import Column, Row, Sent, key_only


@dataclass(frozen=True)
class Image:
    """A row as it is sent and as it must be decoded."""

    sent: Row
    decoded: Row

    def but(self, **changed: Any) -> Image:
        """The row with other values, which are decoded as they are sent."""
        return Image({**self.sent, **changed}, {**self.decoded, **changed})


@dataclass(frozen=True)
class Events:
    """The events of a table by its columns and its key column.

    Of each event: ``at``, what differs from the table's ``source`` block, and ``position``, both words; ``more`` are
    further attributes of :class:`Sent`.
    """

    columns: Sequence[Column]
    key: str

    def read(self, row: Image, at: Mapping[str, Any], position: tuple[int, int]) -> Sent:
        """A row of a snapshot."""
        return Sent("r", None, row.sent, at, self._key(row), position, row.decoded)

    def create(self, row: Image, at: Mapping[str, Any], position: tuple[int, int], **more: Any) -> Sent:
        return Sent("c", None, row.sent, at, self._key(row), position, row.decoded, **more)

    def update(
        self, before: Image | None, after: Image, at: Mapping[str, Any], position: tuple[int, int], **more: Any
    ) -> Sent:
        """``before`` is None where the connector sends no row before."""
        image = None if before is None else before.sent
        return Sent("u", image, after.sent, at, self._key(after), position, after.decoded, **more)

    def delete(self, row: Image, at: Mapping[str, Any], position: tuple[int, int], **more: Any) -> Sent:
        """Decoded to the key alone."""
        key = self._key(row)
        return Sent("d", row.sent, None, at, key, position, key_only(self.columns, **key), **more)

    def truncate(self, at: Mapping[str, Any], position: tuple[int, int]) -> Sent:
        return Sent("t", None, None, at, None, position, key_only(self.columns))

    def _key(self, row: Image) -> dict[str, Any]:
        return {self.key: row.sent[self.key]}
