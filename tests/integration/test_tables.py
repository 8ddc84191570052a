"""Tables in one query: many, parked, delimited, and with natural markers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from connectors.landing_zone.ledger.state import TableStatus
from tests.support.bridge import TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]


class Runs(StreamingQueryListener):
    """Run ids of the queries that have started: each is the job group of all of its Spark jobs."""

    def __init__(self) -> None:
        self.started: list[str] = []

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        self.started.append(str(event.runId))

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        pass

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        pass


def test_two_hundred_tables_land_with_one_spark_job_per_batch(
    cluster: Cluster, bridge: MakeBridge, spark: SparkSession
) -> None:
    names = [f"t{number:03d}" for number in range(200)]
    tables = [Table(topic, name) for topic, name in zip(cluster.topics(names), names, strict=True)]
    rows = [{"id": number, "name": f"n{number}"} for number in range(4)]
    cluster.send(*(table.create(row, lsn=lsn) for table in tables for lsn, row in enumerate(rows, 1)))
    made = bridge(trigger__max_offsets=400)
    runs = Runs()
    spark.streams.addListener(runs)
    try:
        reports = made.run()
    finally:
        spark.streams.removeListener(runs)

    [run] = runs.started
    # What its jobs were is told behind their backs.
    java = spark.sparkContext._jsc
    assert java is not None
    java.sc().listenerBus().waitUntilEmpty(60_000)
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(run)
    assert (len(reports), len(jobs)) == (2, 2)
    assert made.tables() == [f"public.{name}" for name in names]
    assert {table: state.sequence for table, state in made.ledger.tables.items()} == dict.fromkeys(made.tables(), 2)
    assert all(made.rows(table) == rows for table in made.tables()[::20])


def test_a_truncated_table_parks_and_the_others_go_on(cluster: Cluster, bridge: MakeBridge) -> None:
    orders, customers = Table(cluster.topic("orders", 2)), Table(cluster.topic("customers"), "customers")
    cluster.send(
        orders.at(0).create({"id": 1, "name": "a"}, lsn=1),
        orders.at(1).create({"id": 2, "name": "b"}, lsn=3),
        orders.at(0).truncate(lsn=2),
        orders.at(0).create({"id": 3, "name": "c"}, lsn=4),
        customers.create({"id": 1, "name": "x"}, lsn=5),
    )
    made = bridge()

    [report] = made.run()

    assert report.parked == (TABLE,)
    state = made.ledger.tables[TABLE]
    assert state.status is TableStatus.PARKED
    assert state.parked is not None
    assert (state.parked.reason, state.parked.topic, state.parked.partition, state.parked.offset) == (
        "truncate",
        orders.topic,
        0,
        1,
    )
    assert state.parked.resume == {orders.topic: {0: 1, 1: 0}}, "the cut is the truncate in merge order"
    assert state.parked.skipped == 3
    assert made.rows() == [{"id": 1, "name": "a"}]

    cluster.send(customers.update({"id": 1, "name": "y"}, lsn=6), orders.at(1).create({"id": 4, "name": "d"}, lsn=7))
    made.run()
    assert made.rows("public.customers") == [{"id": 1, "name": "y"}]
    assert made.rows() == [{"id": 1, "name": "a"}]
    parked = made.ledger.tables[TABLE].parked
    assert parked is not None
    assert parked.skipped == 4


def test_a_delimited_text_table_holds_what_its_columns_hold(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    names = ["plain", "comma, and", 'quote "', "line\nbreak", "", None, "ü 村"]
    rows = [{"id": number, "name": name} for number, name in enumerate(names)]
    cluster.send(*(table.read(row) for row in rows))
    made = bridge(tables__overrides=[{"match": TABLE, "file_format": "delimited", "delimited": {"gzip": True}}])
    made.run()
    cluster.send(table.delete(rows[0], lsn=1_000), table.update({"id": 1, "name": "b,b"}, lsn=1_001))
    made.run()

    assert made.rows() == [{"id": 1, "name": "b,b"}, *rows[2:]]
    assert [name for name in made.files() if name.endswith(".gz")] == [
        f"public.schema/orders/{number:020d}.csv.gz" for number in (1, 2)
    ]
    assert made.metadata()["FileFormat"] == "CSV"


def test_natural_markers_insert_what_is_proven_new_and_nothing_else(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic(partitions=2))
    cluster.send(*(table.at(key % 2).read({"id": key, "name": "r"}, lsn=10) for key in range(4)))
    made = bridge(markers="natural")
    made.run()
    fresh = table.at(0).create({"id": 10, "name": "c"}, lsn=20)
    cluster.send(fresh, table.at(1).create({"id": 11, "name": "c"}, lsn=30))
    made.run()
    again = Table(table.topic, run="run-2").create({"id": 10, "name": "c"}, lsn=20)
    cluster.send(again, table.at(1).create({"id": 13, "name": "c"}, lsn=40))
    made.run()

    assert [row["id"] for row in made.rows()] == [0, 1, 2, 3, 10, 11, 13]
    replayed = made.replayed()
    # Behind an event of another connector run nothing is proven new: what was deleted in between has no delete.
    assert replayed.rows_per_marker == {"": 4, "0": 2, "4": 2}
    assert replayed.observations == ()


def test_a_table_without_key_appends_where_the_settings_say_so(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic(partitions=2), key=())
    cluster.send(*(table.at(number % 2).create({"id": 1, "name": f"n{number}"}, lsn=number + 1) for number in range(6)))
    made = bridge(tables__defaults={"policies": {"on_missing_key": "append"}})

    made.run()

    assert [row["name"] for row in made.rows(by=None)] == [f"n{number}" for number in range(6)]
    assert made.replayed().rows_per_marker == {"0": 6}
