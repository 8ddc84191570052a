"""Order across partitions, topics and micro-batches, from a real Kafka to the landing files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.bridge import TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]


def landed(bridge: Bridge, table: str = TABLE) -> list[tuple[object, ...]]:
    """Id, name and marker of every row, as the files hold them; inserts and updates only."""
    return [(row["id"], row["name"]) for row in bridge.rows(table, by=None)]


def test_eight_partitions_of_a_table_land_merged_by_log_position(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic(partitions=8))
    records = [table.at(index % 8).create({"id": index, "name": f"n{index}"}, lsn=index + 1) for index in range(200)]
    cluster.send(*records)

    made = bridge()
    [report] = made.run()

    assert landed(made) == [(index, f"n{index}") for index in range(200)]
    [file] = report.files.values()
    assert file.rows == {"4": 200}
    assert file.ranges == {table.topic: dict.fromkeys(range(8), (0, 24))}


def test_a_row_that_moves_between_partitions_is_deleted_before_it_is_inserted(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    table = Table(cluster.topic(partitions=2))
    old, new = {"id": 1, "name": "a"}, {"id": 2, "name": "a"}
    cluster.send(
        table.at(1).create(old, lsn=10),
        table.at(1).delete(old, lsn=20, moved_to=new),
        table.at(1).tombstone(old),
        table.at(0).create(new, lsn=20, moved_from=old),
        table.at(0).update({"id": 2, "name": "b"}, lsn=30),
    )

    made = bridge()
    made.run()

    assert made.rows() == [{"id": 2, "name": "b"}]
    assert made.replayed().rows_per_marker == {"1": 1, "2": 1, "4": 2}


def test_two_topics_that_feed_one_table_merge_from_their_first_batch_on(cluster: Cluster, bridge: MakeBridge) -> None:
    first, second = Table(cluster.topic("one")), Table(cluster.topic("two"))
    cluster.send(*(first.create({"id": 2 * index, "name": "x"}, lsn=2 * index + 1) for index in range(5)))
    cluster.send(*(second.create({"id": 2 * index + 1, "name": "y"}, lsn=2 * index + 2) for index in range(5)))
    made = bridge()

    [report] = made.run()
    assert [row[0] for row in landed(made)] == list(range(10))
    assert made.ledger.merging == (first.topic, second.topic)
    assert report.files[TABLE].sequence == 1

    cluster.send(second.update({"id": 0, "name": "z"}, lsn=100), first.update({"id": 0, "name": "last"}, lsn=101))
    made.run()
    assert made.rows()[0] == {"id": 0, "name": "last"}


def test_two_tables_in_one_topic_land_apart(cluster: Cluster, bridge: MakeBridge) -> None:
    topic = cluster.topic()
    spaced, underscored = Table(topic, "col lide"), Table(topic, "col_lide")
    cluster.send(
        *(table.create({"id": 1, "name": table.name}, lsn=lsn) for lsn, table in enumerate([spaced, underscored], 1))
    )
    made = bridge()
    made.run()

    assert {table: made.rows(table) for table in made.tables()} == {
        "public.col_lide": [{"id": 1, "name": "col_lide"}],
        "public.col lide": [{"id": 1, "name": "col lide"}],
    }


def test_a_new_topic_of_the_pattern_is_picked_up_by_the_next_run(cluster: Cluster, bridge: MakeBridge) -> None:
    orders = Table(cluster.topic("orders"))
    cluster.send(orders.create({"id": 1, "name": "a"}, lsn=1))
    made = bridge()
    made.run()
    customers = Table(cluster.topic("customers"), "customers")
    cluster.send(customers.create({"id": 7, "name": "c"}, lsn=2), orders.create({"id": 2, "name": "b"}, lsn=3))

    made.run()

    assert made.rows("public.customers") == [{"id": 7, "name": "c"}]
    assert made.rows() == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    assert {topic: offsets.partitions for topic, offsets in made.ledger.topics.items()} == {
        orders.topic: {0: 2},
        customers.topic: {0: 1},
    }


def test_new_partitions_are_read_from_their_first_record(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    cluster.send(table.create({"id": 1, "name": "a"}, lsn=1))
    made = bridge()
    made.run()
    cluster.widen(table.topic, 3)
    cluster.send(
        table.at(2).create({"id": 2, "name": "b"}, lsn=2),
        table.at(1).create({"id": 3, "name": "c"}, lsn=3),
        table.at(0).update({"id": 1, "name": "d"}, lsn=4),
    )

    made.run()

    assert made.rows() == [{"id": 1, "name": "d"}, {"id": 2, "name": "b"}, {"id": 3, "name": "c"}]
    assert made.ledger.topics[table.topic].partitions == {0: 2, 1: 1, 2: 1}


def test_a_batch_of_one_record_becomes_one_file_of_one_row(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    cluster.send(table.create({"id": 1, "name": "only"}, lsn=1))
    made = bridge()

    [report] = made.run()

    assert (report.offsets, report.files[TABLE].rows) == (1, {"4": 1})
    assert made.rows() == [{"id": 1, "name": "only"}]
    assert made.run() == [], "a run without new records makes no batch"


def test_what_waits_is_cut_into_micro_batches_and_each_becomes_the_next_number(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    table = Table(cluster.topic(partitions=3))
    cluster.send(*(table.at(index % 3).create({"id": index, "name": "x"}, lsn=index + 1) for index in range(100)))
    made = bridge(trigger__max_offsets=30)

    reports = made.run()

    assert [report.files[TABLE].sequence for report in reports] == [1, 2, 3, 4]
    assert sum(report.offsets for report in reports) == 100
    assert [row["id"] for row in made.rows()] == list(range(100))
