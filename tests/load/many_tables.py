"""Hundreds of tables in one job: all of them at first, then one record of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.bench.wide_events import WideTable, bulk_producer, create_topics, produce
from tests.load.job import Job
from tests.load.memory import JAVA_MIB, KINDS, peaks
from tests.load.outcome import Outcome, judgement_failures, judgement_text
from tests.support.process_tree import DRIVER, WORKER

FIRST = 200
"""Records of each table in the first run; each later run finds one more."""
POD_MIB = 4 * 1024
"""The chart's default memory of a bridge that does all the work itself, on two cores: so many workers."""
WORKERS = 2
INTERVAL_S = 30.0
"""The default trigger's: a batch with one record of each that takes longer would come later and later."""


def many_tables(folder: Path, bootstrap_servers: str, *, count: int = 500) -> Outcome:
    """Two runs over so many tables; the second one with one new record in each."""
    tables = [WideTable("many", f"t{number:04d}", FIRST // 2) for number in range(count)]
    create_topics(tables, bootstrap_servers)
    producer = bulk_producer(bootstrap_servers)
    job = Job(folder, "many", bootstrap_servers, trigger={})
    job.write_settings()
    figures: dict[str, str] = {}
    failures: tuple[str, ...] = ()
    for name, begin, end in (("all of each", 0, FIRST), ("one of each", FIRST, FIRST + 1)):
        for table in tables:
            produce(producer, table, begin, end)
        producer.flush()
        known = job.ledger().version
        memory = job.start("--once").wait()
        new = [batch for batch in job.batches() if batch.version > known]
        claimed = next(version for version in job.versions() if version.version == known + 1)
        seconds = (new[-1].written_ms - claimed.written_ms) / 1000
        judgement = job.judged(tables, [end] * count)
        sizes = peaks(memory.samples, 0, float("inf"))
        figures[name] = f"{judgement_text(judgement)}; {len(new)} batch(es), {seconds:.1f} s from the claim"
        figures[f"{name}, MiB"] = ", ".join(f"{label} {sizes[kind]}" for kind, label in KINDS.items())
        failures += (*judgement_failures(judgement), *_beyond(sizes))
    if seconds > INTERVAL_S:
        failures += (f"one record of each took {seconds:.1f} s, an interval is {INTERVAL_S:.0f} s",)
    return Outcome(f"{count} tables", {**figures, "files": f"{job.files():,}"}, failures)


def _beyond(sizes: Mapping[bytes, int]) -> list[str]:
    """What the memory of the processes is too much for."""
    found = []
    if sizes[DRIVER] > JAVA_MIB:
        found.append(f"the {KINDS[DRIVER]} came to {sizes[DRIVER]} MiB, above {JAVA_MIB}")
    together = sum(sizes.values()) + (WORKERS - 1) * sizes[WORKER]
    if together > POD_MIB:
        found.append(f"all processes together came to {together} MiB, a pod has {POD_MIB}")
    return found
