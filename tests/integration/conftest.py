"""A broker for the whole run: the embedded one, or a container where `CDC_BRIDGE_TEST_BROKER=container` says so.

The container needs a reachable Docker daemon that has, or can pull, the image named in `CDC_BRIDGE_TEST_BROKER_IMAGE`.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from py4j.java_gateway import JVMView
from pyspark.sql import SparkSession
from testcontainers.community.kafka import KafkaContainer

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.kafka.loopback import free_ports
from tests.integration.java_client import start_jvm
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster

CONTAINER = "container"
DEFAULT_IMAGE = "confluentinc/cp-kafka:7.9.2"

TopicMaker = Callable[..., str]


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
        with EmbeddedBroker(tmp_path_factory.mktemp("broker"), jars) as broker:
            yield broker.bootstrap_servers


@pytest.fixture(scope="session")
def kafka(bootstrap_servers: str) -> KafkaConfig:
    return KafkaConfig(bootstrap_servers)


@pytest.fixture(scope="session")
def new_topic(bootstrap_servers: str) -> TopicMaker:
    """Creates a topic with a name of its own and returns the name."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})

    def create(prefix: str = "topic", partitions: int = 1, **settings: str) -> str:
        name = f"{prefix}-{uuid.uuid4().hex[:8]}"
        config = {key.replace("_", "."): value for key, value in settings.items()}
        wanted = NewTopic(name, num_partitions=partitions, replication_factor=1, config=config)
        admin.create_topics([wanted])[name].result(30)
        return name

    return create


@pytest.fixture
def unused_port() -> int:
    """A port on which nothing listens."""
    [port] = free_ports(1)
    return port


@pytest.fixture
def cluster(bootstrap_servers: str) -> Cluster:
    """The cluster, with a topic prefix of the test's own."""
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
def jvm() -> Iterator[JVMView]:
    """A JVM with Kafka's Java client as Spark's Kafka source uses it."""
    gateway = start_jvm()
    yield gateway.jvm
    gateway.shutdown()
