"""Hundreds of tables in one job: all of them at first, then one record of each."""

from __future__ import annotations

from pathlib import Path

from tests.bench.wide_events import WideTable, bulk_producer, create_topics, produce
from tests.load.job import Job
from tests.load.memory import KINDS
from tests.load.outcome import Outcome, judgement_failures, judgement_text

FIRST = 200
"""Records of each table in the first run; each later run finds one more."""


def many_tables(folder: Path, bootstrap_servers: str, *, count: int = 500) -> Outcome:
    """Two runs over so many tables; the second one with one new record in each."""
    tables = [WideTable("many", f"t{number:04d}", FIRST // 2) for number in range(count)]
    create_topics(tables, bootstrap_servers)
    producer = bulk_producer(bootstrap_servers)
    job = Job(folder, "many", bootstrap_servers, trigger={})
    job.write_settings()
    figures, failures = {}, ()
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
        peaks = memory.peaks(0, float("inf"))
        figures[name] = f"{judgement_text(judgement)}; {len(new)} batch(es), {seconds:.1f} s from the claim"
        figures[f"{name}, MiB"] = ", ".join(f"{label} {peaks[kind]}" for kind, label in KINDS.items())
        failures += judgement_failures(judgement)
    return Outcome(f"{count} tables", {**figures, "files": f"{job.files():,}"}, failures)
