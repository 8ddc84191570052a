"""The streaming query's life: start, run micro-batches, stop between two of them, start again after a failure."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from connectors.errors import Transient
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState
from streaming.driver.action import spark_action
from streaming.driver.batch import BatchReport, DecodeAndLand, run_batch
from streaming.driver.checkpoint import Checkpoint
from streaming.driver.leaders import Leaders
from streaming.driver.opening import claim_and_compare
from streaming.driver.rest import Rest
from streaming.driver.settling import settle_checkpoint
from streaming.driver.spark_errors import java_gone, java_has_ended, query_failed, spark_errors
from streaming.driver.startup import OpenZone, offsets_to_land, starting_offsets
from streaming.driver.told_chores import Chores, ToldChores
from streaming.health.state import Work
from streaming.lifecycle.unread_topics import waiting_for
from streaming.listener import Listener
from streaming.log_context import about_version, failing_in
from streaming.plan import JobOptions

POLL_SECONDS = 0.1
"""How often a running query is looked at; also how long its chores wait for the batch in hand."""
WAIT_SECONDS = 0.01
"""Between two looks at chores that wait for something."""


class _StoppedError(Exception):
    """Raised in a batch that must not begin because the job is stopping, or its chores have failed."""


@dataclass
class StopSignal:
    """Asks the job to finish the batch in hand and stop; set by a signal handler or a test."""

    _event: threading.Event = field(default_factory=threading.Event)

    def set(self) -> None:
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep, but wake up at once when the job is to stop; True then."""
        return self._event.wait(seconds)


@dataclass(frozen=True)
class Retries:
    """How often a passing failure is met with a new start, and after how many seconds: doubled each time."""

    attempts: int
    first: float
    longest: float

    def pause(self, failures: int, asked: float | None) -> float:
        return max(asked or 0.0, min(self.longest, self.first * 2.0 ** (failures - 1)))


@dataclass(frozen=True)
class Job:
    """What a query needs from outside.

    Attributes:
        begin: lets topics that the ledger does not know begin where the settings say.
        on_commit: told what the ledger knows at a start and after each batch; must not raise.
        prepare: makes in Kafka what is missing there; called once per start, before all else.
        describe: the subscribed topics as the broker knows them now; topic_ids only the ids of the topics named.
        leaders: who leads partitions, and whether a later leader has cut off what had landed.
        subscribed: whether the settings have a topic of this name read; names: those that they name one by one.
        open: claims the landing zone; called once per start. chores: those of the driver that has claimed it.
        source_options: options of Spark's Kafka source, which plans offsets, but for ``startingOffsets``.
        interval: of the trigger, seconds; None drains what is there and ends. rest: between micro-batches beside it.
        listener: told how the query goes on.
    """

    options: JobOptions
    checkpoint: Checkpoint
    source_options: Mapping[str, str]
    begin: Callable[[Ledger, Mapping[str, TopicDescription]], None]
    on_commit: Callable[[LedgerState], None]
    interval: float | None
    rest: Rest
    retries: Retries
    prepare: Callable[[], None]
    open: Callable[[], OpenZone]
    chores: Callable[[OpenZone], Chores]
    describe: Callable[[], Mapping[str, TopicDescription]]
    topic_ids: Callable[[Sequence[str]], Mapping[str, str]]
    leaders: Leaders
    subscribed: Callable[[str], bool]
    names: Sequence[str]
    listener: Listener


def run(spark: SparkSession, job: Job, stop: StopSignal) -> None:
    """Run the query until it has drained the topics (no interval), is asked to stop, or fails for good.

    Raises:
        Terminal: a person has to act.
        Transient: the failures did not pass within the allowed number of attempts.
    """
    failures = 0
    while not stop.is_set():
        landed = _Landed()
        try:
            with failing_in(landed.version_failed), spark_errors():
                _run_once(spark, job, stop, landed)
        except Transient as error:
            if java_has_ended():
                raise java_gone() from error
            failures = 1 if landed.batches else failures + 1
            if failures > job.retries.attempts:
                raise
            pause = job.retries.pause(failures, error.retry_after)
            with about_version(landed.failed):
                job.listener.on_failure(error, pause)
            stop.wait(pause)
        else:
            return


@dataclass
class _Landed:
    """What became of a query's batches.

    Attributes:
        batches: how many landed.
        failed: the version that the last one was to become, if it failed.
    """

    batches: int = 0
    failed: int | None = None

    def version_failed(self) -> int | None:
        return self.failed


