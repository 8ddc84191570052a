"""What tests of several folders share: one broker, one Spark session, and bridges between the two.

The broker is the embedded one, or a container where `CDC_BRIDGE_TEST_BROKER=container` says so: that needs a reachable
Docker daemon that has, or can pull, the image named in `CDC_BRIDGE_TEST_BROKER_IMAGE`. The databases, Debezium and
the registry are described in `tests/rig`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession
from testcontainers.community.kafka import KafkaContainer

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.jars import JarSet, resolve_jars
from streaming.driver.session import spark_session
from tests.rig import Rig, RigServers
from tests.support.bridge import QUICK_BROKER, QUICK_START, Bridge
from tests.support.class_archive import keep_classes
from tests.support.cluster import Cluster
from tests.unit.streaming.settings_builder import settings

CONTAINER = "container"
DEFAULT_IMAGE = "confluentinc/cp-kafka:7.9.2"

# How long an example takes says nothing of the code while others have the cores.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")
if "PYTEST_XDIST_WORKER" in os.environ:
    # A worker is told the width of the terminal that pytest runs in, and the commands would obey it.
    os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session")
def broker_jars() -> list[Path]:
    return resolve_jars(JarSet.BROKER)


@pytest.fixture(scope="session")
def bootstrap_servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Bootstrap servers of a broker that all tests share; each makes its own topics."""
    if os.environ.get("CDC_BRIDGE_TEST_BROKER") == CONTAINER:
        image = os.environ.get("CDC_BRIDGE_TEST_BROKER_IMAGE", DEFAULT_IMAGE)
        with KafkaContainer(image).with_kraft() as container:
            yield container.get_bootstrap_server()
    else:
        jars: list[Path] = request.getfixturevalue("broker_jars")
        # Nobody kills this one, and a machine that has too much to do may let it stand still for seconds: it need not
        # lose its partitions for that.
        session = {"broker.session.timeout.ms": "120000"}
        with EmbeddedBroker(
            tmp_path_factory.mktemp("broker"), jars, properties=session, jvm_options=QUICK_BROKER
        ) as broker:
            yield broker.bootstrap_servers


@pytest.fixture(scope="session")
def spark_jars() -> Iterator[list[Path]]:
    keep_classes()
    yield resolve_jars(JarSet.SPARK_KAFKA)
    if SparkContext._active_spark_context is not None:
        SparkContext._active_spark_context.stop()


@pytest.fixture
def spark(spark_jars: list[Path]) -> SparkSession:
    """The session of this process; where a test has stopped it, the next one gets a new one."""
    return spark_session(
        settings(spark__master="local[2]", spark__driver_memory="2GiB", spark__conf=QUICK_START), spark_jars
    )


@pytest.fixture
def cluster(bootstrap_servers: str) -> Cluster:
    """The broker, with a topic prefix of the test's own."""
    return Cluster(bootstrap_servers)


@pytest.fixture
def bridge(cluster: Cluster, spark: SparkSession, tmp_path: Path) -> Callable[..., Bridge]:
    """Makes bridges that read all of the test's topics, each in a folder of its own."""

    def make(name: str = "bridge", **changes: Any) -> Bridge:
        return Bridge(
            tmp_path / name,
            spark,
            **{
                "kafka__bootstrap_servers": cluster.bootstrap_servers,
                "kafka__topics": None,
                "kafka__pattern": rf"{cluster.prefix}\..*",
                "dead_letters__topic": f"{cluster.prefix}-dead-letters",
                **changes,
            },
        )

    return make


@pytest.fixture(scope="session")
def rig_servers(tmp_path_factory: pytest.TempPathFactory, bootstrap_servers: str) -> Iterator[RigServers]:
    """Databases, Kafka Connect and registry, each started by the first test that needs it."""
    container = os.environ.get("CDC_BRIDGE_TEST_RIG") == CONTAINER
    servers = RigServers(tmp_path_factory.mktemp("rig"), bootstrap_servers, container=container)
    yield servers
    servers.close()


@pytest.fixture
def rig(rig_servers: RigServers, cluster: Cluster) -> Iterator[Rig]:
    """The test's own databases and connectors; connectors write to topics of the test's prefix."""
    made = Rig(rig_servers, cluster.prefix)
    yield made
    made.close()
