"""How the running bridge is watched: the HTTP server and its metrics."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from pydantic import Field

from streaming.settings.scalars import Duration
from streaming.settings.section import KeyPath, Section


class Http(Section):
    """The server for probes (`/livez`, `/readyz`, `/startupz`), Prometheus (`/metrics`) and a status page (`/`)."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on; 0.0.0.0 for all, as in a container. Anyone who reaches it sees the tables' names."""
    port: int | None = Field(default=None, ge=0, le=65_535, examples=[8080])
    """Port to listen on; 0 takes a free one. Without it there is no server."""
    stuck_after: Duration = timedelta(minutes=30)
    """How long a micro-batch or a start may take, or records wait beyond the trigger, until `/livez` says stuck."""
    linger: Duration = timedelta(seconds=75)
    """How long the server goes on after an error that only a person can mend, so that Prometheus reads it and the page
    shows it, before the process ends. A signal ends it at once; `run --once` and 0s do not wait."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.stuck_after <= timedelta(0):
            yield ("stuck_after",), "must be longer than 0s"


class Metrics(Section):
    """What `/metrics` shows; every metric is described in [Metrics](metrics.md)."""

    per_table: bool = True
    """Whether each table and partition has series of its own; false lets one series, labelled `*`, stand for all."""
    max_tables: int = Field(default=1_000, ge=1)
    """Tables, and likewise partitions, up to which each has series of its own; beyond, one series stands for all."""
    kafka_interval: Duration = timedelta(seconds=30)
    """Time between two looks at Kafka's ends, from which the lag is told. Nothing is asked without `http.port`."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.kafka_interval < timedelta(seconds=1):
            yield ("kafka_interval",), "must be at least 1s"
