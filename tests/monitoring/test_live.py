"""The dashboard's queries and the rules, asked of a real Prometheus that reads a real run."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from threading import Event
from typing import Any

import pytest

from streaming.demo.columns import Column
from streaming.demo.columns import Kind as ColumnKind
from streaming.driver.query import StopSignal
from streaming.driver.session import spark_session
from streaming.metrics.catalogue import METRICS
from streaming.metrics.metric import Kind
from streaming.monitoring.promql import names_in
from streaming.monitoring.rules import RECORDED
from tests.monitoring.prometheus import DASHBOARD, JOB, SCRAPE_SECONDS, SOURCE, Prometheus, prometheus
from tests.support.bridge import QUICK_START, Bridge
from tests.support.cluster import Cluster
from tests.support.http import ask
from tests.support.records import Record, Table
from tests.support.replicator import Replicator
from tests.unit.source_database.connect_server import ConnectServer
from tests.unit.streaming.settings_builder import settings

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

WAIT_SECONDS = 240
"""Less than five minutes, after which alerts fire that here must not."""
VARIABLES = {"$__rate_interval": "5m", "$job": re.escape(JOB), "$source": SOURCE, "$table": ".*"}

EMPTY = {
    ("Tables on their way back", "A"): "no table is rebuilt or catches up",
    ("Values and order", "A"): "every value was sent",
    ("Failures that were tried again", "A"): "nothing failed",
    ("Conflicts about the ledger", "A"): "there was none",
    ("Mirrored database", "B"): "nothing is wrong with it",
    ("Tables that are not well in Fabric", "A"): "all tables replicate, the one that is blocked, too",
    ("Tables that are not well in Fabric", "B"): "Fabric tells of no error",
    ("Questions that failed", "A"): "none did",
}
"""Queries that find nothing after these batches, by panel and letter, and why."""


@dataclass(frozen=True)
class Asked:
    """A query of a panel, by its letter there."""

    panel: str
    letter: str
    expr: str

    @property
    def place(self) -> tuple[str, str]:
        return self.panel, self.letter


def queries() -> Iterator[Asked]:
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        for target in panel.get("targets", ()):
            yield Asked(panel["title"], target["refId"], target["expr"])


def filled(expression: str) -> str:
    """The expression with Grafana's variables put in."""
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value.replace("\\", "\\\\"))
    assert "$" not in expression
    return expression


@dataclass
class Live:
    """What Prometheus answered once there was something to see, or when the time was over."""

    found: dict[Asked, list[dict[str, Any]]] = field(default_factory=dict)
    rules: list[dict[str, Any]] = field(default_factory=list)
    metrics: str = ""

    @property
    def missing(self) -> list[Asked]:
        found = {asked for asked, series in self.found.items() if has_value(series)}
        return [asked for asked in queries() if asked.place not in EMPTY and asked not in found]


def has_value(series: list[dict[str, Any]]) -> bool:
    return any(not math.isnan(float(each["value"][1])) for each in series)


def look(server: Prometheus, live: Live) -> bool:
    """Ask what has had no answer so far; whether all has one now, and the rules are worked out."""
    for asked in live.missing:
        live.found[asked] = server.query(filled(asked.expr))
    live.rules = server.rules()
    return not live.missing and all(rule["health"] == "ok" for rule in live.rules)


@pytest.fixture(scope="module")
def connect() -> Iterator[ConnectServer]:
    """Kafka Connect, whose connector has lost its task."""
    with ConnectServer() as server:
        failed = {"id": 0, "state": "FAILED", "trace": "org.postgresql.util.PSQLException: gone"}
        server.answers["/connectors/shop/status"] = (200, {"connector": {"state": "RUNNING"}, "tasks": [failed]})
        yield server


