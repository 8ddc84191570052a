"""Every metric that the bridge exposes, in one order: code, documentation and dashboards read the same list.

Each is declared once, in :mod:`streaming.metrics.declared`, in the module of what it is about.
"""

from __future__ import annotations

from streaming.metrics.declared import durations, fabric, files, lag, process, records, source, tables
from streaming.metrics.metric import Metric

CATALOGUE: tuple[tuple[str, tuple[Metric, ...]], ...] = (
    ("Lag", lag.METRICS),
    ("Source", source.METRICS),
    ("Tables", tables.METRICS),
    ("Fabric", fabric.METRICS),
    ("Records read", records.METRICS),
    ("Files landed", files.METRICS),
    ("Time", durations.METRICS),
    ("Ledger and process", process.METRICS),
)
"""All metrics by topic, in the order of the documentation."""

METRICS: tuple[Metric, ...] = tuple(metric for _, metrics in CATALOGUE for metric in metrics)
