"""A ledger of many versions, written by the ledger's own commits before the bridge starts on it."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from connectors.kafka.config import KafkaConfig
from connectors.kafka.topics import Admin, describe_topics
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import PlannedTopic
from connectors.landing_zone.storage.local import LocalStorage
from tests.bench.topics import TopicSet


def write_versions(
    state: Path, count: int, topic_set: TopicSet, bootstrap_servers: str, scratch: Path | None = None
) -> None:
    """So many versions that have read none of the topics' records, all of them too young to be pruned.

    Args:
        scratch: where they are written before they are copied: best in memory, since each is synced. None for the
            place of temporary files.
    """
    names = [table.topic for table in topic_set.tables]
    found = describe_topics(Admin(KafkaConfig(bootstrap_servers)), names)
    planned = {name: PlannedTopic(topic.id, dict.fromkeys(topic.partitions, (0, 0))) for name, topic in found.items()}
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-growth-", dir=scratch))
    try:
        ledger = Ledger.open(LocalStorage(folder), now_ms=lambda: time.time_ns() // 1_000_000)
        ledger.claim("growth", "here", topic_set.prefix)
        for _ in range(count - 1):
            ledger.commit(Draft(planned=planned))
        shutil.copytree(folder, state)
    finally:
        shutil.rmtree(folder)