def _run_once(spark: SparkSession, job: Job, stop: StopSignal, landed: _Landed) -> None:
    job.listener.on_work(Work.START)
    job.prepare()
    opened, present = claim_and_compare(
        job.describe, job.open, job.leaders.cut_off, subscribed=job.subscribed, names=job.names
    )
    settle_checkpoint(job.checkpoint, opened.ledger.state, present, drain=job.interval is None)
    job.begin(opened.ledger, present)
    job.on_commit(opened.ledger.state)
    job.listener.on_state(opened.ledger.state)
    job.listener.on_start(offsets_to_land(opened.ledger.state, present))
    chores = ToldChores(job.chores(opened), opened.ledger, job.listener)
    batches = _Batches(job, opened, spark_action(spark), stop, landed, chores)
    if job.interval is None:
        do_all(chores, stop)
    frame = (
        spark.readStream.format("kafka")
        .options(**waiting_for(job.source_options, set(job.names).difference(present)))
        .option("startingOffsets", starting_offsets(opened.ledger.state, present))
        .load()
    )
    # Spark takes what stands here as it is, so a URI whose characters are escaped would be another folder.
    checkpoint = f"file://{job.checkpoint.folder}"
    writer = frame.writeStream.foreachBatch(batches.run).option("checkpointLocation", checkpoint)
    trigger = (
        writer.trigger(availableNow=True)
        if job.interval is None
        else writer.trigger(processingTime=f"{job.interval} seconds")
    )
    query = trigger.start()
    try:
        wait_for_end(query, batches, stop)
    finally:
        with contextlib.suppress(PySparkException, Py4JError):
            query.stop()
    if job.interval is None:
        do_all(chores, stop)
    job.listener.on_end(opened.ledger.state)


def do_all(chores: Chores, stop: StopSignal) -> None:
    """Do the chores until nothing of them can be done now, or the job is to stop."""
    while not stop.is_set():
        chores.run()
        if chores.idle():
            return
        stop.wait(WAIT_SECONDS)


class RunningQuery(Protocol):
    """What is asked of Spark's query while it runs."""

    @property
    def isActive(self) -> bool: ...

    def awaitTermination(self) -> bool | None: ...


class BatchInHand(Protocol):
    """The batch that runs: why it failed, if it did, and whether it has ended."""

    @property
    def failure(self) -> Exception | None: ...

    def between(self, seconds: float) -> bool: ...

    def do_chores(self, seconds: float) -> None: ...


def wait_for_end(query: RunningQuery, batches: BatchInHand, stop: StopSignal) -> None:
    """Until the query ends, with the chores between its batches.

    A stop waits for the batch in hand: stopping inside one would throw it away.

    Raises:
        Exception: what the last batch failed with, also when the job is to stop.
        PySparkException: the query ended with an error of its own.
    """
    while query.isActive:
        if not stop.wait(POLL_SECONDS):
            batches.do_chores(POLL_SECONDS)
        elif batches.between(POLL_SECONDS):
            break
    else:
        try:
            query.awaitTermination()
        except PySparkException:
            if batches.failure is None and not stop.is_set():
                raise
    if batches.failure is not None:
        raise batches.failure


class _Batches:
    """The function that Spark calls for each micro-batch, and what became of the last one."""

    def __init__(
        self, job: Job, opened: OpenZone, action: DecodeAndLand, stop: StopSignal, landed: _Landed, chores: Chores
    ) -> None:
        self._job = job
        self._opened = opened
        self._action = action
        self._stop = stop
        self._landed = landed
        self._chores = chores
        self._lock = threading.Lock()
        self.failure: Exception | None = None

    def run(self, frame: DataFrame, batch_id: int) -> None:
        del frame  # The tasks read Kafka themselves.
        began = time.monotonic()
        records = self._land(batch_id)
        # Spark plans the next one when this returns, so a pause before it makes nothing older.
        until = time.monotonic() + self._job.rest.after(records, time.monotonic() - began)
        while self.failure is None and (left := until - time.monotonic()) > 0:
            if self._stop.wait(min(left, POLL_SECONDS)):
                return

    def _land(self, batch_id: int) -> int:
        with self._lock:
            if self._stop.is_set() or self.failure is not None:
                raise _StoppedError
            self._landed.failed = self._opened.ledger.state.version + 1
            self._job.listener.on_work(Work.BATCH)
            try:
                with about_version(self._landed.failed):
                    report = self._run(batch_id)
                with about_version(report.version):
                    self._tell(report)
            except (PySparkException, Py4JError) as error:
                self.failure = query_failed(error)
                raise
            except Exception as error:
                self.failure = error
                raise
            else:
                self._landed.failed = None
                return report.offsets
            finally:
                self._job.listener.on_work(Work.WAITING)

    def between(self, seconds: float) -> bool:
        """Whether no batch is under way within so many seconds; none begins any more once the stop signal is set."""
        if self._lock.acquire(timeout=seconds):
            self._lock.release()
            return True
        return False

    def do_chores(self, seconds: float) -> None:
        """Do the chores unless a batch is under way for all of so many seconds, or has failed."""
        if self._lock.acquire(timeout=seconds):
            try:
                if self.failure is None:
                    self._chores.run()
            except Exception as error:
                self.failure = error
                raise
            finally:
                self._lock.release()

    def _tell(self, report: BatchReport) -> None:
        self._job.on_commit(self._opened.ledger.state)
        # A range that was landed already says nothing about whether a failure has passed.
        self._landed.batches += report.version is not None
        self._job.listener.on_state(self._opened.ledger.state)
        self._job.listener.on_batch(report)
        # Last, since it may fail: what has landed would not be told any more.
        self._opened.prune()

    def _run(self, batch_id: int) -> BatchReport:
        planned = self._job.checkpoint.planned(batch_id)
        topics = sorted(planned.end)
        return run_batch(
            planned,
            lambda: self._job.topic_ids(topics),
            self._job.leaders,
            self._job.options,
            self._opened.ledger,
            self._opened.publisher,
            self._action,
        )
