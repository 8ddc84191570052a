"""What a tagged release has left behind, unpacked: its Kafka running again, its registry, its zone and ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.embedded_registry import EmbeddedRegistry
from tests.release.record_upgrade import ARCHIVES
from tests.release.story import SETTINGS, Story
from tests.support.archive import unpack
from tests.support.bridge import QUICK_BROKER, Bridge
from tests.support.cluster import Cluster


@dataclass(frozen=True)
class LeftBehind:
    """A bridge that an earlier release has run until it was killed; nothing of this release has touched it.

    Attributes:
        story: of the tables, to be told on.
    """

    bridge: Bridge
    cluster: Cluster
    story: Story


def tags() -> list[str]:
    """The releases that were recorded."""
    return sorted(path.name.removesuffix(".tar.xz") for path in ARCHIVES.glob("*.tar.xz"))


@contextmanager
def left_behind(tag: str, folder: Path, spark: SparkSession, jars: Sequence[Path]) -> Iterator[LeftBehind]:
    """Unpack a release's archive into ``folder`` and start its Kafka and its registry."""
    unpack(ARCHIVES / f"{tag}.tar.xz", folder)
    with (
        EmbeddedBroker(folder / "broker", jars, jvm_options=QUICK_BROKER) as broker,
        EmbeddedRegistry() as registry,
    ):
        for subject, schema in json.loads((folder / "schemas.json").read_text()):
            registry.register(subject, schema)

        def register(subject: str, schema: dict[str, Any]) -> int:
            return registry.register(subject, json.dumps(schema, sort_keys=True))

        yield LeftBehind(
            Bridge(
                folder / "bridge",
                spark,
                **SETTINGS,
                kafka__bootstrap_servers=broker.bootstrap_servers,
                registry__url=registry.url,
            ),
            Cluster(broker.bootstrap_servers),
            Story.continued((folder / "story.json").read_text(), register),
        )
