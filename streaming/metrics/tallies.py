"""Counts that only rise, by metric and labels: fed by the job's threads, read by those that answer Prometheus."""

from __future__ import annotations

import threading

from streaming.metrics.metric import Metric

Labels = tuple[str, ...]


class Tallies:
    """Counts since the process started.

    The lock is held for one addition or one copy, and nothing else is waited for while it is: no request can hold a
    micro-batch up.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[Metric, dict[Labels, float]] = {}

    def add(self, metric: Metric, amount: float, *labels: str) -> None:
        """Count ``amount`` more; ``labels`` in the metric's order. An amount of 0 makes the series known."""
        with self._lock:
            counts = self._counts.setdefault(metric, {})
            counts[labels] = counts.get(labels, 0.0) + amount

    def of(self, metric: Metric) -> dict[Labels, float]:
        """The metric's counts by labels."""
        with self._lock:
            return dict(self._counts.get(metric, {}))
