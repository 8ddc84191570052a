"""From a produced event to its visible file: ``make bench-latency``. The real command, at a trigger of nothing.

A record is sent once the one before has landed, after a pause of random length, so that it meets the query at any
moment of its loop. The clock runs from before ``produce`` until the file has its number, looked for a thousand times a
second. The first rounds do not count: a bridge that has just begun has Java compile what it runs, and is up for weeks.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import yaml
from confluent_kafka import Producer

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.landing_zone.numbering import SequenceNumber, file_name
from tests.bench.arithmetic import median
from tests.bench.contender import SCHEMA_FOLDER, Place, settings
from tests.bench.machine import Machine, this_machine
from tests.bench.results import LATENCY_FILE
from tests.bench.targets import Target, Verdict
from tests.bench.topics import TopicSet, create
from tests.bench.workloads import Workload

_PATIENCE_SECONDS = 120.0
_LOOK_SECONDS = 0.001
_PAUSE_SECONDS = 0.1, 0.4
_WARMING = 10


@dataclass(frozen=True)
class Wait:
    """How often one record in each of so many tables is sent, and how long at most it may take in the middle.

    Attributes:
        rounds: that count, behind :data:`_WARMING` that do not.
    """

    workload: Workload
    rounds: int
    target: Target


WAITS = (
    Wait(
        Workload("latency-one", "one record", small=10, large=20),
        60,
        Target("latency/one-record", "one record: seconds from event to file", 0.5, at_most=True),
    ),
    Wait(
        Workload("latency-many", "200 tables with one record each", tables=200, small=10, large=20),
        40,
        Target("latency/200-tables", "200 tables with one record each: seconds from event to file", 1.5, at_most=True),
    ),
)


@dataclass(frozen=True)
class Latencies:
    """Of one run of this benchmark.

    Attributes:
        seconds: from event to file, of each round that counts, by the name of their target.
    """

    machine: Machine
    when: str
    seconds: dict[str, list[float]]

    def verdicts(self) -> list[Verdict]:
        """The medians against their targets, as far as they were measured."""
        return [Verdict(wait.target, median(took)) for wait in WAITS if (took := self.seconds.get(wait.target.name))]


def measured(wait: Wait, folder: Path, bootstrap_servers: str, registry: EmbeddedRegistry) -> list[float]:
    """Seconds from event to file, of each round that counts.

    Raises:
        SystemExit: the bridge ended, or a file did not come.
    """
    topic_set = TopicSet.of(wait.workload, _WARMING + wait.rounds, registry)
    create(topic_set, bootstrap_servers)
    messages = [[one for some in table.messages(topic_set.asked) for one in some] for table in topic_set.tables]
    place = Place(folder, bootstrap_servers, registry.url)
    folder.mkdir(parents=True)
    config = folder / "bridge.yaml"
    config.write_text(yaml.safe_dump(settings(topic_set, place) | {"trigger": {"interval": "0s"}}, sort_keys=False))
    producer = Producer({"bootstrap.servers": bootstrap_servers, "linger.ms": 0, "log_level": 3})
    folders = [place.zone / SCHEMA_FOLDER / table.name for table in topic_set.tables]
    with (folder / "log.txt").open("wb") as log:
        job = subprocess.Popen([sys.executable, "-m", "streaming", "run", str(config)], stdout=log, stderr=log)
    took: list[float] = []
    try:
        for number in range(_WARMING + wait.rounds):
            began = time.monotonic()
            for table, records in zip(topic_set.tables, messages, strict=True):
                producer.produce(table.topic, records[number]["value"], records[number]["key"], 0)
            producer.flush()
            _wait_for([each / file_name(SequenceNumber(number + 1)) for each in folders], job, folder / "log.txt")
            if number >= _WARMING:
                took.append(time.monotonic() - began)
            time.sleep(random.uniform(*_PAUSE_SECONDS))
    finally:
        job.terminate()
        job.wait()
    return took


def _wait_for(files: Sequence[Path], job: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    for file in files:
        while not file.exists():
            if job.poll() is not None or time.monotonic() > deadline:
                tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
                raise SystemExit(f"{file} did not come\n{tail}")
            time.sleep(_LOOK_SECONDS)


def main(out: Path) -> None:
    """Print one line for each wait."""
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-latency-"))
    seconds: dict[str, list[float]] = {}
    machine = this_machine()
    try:
        with (
            EmbeddedBroker(folder / "kafka", resolve_jars(JarSet.BROKER)) as broker,
            EmbeddedRegistry() as registry,
        ):
            for wait in WAITS:
                took = measured(wait, folder / wait.workload.name, broker.bootstrap_servers, registry)
                seconds[wait.target.name] = took
                slowest = sorted(took)[-max(1, len(took) // 20)]
                print(f"{Verdict(wait.target, median(took)).line()} p95 {slowest:.2f} of {len(took)}", flush=True)
    finally:
        shutil.rmtree(folder)
    out.parent.mkdir(parents=True, exist_ok=True)
    found = Latencies(machine, datetime.now(UTC).date().isoformat(), seconds)
    out.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


if __name__ == "__main__":
    main(LATENCY_FILE)
