"""The pause between two micro-batches."""

from __future__ import annotations

from dataclasses import dataclass

_NEARLY = 0.9


@dataclass(frozen=True)
class Rest:
    """The pause after a micro-batch, which a full one has none of: as many records may be waiting for the next one.

    Attributes:
        seconds: between the starts of two micro-batches.
        full: records that a micro-batch takes at most; Spark parts them among partitions, and may take some fewer.
    """

    seconds: float
    full: int

    def after(self, records: int, took: float) -> float:
        """Seconds to wait after a micro-batch of so many records that took so many seconds."""
        return 0.0 if records >= self.full * _NEARLY else max(0.0, self.seconds - took)
