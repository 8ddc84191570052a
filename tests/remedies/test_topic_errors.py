"""A topic that cannot be gone on with, from the error of a real start through its remedy to tables that stream."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import TopicNotFoundError
from connectors.landing_zone.errors import OffsetGapError, TopicRecreatedError
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, answer_to, new_request, submit
from connectors.landing_zone.storage.local import LocalStorage
from streaming.demo.workload import Record
from tests.remedies.shell import Shell
from tests.support.bridge import QUICK_BROKER, Bridge
from tests.support.cluster import Cluster
from tests.support.patient_broker import PATIENT
from tests.support.played_debezium import PlayedDebezium
from tests.support.records import Table
from tests.unit.streaming.landed_shop import row

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]
REMEDY = (
    "leave the topic out (kafka.topics, or a kafka.pattern that does not match it), which parks its tables, and carry "
    "its tables with a second bridge: another name, landing zone and state, and a snapshot of its own"
)


def naming(bridge: Bridge, *topics: str) -> Bridge:
    """The bridge, whose settings name its topics one by one."""
    del bridge.changes["kafka__pattern"]
    bridge.changes["kafka__topics"] = list(topics)
    return bridge


class Shop:
    """Orders and customers come from one topic, whose name tells nothing of them, and lines from one of their own."""

    def __init__(self, cluster: Cluster, bridge: MakeBridge) -> None:
        self._make, self.cluster = bridge, cluster
        self.shared = cluster.topic("events")
        self.orders, self.customers = Table(self.shared), Table(self.shared, "customers")
        self.lines = Table(cluster.topic("public.lines"), "lines")
        cluster.send(self.orders.create(row(1), 10), self.customers.create(row(1), 11), self.lines.create(row(1), 12))
        self.debezium = PlayedDebezium(cluster)
        self.bridge = naming(bridge(**self.debezium.settings), self.shared, self.lines.topic)
        self.bridge.run()

    def carried_out(self) -> None:
        """What the remedy says, and what comes of it."""
        self.cluster.send(self.lines.create(row(2), 20))
        self.bridge.run(kafka__topics=[self.lines.topic])
        tables = self.bridge.ledger.tables
        assert {name: table.parked.reason for name, table in tables.items() if table.parked is not None} == {
            "public.orders": "excluded",
            "public.customers": "excluded",
        }
        assert (tables["public.lines"].status, self.bridge.rows("public.lines")) == (
            TableStatus.STREAMING,
            [row(1), row(2)],
        )
        self.nothing_is_deleted_by_a_resync()
        second = naming(self._make("second"), self.shared)
        self.cluster.send(
            self.orders.read(row(1, "uno"), 30), self.orders.read(row(2), 30), self.customers.read(row(1), 30)
        )
        second.run()
        self.cluster.send(self.orders.create(row(3), 40), self.customers.create(row(2), 41))
        second.run()
        assert {table.status for table in second.ledger.tables.values()} == {TableStatus.STREAMING}
        assert second.rows() == [row(1, "uno"), row(2), row(3)]
        assert second.rows("public.customers") == [row(1), row(2)]

    def nothing_is_deleted_by_a_resync(self) -> None:
        files = self.bridge.files()
        state = LocalStorage(self.bridge.folder / "zone-state")
        request = new_request(Action.RESYNC, now_ms=1, by="ann@home", table="public.orders")
        submit(state, request)
        self.bridge.run()
        answer = answer_to(state, request.id)
        assert answer is not None
        assert not answer.accepted
        assert f"its events come from {self.shared}" in answer.message
        assert self.bridge.files() == files


@pytest.fixture
def shop(cluster: Cluster, bridge: MakeBridge) -> Shop:
    return Shop(cluster, bridge)


def test_offset_gap(shop: Shop) -> None:
    """Retention was faster than the bridge."""
    shop.cluster.send(shop.orders.create(row(2), 20), shop.orders.create(row(3), 21))
    shop.cluster.expire(shop.shared, 0, before=3)
    with pytest.raises(OffsetGapError, match="retention has removed 1 offsets") as raised:
        shop.bridge.run()
    assert raised.value.remedy == f"{REMEDY}; give the topic a longer retention than the longest outage"
    shop.carried_out()


def test_topic_recreated(shop: Shop) -> None:
    shop.cluster.delete(shop.shared)
    shop.cluster.topic("events")
    with pytest.raises(TopicRecreatedError) as raised:
        shop.bridge.run()
    assert raised.value.remedy == REMEDY.replace(", and carry", "; if the new one continues the old one, carry")
    shop.carried_out()


def test_a_named_topic_that_is_gone_stops_its_tables_only(shop: Shop) -> None:
    shop.cluster.delete(shop.shared)
    shop.cluster.send(shop.lines.create(row(2), 20))
    shop.bridge.run()
    parked = {
        name: table.parked.reason for name, table in shop.bridge.ledger.tables.items() if table.parked is not None
    }
    assert parked == {"public.orders": "topic_gone", "public.customers": "topic_gone"}
    assert shop.bridge.rows("public.lines") == [row(1), row(2)]
    shop.bridge.run(kafka__topics=[shop.lines.topic])
    assert {table.parked.reason for table in shop.bridge.ledger.tables.values() if table.parked is not None} == {
        "excluded"
    }
    # A name that nothing was ever read of is a mistake, and so are names of which Kafka has none.
    for topics in ([shop.lines.topic, "no-such-topic"], [shop.shared]):
        with pytest.raises(TopicNotFoundError):
            shop.bridge.run(kafka__topics=topics)


def test_topic_recreated_in_another_cluster(
    cluster: Cluster, bridge: MakeBridge, broker_jars: list[Path], tmp_path: Path, shell: Shell
) -> None:
    """First the settings name another one by mistake; later the right one is made anew."""
    orders, customers = Table(cluster.topic("public.orders")), Table(cluster.topic("public.customers"), "customers")
    topics, right = [orders.topic, customers.topic], cluster.bootstrap_servers
    debezium = PlayedDebezium(cluster)
    made = naming(bridge(**debezium.settings), *topics)
    cluster.send(orders.create(row(1), 10), customers.create(row(1), 11))
    made.run()
    files, told = (
        made.files(),
        "check kafka.bootstrap_servers: nothing was changed, and with the right cluster the next",
    )

    def refused(servers: str) -> str:
        with pytest.raises(TopicRecreatedError, match="none of the 2 topics that the ledger knows is there") as raised:
            made.run(kafka__bootstrap_servers=servers, kafka__topics=topics)
        assert raised.value.remedy.startswith(told)
        assert made.files() == files
        return raised.value.remedy

    with EmbeddedBroker(tmp_path / "other", broker_jars, properties=PATIENT, jvm_options=QUICK_BROKER) as other:
        wrong = Cluster(other.bootstrap_servers)
        wrong.prefix = cluster.prefix
        assert [wrong.topic(name) for name in ("public.orders", "public.customers")] == topics
        refused(other.bootstrap_servers)
    cluster.send(orders.create(row(2), 20))
    made.run(kafka__bootstrap_servers=right)
    assert made.rows() == [row(1), row(2)]

    files = made.files()
    for topic in topics:
        cluster.delete(topic)
        cluster.topic(topic.removeprefix(f"{cluster.prefix}."))
    remedy = refused(right)
    made.run(kafka__topics=[orders.topic])
    made.run(kafka__topics=topics)
    assert {table.status for table in made.ledger.tables.values()} == {TableStatus.PARKED}
    shell.places["CONFIG"] = made.write_settings()
    for asked, (table, rows) in enumerate(((orders, [row(1), row(2, "two")]), (customers, [row(1)]))):
        name = f"public.{table.name}"
        sent = [table.reread(one, 30) for one in rows]

        def turn(name: str = name, sent: list[Record] = sent, asked: int = asked) -> None:
            made.run()
            if made.ledger.tables[name].status is TableStatus.FILLING and len(debezium.asked()) == asked + 1:
                debezium.snapshot(*sent, collection=name)

        assert shell.follow(remedy, "resync", beside=turn, TABLE=name).code == 0
        made.run()
    cluster.send(orders.create(row(3), 40), customers.create(row(2), 41))
    made.run()
    assert {table.status for table in made.ledger.tables.values()} == {TableStatus.STREAMING}
    assert (made.rows(), made.rows("public.customers")) == ([row(1), row(2, "two"), row(3)], [row(1), row(2)])
