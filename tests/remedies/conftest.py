"""What the tests of remedies share: a shell, a bridge whose commands are typed in it, and orders that stream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streaming.logs import log_nothing
from tests.remedies.broken_zones import streaming_orders
from tests.remedies.shell import Shell
from tests.remedies.site import Site
from tests.support.bridge import QUICK_JAVA, Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table
from tests.unit.streaming.landed_shop import row

QUICK_CONF = {"spark.driver.extraJavaOptions": QUICK_JAVA}
"""Spark's options of a bridge whose Java lives for seconds."""


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A terminal so wide that no line is broken."""
    monkeypatch.setenv("COLUMNS", "2000")
    return Shell(capsys)


@pytest.fixture
def site(tmp_path: Path, cluster: Cluster, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A bridge that has landed nothing yet."""
    made = Site(tmp_path, cluster, shell)
    made.takes_runs(monkeypatch)
    yield made
    log_nothing()


@pytest.fixture
def world(site: Site) -> Site:
    """Orders with two files that are known to be published, and what a resync of them brings."""
    return streaming_orders(site)


@pytest.fixture
def unstarted(cluster: Cluster, shell: Shell, tmp_path: Path) -> Bridge:
    """A bridge in a process of its own that has never been started, and an order that waits for it."""
    topic = cluster.topic("public.orders")
    cluster.send(Table(topic).create(row(1, "uno"), 10))
    made = Bridge(
        tmp_path,
        None,
        kafka__bootstrap_servers=cluster.bootstrap_servers,
        kafka__topics=[topic],
        spark__master="local[1]",
        spark__driver_memory="600MiB",
        spark__conf=QUICK_CONF,
    )
    shell.places["CONFIG"] = made.write_settings()
    return made
