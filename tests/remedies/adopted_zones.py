"""Landing zones that no ledger knows: another tool's, and the bridge's own whose ledger is gone with its copy."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import RawRecords
from connectors.landing_zone.ledger.copying import SNAPSHOT_COPY
from connectors.landing_zone.ledger.owner import OWNER_FILE
from streaming.driver.beginning import Beginning
from streaming.settings.kafka import Starting
from streaming.zones.adopting import Adoption, Declared, adopt_zone, declared_topics
from streaming.zones.seen_sources import newest, seen_sources
from tests.support.partition_runs import partition_runs
from tests.support.records import raw_batch
from tests.unit.streaming.rebuild_world import Hook, Scratch, World

ORDERS_FOLDER = "public.schema/orders"
PLAIN = {"keyColumns": ["id"], "fileDetectionStrategy": "SequentialFileName"}
SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())])


def body(rows: Sequence[Mapping[str, Any]], schema: pa.Schema = SCHEMA) -> bytes:
    """A Parquet file as another tool writes it: no footer of the bridge's, no row marker unless a row has one."""
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=schema), sink)
    return sink.getvalue()


def foreign(
    world: World,
    files: Mapping[int, bytes],
    metadata: Mapping[str, object] | None = PLAIN,
    *,
    folder: str = ORDERS_FOLDER,
    read: Sequence[int] = (),
) -> None:
    """A table that another tool has filled.

    Args:
        files: by number; read: those that the replicator has moved away.
    """
    if metadata is not None:
        world.zone.write(f"{folder}/_metadata.json", json.dumps(metadata).encode())
    for number, content in files.items():
        place = f"{folder}/_ProcessedFiles" if number in read else folder
        world.zone.write(f"{place}/{number:020d}.parquet", content)


def forget(world: World) -> None:
    """The ledger is gone with every copy of it, and so is the zone's owner."""
    world.state.files.clear()
    for path in (OWNER_FILE, SNAPSHOT_COPY):
        world.zone.files.pop(path, None)


def declared(world: World, starting: Starting, offsets: Mapping[str, Mapping[int, int]] | None = None) -> Declared:
    """What the settings and Kafka say: as ``cdc-bridge adopt`` asks them."""
    present = world.log.describe(sorted(world.log.partitions))
    beginning = Beginning(starting, offsets=offsets or {})

    def read(topic: str, partition: int, start: int, end: int) -> list[RawRecords]:
        records = world.log.partitions[topic][partition]
        return list(partition_runs([raw_batch((records[offset], offset) for offset in range(start, end))]))

    seen = seen_sources(world.job, newest(present, read), Decoder(world.job.decode))
    return Declared("shop", declared_topics(present, beginning, lambda topic, found, moment: {0: 0}), seen)


def adopt(
    world: World,
    starting: Starting = Starting.EARLIEST,
    offsets: Mapping[str, Mapping[int, int]] | None = None,
    *,
    look_only: bool = False,
    hook: Hook | None = None,
) -> Adoption:
    """``cdc-bridge adopt`` over a world."""
    return adopt_zone(
        Scratch(world.zone, hook, world.work),
        Scratch(world.state, hook, world.work),
        declared(world, starting, offsets),
        look_only=look_only,
        now_ms=lambda: world.now_ms,
        threads=1,
    )
