"""Kafka's clients and topics for the tests of its parts; the broker itself is in ``tests/conftest.py``."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from py4j.java_gateway import JVMView

from connectors.kafka.config import KafkaConfig
from connectors.kafka.loopback import free_ports
from tests.integration.java_client import start_jvm

TopicMaker = Callable[..., str]


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


@pytest.fixture(scope="session")
def jvm() -> Iterator[JVMView]:
    """A JVM with Kafka's Java client as Spark's Kafka source uses it."""
    gateway = start_jvm()
    yield gateway.jvm
    gateway.shutdown()
