"""A short life of the job, at whose end its Java keeps the classes that it has read; see ``class_archive``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pyspark import SparkContext

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.jars import JarSet, resolve_jars
from streaming.driver.session import spark_session
from tests.support.bridge import QUICK_JAVA, Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table


def main(archive: Path, folder: Path) -> None:
    """Land records of one and of several partitions, and end so that Java writes ``archive``."""
    jars = resolve_jars(JarSet.SPARK_KAFKA)
    with EmbeddedBroker(folder / "broker", resolve_jars(JarSet.BROKER), jvm_options=[QUICK_JAVA]) as broker:
        cluster = Cluster(broker.bootstrap_servers)
        orders, customers = Table(cluster.topic("orders", partitions=2)), Table(cluster.topic("customers"), "customers")
        cluster.send(*(orders.at(key % 2).read({"id": key}) for key in range(20)), customers.read({"id": 1}))
        changes = {
            "kafka__bootstrap_servers": broker.bootstrap_servers,
            "kafka__topics": [orders.topic, customers.topic],
            "dead_letters__topic": cluster.own_topic("dead-letters"),
            "spark__conf": {
                "spark.driver.extraJavaOptions": f'{QUICK_JAVA} "-XX:ArchiveClassesAtExit={archive}" -Xlog:disable'
            },
        }
        session = spark_session(Bridge(folder, None, **changes).settings, jars)
        assert Bridge(folder, session, **changes).run()
    session.stop()
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    # Java ends, and writes the archive, when nobody holds its standard input.
    gateway.proc.stdin.close()
    gateway.proc.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(sys.argv[1]), Path(made))
