"""The bridge in client mode with executors that Spark asks a real API server for: ``make chart-executors-test``.

The chart is installed, the driver runs with the settings that it makes and the rights of its role, Spark's Kubernetes
backend makes and deletes pods as the load needs, and a node agent runs them by the image's entrypoint. Zone and state
are behind HTTPS.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from connectors.kafka.embedded_registry import EmbeddedRegistry
from streaming.demo.workload import Workload
from tests.emulators.dfs_protocol import Request
from tests.emulators.dfs_server import TOKEN, DfsServer
from tests.emulators.identity_server import IdentityServer
from tests.helm.api_server import ApiServer
from tests.helm.chart import Manifest, Values, changed, executor_pod, one_source, rendered, the
from tests.helm.node_agent import NodeAgent
from tests.helm.release import NAME, executors, make_driver_pod, spark_in_the_pod, uninstall, upgrade
from tests.scale_out.disturbances import stages
from tests.scale_out.shop import RemoteZone, Shop, shop_settings
from tests.scale_out.standalone import executor_python
from tests.support.bridge import QUICK_START
from tests.support.cluster import Cluster
from tests.support.process import command
from tests.support.shop import registering, send_workload
from tests.unit.streaming.settings_builder import settings_text

pytestmark = pytest.mark.usefixtures("namespace")

MIN, MAX = 1, 3
SECONDS = 400.0


@pytest.fixture
def shop_values(bootstrap_servers: str, spark_jars: list[Path]) -> Iterator[dict[str, Any]]:
    """Topics full of records, and the settings that carry them."""
    with EmbeddedRegistry() as registry:
        cluster = Cluster(bootstrap_servers)
        send_workload(cluster, Workload(registering(registry), rows=40, changes=350))
        settings = shop_settings(bootstrap_servers, cluster.prefix, registry.url)
        # Helm sorts the keys of mappings, those of declared columns, too, and columns land in the order of declaration.
        yield json.loads(json.dumps(settings, sort_keys=True))


@pytest.fixture
def dfs() -> Iterator[DfsServer]:
    with DfsServer() as started:
        yield started


@pytest.fixture
def agent(server: ApiServer, tmp_path: Path) -> Iterator[NodeAgent]:
    with NodeAgent(server, tmp_path / "nodes", executor_python(tmp_path / "image")) as running:
        yield running


def test_executors_come_with_the_load_and_go_without_it_and_make_the_same_files(
    server: ApiServer, agent: NodeAgent, dfs: DfsServer, shop_values: dict[str, Any], tmp_path: Path
) -> None:
    wanted = Shop(shop_values).carried(tmp_path / "local", spark__master="local[2]")
    zone = RemoteZone(dfs, tmp_path / "looking")

    def until_all_are_there(request: Request) -> None:
        # Tasks are short here: the first ones wait for the executors that were asked for because of the others.
        if stages(request):
            _wait(lambda: agent.most == MAX, "so many executors", agent)

    dfs.fault = until_all_are_there
    with IdentityServer(TOKEN) as endpoint:
        identity = endpoint.environment
        values = _values({**shop_values, **zone.settings, "trigger__interval": "0s"}, identity)
        upgrade(server, values)
        manifests = rendered(values)
        driver = make_driver_pod(server, manifests)
        conf = {
            **spark_in_the_pod(server, executor_pod(manifests), tmp_path),
            **QUICK_START,
            # There is no name service for the headless service's name.
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.pyspark.python": str(agent.python),
            "spark.dynamicAllocation.executorIdleTimeout": "5s",
            "spark.dynamicAllocation.shuffleTracking.timeout": "5s",
        }
        with _driver(server, manifests, conf, tmp_path, identity) as process:
            pods = executors(server, lambda pods: len(pods) == MAX)
            assert {pod["metadata"]["ownerReferences"][0]["uid"] for pod in pods} == {driver["metadata"]["uid"]}
            _wait(lambda: zone.commits() == wanted.ledger.commits, "all batches", agent)
            # Nothing to do any more: they go, but for those that are to stay.
            executors(server, lambda pods: len(pods) == MIN)
            process.send_signal(signal.SIGTERM)
            assert process.wait(SECONDS) == 0
        # The driver has taken the others with it.
        executors(server, lambda pods: not pods)
    outcome = zone.outcome()
    assert outcome.files == wanted.files
    assert outcome.ledger.tables == wanted.ledger.tables
    assert outcome.staged == ()
    uninstall(server)


def _values(changes: dict[str, Any], identity: dict[str, str]) -> Values:
    """The chart's values for the bridge of these settings, with executors as the load needs them."""
    settings = yaml.safe_load(settings_text(**changes))
    executors = {
        "enabled": True,
        "cores": 1,
        "memory": "600m",
        "memoryOverhead": "600m",
        "dynamicAllocation": {"enabled": True, "min": MIN, "max": MAX},
    }
    del settings["name"], settings["spark"]
    variables = [{"name": name, "value": value} for name, value in identity.items()]
    return changed(one_source(executors=executors, env=variables), "sources.shop.settings", settings)


@contextmanager
def _driver(
    server: ApiServer, manifests: list[Manifest], conf: dict[str, str], folder: Path, identity: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """The bridge, with the settings that the chart makes for its pod; what it says goes to ``driver.log``."""
    path = folder / "bridge.yaml"
    path.write_text(the(manifests, "ConfigMap", NAME)["data"]["bridge.yaml"], encoding="utf-8")
    (folder / "tmp").mkdir()
    environment = {
        **os.environ,
        **identity,
        "CDC_BRIDGE_SPARK__MASTER": f"k8s://{server.url}",
        "CDC_BRIDGE_SPARK__CONF": json.dumps(conf),
        "CDC_BRIDGE_STATE__CHECKPOINT": str(folder / "checkpoint"),
        "CDC_BRIDGE_HTTP__HOST": "127.0.0.1",
        "CDC_BRIDGE_HTTP__PORT": "0",
        "TMPDIR": str(folder / "tmp"),
    }
    with (folder / "driver.log").open("wb") as log:
        process = subprocess.Popen(command("run", str(path)), env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield process
        assert process.poll() == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _wait(condition: Callable[[], bool], what: str, agent: NodeAgent) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}\n{agent.log()}"
        time.sleep(0.3)
