"""Kafka's Java client in a JVM of its own, driven through the Py4J that ships with pyspark."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from unittest import mock

import py4j.java_gateway
import py4j.protocol
from py4j.java_gateway import GatewayParameters, JavaGateway, JVMView, launch_gateway

from connectors.java import find_java
from connectors.kafka.client_options import java_options
from connectors.kafka.config import KafkaConfig
from connectors.kafka.jars import JarSet, resolve_jars
from tests.support.bridge import QUICK_JAVA


def start_jvm() -> JavaGateway:
    """A JVM with the jars of Spark's Kafka source and those of pyspark that it needs."""
    found = importlib.util.find_spec("pyspark")
    assert found is not None
    assert found.submodule_search_locations is not None
    folder = Path(found.submodule_search_locations[0]) / "jars"
    needed = [jar for name in ("slf4j-api", "lz4", "jackson", "jose4j") for jar in folder.glob(f"{name}*.jar")]
    [py4j] = folder.glob("py4j-*.jar")
    port = launch_gateway(
        jarpath=str(py4j),
        classpath=":".join(str(jar) for jar in [*resolve_jars(JarSet.SPARK_KAFKA), *needed]),
        java_path=str(find_java()),
        javaopts=[QUICK_JAVA],
        die_on_exit=True,
    )
    return JavaGateway(gateway_parameters=GatewayParameters(port=port))


def java_topics(jvm: JVMView, config: KafkaConfig) -> set[str]:
    """Topics that the Java client lists with the options translated for it.

    Raises:
        Py4JJavaError: What the client throws. Once a session of Spark has run in this process, pyspark's handler looks
            at every exception with the help of its own JVM, which doesn't know those of this one; so it is set aside.
    """
    with mock.patch.object(py4j.java_gateway, "get_return_value", py4j.protocol.get_return_value):
        return _topics(jvm, config)


def _topics(jvm: JVMView, config: KafkaConfig) -> set[str]:
    properties = jvm.java.util.Properties()
    for name, value in java_options(config).items():
        properties.setProperty(name, value)
    admin = jvm.org.apache.kafka.clients.admin.Admin.create(properties)
    try:
        return set(admin.listTopics().names().get())
    finally:
        admin.close()
