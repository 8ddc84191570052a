"""Renewing ``jars.json``: ``python -m connectors.kafka.jar_pins`` after a version below has changed.

The broker's jars are resolved with everything they depend on; Spark's are exactly four, since pyspark itself holds the
rest (Spark's integration guide for Kafka; the class files of other minor versions of Spark do not fit).
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

from connectors.java import find_java
from connectors.kafka.ivy import Coordinates, find_ivy, retrieve
from connectors.kafka.jars import JarSet

SPARK_KAFKA = (
    Coordinates("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.0.0"),
    Coordinates("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.0.0"),
    Coordinates("org.apache.kafka", "kafka-clients", "3.9.0"),
    Coordinates("org.apache.commons", "commons-pool2", "2.12.0"),
)
BROKER = (
    Coordinates("org.apache.kafka", "kafka_2.13", "4.1.2"),
    # Without a binding every message of the broker is lost.
    Coordinates("org.slf4j", "slf4j-simple", "1.7.36"),
)
_LAYOUT = "[organisation]/[artifact]/[revision]/[artifact]-[revision].jar"


def renew(target: Path) -> None:
    """Resolve both sets and write their coordinates and digests to ``target``."""
    pins = {}
    java, ivy = find_java(), find_ivy()
    for jar_set, wanted, transitive in ((JarSet.SPARK_KAFKA, SPARK_KAFKA, False), (JarSet.BROKER, BROKER, True)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            retrieve(wanted, folder, java=java, ivy=ivy, transitive=transitive, layout=_LAYOUT)
            pins[str(jar_set)] = [_pin(path, folder) for path in sorted(folder.rglob("*.jar"))]
    target.write_text(json.dumps(pins, indent=1) + "\n")


def _pin(path: Path, folder: Path) -> dict[str, str]:
    group, artifact, revision, _ = path.relative_to(folder).parts
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"group": group, "artifact": artifact, "revision": revision, "sha256": digest}


if __name__ == "__main__":
    renew(Path(__file__).with_name("jars.json"))
