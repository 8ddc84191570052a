"""One run of the bridge with a table for each option of a table, on two databases with the same kind of traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from connectors.kafka.config import KafkaConfig
from connectors.kafka.topics import Admin, describe_topics
from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver.batch import BatchReport
from tests.rig import Connector, Database, Rig
from tests.rig.audited import Traffic, create_audited
from tests.rig.equivalence import running
from tests.rig.live import wait
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster

SALT, SECRET = "a salt of the tests", "a secret key of the tests"
ADDED = {
    "load_source": "'shop'",
    "total": "price * quantity",
    "title": "coalesce(name, 'nobody') || '/' || cast(id as varchar)",
    "many": "case when quantity > 3 then 'many' when quantity < 0 then 'none' else 'few' end",
    "year": "cast(extract(year from born) as int)",
    "owed": "greatest(abs(price), 100.00)",
    "letters": "length(iban)",
}
OPTIONS: dict[str, dict[str, Any]] = {
    "compacted": {"compaction": "last_state"},
    "marked": {"soft_delete": {"column": "_deleted"}},
    "marked_by_key": {"soft_delete": {"column": "_deleted"}},
    "history": {"mode": "history"},
    "disguised": {
        "columns": {
            "hash": ["national_id", "price", "quantity", "seen"],
            "encrypt": ["iban", "measure"],
            "mask": ["no*", "born"],
        }
    },
    "disguised_key": {
        "casts": {"seen": "timestamptz"},
        "columns": {"hash": ["id", "born", "seen"], "encrypt": ["price"]},
    },
    "computed": {"add": ADDED},
    "cast_softly": {"casts": {"measure": "int64", "quantity": "string"}, "policies": {"on_cast_failure": "null"}},
    "cast_or_letter": {"casts": {"measure": "int64"}, "policies": {"on_cast_failure": "dead_letter"}},
    "undeleted": {"excluded_operations": ["d"]},
    "created": {"included_operations": ["c", "r"]},
    "described": {
        "metadata_columns": ["op", "source_ts", "position", "kafka_topic", "source_database", "source_table", "deleted"]
    },
    "combined": {
        "compaction": "last_state",
        "soft_delete": {"column": "_deleted"},
        "columns": {"hash": ["id"], "mask": ["iban"]},
        "add": {"total": ADDED["total"]},
        "metadata_columns": ["op"],
    },
    "orders": {
        "merge_sources": True,
        "metadata_columns": ["source_database"],
        "policies": {"on_resnapshot": "upsert"},
    },
}
"""What is set for each table; ``orders`` is in both databases."""
FULL = ("marked", "history", "combined")
"""Tables whose log has whole rows from before."""
WIDE = ("compacted", "marked", "history", "disguised_key", "cast_softly", "undeleted")
"""Tables whose topics have two partitions, so that their rows are merged."""


@dataclass(frozen=True)
class Landed:
    """Two databases whose tables have landed, and the bridge that has run.

    Attributes:
        east: has a table for each option; ``west`` the second shard of ``orders``.
        reports: of the micro-batches.
    """

    cluster: Cluster
    east: Database
    west: Database
    bridge: Bridge
    reports: list[BatchReport]

    def rows(self, table: str, columns: Sequence[str], by: Sequence[str] = ("id",)) -> list[tuple[Any, ...]]:
        """These columns of the mirrored table, which must have no others, in the order of some of them."""
        content = self.bridge.replayed(f"public.{table}").table
        assert sorted(content.column_names) == sorted(columns)
        return [
            tuple(row[name] for name in columns)
            for row in content.sort_by([(each, "ascending") for each in by]).to_pylist()
        ]

    def counter(self, name: str) -> int:
        return self.bridge.ledger.counters.get(name, 0)

    def files(self, table: str) -> list[pa.Table]:
        """The table's landing files, in order."""
        folder = self.bridge.zone / open_zone(LocalStorage(self.bridge.zone)).table(f"public.{table}").folder
        return [pq.read_table(path) for path in sorted(folder.glob("*.parquet"))]


def land_options(rig: Rig, cluster: Cluster, folder: Path, spark: SparkSession) -> Landed:
    """Changes that wait in Kafka when the bridge starts, then others while it runs, until it has all of them."""
    east, west = rig.postgres(), rig.postgres()
    create_audited(east, list(OPTIONS), seed=1, full=FULL)
    create_audited(west, ["orders"], seed=2)
    for table in ("orders", "audit.orders"):
        west.execute(f"ALTER TABLE {table} ADD COLUMN region text DEFAULT 'west'")
    wide: dict[str, Any] = {
        "topic.creation.groups": "wide",
        "topic.creation.wide.include": rf".*\.public\.({'|'.join(WIDE)})",
        "topic.creation.wide.partitions": "2",
        "topic.creation.wide.replication.factor": "1",
    }
    connectors = [
        rig.connect(db, prefix=f"{rig.prefix}.{name}", tables=(r"public\..*",), skipped_operations="none", **wide)
        for name, db in (("east", east), ("west", west))
    ]
    for connector in connectors:
        connector.wait_streaming()
    traffic = [Traffic(east, list(OPTIONS), seed=3), Traffic(west, ["orders"], seed=4)]
    for each in traffic:
        each.run(12)
    for connector in connectors:
        connector.wait_caught_up()
    bridge = Bridge(
        folder,
        spark,
        kafka__bootstrap_servers=cluster.bootstrap_servers,
        kafka__topics=None,
        kafka__pattern=rf"{cluster.prefix}\..*",
        kafka__commit_group=f"lag-{cluster.prefix}",
        dead_letters__topic=f"{cluster.prefix}-dead-letters",
        trigger={"interval": "0s", "max_offsets": 500},
        tables__secrecy={"salt": SALT, "key": SECRET},
        tables__overrides=[{"match": f"*.public.{table}", **options} for table, options in OPTIONS.items()],
    )
    with running(bridge) as reports:
        wait(lambda: "public.orders" in bridge.ledger.tables, "the first batch lands")
        for part in range(3):
            if part == 1:
                east.execute("TRUNCATE history")
            for each in traffic:
                each.run(3)
        for connector in connectors:
            connector.wait_caught_up()
        wait(lambda: ends(cluster, connectors) == reached(bridge), "everything has landed")
    return Landed(cluster, east, west, bridge, reports)


def ends(cluster: Cluster, connectors: Sequence[Connector]) -> dict[str, dict[int, int]]:
    """The end of each partition of the connectors' topics."""
    admin = Admin(KafkaConfig(cluster.bootstrap_servers))
    found = describe_topics(admin, [topic for connector in connectors for topic in connector.topics()])
    return {topic: {number: end for number, (_, end) in each.partitions.items()} for topic, each in found.items()}


def reached(bridge: Bridge) -> dict[str, dict[int, int]]:
    """How far the ledger has come."""
    return {name: dict(known.partitions) for name, known in bridge.ledger.topics.items()}
