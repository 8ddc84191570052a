"""The demo's shop in a test's own topics."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from connectors.kafka.embedded_registry import EmbeddedRegistry
from streaming.demo.columns import declaration
from streaming.demo.encoding import Encoding, Register
from streaming.demo.shop import TABLES
from streaming.demo.workload import Workload
from tests.support.cluster import Cluster

TABLES_SETTINGS: list[dict[str, Any]] = [
    *(
        {"match": f"public.{spec.name}", "declared": {column.name: declaration(column) for column in spec.columns}}
        for spec in TABLES
        if spec.encoding is Encoding.JSON
    ),
    *({"match": f"public.{spec.name}", "policies": {"on_missing_key": "append"}} for spec in TABLES if not spec.key),
]
"""``tables.overrides`` for it: columns where the records have none, and the table that has no key."""


def registering(registry: EmbeddedRegistry) -> Register:
    """Registers Avro schemas, each once."""
    return lambda subject, schema: registry.register(subject, json.dumps(schema, sort_keys=True))


def send_workload(cluster: Cluster, workload: Workload) -> None:
    """Create a topic per table and send everything."""
    topics = {spec.topic: cluster.topic(spec.name, spec.partitions) for spec in TABLES}
    cluster.send(*(replace(record, topic=topics[record.topic]) for record in workload.records()))
