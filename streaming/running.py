"""What a run tells while it goes on and at its end: a line per micro-batch, a progress bar, a summary."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from connectors.errors import BridgeError
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.topics import Admin
from connectors.landing_zone.ledger.state import LedgerState, Parked, TableStatus
from streaming.batch import BatchReport
from streaming.kafka_options import kafka_config
from streaming.logs import error_facts, log_to_stderr
from streaming.query import StopSignal
from streaming.reporting.parked import parked_values
from streaming.service import Listener, run_bridge
from streaming.settings import BridgeSettings
from streaming.settings.runtime import LogFormat
from streaming.stop_signals import StopOnSignals, installed
from streaming.wording import count_text, rows_text, seconds_text, size_text

_log = logging.getLogger(__name__)

BROKER_SECONDS = 1.5
"""How long a run waits for a first answer before it says that it waits for the broker."""

ON_THE_WAY = frozenset(TableStatus) - {TableStatus.LOADING, TableStatus.STREAMING, TableStatus.PARKED}

Run = Callable[[BridgeSettings, Listener, StopSignal, bool], None]


@dataclass
class RunSummary:
    """What a run has done.

    Attributes:
        offsets: length of the ranges that were carried, over all partitions.
        rows: landed, per marker.
        version: the ledger's last version of this run; None when nothing was new.
        parked: tables that this run parked and that still stand still at its end, and why.
        under_way: tables that are on their way back at its end, and how far they are.
        stopped: a signal or its caller ended it.
        seconds: from the query's first start to the end of the run; starting Spark is not counted.
    """

    batches: int = 0
    offsets: int = 0
    files: int = 0
    bytes: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    tables: set[str] = field(default_factory=set)
    version: int | None = None
    parked: dict[str, Parked] = field(default_factory=dict)
    under_way: dict[str, TableStatus] = field(default_factory=dict)
    failures: int = 0
    lag_failures: int = 0
    stopped: bool = False
    seconds: float = 0.0

    def add(self, report: BatchReport) -> None:
        """Count a micro-batch or a chunk of a catch-up; a batch whose range held nothing new counts for nothing."""
        if report.version is None:
            return
        self.batches += 1
        if not report.table:
            self.offsets += report.offsets
        self.files += len(report.files)
        self.bytes += sum(file.bytes for file in report.files.values())
        for file in report.files.values():
            self.rows.update(file.rows)
        self.tables.update(report.files)
        self.version = report.version
        self.parked.update(report.stops)

    def end(self, state: LedgerState) -> None:
        """Take note of where the tables stand at the end."""
        standing = {name: state.tables[name].parked for name in self.parked if name in state.tables}
        self.parked = {
            name: parked
            for name, parked in standing.items()
            if parked is not None and state.tables[name].status is TableStatus.PARKED
        }
        self.under_way = {name: table.status for name, table in state.tables.items() if table.status in ON_THE_WAY}

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "batches": self.batches,
            "offsets": self.offsets,
            "files": self.files,
            "bytes": self.bytes,
            "rows": dict(sorted(self.rows.items())),
            "tables": sorted(self.tables),
            "version": self.version,
            "parked": {name: parked_values(parked) for name, parked in sorted(self.parked.items())},
            "under_way": {name: status.value for name, status in sorted(self.under_way.items())},
            "retried_failures": self.failures,
            "failed_group_commits": self.lag_failures,
            "stopped": self.stopped,
            "seconds": round(self.seconds, 3),
        }


def run_and_tell(
    settings: BridgeSettings,
    console: Console,
    *,
    once: bool,
    run: Run | None = None,
) -> RunSummary:
    """Run the bridge until it is done or asked to stop, and tell on ``console`` and in the log how it goes.

    With ``once`` a terminal gets a progress bar; a log collector never does.

    Raises:
        Terminal: a person has to act; Transient: the failures did not pass. As :func:`streaming.service.run_bridge`.
    """
    log_to_stderr(settings.log.format, settings.log.level)
    stop = StopSignal()
    bar = once and console.is_terminal and settings.log.format is LogFormat.TEXT
    with installed(StopOnSignals(stop.set, _say_stopping)) as signals, _progress(console, disable=not bar) as progress:
        teller = _Teller(progress, signals)
        try:
            (run or _tell_and_run)(settings, teller.listener(), stop, once)
        except KeyboardInterrupt:
            # While it starts, Spark's own handler has the signal; no batch is in hand then.
            stop.set()
        summary = teller.summary
    summary.stopped = stop.is_set()
    summary.seconds = teller.passed
    _log.info("%s", summary_text(summary), extra={"facts": summary.values()})
    return summary


def tell_if_broker_is_away(kafka: KafkaConfig, seconds: float = BROKER_SECONDS) -> None:
    """Log one line if no broker answers within ``seconds``; the job itself waits much longer, and in silence.

    What else may be wrong with Kafka, such as refused credentials, the job says by itself.
    """
    try:
        Admin(kafka, timeout=seconds).topic_names()
    except BrokerUnavailableError:
        servers = kafka.bootstrap_servers
        facts = {"bootstrap_servers": servers}
        _log.warning("waiting for the Kafka broker: %s has not answered yet", servers, extra={"facts": facts})
    except BridgeError:
        return


def _tell_and_run(settings: BridgeSettings, listener: Listener, stop: StopSignal, once: bool) -> None:
    tell_if_broker_is_away(kafka_config(settings))
    run_bridge(settings, listener, stop, once=once)


class _Teller:
    """Listens to a run."""

    def __init__(self, progress: Progress, signals: StopOnSignals) -> None:
        self.summary = RunSummary()
        self._progress = progress
        self._signals = signals
        self._began: float | None = None
        self._task = progress.add_task("starting", total=None, rows="", files="", rate="")

    @property
    def passed(self) -> float:
        """Seconds since the query started."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    def listener(self) -> Listener:
        return Listener(self.on_start, self.on_batch, self.on_failure, self.summary.end, self.on_lag_failure)

    def on_start(self, waiting: int) -> None:
        self._signals.install()
        if self._began is None:
            self._began = time.monotonic()
        _log.info("%s to land", count_text(waiting, "offset"), extra={"facts": {"waiting": waiting}})
        self._progress.update(self._task, description="landing", total=self.summary.offsets + waiting)

    def on_batch(self, report: BatchReport) -> None:
        if report.version is None:
            return
        self.summary.add(report)
        rows = self.summary.rows.total()
        self._progress.update(
            self._task,
            completed=self.summary.offsets,
            rows=count_text(rows, "row"),
            files=count_text(self.summary.files, "file"),
            rate=f"{rows / max(self.passed, 0.001):,.0f} rows/s",
        )
        _log.info("%s", batch_text(report), extra={"facts": batch_values(report)})
        for note in report.notes:
            _log.info("%s", note)
        for table, parked in report.stops.items():
            facts = {"table": table, **parked_values(parked)}
            _log.warning("%s is parked: %s. Remedy: %s", table, parked.message, parked.remedy, extra={"facts": facts})

    def on_lag_failure(self, error: BridgeError) -> None:
        self.summary.lag_failures += 1
        facts = error_facts(error)
        _log.warning("the lag that tools show is too high until a later batch: %s", error, extra={"facts": facts})

    def on_failure(self, error: BridgeError, pause: float) -> None:
        self.summary.failures += 1
        facts = {**error_facts(error), "retry_seconds": pause}
        _log.warning("%s; trying again in %s", error, seconds_text(pause), extra={"facts": facts})


