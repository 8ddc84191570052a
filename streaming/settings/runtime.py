"""How the job runs: trigger, Spark, retries, order, logging."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from datetime import timedelta

from pydantic import Field

from streaming.settings.scalars import Duration, OptionText, Size, format_duration
from streaming.settings.secrets import SECRET
from streaming.settings.section import KeyPath, Section

_MEBIBYTE = 1 << 20
_ADAPTING_TICK = timedelta(seconds=1)
_LEAST_ADAPTING = timedelta(seconds=5)
_SPARKS_MAX_DELAY = timedelta(minutes=15)
_MASTER = re.compile(r"local|local\[(\*|\d+)\]|local-cluster\[\d+,\d+,\d+\]|spark://.+|k8s://.+|yarn")


class LogFormat(enum.StrEnum):
    """Text for people, JSON lines for log collectors."""

    TEXT = "text"
    JSON = "json"


class LogLevel(enum.StrEnum):
    """Least severity that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Trigger(Section):
    """When a micro-batch starts and how much it takes."""

    interval: Duration = timedelta(seconds=30)
    """Time between the starts of two micro-batches while fewer than max_offsets records wait; 0s starts the next one at
    once."""
    max_offsets: int = Field(default=1_000_000, ge=1)
    """Records that a micro-batch takes at most. Where as many wait, the next one starts at once, but with an interval
    below 5s or with min_offsets."""
    min_offsets: int | None = Field(default=None, ge=1, examples=[10_000])
    """Records that a micro-batch waits for, from interval to interval, but not longer than max_delay."""
    max_delay: Duration | None = Field(default=None, examples=["5m"])
    """How long a micro-batch waits for min_offsets; 15m without it."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.max_delay is not None and self.min_offsets is None:
            yield ("max_delay",), "has no effect without min_offsets: set it, or remove max_delay"
        if self.max_delay is not None and self.max_delay <= timedelta(0):
            yield ("max_delay",), "must be longer than 0s"
        if self.min_offsets is not None and self.min_offsets > self.max_offsets:
            yield ("min_offsets",), f"is more than max_offsets ({self.max_offsets})"

    @property
    def tick(self) -> timedelta:
        """How often Kafka is asked for new records while none have come."""
        return _ADAPTING_TICK if self._adapts else self.interval

    @property
    def rest(self) -> timedelta:
        """Time between the starts of two micro-batches that Spark is not told of."""
        return self.interval if self._adapts else timedelta(0)

    @property
    def longest_pause(self) -> timedelta:
        """How long records may wait in Kafka until a query that is well begins a micro-batch."""
        delay = timedelta(0) if self.min_offsets is None else self.max_delay or _SPARKS_MAX_DELAY
        return self.tick + self.rest + delay

    @property
    def _adapts(self) -> bool:
        # Spark waits for the end of a trigger's interval also where more is waiting.
        return self.min_offsets is None and self.interval >= _LEAST_ADAPTING


class Spark(Section):
    """The Spark session."""

    master: str = "local[*]"
    """Spark master: local[*] runs everything in this process' machine; or a cluster's URL."""
    driver_memory: Size = Field(default=1 << 30, ge=512 * _MEBIBYTE)
    """Heap of the driver's Java process; Python workers need memory beside it."""
    ui: bool = False
    """Whether Spark's web interface is served: without a login; on 127.0.0.1, but on a cluster on all of the driver's
    addresses."""
    conf: dict[str, OptionText] = Field(default={}, repr=False, examples=[{"spark.executor.memory": "2g"}])
    """Further Spark properties; they win over the bridge's own."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if not _MASTER.fullmatch(self.master):
            yield (
                ("master",),
                "is not a Spark master: write local[*], local[4], spark://host:7077, k8s://https://host:443 or yarn",
            )
        for key in self.conf:
            if not key.startswith("spark."):
                yield ("conf", key), "is not a Spark property: its name starts with spark."
        owned = {
            "spark.master": "spark.master",
            "spark.driver.memory": "spark.driver_memory",
            "spark.ui.enabled": "spark.ui",
        }
        for key, instead in owned.items():
            if key in self.conf:
                yield ("conf", key), f"has a key of its own: set {instead}"
        for key in ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"):
            if SECRET.search(self.conf.get(key, "")):
                yield ("conf", key), "would show a secret in a command line: set the variable JDK_JAVA_OPTIONS instead"
        if "spark.jars" in self.conf:
            yield ("conf", "spark.jars"), "is set by the bridge itself: use spark.driver.extraClassPath"


class Retry(Section):
    """What follows a failure that may pass: the broker, the registry or the storage did not answer."""

    attempts: int = Field(default=10, ge=0)
    """Restarts in a row without a finished micro-batch before the job ends with the error."""
    backoff: Duration = timedelta(seconds=2)
    """Pause before the first restart; doubled from one to the next."""
    max_backoff: Duration = timedelta(minutes=2)
    """Longest pause between two restarts."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.max_backoff < self.backoff:
            yield ("max_backoff",), f"is shorter than backoff ({format_duration(self.backoff)})"


class Requests(Section):
    """What people ask of the running bridge with pause, resume and resync."""

    interval: Duration = timedelta(seconds=5)
    """Time between two looks for requests, which lie in the state storage."""


class Ordering(Section):
    """How events of several partitions of one table are merged."""

    lasting_fall: int = Field(default=1_000, ge=1)
    """Consecutive events below the highest log position seen that count as a reset of the source's log."""


class Log(Section):
    """Logging, to standard error."""

    format: LogFormat = LogFormat.TEXT
    """Text for people, or one JSON object per line."""
    level: LogLevel = LogLevel.INFO
    """Least severity that is logged."""
