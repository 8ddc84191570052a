"""Figures of the main job on this machine, all from one run; a script, not a test: ``make figures``.

Each scenario fills topics of its own on a real broker, runs the real command on them, and is judged by replaying the
zone. Memory is the peak resident size over all processes of a kind, read from /proc ten times a second. ``make
figures-scale-out`` runs some of them on threads of the driver and on executors in processes of their own.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml
from confluent_kafka import Producer

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.kafka.topics import Admin
from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import VersionKind
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from tests.support.process_tree import DRIVER, EXECUTOR, WORKER, Peak
from tests.support.spark_home import local_cluster_environment

COLUMNS = {
    "id": "int64",
    **{f"text_{number}": "string" for number in range(5)},
    **{f"number_{number}": "int64" for number in range(5)},
    "price": "decimal(12,2)",
    "ratio": "float64",
    "active": "boolean",
    "made": "timestamp(us)",
    "seen": "timestamptz",
}


@dataclass(frozen=True)
class Scenario:
    """So many topics, each with so many records (creates, then updates) in so many partitions; where its tasks run."""

    name: str
    tables: int
    records: int
    partitions: int = 1
    batch: int = 2_000_000
    master: str = "local[*]"


@dataclass(frozen=True)
class Figure:
    """What one scenario took: seconds of its micro-batches, and peaks of memory in MiB: a Python worker's, a Java's."""

    scenario: Scenario
    batches: int
    seconds: float
    worker_peak: int
    driver_peak: int
    executor_peak: int
    rows: int


SCENARIOS = (
    Scenario("one record", 1, 1),
    Scenario("one table, one batch of 100,000 records", 1, 100_000),
    Scenario("one table, one batch of 1,000,000 records", 1, 1_000_000),
    Scenario("one table over 8 partitions, 400,000 records", 1, 400_000, partitions=8),
    Scenario("200 tables of 100 records", 200, 100),
    Scenario("50 tables of 10,000 records", 50, 10_000),
)
SCALE_OUT = (
    SCENARIOS[1],
    SCENARIOS[3],
    Scenario("one table over 8 partitions, 1,000,000 records", 1, 1_000_000, partitions=8),
    SCENARIOS[5],
)
"""What ``make figures-scale-out`` runs; the third merges what a batch of the default size can hold."""
ON_EXECUTORS = "local-cluster[2,1,1024]"
"""What it compares with two threads: two executors of one core."""


def main(scenarios: Sequence[Scenario] = SCENARIOS) -> None:
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-figures-"))
    with EmbeddedBroker(folder / "kafka", resolve_jars(JarSet.BROKER)) as broker:
        figures = [measure(scenario, number, broker, folder) for number, scenario in enumerate(scenarios)]
    print(f"\n{platform.machine()}, {os.cpu_count()} cores, broker on the same cores; JSON of 16 columns\n")
    print("| scenario | master | batches | seconds in batches | records/s | Python worker | driver | executor |")
    print("|---|---|---|---|---|---|---|---|")
    for figure in figures:
        total = figure.scenario.tables * figure.scenario.records
        rate = total / figure.seconds
        print(
            f"| {figure.scenario.name} | {figure.scenario.master} | {figure.batches} | {figure.seconds:.2f} "
            f"| {rate:,.0f} | {figure.worker_peak} MiB | {figure.driver_peak} MiB | {figure.executor_peak} MiB |"
        )


def measure(scenario: Scenario, number: int, broker: EmbeddedBroker, folder: Path) -> Figure:
    """Fill the topics, run the bridge on them, check what it landed."""
    prefix = f"s{number}"
    size = fill(scenario, prefix, broker)
    print(f"{scenario.name}: produced, {size:,.0f} bytes a record", flush=True)
    config = folder / f"{prefix}.yaml"
    zone = folder / prefix
    config.write_text(
        yaml.safe_dump(
            {
                "name": prefix,
                "kafka": {"bootstrap_servers": broker.bootstrap_servers, "pattern": rf"{prefix}\.public\..*"},
                "landing_zone": {"url": zone.as_uri()},
                "trigger": {"max_offsets": scenario.batch},
                "spark": {"master": scenario.master},
                "tables": {"defaults": {"declared": COLUMNS}},
            }
        )
    )
    own = local_cluster_environment(folder / f"{prefix}-spark") if scenario.master == ON_EXECUTORS else {}
    job = subprocess.Popen(
        [sys.executable, "-m", "streaming", "run", str(config), "--once"],
        env={**os.environ, **own},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    peak = Peak(job.pid)
    _, said = job.communicate()
    peak.stop()
    if job.returncode:
        raise SystemExit(f"{scenario.name}: the job failed\n{said}")
    rows = sum(replay(table).table.num_rows for table in open_zone(LocalStorage(zone)).tables())
    expected = scenario.tables * max(1, scenario.records // 2)
    if rows != expected:
        raise SystemExit(f"{scenario.name}: {rows} rows after replay instead of {expected}")
    state = LocalStorage(zone.with_name(f"{zone.name}-state"))
    ledger = Ledger.open(state, now_ms=lambda: 0)
    written = sorted(versions(state), key=lambda version: version.version)
    batches = [version for version in written if version.kind is VersionKind.COMMIT and version.planned]
    # From the claim to the last commit: planning, the Spark action, commit and publishing of all but the last batch.
    seconds = (written[-1].written_ms - written[0].written_ms) / 1000
    assert ledger.state.commits == len(batches)
    figure = Figure(scenario, len(batches), seconds, peak.of(WORKER), peak.of(DRIVER), peak.of(EXECUTOR), rows)
    print(f"  {seconds:.2f} s from the claim to the last commit, workers' peak {figure.worker_peak} MiB", flush=True)
    return figure


def fill(scenario: Scenario, prefix: str, broker: EmbeddedBroker) -> float:
    """Create the topics and produce the records; returns the mean size of a value."""
    from confluent_kafka.admin import NewTopic

    admin = Admin(KafkaConfig(broker.bootstrap_servers))
    names = [f"{prefix}.public.t{table:03d}" for table in range(scenario.tables)]
    for future in admin.client.create_topics([NewTopic(name, scenario.partitions, 1) for name in names]).values():
        future.result()
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 50, "queue.buffering.max.messages": 200_000}
    )
    total = size = 0
    for table, topic in enumerate(names):
        for key, value, partition in events(scenario, f"t{table:03d}"):
            while True:
                try:
                    producer.produce(topic, value=value, key=key, partition=partition)
                    break
                except BufferError:
                    producer.poll(0.1)
            total += 1
            size += len(value)
    producer.flush()
    return size / total


def events(scenario: Scenario, table: str) -> Iterator[tuple[bytes, bytes, int]]:
    """Creates of half as many rows as records, then an update of each; a key stays in its partition."""
    rows = max(1, scenario.records // 2)
    for record in range(scenario.records):
        number = record % rows
        lsn = 1_000 + record * 100
        row = {
            "id": number,
            **{f"text_{index}": f"value {number * 31 + index} of column {index}" for index in range(5)},
            **{f"number_{index}": (number * 7919 + index) % 100_003 for index in range(5)},
            "price": "AMqe",
            "ratio": number / 3,
            "active": number % 3 == 0,
            "made": 1_760_000_000_000_000 + number,
            "seen": "2026-03-01T08:00:00.123456Z",
        }
        source = {
            "version": "3.6.1.Final",
            "connector": "postgresql",
            "name": "bench",
            "ts_ms": 1_760_000_000_000 + record,
            "snapshot": "false",
            "db": "bench",
            "sequence": f'["{lsn - 50}","{lsn}"]',
            "schema": "public",
            "table": table,
            "txId": record,
            "lsn": lsn,
            "xmin": None,
        }
        event = {
            "before": None,
            "after": row,
            "source": source,
            "op": "c" if record < rows else "u",
            "ts_ms": 1_760_000_000_100 + record,
        }
        key = json.dumps({"id": number}, separators=(",", ":")).encode()
        yield key, json.dumps(event, separators=(",", ":")).encode(), number % scenario.partitions


if __name__ == "__main__":
    began = time.monotonic()
    if "scale-out" in sys.argv:
        main([replace(each, master=master) for each in SCALE_OUT for master in ("local[2]", ON_EXECUTORS)])
    else:
        main()
    print(f"\n{time.monotonic() - began:.0f} s in all")
