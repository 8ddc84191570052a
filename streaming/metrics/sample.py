"""One value of one metric."""

from __future__ import annotations

from dataclasses import dataclass

from streaming.metrics.metric import Metric
from streaming.metrics.tallies import Labels


@dataclass(frozen=True)
class Sample:
    """One value of one metric; ``labels`` in the metric's order."""

    metric: Metric
    value: float
    labels: Labels = ()
