"""What goes from Kafka between a micro-batch's plan and its reading: the job starts again and says what is gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from connectors.errors import BridgeError
from connectors.landing_zone.errors import OffsetGapError
from streaming.driver import query
from streaming.driver.action import spark_action
from streaming.driver.query import StopSignal
from streaming.listener import Listener
from streaming.plan import BatchPlan
from streaming.service import run_bridge
from streaming.task.results import Results
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.records import Row, Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Arrange = Callable[[Callable[[], None]], None]

RETRY = {"attempts": 3, "backoff": "10ms", "max_backoff": "10ms"}


def rows(*keys: int) -> list[Row]:
    return [{"id": key, "name": f"n{key}"} for key in keys]


def send(cluster: Cluster, table: Table, *keys: int) -> None:
    cluster.send(*(table.create(row, lsn=key + 1) for key, row in zip(keys, rows(*keys), strict=True)))


class Shop:
    """A bridge that has landed two records of each of two topics, and has two more of each to land."""

    def __init__(self, bridge: Bridge, spark: SparkSession, cluster: Cluster, orders: Table, lines: Table) -> None:
        self.bridge = bridge
        self.failures: list[BridgeError] = []
        self._spark = spark
        for keys in ((0, 1), (2, 3)):
            send(cluster, orders, *keys)
            send(cluster, lines, *keys)
            if keys == (0, 1):
                bridge.run(retry=RETRY)

    def drain(self) -> None:
        listener = Listener(on_failure=lambda error, pause: self.failures.append(error))
        run_bridge(self.bridge.settings, listener, StopSignal(), once=True, spark=self._spark)

    def parked(self) -> dict[str, str | None]:
        """Why each table stands still."""
        tables = self.bridge.ledger.tables
        return {name: None if each.parked is None else each.parked.reason for name, each in sorted(tables.items())}

    def told(self) -> list[str]:
        """The errors that the tasks met, and whose topic."""
        return [f"{error.facts.get('error')} {error.facts.get('topic')}" for error in self.failures]


@pytest.fixture
def just_before_the_read(monkeypatch: pytest.MonkeyPatch) -> Arrange:
    """Has something happen once, after a batch is planned and before Spark is asked to carry it out."""

    def arrange(happens: Callable[[], None]) -> None:
        waiting = [happens]

        def action(session: SparkSession) -> Callable[[BatchPlan], Results]:
            def run(plan: BatchPlan) -> Results:
                while waiting:
                    waiting.pop()()
                return spark_action(session)(plan)

            return run

        monkeypatch.setattr(query, "spark_action", action)

    return arrange


def test_retention_that_passes_by_parks_the_table_after_another_start_and_no_other(
    cluster: Cluster, bridge: Callable[..., Bridge], spark: SparkSession, just_before_the_read: Arrange
) -> None:
    orders, lines = Table(cluster.topic("public.orders")), Table(cluster.topic("public.lines"), "lines")
    shop = Shop(bridge(), spark, cluster, orders, lines)
    just_before_the_read(lambda: cluster.expire(orders.topic, 0, before=3))

    shop.drain()

    assert shop.told() == [f"RecordsMissingError {orders.topic}"]
    assert shop.parked() == {"public.lines": None, "public.orders": "retention_passed"}
    assert shop.bridge.rows() == rows(0, 1)
    assert shop.bridge.rows("public.lines") == rows(0, 1, 2, 3)
    assert shop.bridge.replayed("public.lines").rows_per_marker == {"4": 4}, "nothing twice"


def test_retention_that_passes_by_a_topic_of_another_name_stops_the_job_at_its_next_start(
    cluster: Cluster, bridge: Callable[..., Bridge], spark: SparkSession, just_before_the_read: Arrange
) -> None:
    orders, lines = Table(cluster.topic("events")), Table(cluster.topic("public.lines"), "lines")
    shop = Shop(bridge(), spark, cluster, orders, lines)
    before = shop.bridge.files()
    just_before_the_read(lambda: cluster.expire(orders.topic, 0, before=3))

    with pytest.raises(OffsetGapError, match="Kafka's retention has removed 1 offsets that are not landed") as raised:
        shop.drain()

    assert raised.value.facts == {"topic": orders.topic, "partition": 0, "offset": 2, "earliest": 3}
    assert shop.told() == [f"RecordsMissingError {orders.topic}"]
    assert shop.bridge.files() == before


def test_a_topic_that_is_deleted_before_it_is_read_parks_its_table_after_another_start_and_no_other(
    cluster: Cluster, bridge: Callable[..., Bridge], spark: SparkSession, just_before_the_read: Arrange
) -> None:
    orders, lines = Table(cluster.topic("public.orders")), Table(cluster.topic("public.lines"), "lines")
    named = {"bootstrap_servers": cluster.bootstrap_servers, "topics": [orders.topic, lines.topic]}
    shop = Shop(bridge(kafka=named), spark, cluster, orders, lines)
    just_before_the_read(lambda: cluster.delete(orders.topic))

    shop.drain()

    assert shop.told() == [f"RecordsMissingError {orders.topic}"]
    assert shop.parked() == {"public.lines": None, "public.orders": "topic_gone"}
    assert shop.bridge.rows() == rows(0, 1)
    assert shop.bridge.rows("public.lines") == rows(0, 1, 2, 3)
