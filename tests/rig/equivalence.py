"""What the equivalence tests share: a source, its connector and bridge settings, and the comparison of all tables."""

from __future__ import annotations

import io
import json
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import fastavro
import requests

from connectors.kafka.config import KafkaConfig
from connectors.kafka.raw import read_records
from connectors.kafka.topics import Admin, describe_topics
from connectors.landing_zone.ledger.state import LedgerState
from streaming.driver.batch import BatchReport
from streaming.driver.query import StopSignal
from tests.rig import Connector, Converter, Database, Rig
from tests.rig.judge import Verdict, compare, select
from tests.rig.tables import TABLES, Dialect, Table
from tests.support.bridge import Bridge

_SECONDS = 30.0
_RULES: dict[str, dict[str, Any]] = {
    "no_key": {"policies": {"on_missing_key": "append"}},
    "emptied": {"policies": {"on_truncate": "ignore"}},
    "key_in_settings": {"keys": ["code"]},
}
# Events without key come in order from one partition only.
_ONE_PARTITION = {
    "topic.creation.groups": "ordered",
    "topic.creation.ordered.include": r".*\.key_in_settings",
    "topic.creation.ordered.partitions": "1",
    "topic.creation.ordered.replication.factor": "1",
}


@dataclass(frozen=True)
class Source:
    """A kind of source: a database and how its records are encoded."""

    dialect: Dialect
    converter: Converter

    def __str__(self) -> str:
        return f"{self.dialect}-{self.converter}"

    def database(self, rig: Rig) -> Database:
        """A new database of this kind."""
        return rig.postgres() if self.dialect is Dialect.POSTGRESQL else rig.mariadb()

    def connect(self, rig: Rig, database: Database, *, partitions: int) -> Connector:
        """A connector that also sends truncates, and knows a key that the database does not."""
        return rig.connect(
            database,
            converter=self.converter,
            partitions=partitions,
            skipped_operations="none",
            message_key_columns=f"{database.schema}.declared_key:code",
            field_name_adjustment_mode="avro" if self.converter.needs_registry else "none",
            **_ONE_PARTITION,
        )

    def bridge_settings(self, rig: Rig, tables: Sequence[Table] = TABLES) -> dict[str, Any]:
        """Registry, rules of some tables, columns where the records have none, and batches without a pause."""
        declared = self.converter is Converter.JSON
        overrides = [
            {
                "match": f"*.{table.name}",
                **({"declared": {each.name: each.kind.declared for each in table.columns}} if declared else {}),
                **_RULES.get(table.name, {}),
            }
            for table in tables
            if declared or table.name in _RULES
        ]
        return {**rig.bridge(self.converter), "tables__overrides": overrides, "trigger__interval": "0s"}

    def verdicts(self, made: Bridge, database: Database, tables: Sequence[Table] = TABLES) -> list[Verdict]:
        """One per table; no table may be parked."""
        state = made.ledger
        assert {name: table.parked for name, table in state.tables.items() if table.parked} == {}
        names = {table.source[2]: name for name, table in state.tables.items()}
        return [
            compare(
                table,
                select(database, self.dialect, table),
                made.replayed(names[table.name]) if table.name in names else None,
                avro_names=self.converter.needs_registry,
            )
            for table in tables
        ]


POSTGRES = tuple(Source(Dialect.POSTGRESQL, converter) for converter in Converter)
MARIADB = tuple(Source(Dialect.MARIADB, converter) for converter in (Converter.JSON_SCHEMA, Converter.AVRO))


@contextmanager
def running(bridge: Bridge) -> Iterator[list[BatchReport]]:
    """The bridge runs, a micro-batch after the other, while the block does; what each did is in the list."""
    stop = StopSignal()
    reports: list[BatchReport] = []
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(bridge.run_until, stop, on_batch=reports.append)
        try:
            yield reports
        finally:
            stop.set()
            future.result()


def set_aside(state: LedgerState) -> dict[str, int]:
    """How many records became dead letters, by reason."""
    return {name: count for name, count in state.counters.items() if name.startswith("dead_letters") and count}


def repeated_events(rig: Rig, connector: Connector, converter: Converter = Converter.JSON_SCHEMA) -> int:
    """Row events in the connector's topics that an earlier record has in the same form (not for ids in headers)."""
    config = KafkaConfig(rig.worker.bootstrap_servers)
    envelope = _avro_envelopes(rig) if converter is Converter.AVRO else _json_envelope
    seen: Counter[tuple[str, str]] = Counter()
    for topic, found in describe_topics(Admin(config), connector.topics()).items():
        for partition, (start, end) in found.partitions.items():
            for records in read_records(config, topic, partition, start, end):
                for value in records.values.to_pylist():
                    if value is not None:
                        event = envelope(value)
                        same = {name: event[name] for name in ("op", "before", "after", "source")}
                        seen[topic, json.dumps(same, sort_keys=True, default=repr)] += 1
    return sum(count - 1 for count in seen.values())


def _json_envelope(value: bytes) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(value)["payload"]
    return payload


def _avro_envelopes(rig: Rig) -> Callable[[bytes], dict[str, Any]]:
    """Reads records as Confluent's serializers write them: a zero byte, the schema's id, the datum."""

    @cache
    def schema(number: int) -> Any:
        answer = requests.get(f"{rig.registry.confluent}/schemas/ids/{number}", timeout=_SECONDS)
        answer.raise_for_status()
        return fastavro.parse_schema(json.loads(answer.json()["schema"]))

    def read(value: bytes) -> dict[str, Any]:
        magic, number = struct.unpack(">bI", value[:5])
        assert magic == 0
        envelope = fastavro.schemaless_reader(io.BytesIO(value[5:]), schema(number), None)
        assert isinstance(envelope, dict)
        return envelope

    return read
