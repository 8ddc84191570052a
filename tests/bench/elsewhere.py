"""How much of the machine's cores other work had meanwhile: what makes a ratio of two walls meaningless."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tests.support.process_tree import descendants

TOO_MUCH = 0.5
"""Share of the cores from which on ratios are told but not judged."""
_IDLE, _WAITING = 3, 4


@dataclass(frozen=True)
class Moment:
    """What the kernel has counted so far, in its ticks.

    Attributes:
        passed: on all cores together; busy: of that, with any work; own: with this process and all below it.
    """

    passed: int
    busy: int
    own: int

    def share_elsewhere(self, later: Moment) -> float:
        """Of the cores' time from here to a later moment, what other work than this process' had; 0 to 1."""
        passed = later.passed - self.passed
        elsewhere = later.busy - self.busy - (later.own - self.own)
        return max(0.0, elsewhere / passed) if passed else 0.0


def now() -> Moment:
    """This moment."""
    passed, busy = cores_ticks(Path("/proc/stat").read_text())
    own = 0
    for pid in (os.getpid(), *descendants(os.getpid())):
        try:
            own += process_ticks(Path(f"/proc/{pid}/stat").read_text())
        except OSError:
            continue
    return Moment(passed, busy, own)


def cores_ticks(stat: str) -> tuple[int, int]:
    """Ticks that passed and those with work, of the text of ``/proc/stat``; guests are counted among the users."""
    ticks = [int(word) for word in stat.splitlines()[0].split()[1:9]]
    return sum(ticks), sum(ticks) - ticks[_IDLE] - ticks[_WAITING]


def process_ticks(stat: str) -> int:
    """Ticks of a process and of the children that it has waited for, of the text of ``/proc/<pid>/stat``."""
    return sum(int(word) for word in stat.rpartition(")")[2].split()[11:15])
