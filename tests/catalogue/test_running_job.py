"""What happens to Kafka and to Spark's checkpoint around a running job: a real Kafka, a real Spark."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.landing_zone.errors import LedgerBehindError
from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.state import Version
from connectors.landing_zone.storage.local import LocalStorage
from streaming import cli
from streaming.driver.checkpoint import Checkpoint
from tests.catalogue.running_job import MANY, RunningJob, WhenWritten, rows, send
from tests.support.bridge import QUICK_BROKER, Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

INTERVAL = 10
KILLS = 5
"""So often a broker is killed until the batch in hand has still had to ask it something."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path]) -> Iterator[EmbeddedBroker]:
    """A broker that no other module uses: it is killed here."""
    with EmbeddedBroker(tmp_path_factory.mktemp("broker"), broker_jars, jvm_options=QUICK_BROKER) as started:
        yield started


@pytest.fixture
def cluster(broker: EmbeddedBroker) -> Cluster:
    return Cluster(broker.bootstrap_servers)


@pytest.fixture
def bridge(cluster: Cluster, spark: SparkSession, tmp_path: Path) -> Bridge:
    return Bridge(
        tmp_path,
        spark,
        kafka__bootstrap_servers=cluster.bootstrap_servers,
        kafka__topics=None,
        kafka__pattern=rf"{cluster.prefix}\..*",
        dead_letters__topic=f"{cluster.prefix}-dead-letters",
    )


def test_a_running_job_survives_an_idle_table_new_partitions_a_broker_that_dies_and_a_stop_during_an_upload(
    cluster: Cluster, bridge: Bridge, spark: SparkSession, broker: EmbeddedBroker
) -> None:
    table = Table(cluster.topic())
    work, scratch = bridge.zone / "_scratchPad" / ".work", bridge.zone / "_scratchPad"
    waiting = {"interval": "0s", "min_offsets": 1_000, "max_delay": "1s"}
    retry = {"attempts": 20, "backoff": "100ms", "max_backoff": "1s"}

    with RunningJob(bridge, spark, trigger=waiting, retry=retry) as job:
        # One record that nothing follows does not wait for more.
        send(cluster, table, 0)
        job.landed(table.topic, {0: 1})
        assert bridge.rows() == rows(0)
        assert job.failures == []

        # Spark 4.0 may fail here, counting what a new partition has while it holds it back: then it is started again.
        cluster.widen(table.topic, 2)
        send(cluster, table.at(1), 2)
        job.landed(table.topic, {0: 1, 1: 1})
        assert bridge.rows() == rows(0, 2)

    with RunningJob(bridge, spark, trigger={"interval": "0s"}, retry=retry) as job:
        cluster.widen(table.topic, 3)
        send(cluster, table.at(2), 1)
        job.landed(table.topic, {0: 1, 1: 1, 2: 1})
        assert bridge.rows() == rows(0, 1, 2)
        assert job.failures == []

        # The broker is killed while a batch's file grows, and comes back. Without it nothing of the batch lands, unless
        # the batch was so fast that it had asked everything before.
        last, needed = 3, False
        for _ in range(KILLS):
            killed = WhenWritten(work, "public.schema__orders-*", broker.kill)
            last = killed.send_until_done(job, cluster, table, last)
            needed = job.stays_below(table.topic, end_in_hand(bridge, table.topic))
            broker.start()
            job.landed(table.topic, {0: last - 2, 1: 1, 2: 1})
            if needed:
                break
        assert needed, "the batch waits for the broker that is away"
        assert bridge.rows() == rows(*range(last))

        # It is asked to stop as soon as a file of its batch is staged.
        stopped = WhenWritten(scratch, "[0-9]*/public.schema__orders-*", job.stop.set)
        last = stopped.send_until_done(job, cluster, table, last)
        job.result()

    landed = bridge.ledger.topics[table.topic].partitions[0]
    assert landed > last - MANY - 2, "the batch in hand was finished"
    assert all((bridge.zone / file.target).exists() for file in bridge.ledger.pending.values())
    assert len(bridge.rows()) == landed + 2
    bridge.run(trigger={"max_offsets": 100_000})
    assert bridge.rows() == rows(*range(last))
    assert bridge.replayed().rows_per_marker == {"4": last}, "nothing twice"


