"""A short life of job and broker, at whose ends Java keeps the classes that each has read; see ``class_archive``."""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

from pyspark import SparkContext

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.jars import JarSet, resolve_jars
from streaming.driver.session import spark_session
from tests.support.bridge import QUICK_JAVA, Bridge
from tests.support.class_archive import keeping
from tests.support.cluster import Cluster
from tests.support.records import Table

_WRITTEN_SECONDS = 120.0


def main(archive: Path, broker_archive: Path, folder: Path) -> None:
    """Land records of one and of several partitions, and end so that Java writes both archives."""
    jars = resolve_jars(JarSet.SPARK_KAFKA)
    options = [QUICK_JAVA, *keeping(broker_archive)]
    with EmbeddedBroker(folder / "broker", resolve_jars(JarSet.BROKER), jvm_options=options) as broker:
        cluster = Cluster(broker.bootstrap_servers)
        orders, customers = Table(cluster.topic("orders", partitions=2)), Table(cluster.topic("customers"), "customers")
        cluster.send(*(orders.at(key % 2).read({"id": key}) for key in range(20)), customers.read({"id": 1}))
        changes = {
            "kafka__bootstrap_servers": broker.bootstrap_servers,
            "kafka__topics": [orders.topic, customers.topic],
            "dead_letters__topic": cluster.own_topic("dead-letters"),
            "spark__conf": {
                "spark.driver.extraJavaOptions": shlex.join([QUICK_JAVA, *keeping(archive)]),
            },
        }
        session = spark_session(Bridge(folder, None, **changes).settings, jars)
        assert Bridge(folder, session, **changes).run()
        broker.stop(_WRITTEN_SECONDS)
    session.stop()
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    # Java ends, and writes the archive, when nobody holds its standard input.
    gateway.proc.stdin.close()
    gateway.proc.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(sys.argv[1]), Path(sys.argv[2]), Path(made))
