"""One contender as a process of its own on one topic set: seconds, processor's seconds, memory, and what landed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

import yaml

from streaming.demo.columns import declaration
from streaming.demo.encoding import Encoding
from tests.bench.machine import unpinned
from tests.bench.supervise import Use
from tests.bench.topics import TopicSet
from tests.bench.workloads import Contender
from tests.support.process_tree import DRIVER, WORKER, descendants

SCHEMA_FOLDER = "public.schema"
_SAMPLE_SECONDS = 0.5


@dataclass(frozen=True)
class Place:
    """Where a contender reads and writes.

    Attributes:
        folder: of this run alone; gets the settings, the log, the zone and the checkpoint.
        registry_url: of the schema registry that the topics' schemas are in.
    """

    folder: Path
    bootstrap_servers: str
    registry_url: str

    @property
    def zone(self) -> Path:
        return self.folder / "zone"


@dataclass(frozen=True)
class Peaks:
    """The largest resident sizes of any one process of a kind, MiB; 0 where there was none."""

    worker: int
    java: int
    python: int


def run(contender: Contender, topic_set: TopicSet, place: Place) -> tuple[Use, Peaks]:
    """Let a contender carry everything that is in the topics.

    Raises:
        SystemExit: it failed; the last lines of its log.
    """
    place.folder.mkdir(parents=True)
    return measured(command(contender, topic_set, place), place.folder / "log.txt", place.folder / "use.json")


def command(contender: Contender, topic_set: TopicSet, place: Place) -> list[str]:
    """The contender's command line; writes the settings that it takes."""
    config = place.folder / "bridge.yaml"
    config.write_text(yaml.safe_dump(settings(topic_set, place), sort_keys=False))
    match contender:
        case Contender.BRIDGE:
            return [sys.executable, "-m", "streaming", "run", str(config), "--once"]
        case Contender.LIMIT:
            return [sys.executable, "-m", "tests.bench.limit", str(config), str(topic_set.records)]
        case Contender.OBVIOUS:
            return [sys.executable, "-m", "tests.bench.obvious_job", *obvious_arguments(topic_set, place)]
        case _:
            assert_never(contender)


def settings(topic_set: TopicSet, place: Place) -> dict[str, object]:
    """The bridge's settings: nothing is switched off."""
    workload = topic_set.workload
    return {
        "name": topic_set.prefix,
        "kafka": {"bootstrap_servers": place.bootstrap_servers, "pattern": topic_set.pattern},
        "landing_zone": {"url": place.zone.as_uri()},
        "trigger": {"max_offsets": workload.batch},
        **({"registry": {"url": place.registry_url}} if workload.encoding is Encoding.AVRO else {}),
        "tables": {"defaults": declared(topic_set) if workload.encoding is Encoding.JSON else {}},
    }


def obvious_arguments(topic_set: TopicSet, place: Place) -> list[str]:
    """Arguments of :mod:`tests.bench.obvious_job`."""
    tables = place.folder / "tables.json"
    tables.write_text(json.dumps(declared(topic_set)["declared"]))
    embedded = ["--embedded-schema"] if topic_set.workload.encoding is Encoding.JSON_WITH_SCHEMA else []
    return [
        *("--bootstrap-servers", place.bootstrap_servers),
        *("--pattern", topic_set.pattern),
        *("--max-offsets", str(topic_set.workload.batch)),
        *("--columns", str(tables)),
        *("--zone", str(place.zone)),
        *("--checkpoint", str(place.folder / "checkpoint")),
        *embedded,
    ]


def measured(argv: Sequence[str], log: Path, out: Path) -> tuple[Use, Peaks]:
    """Run a command under supervision.

    Raises:
        SystemExit: it failed.
    """
    with log.open("wb") as said:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.supervise", str(out), *argv], stdout=said, stderr=said
        )
    water = HighWater(supervisor.pid)
    code = supervisor.wait()
    water.stop()
    use = Use(**json.loads(out.read_text())) if code == 0 else Use(code, 0.0, 0.0)
    if use.code != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
        raise SystemExit(f"{' '.join(argv)}\nended with code {use.code}\n{tail}")
    return use, water.peaks()


class HighWater:
    """The kernel's own high-water marks of the processes below one, looked at now and then."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._kibibytes: dict[bytes, int] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def peaks(self) -> Peaks:
        worker, java, python = (self._kibibytes.get(kind, 0) >> 10 for kind in (WORKER, DRIVER, b""))
        return Peaks(worker, java, python)

    def _watch(self) -> None:
        unpinned()
        while not self._over.wait(_SAMPLE_SECONDS):
            for pid in descendants(self._root):
                try:
                    line = Path(f"/proc/{pid}/cmdline").read_bytes()
                    status = Path(f"/proc/{pid}/status").read_text()
                except OSError:
                    continue
                kind = next((kind for kind in (WORKER, DRIVER) if kind in line), b"")
                self._kibibytes[kind] = max(self._kibibytes.get(kind, 0), high_water(status))


def high_water(status: str) -> int:
    """Peak resident KiB in the text of ``/proc/<pid>/status``; 0 for a process that has none left."""
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def declared(topic_set: TopicSet) -> dict[str, dict[str, str]]:
    """The columns as ``tables.defaults`` of the settings takes them."""
    return {"declared": {column.name: declaration(column) for column in topic_set.workload.column_list()}}
