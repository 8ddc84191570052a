"""Memory of a bridge's processes over time, from /proc."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from tests.support.process_tree import DRIVER, WORKER, resident_mebibytes

_EVERY_S = 0.25
OWN = b""
"""The driver's Python."""
JAVA_MIB = 2 * 1024 + 100
"""What a Java of the default heap, 1 GiB, may come to: the rule of docs/scale-out.md."""
KINDS = {WORKER: "Python worker", DRIVER: "driver's Java", OWN: "driver's Python"}


@dataclass(frozen=True)
class Sample:
    """The largest resident size of a process of each kind at one moment.

    Attributes:
        at_ms: wall clock, milliseconds since 1970; mebibytes: by kind, see :data:`KINDS`.
    """

    at_ms: float
    mebibytes: dict[bytes, int]


class MemorySamples:
    """Samples of the processes below a process, four a second, until :meth:`stop`."""

    def __init__(self, pid: int) -> None:
        self.samples: list[Sample] = []
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_EVERY_S):
            self.samples.append(Sample(time.time() * 1000, resident_mebibytes(self._pid)))


def peaks(samples: Iterable[Sample], begin_ms: float, end_ms: float) -> dict[bytes, int]:
    """The largest size of each kind within a time; empty if nothing was seen."""
    largest: dict[bytes, int] = {}
    for sample in samples:
        if begin_ms <= sample.at_ms < end_ms:
            for kind, size in sample.mebibytes.items():
                largest[kind] = max(largest.get(kind, 0), size)
    return largest
