"""Watching a run from beside: what the job tells is kept, and shown by the HTTP server on threads of its own."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus

from prometheus_client import CollectorRegistry, ProcessCollector, disable_created_metrics
from prometheus_client.exposition import choose_encoder

from connectors.errors import BridgeError, Transient
from connectors.landing_zone.ledger.state import LedgerState
from connectors.source_database.kafka_connect import ConnectApi
from streaming.driver.batch import BatchReport
from streaming.driver.stages import Stage
from streaming.health import probes
from streaming.health.journal import Journal
from streaming.health.page import page
from streaming.health.probes import Verdict
from streaming.health.server import HTML, Answer, Page, StatusServer
from streaming.health.state import Health, HealthState, Work
from streaming.health.view import Known, oldest_wait, status_view
from streaming.listener import Listener
from streaming.log_context import about_version, version_failed
from streaming.logs import error_facts
from streaming.metrics.build import Build, this_build
from streaming.metrics.connect_watch import ConnectorView, ConnectWatch
from streaming.metrics.declared import fabric
from streaming.metrics.exposition import Exposition
from streaming.metrics.kafka_watch import KafkaSource, KafkaWatch
from streaming.metrics.lag import KafkaView, stream_waiting
from streaming.metrics.landing import LandingFeed
from streaming.metrics.mirrored import Mirrored
from streaming.metrics.observed import Observed
from streaming.metrics.tallies import Tallies
from streaming.mirroring.look import MirroringSource
from streaming.mirroring.poller import MirroringWatch
from streaming.mirroring.view import MirroringView
from streaming.settings import BridgeSettings
from streaming.watch import Watch
from streaming.wording import seconds_text

_log = logging.getLogger(__name__)

Probe = Callable[[HealthState, float, float, float], Verdict]


class Watcher:
    """Keeps what a run tells, and answers what is asked about it.

    Args:
        settings: their sections ``http`` and ``metrics``, and the source's name.
        stopping: whether somebody has asked the process to end.
        once: the run drains what is there when it starts, and leaves in Kafka what comes later.
        clock: seconds, monotonic; now_ms: wall clock, milliseconds since 1970.
    """

    def __init__(
        self,
        settings: BridgeSettings,
        *,
        stopping: Callable[[], bool] = lambda: False,
        once: bool = False,
        build: Build | None = None,
        clock: Callable[[], float] = time.monotonic,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._settings = settings
        self._stopping = stopping
        self._now_ms = now_ms
        self._build = build or this_build()
        self._stuck_after = settings.http.stuck_after.total_seconds()
        self._pause = math.inf if once else settings.trigger.longest_pause.total_seconds()
        self.health = Health(clock=clock, now_ms=now_ms)
        self._journal = Journal(now_ms)
        self._state: LedgerState | None = None
        self._kafka: KafkaView | None = None
        self._mirrored: Mapping[str, Mirrored] = {}
        self._mirroring: MirroringView | None = None
        self._connector: ConnectorView | None = None
        self._tallies = tallies = Tallies()
        disable_created_metrics()
        self._registry = CollectorRegistry()
        self._feed = LandingFeed(tallies, self._registry, now_ms=now_ms)
        self._registry.register(
            Exposition(
                self.observed,
                tallies,
                self._build,
                per_table=settings.metrics.per_table,
                bound=settings.metrics.max_tables,
            )
        )
        ProcessCollector(registry=self._registry)

    @property
    def listener(self) -> Listener:
        """What the job tells the watcher."""
        return Listener(
            on_start=lambda waiting: self.health.running(),
            on_past=self._journal.on_past,
            on_batch=self._on_batch,
            on_failure=self._on_failure,
            on_state=self._on_state,
            on_work=self.health.at_work,
            on_error=self.ended,
            on_storage=self._feed.on_storage,
            on_chores=lambda seconds: self._feed.on_stage(Stage.CHORES, seconds),
        )

    @property
    def state(self) -> LedgerState | None:
        """What the ledger knows; None before the zone is claimed."""
        return self._state

    def ended(self, error: Exception | None) -> None:
        """The job is over, with what it failed with; the first call counts."""
        if self.health.state.work is Work.ENDED:
            return
        if isinstance(error, BridgeError):
            self._feed.on_error(error)
        self.health.ended(error)

    def saw_kafka(self, view: KafkaView) -> None:
        """Take what Kafka told."""
        self._kafka = view
        waits = self._state is not None and any(each.behind for each in stream_waiting(self._state, view))
        self.health.looked_at_kafka(waits=waits)
        waited = oldest_wait(self.observed())
        if waited is not None:
            self._journal.on_lag(waited)

    def kafka_failed(self) -> None:
        """Take that Kafka could not be looked at: what waited then may wait, or may have landed."""
        self.health.looked_at_kafka(waits=False)

    def saw_mirrored(self, mirrored: Mapping[str, Mirrored]) -> None:
        """Take how far the mirrored database has come, of all tables of which that is known."""
        self._mirrored = dict(mirrored)

    def saw_mirroring(self, view: MirroringView) -> None:
        """Take what Fabric and the landing zone's folders show."""
        self._mirroring = view
        self.saw_mirrored(
            {
                name: Mirrored(table.progress.number, table.progress.stands_since_ms or table.progress.since_ms)
                for name, table in view.tables.items()
                if table.progress is not None
            }
        )

    def mirroring_failed(self, reason: str) -> None:
        """Count a question about mirroring that failed."""
        self._tallies.add(fabric.FABRIC_FAILURES, 1, reason)

    def saw_connector(self, view: ConnectorView) -> None:
        """Take what Kafka Connect told of the connector."""
        self._connector = view

    def observed(self) -> Observed:
        """What is known now."""
        health, now = self.health.state, self.health.now()
        return Observed(
            now_ms=self._now_ms(),
            started_ms=health.started_ms,
            state=self._state,
            kafka=self._kafka,
            mirrored=self._mirrored,
            mirroring=self._mirroring,
            connector=self._connector,
            source_seconds=self._feed.source_seconds(),
            publish_times=self._feed.times.of,
            last_success_ms=self._feed.last_success_ms,
            batch_seconds=now - health.since if health.work is Work.BATCH else 0.0,
            live=probes.live(health, now, self._stuck_after, self._pause).ok,
            ready=probes.ready(health, now, self._stuck_after, self._pause).ok,
        )

    def pages(self) -> dict[str, Page]:
        """What each path answers."""
        return {
            "/": lambda accept: Answer(page(status_view(self._known())).encode(), HTML),
            "/livez": lambda accept: _answer(self._asked(probes.live)),
            "/readyz": lambda accept: _answer(self._asked(probes.ready)),
            "/startupz": lambda accept: _answer(probes.started(self.health.state)),
            "/metrics": self._metrics,
        }

    def _asked(self, probe: Probe) -> Verdict:
        return probe(self.health.state, self.health.now(), self._stuck_after, self._pause)

    def _metrics(self, accept: str) -> Answer:
        encode, content_type = choose_encoder(accept)
        return Answer(encode(self._registry), content_type)

    def _known(self) -> Known:
        health, now = self.health.state, self.health.now()
        return Known(
            source=self._settings.name,
            observed=self.observed(),
            health=health,
            now=now,
            live=probes.live(health, now, self._stuck_after, self._pause),
            versions=self._journal.versions,
            files=self._journal.files,
            lags=self._journal.lags,
            build=self._build,
            stopping=self._stopping(),
        )

    def _on_state(self, state: LedgerState) -> None:
        self._state = state
        self._feed.on_state(state)

    def _on_batch(self, report: BatchReport) -> None:
        self.health.succeeded()
        self._feed.on_batch(report, self._state)
        self._journal.on_batch(report)

    def _on_failure(self, error: BridgeError, pause: float) -> None:
        self.health.retrying(error, pause)
        self._feed.on_failure(error)


