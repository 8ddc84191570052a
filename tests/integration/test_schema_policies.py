"""Policies of schema changes on a real broker, with events as Debezium's connectors send them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from streaming.demo.columns import Column, Kind
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.mariadb_events import MariaTable, ddl
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

ID = Column("id", Kind.INT64, optional=False)
NUMBERS, TEXTS = (ID, Column("size", Kind.INT32)), (ID, Column("size", Kind.TEXT))


def test_each_table_follows_a_changed_type_by_its_policy_and_none_stops_another(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    policies = ("park", "new_column", "to_string", "ignore")
    names = [f"size_{policy}" for policy in policies]
    topics = cluster.topics(names)
    before = [Table(topic, name, NUMBERS) for topic, name in zip(topics, names, strict=True)]
    after = [replace(table, columns=TEXTS) for table in before]
    overrides = [
        {"match": f"public.{name}", "policies": {"on_type_change": policy}}
        for name, policy in zip(names, policies, strict=True)
    ]
    made = bridge(tables__overrides=overrides)
    cluster.send(*(table.create({"id": 1, "size": 7}, lsn=1) for table in before))
    made.run()
    cluster.send(
        *(table.create({"id": 2, "size": "8"}, lsn=2) for table in after),
        *(table.create({"id": 3, "size": "wide"}, lsn=3) for table in after),
        *(table.update({"id": 1, "size": 9}, lsn=4) for table in before),
    )
    [report] = made.run()

    assert report.parked == ("public.size_park",)
    assert made.rows("public.size_park") == [{"id": 1, "size": 7}]
    assert made.rows("public.size_new_column") == [
        {"id": 1, "size": 9, "size__2": None},
        {"id": 2, "size": None, "size__2": "8"},
        {"id": 3, "size": None, "size__2": "wide"},
    ]
    assert made.rows("public.size_to_string") == [
        {"id": 1, "size": None, "size__2": "9"},
        {"id": 2, "size": None, "size__2": "8"},
        {"id": 3, "size": None, "size__2": "wide"},
    ]
    assert made.rows("public.size_ignore") == [
        {"id": 1, "size": 9},
        {"id": 2, "size": 8},
        {"id": 3, "size": None},
    ]
    assert made.ledger.counters["ignored_values"] == 1


def test_dropped_and_recreated_tables_follow_their_policies(cluster: Cluster, bridge: MakeBridge) -> None:
    names = ("keep", "drop", "park", "ignore", "rebuild", "other")
    tables = {name: MariaTable(name, prefix=cluster.prefix) for name in names}
    cluster.topic("shop.rebuild", 2)
    cluster.topics([f"shop.{name}" for name in names if name != "rebuild"])
    cluster.topic("changes")
    made = bridge(
        tables__naming={"schema": "{database}"},
        tables__overrides=[
            {"match": "shop.drop", "policies": {"on_drop": "drop"}},
            *(
                {"match": f"shop.{policy}", "policies": {"on_truncate": policy}}
                for policy in ("park", "ignore", "rebuild")
            ),
        ],
        landing_zone__release_wait="0s",
    )
    cluster.send(*(table.read({"id": 1, "name": "old"}, 5) for table in tables.values()))
    made.run()

    topic = f"{cluster.prefix}.changes"
    again = ("park", "ignore", "rebuild")
    cluster.send(
        replace(tables["rebuild"], partition=1).create({"id": 2, "name": "old, too"}, 10),
        *(ddl(f"DROP TABLE {name}", ("DROP", name), pos=20, topic=topic) for name in names if name != "other"),
        *(tables[name].create({"id": 3, "name": "new"}, 30) for name in again),
        replace(tables["rebuild"], partition=1).create({"id": 4, "name": "new, too"}, 31),
        tables["other"].create({"id": 2, "name": "b"}, 32),
    )
    made.run()

    old, new = {"id": 1, "name": "old"}, {"id": 3, "name": "new"}
    assert made.rows("shop.other") == [old, {"id": 2, "name": "b"}]
    assert made.rows("shop.keep") == [old]
    assert made.rows("shop.park") == [old]
    parked = made.ledger.tables["shop.park"].parked
    assert parked is not None
    assert parked.reason == "recreated"
    assert made.rows("shop.ignore") == [old, new]
    assert made.rows("shop.rebuild") == [new, {"id": 4, "name": "new, too"}]
    assert "shop.drop" not in made.tables()
    gone = made.ledger.tables["shop.drop"]
    assert (gone.generation, gone.sequence, gone.parked) == (2, 0, None)

    cluster.send(
        ddl("DROP TABLE rebuild", ("DROP", "rebuild"), pos=20, topic=topic),
        tables["rebuild"].create({"id": 5, "name": "later"}, 40),
        tables["drop"].create({"id": 6, "name": "made again"}, 41),
    )
    made.run()
    assert made.rows("shop.rebuild") == [new, {"id": 4, "name": "new, too"}, {"id": 5, "name": "later"}]
    assert made.rows("shop.drop") == [{"id": 6, "name": "made again"}]
