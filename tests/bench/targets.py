"""What the benchmark is held against: ratios with a target each, and the verdict on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.bench.arithmetic import Summary, ratio
from tests.bench.results import Facts
from tests.bench.workloads import Contender

Found = Mapping[tuple[str, Contender], Summary]
Measure = Callable[[Found, Mapping[str, Facts]], float | None]
FAIL_BELOW = 0.5
"""Share of a target below which a ratio is a failure: ratios on a shared machine vary, by less than that."""


@dataclass(frozen=True)
class Target:
    """A ratio to reach, or a figure not to exceed.

    Attributes:
        value: to reach; stretch: what would be better still, None for nothing.
        at_most: whether less is better.
    """

    name: str
    about: str
    value: float
    stretch: float | None = None
    at_most: bool = False

    def text(self) -> str:
        sign = "at most" if self.at_most else "at least"
        stretch = "" if self.stretch is None else f", stretch {self.stretch:g}"
        return f"{sign} {self.value:g}{stretch}"


@dataclass(frozen=True)
class Verdict:
    """A target and what was measured; None where a contender or a workload of it was not, or its figure is noise."""

    target: Target
    value: float | None

    @property
    def share(self) -> float | None:
        """How much of the target is reached: 1 exactly, less below."""
        if self.value is None:
            return None
        return self.target.value / self.value if self.target.at_most else self.value / self.target.value

    @property
    def failed(self) -> bool:
        """Below half of the target."""
        return self.share is not None and self.share < FAIL_BELOW

    def word(self) -> str:
        if self.share is None:
            return ""
        if self.share < 1:
            return "missed"
        stretch = self.target.stretch
        if stretch is None or self.value is None:
            return "reached"
        beyond = self.value <= stretch if self.target.at_most else self.value >= stretch
        return "stretch" if beyond else "reached"

    def line(self) -> str:
        """As `make bench-quick` prints it."""
        value = "unknown" if self.value is None else f"{self.value:.2f}"
        return f"ratio {self.target.name} {value} target {self.target.value:g}"


def verdicts(found: Found, facts: Mapping[str, Facts]) -> list[Verdict]:
    """The targets of which something was measured."""
    judged = [Verdict(target, measure(found, facts)) for target, measure in TARGETS]
    return [each for each in judged if each.value is not None]


def _warm(workload: str, over: Contender) -> Measure:
    """The bridge's warm rate over another contender's."""

    def measure(found: Found, facts: Mapping[str, Facts]) -> float | None:
        return ratio(_rate(found, workload, Contender.BRIDGE), _rate(found, workload, over))

    return measure


def _against(workload: str, base: str, *, cells: bool = False) -> Measure:
    """The bridge's warm rate on a workload over that on another one; of cells where columns differ."""

    def measure(found: Found, facts: Mapping[str, Facts]) -> float | None:
        of = ratio(_rate(found, workload, Contender.BRIDGE), _rate(found, base, Contender.BRIDGE))
        if of is None or not cells:
            return of
        return of * facts[workload].columns / facts[base].columns

    return measure


def _rate(found: Found, workload: str, contender: Contender) -> float | None:
    each = found.get((workload, contender))
    return None if each is None else each.warm


def _cpu(found: Found, facts: Mapping[str, Facts]) -> float | None:
    each = found.get(("one-table", Contender.BRIDGE))
    return None if each is None else each.warm_cpu


def _memory(found: Found, facts: Mapping[str, Facts]) -> float | None:
    each = found.get(("one-batch", Contender.BRIDGE))
    return None if each is None else ratio(each.worker, each.small_worker)


TARGETS: Sequence[tuple[Target, Measure]] = (
    (
        Target("one-table/limit", "one table: bridge over limit", 0.7, stretch=0.85),
        _warm("one-table", Contender.LIMIT),
    ),
    (
        Target("one-table/obvious", "one table: bridge over obvious job", 2.5),
        _warm("one-table", Contender.OBVIOUS),
    ),
    (
        Target("one-table/cpu", "one table: CPU seconds per million events", 10, stretch=7, at_most=True),
        _cpu,
    ),
    (
        Target("fifty-tables/obvious", "50 tables: bridge over obvious job", 15),
        _warm("fifty-tables", Contender.OBVIOUS),
    ),
    (
        Target("many-tables/obvious", "200 tables: bridge over obvious job", 50),
        _warm("many-tables", Contender.OBVIOUS),
    ),
    (
        Target("embedded-schema", "JSON with embedded schema over JSON without", 0.6),
        _against("embedded-schema", "one-table"),
    ),
    (Target("avro", "Avro over JSON", 1.3), _against("avro", "one-table")),
    (
        Target("eight-partitions", "one table over 8 partitions over one partition", 0.8),
        _against("eight-partitions", "one-table"),
    ),
    (Target("wide", "200 columns over 16, by cells", 1.0), _against("wide", "one-table", cells=True)),
    (
        Target("one-batch", "worker's memory: 1,000,000 rows a batch over 100,000", 3, at_most=True),
        _memory,
    ),
)
