"""Where a task's time goes, step by step."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

_T = TypeVar("_T")


class Step(enum.StrEnum):
    """What a task does with records, in this order, or waits for: reading and encoding go on beside the others."""

    READ = "read"
    DECODE = "decode"
    ORDER = "order"
    ENCODE = "encode"
    STAGE = "stage"


class Steps:
    """Seconds per step; a step within another counts for itself alone.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._within: list[float] = []
        self.seconds: dict[str, float] = {}

    @contextmanager
    def measured(self, step: Step) -> Iterator[None]:
        """Count the time within, but for that of steps within; also of one that fails."""
        began = self._clock()
        self._within.append(0.0)
        try:
            yield
        finally:
            took = self._clock() - began
            self.seconds[step.value] = self.seconds.get(step.value, 0.0) + took - self._within.pop()
            if self._within:
                self._within[-1] += took

    def taken(self) -> dict[str, float]:
        """The seconds since the last call."""
        seconds, self.seconds = self.seconds, {}
        return seconds

    def measured_each(self, step: Step, items: Iterable[_T]) -> Iterator[_T]:
        """The items; what it takes to get each is counted."""
        each = iter(items)
        while True:
            with self.measured(step):
                try:
                    item = next(each)
                except StopIteration:
                    return
            yield item


def added(*taken: Mapping[str, float]) -> dict[str, float]:
    """The seconds of each step, together."""
    together: dict[str, float] = {}
    for seconds in taken:
        for step, some in seconds.items():
            together[step] = together.get(step, 0.0) + some
    return together