@pytest.fixture(scope="module")
def live(
    bootstrap_servers: str, spark_jars: list[Path], tmp_path_factory: pytest.TempPathFactory, connect: ConnectServer
) -> Live:
    cluster = Cluster(bootstrap_servers)
    orders = Table(cluster.topic("orders", 2, retention_ms="86400000"))
    customers = Table(cluster.topic("customers", retention_ms="86400000"), "customers")
    folder = tmp_path_factory.mktemp("monitoring")
    bridge = Bridge(
        folder,
        spark_session(settings(spark__master="local[2]", spark__conf=QUICK_START), spark_jars),
        kafka__bootstrap_servers=bootstrap_servers,
        kafka__topics=None,
        kafka__pattern=rf"{cluster.prefix}\..*",
        dead_letters__topic=f"{cluster.prefix}-dead-letters",
        trigger__interval="100ms",
        http__port=0,
        metrics__kafka_interval="1s",
        fabric={"status": "files", "interval": "1s", "blocked_after": "2s"},
        source={"connect": {"url": connect.url, "connector": "shop", "interval": "1s"}},
    )
    cluster.send(orders.at(0).create({"id": 1, "name": "a"}, lsn=1), customers.create({"id": 1, "name": "x"}, lsn=2))
    found, urls, stop = Live(), Queue[str](), StopSignal()
    with Replicator(bridge.zone) as replicator, ThreadPoolExecutor(1) as pool:
        replicator.standing = frozenset({"public.orders"})
        run = pool.submit(bridge.run_until, stop, on_serve=urls.put)
        try:
            url = urls.get(timeout=WAIT_SECONDS)
            with prometheus(tmp_path_factory.mktemp("prometheus"), url) as server:
                _watch(server, url, found, cluster, orders, customers)
        finally:
            stop.set()
        run.result(WAIT_SECONDS)
    return found


def _watch(server: Prometheus, url: str, found: Live, cluster: Cluster, orders: Table, customers: Table) -> None:
    """Ask until every panel shows something, while one small batch after the other lands."""
    wider = Table(orders.topic, columns=(*orders.columns, Column("note", ColumnKind.TEXT)))
    cluster.send(
        customers.truncate(lsn=5),
        customers.create({"id": 2, "name": "y"}, lsn=6),
        Record(orders.topic, 0, b"{", b"{", ()),
        orders.tombstone({"id": 1}),
        wider.at(1).create({"id": 2, "name": "b", "note": "n"}, lsn=7),
    )
    deadline, scrape, lsn = time.monotonic() + WAIT_SECONDS, Event(), 10
    while not look(server, found) and time.monotonic() < deadline:
        cluster.send(orders.at(0).update({"id": 1, "name": str(lsn)}, lsn=lsn))
        lsn += 1
        scrape.wait(SCRAPE_SECONDS)
    for asked in queries():
        if asked.place in EMPTY:
            found.found[asked] = server.query(filled(asked.expr))
    found.metrics = ask(url, "/metrics").body


def test_every_panel_shows_something_but_those_that_rightly_have_nothing(live: Live) -> None:
    assert [asked.place for asked in live.missing] == []


def test_what_rightly_has_nothing_is_asked_and_has_nothing(live: Live) -> None:
    assert {asked.place for asked, series in live.found.items() if not series} == EMPTY.keys()


def test_only_what_is_wrong_fires(live: Live) -> None:
    [alerts] = [series for asked, series in live.found.items() if asked.panel == "Alerts that fire"]
    names = {each["metric"]["alertname"] for each in alerts}
    # The table that stands still is told of after a minute.
    assert names - {"BridgeTableParked"} == {"BridgeDeadLetters"}


def test_prometheus_works_every_rule_out(live: Live) -> None:
    assert len(live.rules) > 40
    assert [(rule["name"], rule.get("lastError")) for rule in live.rules if rule["health"] != "ok"] == []


def test_a_recorded_series_is_there_for_each_recording_rule(live: Live) -> None:
    assert {rule["name"] for rule in live.rules if rule["type"] == "recording"} == RECORDED.keys()


def test_nothing_is_read_that_the_process_does_not_expose(live: Live) -> None:
    exposed = set(re.findall(r"^# TYPE (\S+) ", live.metrics, re.MULTILINE)) | {"up", "ALERTS"} | RECORDED.keys()
    exposed |= {f"{m.name}_{part}" for m in METRICS if m.kind is Kind.HISTOGRAM for part in ("bucket", "sum", "count")}
    read = {name for asked in queries() for name in names_in(asked.expr)}
    read |= {name for rule in live.rules for name in names_in(rule["query"])}
    assert read - exposed == set()
