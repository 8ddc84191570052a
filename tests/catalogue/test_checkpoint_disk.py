"""The disk on which Spark's checkpoint lies, by default that of the state, is full or can only be read: a real Spark.

While it waits for records the job writes nothing. So what meets the fault is Spark, as it plans the next batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from connectors.landing_zone.errors import StorageDeniedError, StorageError
from tests.catalogue.disks import Disk, disk
from tests.catalogue.running_job import SECONDS, RunningJob, rows, send
from tests.rig.server import until
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

WHERE = "Spark's checkpoint (state.checkpoint; without it, the folder checkpoint in the state)"


@pytest.fixture
def state(tmp_path: Path, spark: SparkSession) -> Iterator[Disk]:
    """The disk of the state of the bridge ``bridge``."""
    with disk(tmp_path / "bridge" / "zone-state") as mounted:
        yield mounted
        close_files(spark, mounted)


@pytest.fixture
def own(tmp_path: Path, spark: SparkSession) -> Iterator[Disk]:
    """A disk for a checkpoint alone."""
    with disk(tmp_path / "own") as mounted:
        yield mounted
        close_files(spark, mounted)


def close_files(spark: SparkSession, mounted: Disk) -> None:
    """Have Java close what Spark left open when it could not write; until then no disk can be taken away."""
    java: Any = spark.sparkContext._jvm
    opened = Path(f"/proc/{java.java.lang.ProcessHandle.current().pid()}/fd")

    def closed() -> bool:
        java.System.gc()
        return not any(file.resolve().is_relative_to(mounted.folder) for file in opened.iterdir())

    until(closed, "every file is closed", seconds=SECONDS)


def planned_and_committed(bridge: Bridge, batches: int) -> None:
    """Wait until Spark has written that its last batch has ended: then it writes nothing until records come."""
    last = bridge.settings.checkpoint / "commits" / str(batches - 1)
    until(last.exists, f"{last} is there", seconds=SECONDS)


def test_a_full_one_and_one_that_can_only_be_read_are_told_by_what_spark_meets_and_every_row_lands_once(
    cluster: Cluster, bridge: Callable[..., Bridge], spark: SparkSession, state: Disk
) -> None:
    table, started = Table(cluster.topic()), bridge(retry={"attempts": 60, "backoff": "100ms", "max_backoff": "1s"})
    checkpoint = started.settings.checkpoint
    assert checkpoint.is_relative_to(state.folder)
    with RunningJob(started, spark, trigger={"interval": "0s"}) as job:
        send(cluster, table, 0)
        job.landed(table.topic, {0: 1})
        planned_and_committed(started, 1)
        state.fill()
        send(cluster, table, 1)
        full = job.failed()
        state.free()
        job.landed(table.topic, {0: 2})
        assert type(full) is StorageError
        assert (full.message, full.facts) == (
            "The disk of Spark's checkpoint is full: No space left on device",
            {"checkpoint": str(checkpoint)},
        )
        assert full.remedy == (
            f"free space or enlarge the volume of {WHERE}; the job starts again by itself and goes on where the ledger "
            "ends"
        )

        planned_and_committed(started, 2)
        failures = len(job.failures)
        close_files(spark, state)
        state.allow_writing(False)
        send(cluster, table, 2)
        with pytest.raises(StorageDeniedError) as denied:
            job.result()
        assert len(job.failures) == failures, "it is not tried again"
        assert (denied.value.message, denied.value.facts) == (
            "The file system of Spark's checkpoint cannot be written: Read-only file system",
            {"checkpoint": str(checkpoint)},
        )
        assert denied.value.remedy == f"mount the volume of {WHERE} writable, or point the setting to one that is"
    assert started.rows() == rows(0, 1)

    state.allow_writing(True)
    started.run()
    assert started.rows() == rows(0, 1, 2)
    assert started.replayed().rows_per_marker == {"4": 3}, "nothing twice"


def test_a_full_one_of_its_own_is_told_by_a_start_too_and_the_next_one_lands_every_row_once(
    cluster: Cluster, bridge: Callable[..., Bridge], own: Disk
) -> None:
    table, started = Table(cluster.topic()), bridge(state={"checkpoint": str(own.folder / "checkpoint")})
    send(cluster, table, 0)
    own.fill()
    with pytest.raises(
        StorageError, match=r"^The disk of Spark's checkpoint is full: .*Remedy: free space or enlarge"
    ) as full:
        started.run()
    assert full.value.facts == {"checkpoint": str(started.settings.checkpoint)}
    own.free()
    started.run()
    assert started.rows() == rows(0)
    assert started.replayed().rows_per_marker == {"4": 1}, "nothing twice"


def test_one_of_its_own_that_can_only_be_read_is_told_by_a_first_start_and_the_next_one_lands_every_row_once(
    cluster: Cluster, bridge: Callable[..., Bridge], own: Disk
) -> None:
    """Hadoop says of this no more than that it has failed to make a folder."""
    table, started = Table(cluster.topic()), bridge(state={"checkpoint": str(own.folder / "checkpoint")})
    send(cluster, table, 0)
    own.allow_writing(False)
    with pytest.raises(StorageDeniedError) as denied:
        started.run()
    assert (denied.value.message, denied.value.facts) == (
        "The file system of Spark's checkpoint cannot be written: Read-only file system",
        {"checkpoint": str(started.settings.checkpoint)},
    )
    assert denied.value.remedy == f"mount the volume of {WHERE} writable, or point the setting to one that is"

    own.allow_writing(True)
    started.run()
    assert started.rows() == rows(0)
    assert started.replayed().rows_per_marker == {"4": 1}, "nothing twice"
