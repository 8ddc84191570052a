"""Running the bridge and telling how it goes: a line per micro-batch, a progress bar, a summary at the end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from connectors.errors import BridgeError
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.topics import Admin
from streaming.driver.batch import BatchReport
from streaming.driver.query import StopSignal
from streaming.kafka_options import kafka_config
from streaming.listener import Listener
from streaming.logs import error_facts, log_to_stderr
from streaming.reporting.parked import parked_values
from streaming.run_summary import RunSummary, summary_text
from streaming.service import run_bridge
from streaming.settings import BridgeSettings
from streaming.settings.runtime import LogFormat
from streaming.stop_signals import StopOnSignals, installed
from streaming.wording import count_text, seconds_text, size_text

_log = logging.getLogger(__name__)

BROKER_SECONDS = 1.5
"""How long a run waits for a first answer before it says that it waits for the broker."""

Run = Callable[[BridgeSettings, Listener, StopSignal, bool], None]


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
        return Listener(
            on_start=self.on_start,
            on_batch=self.on_batch,
            on_failure=self.on_failure,
            on_end=self.summary.end,
            on_lag_failure=self.on_lag_failure,
            on_serve=_say_where,
            # Spark's own handler of SIGINT would be all there is while the server lingers.
            on_error=lambda error: self._signals.install(),
        )

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
            _log.info("%s", note, extra={"facts": {"version": report.version}})
        for table, parked in report.stops.items():
            facts = {"version": report.version, "table": table, **parked_values(parked)}
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
    stopped = parked if report.stops else ""
    if not report.carried:
        return f"version {report.version}: what the source's catalog has shown{stopped}"
    beside = f"{report.table} catches up, " if report.table else ""
    return (
        f"version {report.version}: {beside}{count_text(report.offsets, 'offset')} -> {count_text(rows, 'row')} in "
        f"{count_text(len(report.files), 'file')}, {size_text(size)}, {report.seconds:.1f} s"
        f"{stopped}"
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
        "stages": {stage.value: round(seconds, 3) for stage, seconds in report.figures.stages.items()},
        "steps": {step: round(seconds, 3) for step, seconds in report.figures.steps.items()},
        "parked": {name: stop.reason for name, stop in report.stops.items()},
    }


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


def _say_where(url: str) -> None:
    _log.info(
        "status page: %s/ (probes: /livez, /readyz, /startupz; Prometheus: /metrics)",
        url,
        extra={"facts": {"url": url}},
    )


def _say_stopping(signal_name: str) -> None:
    _log.info("%s: finishing the batch in hand; a second signal ends at once", signal_name)