def batch_text(report: BatchReport) -> str:
    """One line about a micro-batch."""
    rows = sum(count for file in report.files.values() for count in file.rows.values())
    size = sum(file.bytes for file in report.files.values())
    parked = f"; parked: {', '.join(f'{name} ({stop.reason})' for name, stop in report.stops.items())}"
    beside = f"{report.table} catches up, " if report.table else ""
    return (
        f"version {report.version}: {beside}{count_text(report.offsets, 'offset')} -> {count_text(rows, 'row')} in "
        f"{count_text(len(report.files), 'file')}, {size_text(size)}, {report.seconds:.1f} s"
        f"{parked if report.stops else ''}"
    )


def batch_values(report: BatchReport) -> dict[str, object]:
    """The same for a log collector."""
    return {
        "version": report.version,
        "catching_up": report.table or None,
        "offsets": report.offsets,
        "rows": sum(count for file in report.files.values() for count in file.rows.values()),
        "files": len(report.files),
        "bytes": sum(file.bytes for file in report.files.values()),
        "seconds": round(report.seconds, 3),
        "parked": {name: stop.reason for name, stop in report.stops.items()},
    }


def summary_text(summary: RunSummary) -> str:
    """One line about a whole run."""
    if not summary.batches:
        text = "nothing new to land"
    else:
        text = (
            f"landed {count_text(summary.rows.total(), 'row')} of {count_text(summary.offsets, 'offset')} in "
            f"{count_text(summary.files, 'file')} of {count_text(len(summary.tables), 'table')}, "
            f"{count_text(summary.batches, 'batch', 'batches')}, {seconds_text(summary.seconds)}"
        )
    parked = f"; parked: {', '.join(sorted(summary.parked))}" if summary.parked else ""
    under_way = f"; still under way: {_under_way_text(summary)}" if summary.under_way else ""
    return f"{text}{parked}{under_way}{'; stopped as asked' if summary.stopped else ''}"


def summary_table(summary: RunSummary) -> Table:
    """A run's summary for a person."""
    table = Table(title="Stopped as asked" if summary.stopped else "Done", show_header=False, title_justify="left")
    table.add_row("micro-batches", f"{summary.batches:,}")
    table.add_row("offsets", f"{summary.offsets:,}")
    table.add_row("rows", f"{summary.rows.total():,}  {rows_text(summary.rows)}".rstrip())
    table.add_row(
        "files", f"{summary.files:,} of {count_text(len(summary.tables), 'table')}, {size_text(summary.bytes)}"
    )
    table.add_row("ledger version", "unchanged" if summary.version is None else str(summary.version))
    table.add_row("time", seconds_text(summary.seconds))
    if summary.failures:
        table.add_row("failures retried", f"{summary.failures:,}")
    if summary.lag_failures:
        table.add_row("failed group commits", f"{summary.lag_failures:,}")
    if summary.under_way:
        table.add_row("still under way", escape(_under_way_text(summary)))
    for name, parked in sorted(summary.parked.items()):
        table.add_row(f"[yellow]parked[/] {escape(name)}", escape(f"{parked.message}\nWhat to do: {parked.remedy}"))
    return table


def _under_way_text(summary: RunSummary) -> str:
    return ", ".join(f"{name} ({status.value.replace('_', ' ')})" for name, status in sorted(summary.under_way.items()))


def _progress(console: Console, *, disable: bool) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rows]}"),
        TextColumn("{task.fields[files]}"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        console=console,
        disable=disable,
    )


def _say_stopping(signal_name: str) -> None:
    _log.info("%s: finishing the batch in hand; a second signal ends at once", signal_name)
