"""A real broker whose partition loses its end and grows again: what its leader epochs tell."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.leaders import Place, cut_off, leading
from connectors.kafka.topics import Admin, describe_topics
from connectors.landing_zone.errors import OffsetGapError
from streaming.checks.check import Verdict
from streaming.checks.every import check_all
from tests.support.bridge import QUICK_BROKER, Bridge
from tests.support.cluster import Cluster
from tests.support.records import Row, Table

pytestmark = pytest.mark.kafka

TOPIC = "orders"
HERE, OTHER = (TOPIC, 0), (TOPIC, 1)


class Shop:
    """A topic of two partitions on a broker of its own."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.broker = broker
        self.config = KafkaConfig(broker.bootstrap_servers)
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
        self.create(TOPIC, 2)

    def create(self, topic: str, partitions: int = 1) -> str:
        self.admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(30)
        return topic

    def send(self, count: int, partition: int = 0, **own: str) -> None:
        """Records, and behind them the marker of a transaction where one has an id."""
        end = self.seen()[TOPIC, partition][0] + count + bool(own)
        producer = Producer({"bootstrap.servers": self.broker.bootstrap_servers, "log_level": 0, **own})
        if own:
            producer.init_transactions(30)
            producer.begin_transaction()
        for number in range(count):
            producer.produce(TOPIC, b"value", str(number).encode(), partition=partition)
        if own:
            producer.commit_transaction(30)
        assert producer.flush(30) == 0
        # The coordinator answers a commit before it has written the marker.
        waited = time.monotonic() + 60
        while self.seen()[TOPIC, partition][0] != end:
            assert time.monotonic() < waited, f"{TOPIC}/{partition} does not come to end at {end}: {self.seen()}"
            time.sleep(0.05)

    def seen(self) -> dict[Place, tuple[int, int]]:
        """End and leader epoch of each partition, once a broker that has just started knows them."""
        deadline = time.monotonic() + 60
        while True:
            try:
                said = leading(Admin(self.config), [HERE, OTHER])
                break
            except BrokerUnavailableError:
                assert time.monotonic() < deadline, "the broker knows no leader of a partition"
                time.sleep(0.2)
        return {place: (led.end, led.epoch) for place, led in said.items() if led.epoch is not None}

    def size(self) -> int:
        return self._log.stat().st_size

    def forget(self, size: int) -> None:
        """The broker dies, and its partition comes back with the first bytes of its log only."""
        self.broker.kill()
        with self._log.open("r+b") as log:
            log.truncate(size)
        for path in self._log.parent.glob("*.snapshot"):
            path.unlink()
        self.broker.start()

    @property
    def _log(self) -> Path:
        return self.broker.folder / "data" / f"{TOPIC}-0" / "00000000000000000000.log"


@pytest.fixture
def shop(tmp_path: Path, broker_jars: list[Path]) -> Iterator[Shop]:
    with EmbeddedBroker(tmp_path / "broker", broker_jars, jvm_options=QUICK_BROKER) as broker:
        yield Shop(broker)


@pytest.mark.parametrize("own", [{}, {"transactional.id": "shop"}], ids=["records", "a transaction"])
def test_a_partition_that_lost_its_end_and_grew_past_it_is_told_from_where_on(shop: Shop, own: dict[str, str]) -> None:
    shop.send(3)
    shop.send(2, partition=1)
    size = shop.size()
    shop.send(1, **own)
    seen = shop.seen()
    assert (seen[HERE][0], seen[OTHER][0]) == (5 if own else 4, 2)
    assert cut_off(shop.config, seen) == {}

    shop.forget(size)
    shop.send(9)

    now = shop.seen()
    assert now[HERE][0] == 12
    assert now[HERE][1] > seen[HERE][1]
    assert describe_topics(Admin(shop.config), [TOPIC])[TOPIC].epochs == {0: now[HERE][1], 1: now[OTHER][1]}
    assert cut_off(shop.config, seen) == {HERE: 3}
    assert cut_off(shop.config, now) == {}


def test_leaders_that_lost_nothing_are_not_taken_for_such_whatever_became_of_the_records(shop: Shop) -> None:
    shop.send(3)
    looks = [shop.seen()]
    for restart in (shop.broker.restart, lambda: shop.forget(shop.size())):
        restart()
        looks.append(shop.seen())
        shop.send(3)
        looks.append(shop.seen())
    assert [look[HERE][0] for look in looks] == [3, 3, 6, 6, 9]
    assert [cut_off(shop.config, look) for look in looks] == [{}] * 5

    removed = shop.admin.delete_records([TopicPartition(*HERE, 8)])
    assert [future.result(30).low_watermark for future in removed.values()] == [8]

    assert [cut_off(shop.config, look) for look in looks] == [{}] * 5


def test_an_epoch_that_the_cluster_has_not_come_to_is_of_another_log(shop: Shop) -> None:
    shop.send(3)
    assert cut_off(shop.config, {HERE: (3, 1_000)}) == {HERE: None}


@pytest.mark.spark
def test_the_job_stops_at_a_partition_that_lost_its_end_and_grew_past_it(shop: Shop, spark: SparkSession) -> None:
    orders, lines = Table(TOPIC), Table(shop.create("lines"), "lines")
    cluster = Cluster(shop.broker.bootstrap_servers)
    rows: list[Row] = [{"id": key, "name": f"n{key}"} for key in range(7)]
    cluster.send(*(orders.create(row, 1) for row in rows[:2]), lines.create(rows[0], 1))
    size = shop.size()
    cluster.send(orders.create(rows[2], 2))
    made = Bridge(
        shop.broker.folder / "bridge",
        spark,
        kafka__bootstrap_servers=shop.broker.bootstrap_servers,
        kafka__topics=[orders.topic, lines.topic],
    )
    made.run()
    before = made.rows()

    shop.forget(size)
    cluster = Cluster(shop.broker.bootstrap_servers)
    cluster.send(*(orders.create(row, 3) for row in rows[3:]), lines.create(rows[1], 3))

    with pytest.raises(OffsetGapError) as raised:
        made.run()
    assert "it is another log from offset 2 on, but offset 3 is the next one to land" in raised.value.message
    assert (raised.value.facts["topic"], raised.value.facts["partition"]) == (orders.topic, 0)
    assert (made.rows(), len(made.rows("public.lines"))) == (before, 1)
    checks = list(check_all(made.write_settings()))
    assert [check.subject for check in checks if check.verdict is Verdict.PROBLEM] == [
        f"ledger offsets of {orders.topic}"
    ]

    made.run(kafka__topics=[lines.topic])
    assert (made.rows(), made.rows("public.lines")) == (before, rows[:2])
