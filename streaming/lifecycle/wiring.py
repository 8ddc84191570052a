"""The chores of a bridge: what answers each request, which steps bring tables on, and whether the source is watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pyspark.sql import SparkSession

from connectors.errors import BridgeError
from connectors.kafka.topics import Admin, existing_topics
from connectors.landing_zone.requests import Action
from streaming.driver.batch import BatchReport
from streaming.driver.query import Retries
from streaming.driver.startup import OpenZone
from streaming.kafka_options import dead_letter_config
from streaming.lifecycle.asked_rebuilds import AskedRebuilds
from streaming.lifecycle.catalog_watch import CatalogWatch, look_into
from streaming.lifecycle.catching_up import CatchUp
from streaming.lifecycle.chores import Chores, Pace
from streaming.lifecycle.connector_runs import ToldSnapshots
from streaming.lifecycle.dead_letter_replay import DeadLetterReplay
from streaming.lifecycle.empty_snapshots import EmptySnapshots
from streaming.lifecycle.folder_removal import FolderRemoval
from streaming.lifecycle.letter_topics import letter_topics
from streaming.lifecycle.outside import Outside, spark_reader
from streaming.lifecycle.pausing import Pause, Resume
from streaming.lifecycle.rebuilding import Rebuilding
from streaming.lifecycle.resyncing import Resync
from streaming.lifecycle.signalling import debezium_of
from streaming.plan import JobOptions
from streaming.settings import BridgeSettings


class Told(Protocol):
    """Whoever is told what the chores do: see :class:`streaming.listener.Listener`."""

    @property
    def on_batch(self) -> Callable[[BatchReport], None]: ...

    @property
    def on_failure(self) -> Callable[[BridgeError, float], None]: ...


def chores_for(
    settings: BridgeSettings,
    job: JobOptions,
    admin: Admin,
    spark: SparkSession,
    retries: Retries,
    told: Told,
    *,
    once: bool,
) -> Callable[[OpenZone], Chores]:
    """What makes the chores of a driver that has just claimed the zone.

    Args:
        once: the driver ends when nothing is left to do, so it looks for requests each time and does not wait for long.
    """
    debezium = debezium_of(settings, admin)
    outside = Outside(
        topics=lambda names: existing_topics(admin, names),
        subscribed=debezium.topics,
        wanted=debezium.subscribed,
        names=settings.kafka.topics,
        read=spark_reader(spark),
    )
    pace = Pace(
        interval=0.0 if once else settings.requests.interval.total_seconds(),
        retries=retries,
        gives_up=once,
    )
    catalog = look_into(settings)
    # Of the process, not of one claim: a query that starts again waits no longer for it.
    seen_gone: dict[tuple[str, int], float] = {}
    letters = letter_topics(job, dead_letter_config(settings), admin)

    def chores(opened: OpenZone) -> Chores:
        snapshots = ToldSnapshots(debezium)
        release_wait = settings.landing_zone.release_wait.total_seconds()
        removal = FolderRemoval(opened, release_wait, once=once, seen_gone=seen_gone)
        rebuilding = Rebuilding(opened, job, debezium, removal, told=snapshots)
        asked = AskedRebuilds(opened, job, debezium, snapshots, rebuilding, outside)
        emptied = EmptySnapshots(opened, job, debezium, snapshots, rebuilding)
        catch_up = CatchUp(opened, job, outside, settings.trigger.max_offsets, told.on_batch)
        return Chores(
            opened,
            handlers={
                Action.PAUSE: Pause(opened.ledger),
                Action.RESUME: Resume(opened, job, outside),
                Action.RESYNC: Resync(opened, job, rebuilding, outside),
                Action.REPLAY_DEAD_LETTER: DeadLetterReplay(opened, job, letters, told.on_batch),
            },
            steps=(asked, rebuilding, emptied, catch_up),
            pace=pace,
            on_failure=told.on_failure,
            watch=emptied.suspects,
            survey=None if catalog is None else CatalogWatch(opened, job, catalog, told.on_batch),
        )

    return chores
