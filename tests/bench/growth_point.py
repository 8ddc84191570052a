"""One point of a curve: the real command on a real broker, several micro-batches in one process."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from connectors.kafka.embedded_registry import EmbeddedRegistry
from tests.bench.arithmetic import median
from tests.bench.contender import Place, settings
from tests.bench.growth_dimensions import WARMING, Dimension
from tests.bench.growth_ledger import write_versions
from tests.bench.growth_log import counted, told
from tests.bench.growth_watch import Watch, cpu_between
from tests.bench.landed import inspect
from tests.bench.topics import TopicSet, fill, remove

BETWEEN = "between"
"""What lies between two batches, as a stage: Spark's own planning and log of offsets, and the driver's chores."""


@dataclass(frozen=True)
class Point:
    """What was measured at one size.

    Attributes:
        records, tables, files: of a micro-batch; value_bytes: of a record.
        batches: that count.
        period: seconds from one batch's line to the next one's, the median; spread: the longest over the shortest.
        seconds: of the batches themselves, stages: by stage, with ``between`` for the rest of the period; steps: of
            the tasks together; all of them medians.
        cpu: seconds of the processor by kind of process for each batch that counts.
        start: seconds from the process' start until it knows what there is to land.
        worker, java, python: the largest process of its kind, MiB.
    """

    dimension: str
    size: int
    records: int
    tables: int
    partitions: int
    columns: int
    value_bytes: float
    files: int
    batches: int
    period: float
    spread: float
    seconds: float
    stages: dict[str, float]
    steps: dict[str, float]
    cpu: dict[str, float]
    start: float
    worker: int
    java: int
    python: int

    def line(self) -> str:
        """For people."""
        stages = ", ".join(f"{name} {seconds:.3f}" for name, seconds in self.stages.items())
        return (
            f"  {self.dimension} {self.size:>9,}: {self.period:.3f} s a batch (x{self.spread:.2f} of {self.batches}; "
            f"{stages}), start {self.start:.1f} s, worker {self.worker}, java {self.java}, python {self.python} MiB"
        )


def measured(
    dimension: Dimension,
    size: int,
    batches: int,
    folder: Path,
    scratch: Path | None,
    bootstrap_servers: str,
    registry: EmbeddedRegistry,
) -> Point:
    """Fill topics, let the bridge carry them in so many micro-batches beside the first ones, and judge what landed.

    Args:
        scratch: see :func:`~tests.bench.growth_ledger.write_versions`.

    Raises:
        SystemExit: the bridge failed, or landed other rows than were produced.
    """
    setup = dimension.of(size, WARMING + batches)
    topic_set = TopicSet.of(setup.workload, setup.workload.large, registry)
    fill(topic_set, bootstrap_servers)
    place = Place(folder, bootstrap_servers, registry.url)
    folder.mkdir(parents=True)
    if setup.versions:
        write_versions(folder / "zone-state", setup.versions, topic_set, bootstrap_servers, scratch)
    config = folder / "bridge.yaml"
    config.write_text(yaml.safe_dump(settings(topic_set, place) | {"log": {"format": "json"}}, sort_keys=False))
    began, watch = _run(config, folder / "log.txt")
    inspect(place.zone, topic_set)
    with (folder / "log.txt").open(encoding="utf-8", errors="replace") as lines:
        run = told(lines)
    chosen = counted(run.batches, setup.workload.batch, WARMING)
    # Not beyond the last look: the bridge ends soon after its last batch.
    begin, end = chosen[0].batch.at - chosen[0].period, min(chosen[-1].batch.at, watch.looks[-1].at)
    cpu = cpu_between(watch.looks, begin, end)
    remove([topic_set], bootstrap_servers)
    shutil.rmtree(folder)
    periods = [each.period for each in chosen]
    return Point(
        dimension=dimension.name,
        size=size,
        records=setup.workload.batch,
        tables=setup.workload.tables,
        partitions=setup.workload.partitions,
        columns=setup.workload.columns,
        value_bytes=topic_set.value_bytes,
        files=chosen[-1].batch.files,
        batches=len(chosen),
        period=median(periods),
        spread=max(periods) / min(periods),
        seconds=median(each.batch.seconds for each in chosen),
        stages=_median_each([{**each.batch.stages, BETWEEN: each.period - each.batch.seconds} for each in chosen]),
        steps=_median_each([each.batch.steps for each in chosen]),
        cpu={kind: seconds / len(chosen) for kind, seconds in cpu.items()},
        start=run.ready - began,
        worker=watch.peak("worker"),
        java=watch.peak("java"),
        python=watch.peak("python"),
    )


def _median_each(of: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names: Iterable[str] = dict.fromkeys(name for each in of for name in each)
    return {name: median(each.get(name, 0.0) for each in of) for name in names}


def _run(config: Path, log: Path) -> tuple[float, Watch]:
    """When the bridge was started, and what was seen of it until it ended.

    Raises:
        SystemExit: it failed; the last lines of its log.
    """
    began = time.time()
    with log.open("wb") as said:
        job = subprocess.Popen(
            [sys.executable, "-m", "streaming", "run", str(config), "--once"], stdout=said, stderr=said
        )
    watch = Watch(job.pid)
    code = job.wait()
    watch.stop()
    if code:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
        raise SystemExit(f"the bridge ended with code {code}\n{tail}")
    return began, watch
