"""Running the bridge from its settings: everything is put together here and nowhere else."""

from __future__ import annotations

import logging
import os
import socket
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from pyspark.sql import SparkSession

from connectors.errors import BridgeError
from connectors.kafka.dead_letters import ensure_topic
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.kafka.time_offsets import offsets_at
from connectors.kafka.topics import Admin, TopicDescription, describe_topics, topic_ids
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.storage.open import open_storage
from connectors.landing_zone.storage.protocol import Storage
from streaming.batch import BatchReport
from streaming.beginning import Beginning, begin
from streaming.checkpoint import Checkpoint
from streaming.job_options import job_options, partner_file, storage_location
from streaming.kafka_options import kafka_config, source_options, subscription
from streaming.lag_group import LagGroup
from streaming.lifecycle.wiring import chores_for
from streaming.policies import OnBadRecord
from streaming.query import Job, Retries, StopSignal, run
from streaming.session import spark_session
from streaming.settings import BridgeSettings
from streaming.startup import OpenZone, open_zone

_log = logging.getLogger(__name__)

LAG_GROUP_SECONDS = 5.0
"""How long a batch waits at most until the group for lag tools has the ledger's offsets."""


@dataclass(frozen=True)
class Listener:
    """Whoever wants to know how a run goes on.

    Attributes:
        on_start: offsets that wait when the query starts.
        on_batch: what each micro-batch did.
        on_failure: a failure that is retried, and after how many seconds.
        on_end: what the ledger knows when a query has ended without a failure.
        on_lag_failure: why the offsets of the group for lag tools could not be set; nothing else depends on them.
    """

    on_start: Callable[[int], None]
    on_batch: Callable[[BatchReport], None]
    on_failure: Callable[[BridgeError, float], None]
    on_end: Callable[[LedgerState], None] = lambda state: None
    on_lag_failure: Callable[[BridgeError], None] = lambda error: None


def run_bridge(
    settings: BridgeSettings, listener: Listener, stop: StopSignal, *, once: bool, spark: SparkSession | None = None
) -> None:
    """Run the streaming job.

    Args:
        once: drain what is in the topics now, then end; otherwise until ``stop`` is set.
        spark: a session with the Kafka source, which stays open; without it one is started, and stopped at the end.

    Raises:
        Terminal: a person has to act; the message says what to do.
        Transient: the failures did not pass within ``retry.attempts``.
    """
    options = job_options(settings)
    admin = Admin(kafka_config(settings))
    if settings.tables.on_bad_record is OnBadRecord.DEAD_LETTER:
        ensure_topic(admin, settings.dead_letter_topic)
    session = spark or spark_session(settings, resolve_jars(JarSet.SPARK_KAFKA, progress=_log.info))
    zone, state = open_storages(settings)
    writer = f"{settings.name}-{uuid.uuid4().hex[:12]}"

    def describe() -> Mapping[str, TopicDescription]:
        return describe_topics(admin, subscription(settings))

    def claim() -> OpenZone:
        return open_zone(
            zone,
            state,
            options,
            source=settings.name,
            writer=f"{writer}-{uuid.uuid4().hex[:8]}",
            host=f"{socket.gethostname()}:{os.getpid()}",
            partner=partner_file(settings),
            threads=settings.publish.threads,
        )

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
        source_options=source_options(settings),
        begin=begin_as_asked,
        on_commit=_lag_group(settings, listener),
        interval=None if once else settings.trigger.interval.total_seconds(),
        retries=retries,
        open=claim,
        chores=chores_for(settings, options, admin, session, retries, listener, once=once),
        describe=describe,
        topic_ids=lambda names: topic_ids(admin, names),
        on_start=listener.on_start,
        on_batch=listener.on_batch,
        on_failure=listener.on_failure,
        on_end=listener.on_end,
    )
    try:
        run(session, job, stop)
    finally:
        if spark is None:
            session.stop()


def _lag_group(settings: BridgeSettings, listener: Listener) -> Callable[[LedgerState], None]:
    """What keeps the group for lag tools at the ledger's offsets, if the settings name one."""
    if settings.kafka.commit_group is None:
        return lambda state: None
    admin = Admin(kafka_config(settings), timeout=LAG_GROUP_SECONDS)
    return LagGroup(admin, settings.kafka.commit_group, listener.on_lag_failure).follow


def open_storages(settings: BridgeSettings) -> tuple[Storage, Storage]:
    """The landing zone and the state that the ledger lies in."""
    return (
        open_storage(storage_location(settings, settings.landing_zone.url)),
        open_storage(storage_location(settings, settings.state_url)),
    )
