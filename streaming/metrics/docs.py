"""Writes ``docs/metrics.md`` from the catalogue: ``python -m streaming.metrics.docs docs/metrics.md``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import assert_never

from streaming.metrics.catalogue import CATALOGUE
from streaming.metrics.kafka_watch import LONGEST_LOOK
from streaming.metrics.metric import Combine, Kind, Metric

_HEADER = """\
# Metrics

<!-- Written by `make docs-metrics` from streaming/metrics/catalogue.py; change it there. -->

With `http.port` set ([configuration](configuration.md#http)), the running bridge answers Prometheus at `/metrics`. The
same port has the probes `/livez`, `/readyz` and `/startupz`, and a status page for people at `/`. Nothing there waits
for the micro-batch in hand, and nothing there holds it up. After an error that only a person can mend `/livez` fails
and the server goes on for `http.linger`, so that Prometheus and people read why; then the process ends.

- **Labels** are bounded: tables, topics, partitions, and short codes. A row's key is never one.
- **Many tables.** Above `metrics.max_tables` tables, or with `metrics.per_table: false`, one series labelled `*` stands
  for all of them, combined as the last column says; above as many partitions, likewise for topics and partitions.
  `bridge_metrics_aggregated` tells.
- **Counters** count since the process started, but where the text says otherwise. The series of a table that the
  ledger does not know any more disappear.
- **What is not known has no series**: lag before Kafka was first looked at, the mirrored database's progress without
  access to it.
- Kafka is looked at every `metrics.kafka_interval`, beside the job; what has landed since then does not count as
  waiting. One look reads at most {longest} records to tell how old they are, the first that waits of each partition, of
  those that are furthest behind. Where records wait in more partitions than that, lag and headroom in seconds are not
  known of the others; in offsets they are.
- **A connector that has died** leaves `source_to_kafka` as it was: nothing lands that could tell. What tells is
  `bridge_source_silence_seconds`, which means a fault where heartbeats are read, and, with `source.connect`,
  `bridge_connector_trouble`: Kafka Connect is asked every `source.connect.interval`. Brokers before 3.0 do not tell the
  newest record's time, nor does every service that speaks Kafka's protocol; the silence is then not known, or, where
  it was told before, counted from the look that last found the end of a topic moved.
- **Tasks run side by side**: the steps of `bridge_task_seconds` add up to the time of all tasks, of which a batch waits
  for the slowest only, in the stage `land` or `merge`. Whether an upload is whole is seen in the stage `publish`, by
  the length that the storage tells, before the rename.
- `process_*` are Prometheus' usual figures of a process; a histogram has `_bucket`, `_sum` and `_count`.
"""


def reference() -> str:
    """The text of ``docs/metrics.md``."""
    return _HEADER.format(longest=LONGEST_LOOK) + "\n".join(_sections()) + "\n"


def _sections() -> Iterator[str]:
    for title, metrics in CATALOGUE:
        yield ""
        yield f"## {title}"
        yield ""
        yield "| Metric | Kind | Unit | Labels | Meaning | All in one |"
        yield "|---|---|---|---|---|---|"
        yield from map(_row, metrics)


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return (
        f"| `{metric.name}` | {metric.kind} | {metric.unit} | {labels} | {metric.help.replace('|', chr(92) + '|')} | "
        f"{_combined(metric)} |"
    )


def _combined(metric: Metric) -> str:
    match metric.combine:
        case Combine.NONE:
            return ""
        case Combine.SUM:
            return "number of tables" if metric.kind is Kind.GAUGE and metric.unit == "0 or 1" else "sum"
        case Combine.MAX:
            return "the longest"
        case Combine.MIN:
            return "the shortest"
        case _:
            assert_never(metric.combine)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