def test_a_backlog_lands_in_files_as_large_as_a_batch_may_be_and_a_job_without_news_writes_nothing(
    cluster: Cluster, bridge: Bridge, spark: SparkSession
) -> None:
    table, idle = Table(cluster.topic()), Table(cluster.topic("idle"), "idle")
    send(cluster, idle, 0)
    bridge.run()
    send(cluster, table, *range(25))
    begun = bridge.ledger.version + 1
    # What follows a full batch does not wait, or it would not be there for hours.
    with RunningJob(bridge, spark, trigger={"interval": "2h", "max_offsets": 10}) as job:
        job.landed(table.topic, {0: 25})
    # The start's version has no file.
    assert written(bridge, since=begun) == [{}, *({"public.orders": {"4": rows}} for rows in (10, 10, 5))]
    begun = bridge.ledger.version + 1
    with RunningJob(bridge, spark, trigger={"interval": f"{INTERVAL}s"}) as job:
        job.started()
        # Spark looks at Kafka all the while.
        assert not job.stop.wait(4)
        assert written(bridge, since=begun) == [{}]
        before = time.time()
        send(cluster, table, 25)
        job.landed(table.topic, {0: 26})
        send(cluster, table, 26)
        job.landed(table.topic, {0: 27})
    assert written(bridge, since=begun)[1:] == [{"public.orders": {"4": 1}}] * 2
    *_, last = bridge_versions(bridge, since=begun)
    # The other one's interval began when it did, which was after its record was sent; clocks may be set a little.
    waited = last.written_ms / 1000 - before
    assert waited > INTERVAL - 0.1, "what follows a batch that is not full waits for the interval's end"


def test_a_run_that_drains_leaves_nothing_however_few_records_are_left(cluster: Cluster, bridge: Bridge) -> None:
    table = Table(cluster.topic())
    send(cluster, table, *range(25))
    bridge.run(trigger={"min_offsets": 10, "max_offsets": 10, "max_delay": "1h"})
    assert bridge.rows() == rows(*range(25))


def end_in_hand(bridge: Bridge, topic: str) -> int:
    """Where the batch that Spark has planned last ends in a topic's first partition."""
    checkpoint = Checkpoint(bridge.settings.checkpoint)
    batch = max(int(path.name) for path in (checkpoint.folder / "offsets").glob("[0-9]*"))
    return checkpoint.planned(batch).end[topic][0]


def written(bridge: Bridge, since: int) -> list[dict[str, Mapping[str, int]]]:
    """The files of each version from this one on, oldest first: rows per marker, by table."""
    return [
        {file.table: dict(file.rows) for file in version.files.values()} for version in bridge_versions(bridge, since)
    ]


def bridge_versions(bridge: Bridge, since: int) -> list[Version]:
    """The ledger's versions from this one on, oldest first."""
    newest_first = versions(LocalStorage(bridge.folder / "zone-state"))
    return [version for version in reversed(list(newest_first)) if version.version >= since]


def test_a_topic_that_is_deleted_and_created_again_under_a_running_job_parks_its_table(
    cluster: Cluster, bridge: Bridge, spark: SparkSession
) -> None:
    table, lines = Table(cluster.topic("public.orders")), Table(cluster.topic("public.lines"), "lines")
    send(cluster, table, 0, 1)
    send(cluster, lines, 0)
    retry = {"attempts": 20, "backoff": "100ms", "max_backoff": "1s"}
    with RunningJob(bridge, spark, trigger={"interval": "0s"}, retry=retry) as job:
        job.landed(table.topic, {0: 2})
        cluster.delete(table.topic)
        cluster.topic("public.orders")
        send(cluster, table, 5, 6, 7)
        job.landed(table.topic, {0: 3})
        send(cluster, lines, 1)
        job.landed(lines.topic, {0: 2})
    parked = bridge.ledger.tables["public.orders"].parked
    assert parked is not None
    assert parked.reason == "topic_recreated"
    assert bridge.rows() == rows(0, 1), "no record of the new one is taken for one of the old one"
    assert bridge.rows("public.lines") == rows(0, 1)


