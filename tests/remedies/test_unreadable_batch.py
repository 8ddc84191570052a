"""A batch that no client can read, from the error of a real start through its remedy to a table that streams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.errors import UnreadableBatchError
from connectors.landing_zone.ledger.state import TableStatus
from streaming.task.results import TaskFailedError
from tests.remedies.shell import Shell
from tests.support.bridge import QUICK_BROKER, TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.played_debezium import PlayedDebezium
from tests.support.record_batches import damage, with_another_bit
from tests.support.records import Table
from tests.unit.streaming.landed_shop import row

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


@pytest.fixture(scope="module")
def broker(broker_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """One whose files may be damaged."""
    with EmbeddedBroker(tmp_path_factory.mktemp("damaged"), broker_jars, jvm_options=QUICK_BROKER) as started:
        yield started


class Connected:
    """A bridge and the connector that it asks for snapshots."""

    def __init__(self, cluster: Cluster, folder: Path, spark: SparkSession) -> None:
        self.orders = Table(cluster.topic("public.orders"))
        self.debezium = PlayedDebezium(cluster)
        self.bridge = Bridge(
            folder,
            spark,
            kafka__bootstrap_servers=cluster.bootstrap_servers,
            kafka__topics=[self.orders.topic],
            **self.debezium.settings,
        )
        self._told = 0

    def live(self) -> None:
        """The bridge drains its topics, and the connector answers what it was asked then."""
        self.bridge.run()
        if len(self.debezium.asked()) > self._told:
            self._told += 1
            self.debezium.snapshot(self.orders.reread(row(1, "uno"), 40), self.orders.reread(row(3, "three"), 40))


def test_unreadable_batch(broker: EmbeddedBroker, tmp_path: Path, spark: SparkSession, shell: Shell) -> None:
    cluster = Cluster(broker.bootstrap_servers)
    shop = Connected(cluster, tmp_path, spark)
    orders, bridge = shop.orders, shop.bridge
    shell.places["CONFIG"] = bridge.write_settings()
    cluster.send(orders.create(row(1, "one"), 10))
    bridge.run()
    cluster.send(orders.update(row(1, "uno"), 20))
    cluster.send(orders.create(row(3, "three"), 21))
    damage(broker.folder / "data" / f"{orders.topic}-0" / f"{0:020d}.log", 1, with_another_bit)

    with pytest.raises(TaskFailedError) as raised:
        bridge.run()
    assert raised.value.facts == {
        "topic": orders.topic,
        "partition": "0",
        "offset": "1",
        "error": UnreadableBatchError.__name__,
    }
    assert "remove the partition's records up to and including this offset with kafka-delete-records.sh" in (
        raised.value.remedy
    )
    cluster.expire(orders.topic, 0, 2)
    bridge.run()
    assert bridge.ledger.tables[TABLE].status is TableStatus.PARKED, "what was removed is missing"
    done = shell.follow(raised.value.remedy, "resync", beside=shop.live, TABLE=TABLE)
    assert done.code == 0, done
    for _ in range(3):
        shop.live()
    cluster.send(orders.create(row(4, "four"), 50))
    bridge.run()
    assert bridge.ledger.tables[TABLE].status is TableStatus.STREAMING
    assert bridge.rows() == [row(1, "uno"), row(3, "three"), row(4, "four")]
