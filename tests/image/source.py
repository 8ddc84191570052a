"""A source database's Kafka in a container: the embedded broker and registry, filled with the demo's change events.

Run inside the image as ``python source.py FOLDER ROWS CHANGES``. It writes the settings of a bridge that reads them to
``FOLDER/bridge.yaml``, then prints ``ready``, and goes on until it is asked to end.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from itertools import cycle
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.kafka.topics import Admin
from streaming.demo.config import demo_settings
from streaming.demo.produce import create_topics, produce
from streaming.demo.shop import TABLES
from streaming.demo.workload import Workload

COMPRESSIONS = ("zstd", "snappy", "lz4", "gzip")
STATE = Path("/var/lib/cdc-bridge")


def main(folder: Path, rows: int, changes: int) -> None:
    asked_to_end = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: asked_to_end.set())
    # The broker's own compressors unpack their native parts, so they need a folder that is not mounted noexec.
    unpacked = folder / "unpacked"
    unpacked.mkdir()
    broker = EmbeddedBroker(folder / "kafka", resolve_jars(JarSet.BROKER), jvm_options=[f"-Djava.io.tmpdir={unpacked}"])
    with EmbeddedRegistry() as registry, broker:
        kafka = KafkaConfig(broker.bootstrap_servers)
        create_topics(kafka)
        compress_topics(kafka)

        def register(subject: str, schema: dict[str, Any]) -> int:
            return registry.register(subject, json.dumps(schema))

        workload = Workload(register, rows=rows, changes=changes)
        records = produce(kafka, workload.records(), lambda count: None)
        settings = demo_settings(broker.bootstrap_servers, registry.url, STATE, max(1, -(-records // 3)))
        (folder / "bridge.yaml").write_text(settings)
        print("ready", flush=True)
        asked_to_end.wait()


def compress_topics(kafka: KafkaConfig) -> None:
    """Let the broker keep each topic's records compressed, by every kind that there is."""
    wanted = []
    for spec, kind in zip(TABLES, cycle(COMPRESSIONS), strict=False):
        entry = ConfigEntry("compression.type", kind, incremental_operation=AlterConfigOpType.SET)
        wanted.append(ConfigResource(ResourceType.TOPIC, spec.topic, incremental_configs=[entry]))
    admin = Admin(kafka)
    for future in admin.client.incremental_alter_configs(wanted).values():
        future.result(30)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