def _answer(verdict: Verdict) -> Answer:
    return Answer(verdict.text.encode(), status=HTTPStatus.OK if verdict.ok else HTTPStatus.SERVICE_UNAVAILABLE)


@contextmanager
def served(
    watcher: Watcher,
    source: KafkaSource,
    settings: BridgeSettings,
    mirroring: MirroringSource | None = None,
    connect: ConnectApi | None = None,
    *,
    linger: Callable[[float], object] | None = None,
) -> Iterator[str]:
    """Serve what the watcher knows, and look at Kafka for it, while the block runs; yields the server's address.

    Args:
        mirroring, connect: looked at too, where they are given.
        linger: waits up to so many seconds, ``http.linger``, with the server still up after an error that another
            attempt does not mend; None ends it at once.

    Raises:
        AddressInUseError, AddressNotOursError: see :class:`streaming.health.server.StatusServer`.
    """
    server = StatusServer(settings.http.host, settings.http.port or 0, watcher.pages())
    watches: list[Watch] = [
        KafkaWatch(
            source,
            lambda: watcher.state,
            watcher.saw_kafka,
            watcher.kafka_failed,
            interval=settings.metrics.kafka_interval.total_seconds(),
            now_ms=lambda: time.time_ns() // 1_000_000,
        )
    ]
    if mirroring is not None:
        watches.append(
            MirroringWatch(
                mirroring,
                lambda: watcher.state,
                watcher.saw_mirroring,
                watcher.mirroring_failed,
                interval=settings.fabric.interval.total_seconds(),
                now_ms=lambda: time.time_ns() // 1_000_000,
            )
        )
    if connect is not None and settings.source.connect is not None:
        watches.append(
            ConnectWatch(
                connect,
                watcher.saw_connector,
                interval=settings.source.connect.interval.total_seconds(),
                now_ms=lambda: time.time_ns() // 1_000_000,
            )
        )
    for watch in watches:
        watch.start()
    try:
        yield server.url
    except BaseException as error:
        watcher.ended(error if isinstance(error, Exception) else None)
        if linger is not None and isinstance(error, Exception) and not isinstance(error, Transient):
            _tell_and_linger(error, server.url, settings.http.linger.total_seconds(), linger)
        raise
    else:
        watcher.ended(None)
    finally:
        for watch in watches:
            watch.stop()
        server.close()


def _tell_and_linger(error: Exception, url: str, seconds: float, linger: Callable[[float], object]) -> None:
    if seconds:
        # The command says it once more at its end, which is later than whoever reads the log needs it.
        facts = error_facts(error) if isinstance(error, BridgeError) else {"error": type(error).__name__}
        told = "the job has ended: %s; the status page and the metrics at %s tell so for %s"
        with about_version(version_failed(error)):
            _log.error(told, error, url, seconds_text(seconds), extra={"facts": facts})
        linger(seconds)
