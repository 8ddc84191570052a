"""From what is known to what Prometheus reads; one pass per request, over plain values."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import astuple
from typing import assert_never

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from streaming.metrics.build import Build
from streaming.metrics.catalogue import METRICS
from streaming.metrics.declared import process
from streaming.metrics.metric import Kind, Metric
from streaming.metrics.observed import Observed
from streaming.metrics.sample import Sample
from streaming.metrics.samples import combined, samples
from streaming.metrics.tallies import Tallies
from streaming.printable import one_line

_log = logging.getLogger(__name__)

TABLES, PARTITIONS = "tables", "partitions"
_LABELS = {TABLES: ("table",), PARTITIONS: ("topic", "partition")}


class Exposition(Collector):
    """Collects everything of the catalogue but the histograms, which are in the registry themselves.

    Series of a table that the ledger does not know any more are left out. Where there are more tables than ``bound``,
    one series stands for all of them, labelled ``*``; and likewise for topics and partitions.

    Args:
        observe: what is known now.
        per_table: False lets one series stand for all tables, and all partitions, however many there are.
    """

    def __init__(
        self, observe: Callable[[], Observed], tallies: Tallies, build: Build, *, per_table: bool, bound: int
    ) -> None:
        self._observe = observe
        self._tallies = tallies
        self._build = build
        self._per_table = per_table
        self._bound = bound
        self._told: frozenset[str] = frozenset()

    def describe(self) -> list[Family]:
        """Nothing: the names are those of the catalogue, and no other collector has them."""
        return []

    def collect(self) -> Iterator[Family]:
        """All metrics in the catalogue's order."""
        observed = self._observe()
        over = self._aggregated(observed)
        labels = frozenset(label for kind in over for label in _LABELS[kind])
        told = samples(observed, per_table=TABLES not in over, per_partition=PARTITIONS not in over)
        found = [*told, *self._counted(observed)]
        found += [Sample(process.AGGREGATED, kind in over, (kind,)) for kind in (TABLES, PARTITIONS)]
        found.append(Sample(process.BUILD_INFO, 1, astuple(self._build)))
        by_metric: dict[Metric, list[Sample]] = {}
        for sample in combined(found, labels) if labels else found:
            by_metric.setdefault(sample.metric, []).append(sample)
        for metric in METRICS:
            if metric.kind is not Kind.HISTOGRAM:
                yield _family(metric, by_metric.get(metric, []))

    def _counted(self, observed: Observed) -> Iterator[Sample]:
        known = {} if observed.state is None else observed.state.tables
        for metric in METRICS:
            if metric.kind is not Kind.COUNTER:
                continue
            counts = self._tallies.of(metric)
            if not metric.labels and not counts:
                counts = {(): 0.0}
            for labels, count in counts.items():
                if "table" not in metric.labels or labels[metric.labels.index("table")] in known:
                    yield Sample(metric, count, labels)

    def _aggregated(self, observed: Observed) -> frozenset[str]:
        """What one series stands for all of; said in the log when it changes because of their number."""
        if not self._per_table:
            return frozenset({TABLES, PARTITIONS})
        counts = {
            TABLES: 0 if observed.state is None else len(observed.state.tables),
            PARTITIONS: 0
            if observed.kafka is None
            else sum(len(topic.partitions) for topic in observed.kafka.topics.values()),
        }
        over = frozenset(kind for kind, count in counts.items() if count > self._bound)
        for kind in sorted(over - self._told):
            _log.warning(
                "metrics: one series stands for all %s from now on, since there are %s and metrics.max_tables is %s",
                kind,
                f"{counts[kind]:,}",
                f"{self._bound:,}",
            )
        self._told = over
        return over


def _family(metric: Metric, found: list[Sample]) -> Family:
    family: CounterMetricFamily | GaugeMetricFamily
    match metric.kind:
        case Kind.COUNTER:
            family = CounterMetricFamily(metric.name.removesuffix("_total"), metric.help, labels=metric.labels)
        case Kind.GAUGE | Kind.INFO | Kind.HISTOGRAM:
            family = GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
        case _:
            assert_never(metric.kind)
    for sample in found:
        family.add_metric([one_line(label) for label in sample.labels], sample.value)
    return family
