"""Memory and processor's time of a running bridge by kind of process, looked at five times a second."""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.contender import high_water
from tests.support.process_tree import DRIVER, WORKER, descendants

EVERY_SECONDS = 0.2
KINDS = {"worker": WORKER, "java": DRIVER, "python": b""}
"""The command lines of a Python worker, of the driver's Java, and of all others: the driver's Python."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Look:
    """Seconds of the processor by kind, of all processes that there have been, at a moment in seconds since 1970."""

    at: float
    cpu: dict[str, float]


class Watch:
    """Looks at a process and all below it until :meth:`stop`."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._kind: dict[int, str] = {}
        self._seconds: dict[int, float] = {}
        self._kibibytes: dict[str, int] = {}
        self.looks: list[Look] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def peak(self, kind: str) -> int:
        """MiB of the largest process of a kind, by the kernel's own mark; 0 where there was none."""
        return self._kibibytes.get(kind, 0) >> 10

    def _watch(self) -> None:
        while not self._over.wait(EVERY_SECONDS):
            for pid in (self._root, *descendants(self._root)):
                self._look_at(pid)
            cpu = dict.fromkeys(KINDS, 0.0)
            for pid, seconds in self._seconds.items():
                cpu[self._kind[pid]] += seconds
            self.looks.append(Look(time.time(), cpu))

    def _look_at(self, pid: int) -> None:
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            status = Path(f"/proc/{pid}/status").read_text()
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return  # it has ended
        # One that has ended and is not waited for yet has no command line any more.
        if line or pid not in self._kind:
            self._kind[pid] = next(name for name, mark in KINDS.items() if mark in line)
        kind = self._kind[pid]
        self._seconds[pid] = (int(fields[11]) + int(fields[12])) / _TICKS
        self._kibibytes[kind] = max(self._kibibytes.get(kind, 0), high_water(status))


def cpu_between(looks: Sequence[Look], begin: float, end: float) -> dict[str, float]:
    """Seconds of the processor by kind between two moments, as if it had run evenly between two looks.

    Raises:
        ValueError: there were no looks before and behind both.
    """
    if not looks or not looks[0].at <= begin <= end <= looks[-1].at:
        raise ValueError("the processes were not looked at for all of that time")
    return {kind: _at(looks, end, kind) - _at(looks, begin, kind) for kind in KINDS}


def _at(looks: Sequence[Look], moment: float, kind: str) -> float:
    behind = bisect_left([look.at for look in looks], moment)
    later = looks[behind]
    if later.at == moment:
        return later.cpu[kind]
    earlier = looks[behind - 1]
    share = (moment - earlier.at) / (later.at - earlier.at)
    return earlier.cpu[kind] + share * (later.cpu[kind] - earlier.cpu[kind])
