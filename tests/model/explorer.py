"""Every schedule within bounds, each moment once.

The exploration is depth first and without memory of states: a schedule is a list of choices, and a run replays it from
its world. Two moments with the same disks, the same requests on their way, and the same answers heard by every process
have the same future, so a run that comes to a moment which was met with at least as much left to go wrong is given up.
Where no process is alive, a world begins of which only the disks count: however many crashes led there, it is explored
once. So within its bounds an exploration is complete.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field

from tests.model.moves import Stop
from tests.model.process import small_world
from tests.model.schedule import Run
from tests.model.world import Bounds, World


@dataclass(frozen=True)
class Finding:
    """A promise that was broken, and how."""

    error: BaseException
    told: tuple[str, ...]

    def __str__(self) -> str:
        steps = "\n".join(f"  {number}. {step}" for number, step in enumerate(self.told, 1))
        where = "".join(traceback.format_exception(self.error))
        return f"{type(self.error).__name__}: {self.error}\n{steps}\n{where}"


@dataclass
class Explored:
    """What an exploration came to.

    Attributes:
        runs: schedules that were replayed; moments: different ones that were met, each with every promise looked at.
        worlds: different disks between two lives; seconds: of one core.
    """

    bounds: Bounds
    runs: int = 0
    moments: int = 0
    worlds: int = 0
    seconds: float = 0.0
    finding: Finding | None = None


@dataclass
class _Seen:
    """The moments that were met, by a hash of 64 bits: of a million, two are taken for one once in 10 million times."""

    met: dict[int, list[tuple[Bounds, frozenset[str]]]] = field(default_factory=dict)

    def is_new(self, key: tuple[object, ...], left: Bounds, asleep: frozenset[str]) -> bool:
        """Whether this moment was not met with as much left to go wrong and as many awake; notes it."""
        before = self.met.setdefault(hash(key), [])
        if any(
            slept <= asleep and all(had >= has for had, has in zip(each, left, strict=True)) for each, slept in before
        ):
            return False
        before.append((left, asleep))
        return True


def explore(bounds: Bounds) -> Explored:
    """Run every schedule within the bounds; ends at the first promise that is broken."""
    began = time.process_time()
    explored = Explored(bounds)
    seen = _Seen()
    worlds = [World(bounds, troubled=bounds.faults + bounds.preemptions > 0)]
    with small_world():
        while worlds and explored.finding is None:
            begin = worlds.pop()
            explored.worlds += 1
            _explore_from(begin, seen, worlds, explored)
    explored.moments = len(seen.met)
    explored.seconds = time.process_time() - began
    return explored


class _Schedule:
    """The choices of one run: those given, then the first option at each moment that is new.

    Attributes:
        others: schedules that begin like this one and then take another option.
    """

    def __init__(self, begin: World, given: bytes, seen: _Seen) -> None:
        self.run = Run(begin.copied(), self._choose)
        self.others: list[bytes] = []
        self._given = given
        self._seen = seen
        self._taken = bytearray()

    def _choose(self, key: tuple[object, ...], asleep: frozenset[str], options: int) -> int:
        at = len(self._taken)
        if at < len(self._given):
            self._taken.append(self._given[at])
            return self._given[at]
        if not self._seen.is_new(key, self.run.world.left, asleep) or not options:
            raise Stop
        self.others.extend(bytes((*self._taken, other)) for other in range(options - 1, 0, -1))
        self._taken.append(0)
        return 0


def _explore_from(begin: World, seen: _Seen, worlds: list[World], explored: Explored) -> None:
    given: list[bytes] = [b""]
    while given:
        schedule = _Schedule(begin, given.pop(), seen)
        run = schedule.run
        run.go()
        given += schedule.others
        explored.runs += 1
        if run.broken is not None:
            explored.finding = Finding(run.broken, (*begin.told, *run.told))
            return
        if not run.stopped and not run.ended:
            run.world.told = (*begin.told, *run.told)
            worlds.append(run.world)
