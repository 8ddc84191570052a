"""What the status page remembers of the latest while: versions, files, and how the lag went."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from connectors.landing_zone.ledger.state import VersionKind
from streaming.driver.batch import BatchReport
from streaming.reporting.history import HistoryEntry

KEPT_VERSIONS = 12
KEPT_LAGS = 240


@dataclass(frozen=True)
class Versioned:
    """What one version of the ledger brought.

    Attributes:
        at_ms: when it was done, milliseconds since 1970.
        seconds: how long it took; None where an earlier process did it, since the ledger does not say.
        table: whose catch-up it is, beside the stream; empty for a micro-batch.
        parked: tables that came to stand still, with the reason.
    """

    version: int
    at_ms: int
    offsets: int
    rows: int
    files: int
    bytes: int
    seconds: float | None
    table: str = ""
    parked: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class LastFile:
    """The latest file of a table."""

    number: int
    rows: int
    bytes: int
    at_ms: int


class Journal:
    """Remembers since the process started, and of what was before what the ledger's latest versions say.

    Written by the job's threads and the Kafka watch; any thread may read.

    Args:
        now_ms: wall clock, milliseconds since 1970.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._versions: deque[Versioned] = deque(maxlen=KEPT_VERSIONS)
        self._files: dict[str, LastFile] = {}
        self._lags: deque[tuple[int, float]] = deque(maxlen=KEPT_LAGS)

    def on_past(self, newest_first: Sequence[HistoryEntry]) -> None:
        """Take what earlier processes have done, unless this one has done something itself."""
        if self._versions:
            return
        for entry in reversed(newest_first):
            for file in entry.files:
                rows = sum(file.rows.values())
                self._files[file.table] = LastFile(file.sequence, rows, file.bytes, entry.written_ms)
            if entry.kind is VersionKind.COMMIT and (entry.moved or entry.files):
                self._versions.append(_past(entry))

    def on_batch(self, report: BatchReport) -> None:
        """Remember a micro-batch or a chunk of a catch-up."""
        if report.version is None:
            return
        now_ms = self._now_ms()
        for table, file in report.files.items():
            self._files[table] = LastFile(file.sequence, sum(file.rows.values()), file.bytes, now_ms)
        self._versions.append(
            Versioned(
                version=report.version,
                at_ms=now_ms,
                offsets=report.offsets,
                rows=sum(sum(file.rows.values()) for file in report.files.values()),
                files=len(report.files),
                bytes=sum(file.bytes for file in report.files.values()),
                seconds=report.seconds,
                table=report.table,
                parked=tuple((name, stop.reason) for name, stop in sorted(report.stops.items())),
            )
        )

    def on_lag(self, seconds: float) -> None:
        """Remember how long the oldest record that waits has waited."""
        self._lags.append((self._now_ms(), seconds))

    @property
    def versions(self) -> tuple[Versioned, ...]:
        """The latest versions, newest first."""
        return tuple(reversed(self._versions.copy()))

    @property
    def files(self) -> Mapping[str, LastFile]:
        """The latest file of each table."""
        return self._files.copy()

    @property
    def lags(self) -> tuple[tuple[int, float], ...]:
        """(milliseconds since 1970, seconds), oldest first."""
        return tuple(self._lags.copy())


def _past(entry: HistoryEntry) -> Versioned:
    return Versioned(
        version=entry.version,
        at_ms=entry.written_ms,
        offsets=entry.offsets,
        rows=sum(sum(file.rows.values()) for file in entry.files),
        files=len(entry.files),
        bytes=sum(file.bytes for file in entry.files),
        seconds=None,
        table=", ".join(entry.beside),
        parked=tuple((name, stop.reason) for name, stop in sorted(entry.parked.items())),
    )
