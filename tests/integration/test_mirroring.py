"""A real run whose files are taken in as Fabric's replicator does it, until one table stands still without a word."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from streaming.driver.query import StopSignal
from streaming.driver.session import spark_session
from streaming.reporting.status_view import read_status
from tests.support.bridge import QUICK_START, Bridge
from tests.support.cluster import Cluster
from tests.support.http import Answered, ask
from tests.support.records import Table
from tests.support.replicator import Replicator
from tests.unit.streaming.settings_builder import settings

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SECONDS = 180


@dataclass
class Mirrored:
    """What a run and ``status`` told while files were taken in, while they were not, and when they were again."""

    flowing: Answered | None = None
    standing: dict[str, Answered] = field(default_factory=dict)
    status: dict[str, Any] = field(default_factory=dict)
    again: Answered | None = None


def awaited(url: str, so: Callable[[Answered], bool]) -> Answered:
    """The metrics, once they are so."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        metrics = ask(url, "/metrics")
        if so(metrics):
            return metrics
    raise AssertionError("the metrics never said so")


@pytest.fixture(scope="module")
def mirrored(bootstrap_servers: str, spark_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Mirrored:
    cluster = Cluster(bootstrap_servers)
    orders, users = Table(cluster.topic("orders")), Table(cluster.topic("users"), "users")
    spark = spark_session(settings(spark__master="local[2]", spark__conf=QUICK_START), spark_jars)
    bridge = Bridge(
        tmp_path_factory.mktemp("mirroring"),
        spark,
        kafka__bootstrap_servers=bootstrap_servers,
        kafka__topics=[orders.topic, users.topic],
        trigger__interval="100ms",
        http__port=0,
        fabric={"status": "files", "interval": "1s", "blocked_after": "2s"},
    )
    cluster.send(orders.create({"id": 1, "name": "a"}, lsn=1), users.create({"id": 1, "name": "x"}, lsn=2))
    urls: Queue[str] = Queue()
    found, stop = Mirrored(), StopSignal()
    with Replicator(bridge.zone) as replicator, ThreadPoolExecutor(1) as pool:
        run = pool.submit(bridge.run_until, stop, on_serve=urls.put)
        try:
            url = urls.get(timeout=SECONDS)
            found.flowing = awaited(url, lambda metrics: _number(metrics, "mirrored") == {"orders": 1, "users": 1})
            replicator.standing = frozenset({"public.orders"})
            cluster.send(orders.update({"id": 1, "name": "b"}, lsn=3), users.update({"id": 1, "name": "y"}, lsn=4))
            awaited(url, lambda metrics: _number(metrics, "published") == {"orders": 2, "users": 2})
            awaited(url, _only_orders_stand_still)
            found.standing = {path: ask(url, path) for path in ("/", "/metrics", "/livez", "/readyz")}
            found.status = read_status(bridge.settings).values()
            replicator.standing = frozenset()
            found.again = awaited(url, lambda metrics: _number(metrics, "mirrored") == {"orders": 2, "users": 2})
        finally:
            stop.set()
        assert run.exception(SECONDS) is None
    return found


def _only_orders_stand_still(metrics: Answered) -> bool:
    """Whether the one table is blocked and the other one goes on; for a moment both may wait for a slow consumer."""
    blocked = [metrics.value("bridge_table_blocked", table=f"public.{name}") for name in ("orders", "users")]
    return blocked == [1, 0] and _number(metrics, "mirrored") == {"orders": 1, "users": 2}


def _number(metrics: Answered, which: str) -> dict[str, float | None]:
    return {
        name: metrics.value(f"bridge_last_{which}_sequence", table=f"public.{name}") for name in ("orders", "users")
    }


def test_while_files_are_taken_in_no_table_is_blocked(mirrored: Mirrored) -> None:
    metrics = mirrored.flowing
    assert metrics is not None
    assert metrics.value("bridge_mirroring_state", state="running") == 1
    assert metrics.value("bridge_table_mirroring_state", table="public.orders", state="replicating") == 1
    assert metrics.value("bridge_table_blocked", table="public.orders") == 0
    assert metrics.value("bridge_unmirrored_files", table="public.orders") == 0
    seen = metrics.value("bridge_fabric_seen_timestamp_seconds")
    assert seen is not None
    assert abs(seen - time.time()) < 2 * SECONDS


def test_a_table_at_which_mirroring_stands_still_without_a_word_is_blocked_and_the_others_are_not(
    mirrored: Mirrored,
) -> None:
    metrics = mirrored.standing["/metrics"]
    assert metrics.value("bridge_table_blocked", table="public.orders") == 1
    assert metrics.value("bridge_table_blocked", table="public.users") == 0
    assert _number(metrics, "mirrored") == {"orders": 1, "users": 2}
    assert metrics.value("bridge_unmirrored_files", table="public.orders") == 1
    waited = metrics.value("bridge_lag_seconds", table="public.orders", stage="file_to_mirrored")
    assert waited is not None
    assert 0 < waited < SECONDS
    assert metrics.value("bridge_table_mirroring_error", table="public.orders") == 0
    assert metrics.value("bridge_table_mirroring_state", table="public.orders", state="replicating") == 1


def test_the_page_says_which_and_what_to_do_and_the_job_is_live_and_ready(mirrored: Mirrored) -> None:
    page = mirrored.standing["/"].body
    assert "1 table is blocked" in page
    assert "up to 1, blocked" in page
    assert "cdc-bridge resync CONFIG TABLE" in page
    assert (mirrored.standing["/livez"].status, mirrored.standing["/readyz"].status) == (200, 200)


def test_the_status_command_says_so_too(mirrored: Mirrored) -> None:
    fabric = mirrored.status["fabric"]
    assert (fabric["via"], fabric["state"], fabric["failure"]) == ("files", "Running", None)
    orders, users = fabric["tables"]["public.orders"], fabric["tables"]["public.users"]
    assert (orders["blocked"], orders["last_mirrored"], orders["last_published"]) == (True, 1, 2)
    assert orders["first_waiting"] == "public.schema/orders/00000000000000000002.parquet"
    assert orders["trouble"]["cause"] == "silent"
    assert (users["blocked"], users["last_mirrored"], users["trouble"]) == (False, 2, None)


def test_a_table_that_goes_on_is_blocked_no_more(mirrored: Mirrored) -> None:
    assert mirrored.again is not None
    assert mirrored.again.value("bridge_table_blocked", table="public.orders") == 0
    assert mirrored.again.value("bridge_unmirrored_files", table="public.orders") == 0
