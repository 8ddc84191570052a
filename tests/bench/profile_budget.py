"""The budget: the processor's time that the kernel counted, divided among the stages by the samples.

Each kind of process has the seconds that the kernel counted for it, and its samples only say how they divide. So the
stages' seconds add up to those of the run, whatever a profiler missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tests.bench.arithmetic import MILLION
from tests.bench.profile_stacks import Kind
from tests.bench.profile_stages import Part

_Key = TypeVar("_Key")


@dataclass(frozen=True)
class Profile:
    """One run under both profilers.

    Attributes:
        wall, cpu: seconds of the whole run, cpu as the kernel counted it for all of its processes.
        kernel: seconds of the processor that it counted for each kind of process, up to the last look at them.
        samples: by kind and stage; those that wait are left out.
        sampled: seconds that the samples of a kind stand for, by the profiler's own rate.
        stages, steps: seconds by the bridge's own histograms of its stages and of the steps of its tasks.
    """

    records: int
    wall: float
    cpu: float
    kernel: dict[Kind, float]
    samples: dict[Kind, dict[Part, int]]
    sampled: dict[Kind, float]
    stages: dict[str, float]
    steps: dict[str, float]


Seconds = Mapping[tuple[Part, Kind | None], float]
"""By stage and kind of process; None for those of processes that were not sampled."""


@dataclass(frozen=True)
class Line:
    """A stage of the budget.

    Attributes:
        warm: microseconds of the processor for each record beyond the smaller size, by kind of process.
        start: seconds that a run has whatever its size.
    """

    part: Part
    warm: dict[Kind | None, float]
    start: float

    @property
    def total(self) -> float:
        """Microseconds of all kinds."""
        return sum(self.warm.values())


@dataclass(frozen=True)
class Budget:
    """All stages.

    Attributes:
        warm, start: as the kernel counted them for the whole runs; the lines add up to these.
    """

    lines: tuple[Line, ...]
    warm: float
    start: float


def seconds(profile: Profile) -> Seconds:
    """How the processor's seconds of a run divide. They add up to ``profile.cpu``."""
    found: dict[tuple[Part, Kind | None], float] = {}
    for kind, counted in profile.kernel.items():
        parts = profile.samples.get(kind, {}) or {Part.UNMATCHED: 1}
        together = sum(parts.values())
        for part, samples in parts.items():
            found[part, kind] = counted * samples / together
    found[Part.UNSAMPLED, None] = profile.cpu - sum(profile.kernel.values())
    return found


def budget(profiles: Sequence[Profile]) -> Budget:
    """What a record costs beyond the smaller size, and what is left of the smaller size: start-up.

    Several runs of a size count with their mean, stage by stage, so that the sum stays the sum.

    Raises:
        ValueError: the profiles are not of two sizes.
    """
    sizes = sorted({each.records for each in profiles})
    if len(sizes) != 2:
        raise ValueError(f"a budget needs runs of two sizes, not of {sizes}")
    small, large = ([each for each in profiles if each.records == size] for size in sizes)
    fewer, more = _mean([seconds(each) for each in small]), _mean([seconds(each) for each in large])
    warm = {key: (more.get(key, 0.0) - fewer.get(key, 0.0)) / (sizes[1] - sizes[0]) for key in {**fewer, **more}}
    start = {key: fewer.get(key, 0.0) - warm[key] * sizes[0] for key in warm}
    lines = tuple(
        Line(
            part,
            {kind: warm[part, kind] * MILLION for kind in (*Kind, None) if (part, kind) in warm},
            sum(some for (of, _), some in start.items() if of is part),
        )
        for part in Part
        if any(of is part for of, _ in warm)
    )
    cpus = [sum(each.cpu for each in runs) / len(runs) for runs in (small, large)]
    marginal = (cpus[1] - cpus[0]) / (sizes[1] - sizes[0])
    return Budget(lines, marginal * MILLION, cpus[0] - marginal * sizes[0])


def unmatched(profile: Profile) -> float:
    """Share of all samples that no pattern knows."""
    everything = sum(sum(parts.values()) for parts in profile.samples.values())
    unknown = sum(parts.get(Part.UNMATCHED, 0) for parts in profile.samples.values())
    return unknown / everything if everything else 1.0


def walls(profiles: Sequence[Profile], of: str) -> dict[str, tuple[float, float]]:
    """Of the histogram ``stages`` or ``steps``: seconds of the larger size, and microseconds for each record beyond
    the smaller one."""
    sizes = sorted({each.records for each in profiles})
    fewer, more = (
        _mean([getattr(each, of) for each in profiles if each.records == size]) for size in (sizes[0], sizes[-1])
    )
    beyond = max(1, sizes[-1] - sizes[0])
    return {name: (took, (took - fewer.get(name, 0.0)) / beyond * MILLION) for name, took in more.items()}


def _mean(several: Sequence[Mapping[_Key, float]]) -> dict[_Key, float]:
    keys = {key: None for each in several for key in each}
    return {key: sum(each.get(key, 0.0) for each in several) / len(several) for key in keys}
