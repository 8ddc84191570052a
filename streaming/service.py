"""Running the bridge from its settings: everything is put together here and nowhere else."""

from __future__ import annotations

import logging
import os
import socket
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from pyspark.sql import SparkSession

from connectors.errors import BridgeError
from connectors.kafka.dead_letters import ensure_topic
from connectors.kafka.first_records import first_timestamps
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.kafka.leaders import cut_off, leading
from connectors.kafka.newest_records import newest_timestamps
from connectors.kafka.time_offsets import offsets_at
from connectors.kafka.topics import Admin, TopicDescription, topic_ids
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.storage.open import open_storage
from connectors.landing_zone.storage.protocol import Storage
from connectors.landing_zone.storage.timed import TimedStorage
from connectors.source_database.kafka_connect import ConnectApi
from streaming.driver.beginning import Beginning, begin
from streaming.driver.checkpoint import Checkpoint
from streaming.driver.lag_group import LagGroup
from streaming.driver.leaders import Leaders
from streaming.driver.query import Job, Retries, StopSignal, run
from streaming.driver.rest import Rest
from streaming.driver.session import spark_session
from streaming.driver.spark_errors import java_has_ended
from streaming.driver.startup import OpenZone, open_zone
from streaming.health.watcher import Watcher, served
from streaming.job_options import job_options, partner_file, storage_location
from streaming.kafka_options import is_subscribed, kafka_config, source_options, subscription
from streaming.lifecycle.outside import topics_to_read
from streaming.lifecycle.wiring import chores_for
from streaming.lineage.telling import lineage_told
from streaming.listener import Listener, all_of
from streaming.metrics.kafka_watch import KafkaSource
from streaming.mirroring.look import mirroring_source
from streaming.policies import OnBadRecord
from streaming.reporting.history import history
from streaming.settings import BridgeSettings
from streaming.source_options import connect_location

_log = logging.getLogger(__name__)

LAG_GROUP_SECONDS = 5.0
"""How long a batch waits at most until the group for lag tools has the ledger's offsets."""

PAST_VERSIONS = 100
"""Versions of the ledger that a start reads for the status page, several at a time."""

LOOK_SECONDS = 10.0
"""How long one look at Kafka's ends, beside the job, waits for an answer."""


def run_bridge(
    settings: BridgeSettings, listener: Listener, stop: StopSignal, *, once: bool, spark: SparkSession | None = None
) -> None:
    """Run the streaming job; where ``http.port`` is set, with a server for probes, metrics and a status page.

    After an error that another attempt does not mend the server goes on for ``http.linger``, unless ``once`` or
    ``stop`` is set: Prometheus comes by twice a minute, and would never hear of it.

    Args:
        once: drain what is in the topics now, then end; otherwise until ``stop`` is set.
        spark: a session with the Kafka source, which stays open; without it one is started, and stopped at the end.

    Raises:
        Terminal: a person has to act; the message says what to do.
        Transient: the failures did not pass within ``retry.attempts``.
    """
    with lineage_told(settings, listener, once=once) as heard, _watched(settings, heard, stop, once=once) as told:
        _run(settings, told, stop, once=once, spark=spark)