class TestCheckpoint:
    """After each of these the next run goes on behind the last record that has landed, and nothing lands twice."""

    @pytest.fixture
    def table(self, cluster: Cluster, bridge: Bridge) -> Table:
        """A table whose records have landed in two batches, and one that waits."""
        table = Table(cluster.topic())
        send(cluster, table, 1, 2)
        assert len(bridge.run(trigger={"max_offsets": 1})) == 2
        send(cluster, table, 3)
        return table

    @staticmethod
    def last(bridge: Bridge, kind: str) -> Path:
        return max((bridge.settings.checkpoint / kind).glob("[0-9]*"), key=lambda path: int(path.name))

    @staticmethod
    def goes_on(bridge: Bridge) -> bool:
        bridge.run()
        return bridge.rows() == rows(1, 2, 3) and bridge.replayed().rows_per_marker == {"4": 3}

    @pytest.mark.parametrize("kinds", [("commits",), ("commits", "offsets")])
    @pytest.mark.usefixtures("table")
    def test_without_its_last_commit_or_batch_repeats_for_nothing(self, bridge: Bridge, kinds: tuple[str, ...]) -> None:
        for kind in kinds:
            last = self.last(bridge, kind)
            last.unlink()
            last.with_name(f".{last.name}.crc").unlink()
        assert self.goes_on(bridge)
        assert not bridge.settings.checkpoint.with_name("checkpoint.aside-1").exists()

    @pytest.mark.usefixtures("table")
    def test_without_its_last_offsets_is_set_aside(self, bridge: Bridge) -> None:
        last = self.last(bridge, "offsets")
        last.unlink()
        last.with_name(f".{last.name}.crc").unlink()
        assert self.goes_on(bridge)
        assert bridge.settings.checkpoint.with_name("checkpoint.aside-1").is_dir()

    @pytest.mark.usefixtures("table")
    def test_without_a_file_whose_checksum_is_still_there_is_set_aside(self, bridge: Bridge) -> None:
        self.last(bridge, "commits").unlink()
        assert self.goes_on(bridge)
        assert bridge.settings.checkpoint.with_name("checkpoint.aside-1").is_dir()

    @pytest.mark.parametrize("file", ["commits/1", "metadata", "offsets/0"])
    @pytest.mark.usefixtures("table")
    def test_with_a_file_without_its_content_as_after_a_power_cut_is_set_aside(self, bridge: Bridge, file: str) -> None:
        torn = bridge.settings.checkpoint / file
        assert torn.read_text()
        torn.write_bytes(b"")
        torn.with_name(f".{torn.name}.crc").write_bytes(b"")
        assert self.goes_on(bridge)
        assert bridge.settings.checkpoint.with_name("checkpoint.aside-1").is_dir()

    def test_of_another_query_is_set_aside(
        self, table: Table, cluster: Cluster, bridge: Bridge, spark: SparkSession
    ) -> None:
        other = Bridge(bridge.folder / "other", spark, **{**bridge.changes, "kafka__pattern": r"no-such-.*"})
        others = Table(cluster.own_topic("lines"), "lines")
        send(cluster, others, 1, 2, 3)
        other.changes |= {"landing_zone__url": f"file://{other.zone}", "kafka__pattern": others.topic}
        other.run()
        shutil.rmtree(bridge.settings.checkpoint)
        shutil.copytree(other.settings.checkpoint, bridge.settings.checkpoint)
        assert self.goes_on(bridge)
        assert bridge.tables() == ["public.orders"]
        assert bridge.settings.checkpoint.with_name("checkpoint.aside-1").is_dir()

    @pytest.mark.usefixtures("table")
    def test_deleted_together_with_the_ledger_stops_the_start_until_one_command_is_given(self, bridge: Bridge) -> None:
        assert bridge.settings.checkpoint.is_relative_to(bridge.folder / "zone-state")
        shutil.rmtree(bridge.folder / "zone-state")
        before = bridge.files()
        with pytest.raises(LedgerBehindError, match="`cdc-bridge ledger rebuild CONFIG`"):
            bridge.run()
        assert bridge.files() == before
        assert cli.main(["ledger", "rebuild", str(bridge.write_settings())]) == 0
        assert self.goes_on(bridge)
