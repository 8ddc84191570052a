"""Probes, metrics and the status page of a real run: while a batch is in hand, after a park, and after a fence."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest
from pyspark.sql import SparkSession

from connectors.landing_zone.errors import FencedError
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver.batch import BatchReport
from streaming.driver.query import StopSignal
from streaming.driver.session import spark_session
from streaming.metrics.catalogue import METRICS
from streaming.metrics.metric import Kind
from tests.support.bridge import QUICK_START, Bridge
from tests.support.cluster import Cluster
from tests.support.http import Answered, ask
from tests.support.records import Table
from tests.unit.streaming.settings_builder import settings

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SECONDS = 90
STUCK_SECONDS = 20
HUNG_SECONDS = 300
PATHS = ("/", "/livez", "/readyz", "/startupz", "/metrics")


@dataclass
class Watched:
    """What a run answered: at its start, with its Java stopped, from within the next batch, after a park, and after a
    fence."""

    topics: dict[str, str]
    urls: list[str] = field(default_factory=list)
    starting: dict[str, Answered] = field(default_factory=dict)
    hung: dict[str, Answered] = field(default_factory=dict)
    in_hand: dict[str, Answered] = field(default_factory=dict)
    parked: dict[str, Answered] = field(default_factory=dict)
    fenced: dict[str, Answered] = field(default_factory=dict)
    error: BaseException | None = None


def answers(url: str) -> dict[str, Answered]:
    return {path: ask(url, path) for path in PATHS}


@pytest.fixture(scope="module")
def watched(bootstrap_servers: str, spark_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Watched:
    cluster = Cluster(bootstrap_servers)
    orders = Table(cluster.topic("orders", 2))
    customers = Table(cluster.topic("customers", retention_ms="86400000"), "customers")
    found = Watched({"orders": orders.topic, "customers": customers.topic})
    spark = spark_session(settings(spark__master="local[2]", spark__conf=QUICK_START), spark_jars)
    bridge = Bridge(
        tmp_path_factory.mktemp("probes"),
        spark,
        kafka__bootstrap_servers=bootstrap_servers,
        kafka__topics=None,
        kafka__pattern=rf"{cluster.prefix}\..*",
        dead_letters__topic=f"{cluster.prefix}-dead-letters",
        trigger__interval="100ms",
        http__port=0,
        http__stuck_after=f"{STUCK_SECONDS}s",
        metrics__kafka_interval="1s",
    )
    cluster.send(
        orders.at(0).create({"id": 1, "name": "a"}, lsn=1),
        orders.at(1).create({"id": 2, "name": "b"}, lsn=2),
        customers.create({"id": 1, "name": "x"}, lsn=3),
    )
    first = Event()

    def served(url: str) -> None:
        found.urls.append(url)
        found.starting = answers(url)

    def landed(report: BatchReport) -> None:
        # The first one may take so long, with Java and Python still to be started, that it is rightly called stuck.
        if first.is_set() and not found.in_hand:
            found.in_hand = answers(found.urls[0])
        first.set()

    def failed(error: Exception) -> None:
        found.fenced = answers(found.urls[0])
        # Otherwise the server would go on for http.linger.
        stop.set()

    stop = StopSignal()
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(bridge.run_until, stop, on_batch=landed, on_serve=served, on_error=failed)
        try:
            assert first.wait(SECONDS)
            with stopped(java_of(spark)):
                cluster.send(orders.at(0).create({"id": 3, "name": "d"}, lsn=4))
                found.hung = _once(found.urls[0], live=False)
            _once(found.urls[0], live=True)
            cluster.send(customers.truncate(lsn=5), customers.create({"id": 2, "name": "y"}, lsn=6))
            found.parked = _after_park(found.urls[0])
            Ledger.open(LocalStorage(bridge.folder / "zone-state"), now_ms=lambda: 0).claim("another", "elsewhere")
            cluster.send(orders.at(0).update({"id": 1, "name": "c"}, lsn=7))
            found.error = run.exception(SECONDS)
        finally:
            stop.set()
    return found


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """A process that stands still: it is there, and answers nothing."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def java_of(spark: SparkSession) -> int:
    """The pid of the Java that the session's query runs in."""
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    return int(jvm.java.lang.ProcessHandle.current().pid())


def _once(url: str, *, live: bool) -> dict[str, Answered]:
    """What it answers once it says that it is live, or that it is not."""
    # A look at Kafka that fails is no sign of a query that hangs: the time that counts begins anew with the next one.
    deadline = time.monotonic() + HUNG_SECONDS
    while time.monotonic() < deadline:
        if (ask(url, "/livez").status == 200) is live:
            return answers(url)
        time.sleep(0.2)
    told = {path: ask(url, path).body for path in ("/livez", "/metrics")}
    raise AssertionError(f"/livez did not come to {live}: {told}")