def _run(
    settings: BridgeSettings, listener: Listener, stop: StopSignal, *, once: bool, spark: SparkSession | None
) -> None:
    options = job_options(settings)
    admin = Admin(kafka_config(settings))
    session = spark or spark_session(settings, resolve_jars(JarSet.SPARK_KAFKA, progress=_log.info))
    bare_zone, bare_state = open_storages(settings)
    zone = TimedStorage(bare_zone, partial(listener.on_storage, "zone"))
    state = TimedStorage(bare_state, partial(listener.on_storage, "state"))
    writer = f"{settings.name}-{uuid.uuid4().hex[:12]}"

    def prepare() -> None:
        if settings.tables.on_bad_record is OnBadRecord.DEAD_LETTER:
            ensure_topic(admin, settings.dead_letter_topic)

    def known() -> Collection[str]:
        return Ledger.open(state, now_ms=lambda: 0).state.topics

    gone: set[str] = set()

    def describe() -> Mapping[str, TopicDescription]:
        return topics_to_read(admin, subscription(settings), known, gone)

    def claim() -> OpenZone:
        opened = open_zone(
            zone,
            state,
            options,
            source=settings.name,
            writer=f"{writer}-{uuid.uuid4().hex[:8]}",
            host=f"{socket.gethostname()}:{os.getpid()}",
            partner=partner_file(settings),
            threads=settings.publish.threads,
            told=listener.on_state,
        )
        if settings.http.port is not None:
            tell_past(state, listener)
        return opened

    beginning = Beginning(settings.kafka.starting, settings.kafka.starting_ms, settings.kafka.starting_offsets)

    def begin_as_asked(ledger: Ledger, present: Mapping[str, TopicDescription]) -> None:
        begin(ledger, present, beginning, partial(offsets_at, admin))

    retries = Retries(
        attempts=settings.retry.attempts,
        first=settings.retry.backoff.total_seconds(),
        longest=settings.retry.max_backoff.total_seconds(),
    )
    job = Job(
        options=options,
        checkpoint=Checkpoint(settings.checkpoint),
        source_options=source_options(settings, once=once),
        begin=begin_as_asked,
        on_commit=_lag_group(settings, listener),
        interval=None if once else settings.trigger.tick.total_seconds(),
        rest=Rest(0.0 if once else settings.trigger.rest.total_seconds(), settings.trigger.max_offsets),
        retries=retries,
        prepare=prepare,
        open=claim,
        chores=chores_for(settings, options, admin, session, retries, listener, once=once),
        describe=describe,
        topic_ids=lambda names: topic_ids(admin, names),
        leaders=Leaders(partial(leading, admin), partial(cut_off, kafka_config(settings))),
        subscribed=is_subscribed(settings),
        names=settings.kafka.topics,
        listener=listener,
    )
    try:
        run(session, job, stop)
    except Exception as error:
        listener.on_error(error)
        raise
    finally:
        # Without its Java a session cannot be stopped; trying to would hide what has happened.
        if spark is None and not java_has_ended():
            session.stop()


@contextmanager
def _watched(settings: BridgeSettings, listener: Listener, stop: StopSignal, *, once: bool) -> Iterator[Listener]:
    """The listener together with what the HTTP server shows, which ends with the block."""
    if settings.http.port is None:
        yield listener
        return
    watcher = Watcher(settings, stopping=stop.is_set, once=once)
    admin = Admin(kafka_config(settings), timeout=LOOK_SECONDS)
    source = KafkaSource(
        describe=lambda: topics_to_read(admin, subscription(settings), settings.kafka.topics.copy),
        first_timestamps=partial(first_timestamps, kafka_config(settings), timeout=LOOK_SECONDS),
        newest_timestamps=partial(newest_timestamps, admin),
        heartbeat_topics=tuple(settings.format.control.heartbeat_topics),
    )
    linger = None if once else stop.wait
    connect = connect_location(settings)
    with served(
        watcher,
        source,
        settings,
        mirroring_source(settings),
        None if connect is None else ConnectApi(connect),
        linger=linger,
    ) as url:
        told = all_of(watcher.listener, listener)
        told.on_serve(url)
        yield told


def _lag_group(settings: BridgeSettings, listener: Listener) -> Callable[[LedgerState], None]:
    """What keeps the group for lag tools at the ledger's offsets, if the settings name one."""
    if settings.kafka.commit_group is None:
        return lambda state: None
    admin = Admin(kafka_config(settings), timeout=LAG_GROUP_SECONDS)
    return LagGroup(admin, settings.kafka.commit_group, listener.on_lag_failure).follow


def tell_past(state: Storage, listener: Listener) -> None:
    """Tell what the ledger's latest versions brought; that they cannot be read holds no start up."""
    try:
        listener.on_past(history(state, PAST_VERSIONS))
    except BridgeError as error:
        _log.debug("the status page begins without the ledger's latest versions: %s", error)


def open_storages(settings: BridgeSettings) -> tuple[Storage, Storage]:
    """The landing zone and the state that the ledger lies in."""
    return (
        open_storage(storage_location(settings, settings.landing_zone.url)),
        open_storage(storage_location(settings, settings.state_url)),
    )
