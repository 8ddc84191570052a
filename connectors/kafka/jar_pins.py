"""Renewing ``jars.json``: ``python -m connectors.kafka.jar_pins`` after a version below has changed.

The jars of broker, Kafka Connect and Avro converter are resolved with everything they depend on; Spark's are exactly
four, since pyspark itself holds the rest (Spark's integration guide for Kafka; the class files of other minor versions
of Spark do not fit). The archives hold everything that they need.
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
CONNECT = (
    Coordinates("org.apache.kafka", "connect-runtime", "4.1.2"),
    Coordinates("org.slf4j", "slf4j-simple", "1.7.36"),
)
# The archives of some later releases hold only a part of the jars that a connector needs.
DEBEZIUM = (
    Coordinates("io.debezium", "debezium-connector-mariadb", "3.5.0.Final", "plugin", "tar.gz"),
    Coordinates("io.debezium", "debezium-connector-postgres", "3.6.1.Final", "plugin", "tar.gz"),
)
# Releases from 3 on need Java 21; the converter of one release speaks to the registry of the same.
AVRO_CONVERTER = (Coordinates("io.apicurio", "apicurio-registry-utils-converter", "2.6.13.Final"),)
REGISTRY = (Coordinates("io.apicurio", "apicurio-registry-app", "2.6.13.Final", "all", "tar.gz"),)
PROFILER = (Coordinates("tools.profiler", "async-profiler", "4.4"),)
_WANTED = (
    (JarSet.SPARK_KAFKA, SPARK_KAFKA, False),
    (JarSet.BROKER, BROKER, True),
    (JarSet.CONNECT, CONNECT, True),
    (JarSet.DEBEZIUM, DEBEZIUM, False),
    (JarSet.AVRO_CONVERTER, AVRO_CONVERTER, True),
    (JarSet.REGISTRY, REGISTRY, False),
    (JarSet.PROFILER, PROFILER, False),
)
_LAYOUT = "[organisation]/[artifact]/[revision]/[ext]/([classifier])/[artifact]-[revision](-[classifier]).[ext]"


def renew(target: Path) -> None:
    """Resolve every set and write their coordinates and digests to ``target``."""
    pins = {}
    java, ivy = find_java(), find_ivy()
    for jar_set, wanted, transitive in _WANTED:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            retrieve(wanted, folder, java=java, ivy=ivy, transitive=transitive, layout=_LAYOUT)
            files = sorted(path for path in folder.rglob("*") if path.is_file())
            pins[str(jar_set)] = [_pin(path, folder) for path in files]
    target.write_text(json.dumps(pins, indent=1) + "\n")


def _pin(path: Path, folder: Path) -> dict[str, str]:
    group, artifact, revision, extension, *classifier, _ = path.relative_to(folder).parts
    pin = {"group": group, "artifact": artifact, "revision": revision}
    if classifier or extension != "jar":
        pin |= {"classifier": "".join(classifier), "extension": extension}
    return pin | {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


if __name__ == "__main__":
    renew(Path(__file__).with_name("jars.json"))
