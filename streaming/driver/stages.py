"""How long the stages of a micro-batch take, and what its records were: figures for metrics, not for decisions."""

from __future__ import annotations

import enum
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from streaming.landing.steps import added
from streaming.plan import PartitionResult
from streaming.task.results import Results


class Stage(enum.StrEnum):
    """What a driver's time goes to."""

    PLAN = "plan"
    LAND = "land"
    MERGE = "merge"
    COMMIT = "commit"
    PUBLISH = "publish"
    CHORES = "chores"


class Stages:
    """Seconds per stage of one micro-batch; a stage that is entered again adds to what it has.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.seconds: dict[Stage, float] = {}

    @contextmanager
    def measured(self, stage: Stage) -> Iterator[None]:
        """Count the time within; also of a stage that fails."""
        began = self._clock()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + self._clock() - began


@dataclass(frozen=True)
class BatchFigures:
    """What a micro-batch came to beside its files.

    Attributes:
        stages: seconds per stage.
        steps: seconds per step of the tasks of the attempt that was committed, all of them together.
        counters: what its version adds to the ledger's totals, and what its tables count beside them.
        partitions: what became of each partition's records; none where the stream has counted them before.
    """

    stages: Mapping[Stage, float] = field(default_factory=dict)
    counters: Mapping[str, int] = field(default_factory=dict)
    partitions: tuple[PartitionResult, ...] = ()
    steps: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, stages: Stages, counters: Mapping[str, int], results: Results) -> BatchFigures:
        """The figures of the attempt that was committed, and the time of all attempts."""
        steps = added(*(each.seconds for each in results.partitions), *(each.seconds for each in results.tables))
        return cls(dict(stages.seconds), _counted(counters, results), results.partitions, steps)

    @classmethod
    def beside(cls, counters: Mapping[str, int], results: Results) -> BatchFigures:
        """The figures of a chunk that a table catches up with; the stream has counted its records before."""
        return cls(counters=_counted(counters, results))


def _counted(counters: Mapping[str, int], results: Results) -> dict[str, int]:
    counted = Counter(counters)
    for table in results.tables:
        counted.update(table.figures)
    return dict(counted)
