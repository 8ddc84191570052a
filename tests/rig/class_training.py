"""A short life of Kafka Connect, at whose end its Java keeps the classes that it has read; see ``class_archive``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.jars import JarSet, resolve_jars
from tests.rig.worker import ConnectWorker
from tests.support.bridge import QUICK_BROKER
from tests.support.class_archive import keeping

_WRITTEN_SECONDS = 120.0


def main(archive: Path, folder: Path) -> None:
    """Start a worker and end it so that Java writes the archive."""
    with EmbeddedBroker(folder / "broker", resolve_jars(JarSet.BROKER), jvm_options=QUICK_BROKER) as broker:
        worker = ConnectWorker(folder / "connect", broker.bootstrap_servers, classes=keeping(archive))
        worker.start()
        worker.stop(_WRITTEN_SECONDS)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(sys.argv[1]), Path(made))
