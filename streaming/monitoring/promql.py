"""Expressions of Prometheus, held against the catalogue: a name or label that no process exposes is an error here.

``$id`` in an expression stands for the labels that tell one bridge from another, see :data:`IDENTITY`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from streaming.metrics.catalogue import METRICS
from streaming.metrics.metric import Kind, Metric

IDENTITY = ("job", "namespace", "source")
"""Labels of a scraped bridge that outlive its process: a pod's name and address change, these stay."""

TARGET = frozenset({*IDENTITY, "instance", "pod", "container"})
"""Labels that Prometheus, or the Prometheus operator, adds to what it scrapes."""

_OTHERS: dict[str, frozenset[str]] = {
    "up": frozenset(),
    # Prometheus' own series of the alerts that fire.
    "ALERTS": frozenset({"alertname", "alertstate", "severity"}),
}
_PARTS = ("bucket", "sum", "count")
_KEYWORDS = {"and", "or", "unless", "by", "on", "offset", "bool"}
_FUNCTIONS = {
    *("sum", "max", "min", "count", "topk", "time", "round"),
    *("rate", "increase", "deriv", "changes", "predict_linear", "histogram_quantile"),
    *("last_over_time", "max_over_time", "min_over_time"),
}
_WORDS = _KEYWORDS | _FUNCTIONS
"""What is no series in an expression: keywords, and the functions that are used."""
_DURATION = r"\[[^\]]*\]|\boffset\s+\w+"
_GROUPING = r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)"
_TEXT = r'"[^"]*"'
_MATCHER = re.compile(rf"(\w+)\s*(?:=~|!~|!=|=)\s*(?={_TEXT})")
_SERIES = re.compile(r"(?<![\w:.$])(?P<name>[a-zA-Z_][\w:]*)(?:\{(?P<matchers>[^}]*)\})?")


class UnknownSeriesError(ValueError):
    """An expression reads a series, or a label, that the bridge does not expose."""


def exposed() -> dict[str, frozenset[str]]:
    """The labels of each series that a process exposes, by its name; ``process_*`` are Prometheus' own."""
    return {name: frozenset(labels) for metric in METRICS for name, labels in _series(metric)}


def expression(text: str, recorded: dict[str, frozenset[str]] | None = None) -> str:
    """The expression as Prometheus takes it, on one line.

    Args:
        recorded: labels of series that recording rules make, by name.

    Raises:
        UnknownSeriesError: it reads what neither the catalogue nor ``recorded`` has.
    """
    written = re.sub(r"(?<=\() | (?=\))", "", " ".join(text.split())).replace("$id", ", ".join(IDENTITY))
    known = {**exposed(), **_OTHERS, **(recorded or {})}
    there: set[str] = {*TARGET, "le"}
    for name, matchers in _read(written):
        if name.startswith("process_"):
            continue
        if name not in known:
            raise UnknownSeriesError(f"no process exposes {name}: {written}")
        surplus = set(_MATCHER.findall(matchers)) - known[name] - TARGET
        if surplus:
            raise UnknownSeriesError(f"{name} has no label {', '.join(sorted(surplus))}: {written}")
        there |= known[name]
    grouped = {label for labels in re.findall(_GROUPING, written) for label in re.findall(r"\w+", labels)}
    if grouped - there:
        raise UnknownSeriesError(f"none of its series has {', '.join(sorted(grouped - there))}: {written}")
    return written


def names_in(text: str) -> set[str]:
    """The series that an expression reads."""
    return {name for name, _ in _read(text)}


def grown(counter: Metric, label: str) -> str:
    """By how much a counter has grown within about 20 minutes, per bridge and ``label``.

    A series that begins counts from 0, which ``increase`` alone misses: a reason that was never met before has no
    series before its first value. It begins where it was not there for a day, or where its process is that young: after
    a while without scrapes an old one goes on, and is nothing new. What a process told last counts for 10 minutes after
    its end: one that ends with an error is there for a scrape or two.
    """
    name = counter.name
    young = "on (job, instance) time() - last_over_time(bridge_start_timestamp_seconds[10m]) < 1200"
    return f"""
        sum by ($id, {label}) (
            last_over_time({name}[10m])
            unless last_over_time({name}[5m] offset 15m)
            unless (last_over_time({name}[1d] offset 15m) unless {young})
            or increase({name}[20m])
        )
    """


def _series(metric: Metric) -> Iterator[tuple[str, tuple[str, ...]]]:
    if metric.kind is not Kind.HISTOGRAM:
        yield metric.name, metric.labels
        return
    for part in _PARTS:
        yield f"{metric.name}_{part}", (*metric.labels, *(["le"] if part == "bucket" else []))


def _read(text: str) -> Iterator[tuple[str, str]]:
    bare = re.sub(f"{_DURATION}|{_GROUPING}", " ", text)
    for found in _SERIES.finditer(re.sub(_TEXT, '""', bare)):
        if found["name"] not in _WORDS:
            yield found["name"], found["matchers"] or ""