def _after_park(url: str) -> dict[str, Answered]:
    """What it answers once it has looked at Kafka after the park."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        metrics = ask(url, "/metrics")
        behind = metrics.value("bridge_table_offsets_behind", table="public.customers")
        if metrics.value("bridge_tables", state="parked") == 1 and behind == 2:
            return answers(url)
    raise AssertionError("the table did not park")


def statuses(answered: dict[str, Answered]) -> dict[str, int]:
    return {path: answer.status for path, answer in answered.items()}


def test_it_answers_before_spark_has_started_and_is_not_ready_then(watched: Watched) -> None:
    assert statuses(watched.starting) == {"/": 200, "/livez": 200, "/readyz": 503, "/startupz": 503, "/metrics": 200}
    assert "the landing zone is not claimed yet" in watched.starting["/readyz"].body
    assert "Starting" in watched.starting["/"].body


def test_it_answers_while_a_batch_is_in_hand(watched: Watched) -> None:
    assert statuses(watched.in_hand) == dict.fromkeys(PATHS, 200)
    assert watched.in_hand["/livez"].body.startswith("ok\na micro-batch has been under way for ")
    in_hand = watched.in_hand["/metrics"].value("bridge_batch_in_hand_seconds")
    assert in_hand is not None
    assert in_hand > 0


def test_a_query_that_hangs_is_neither_live_nor_ready_and_is_told_on_the_page(watched: Watched) -> None:
    assert statuses(watched.hung) == {"/": 200, "/livez": 503, "/readyz": 503, "/startupz": 200, "/metrics": 200}
    assert watched.hung["/metrics"].value("bridge_live") == 0
    told = "records have waited in Kafka for "
    assert told in watched.hung["/livez"].body
    assert told[1:] in watched.hung["/"].body
    assert "Stuck" in watched.hung["/"].body


def test_metrics_tell_what_landed_and_what_stands_still(watched: Watched) -> None:
    metrics = watched.parked["/metrics"]
    assert metrics.value("bridge_rows_landed_total", table="public.orders", marker="4") == 3
    assert metrics.value("bridge_last_published_sequence", table="public.orders") == 2
    assert metrics.value("bridge_table_state", table="public.customers", state="parked") == 1
    assert metrics.value("bridge_table_parked", table="public.customers", reason="truncate") == 1
    assert metrics.value("bridge_parks_total", reason="truncate") == 1
    orders, customers = watched.topics["orders"], watched.topics["customers"]
    assert metrics.value("bridge_events_consumed_total", topic=orders, op="create") == 3
    assert metrics.value("bridge_events_consumed_total", topic=customers, op="truncate") == 1
    assert metrics.value("bridge_offsets_behind", topic=orders, partition="0") == 0
    assert metrics.value("bridge_lag_seconds", table="public.orders", stage="kafka_to_file") == 0
    assert metrics.value("bridge_table_offsets_behind", table="public.customers") == 2
    assert metrics.value("bridge_retention_headroom_seconds", topic=customers, partition="0") == 86_400
    waited = metrics.value("bridge_lag_seconds", table="public.customers", stage="kafka_to_file")
    left = metrics.value("bridge_table_retention_headroom_seconds", table="public.customers")
    assert waited is not None
    assert left is not None
    assert 0 < waited < SECONDS
    assert 86_400 - SECONDS < left < 86_400


def test_every_stage_of_a_batch_is_timed(watched: Watched) -> None:
    metrics = watched.parked["/metrics"]
    for stage in ("plan", "merge", "land", "commit", "publish"):
        counted = metrics.value("bridge_stage_seconds_count", stage=stage)
        assert counted is not None, stage
        assert counted >= 1, stage
    for storage, method in (("zone", "stat"), ("zone", "rename_if_absent"), ("state", "put_if_absent")):
        called = metrics.value("bridge_storage_seconds_count", storage=storage, method=method)
        assert called is not None, method
        assert called >= 1, method
    oldest = metrics.value("bridge_record_to_file_seconds_sum")
    assert oldest is not None
    assert 0 < oldest < SECONDS


def test_nothing_is_exposed_that_is_not_in_the_catalogue(watched: Watched) -> None:
    names = {metric.name for metric in METRICS if metric.kind is not Kind.HISTOGRAM}
    names |= {f"{m.name}_{part}" for m in METRICS if m.kind is Kind.HISTOGRAM for part in ("bucket", "sum", "count")}
    exposed = {name for name, _ in watched.parked["/metrics"].samples if not name.startswith("process_")}
    assert exposed <= names


def test_a_parked_table_leaves_the_process_live_and_ready_and_is_told_on_the_page(watched: Watched) -> None:
    assert statuses(watched.parked) == dict.fromkeys(PATHS, 200)
    page = watched.parked["/"].body
    assert "1 table stands still" in page
    assert "cdc-bridge resync" in page
    assert "public.customers" in page


def test_a_driver_that_was_fenced_is_neither_live_nor_ready_and_says_who_owns_the_zone(watched: Watched) -> None:
    assert isinstance(watched.error, FencedError)
    assert statuses(watched.fenced) == {"/": 200, "/livez": 503, "/readyz": 503, "/startupz": 200, "/metrics": 200}
    body = watched.fenced["/livez"].body
    assert "FencedError: Another driver owns this landing zone: another on elsewhere" in body
    assert "Remedy: leave the zone to that driver" in body
    assert watched.fenced["/metrics"].value("bridge_ledger_conflicts_total", reason="fenced") == 1
    assert "Stopped" in watched.fenced["/"].body


def test_the_server_ends_with_the_run(watched: Watched) -> None:
    with pytest.raises(ConnectionRefusedError):
        ask(watched.urls[0], "/livez")
