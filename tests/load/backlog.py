"""A backlog of millions of events, drained: each lands once, and memory is as small at the end as at the beginning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from connectors.landing_zone.ledger.state import Version
from tests.bench.wide_events import Judgement, WideTable, bulk_producer, create_topics, produce
from tests.load.job import Job
from tests.load.memory import JAVA_MIB, KINDS, OWN, Sample, peaks
from tests.load.outcome import Outcome, judgement_failures, judgement_text
from tests.support.process_tree import DRIVER, WORKER

PARTITIONS = (1, 1, 2, 8)
"""Of the four tables."""
SLACK = 1.25
"""By how much a Python's memory may be larger in the last third than in the first, and a Java's than in the second, and
still be called flat."""
_CHUNK = 50_000


def backlog(
    folder: Path,
    bootstrap_servers: str,
    *,
    events: int = 10_000_000,
    trigger: Mapping[str, object] | None = None,
) -> Outcome:
    """Drain so many events.

    Args:
        trigger: of the settings; the default one when None. At least two batches, or nothing is told of their pace.
    """
    each = events // len(PARTITIONS)
    rows = max(1, each // 4)
    tables = [WideTable("backlog", f"t{number}", rows, count) for number, count in enumerate(PARTITIONS)]
    create_topics(tables, bootstrap_servers)
    producer = bulk_producer(bootstrap_servers)
    for begin in range(0, each, _CHUNK):
        for table in tables:
            produce(producer, table, begin, min(begin + _CHUNK, each))
        if begin % 500_000 == 0:
            print(f"  {begin * len(tables):,} of {each * len(tables):,} events produced", flush=True)
    producer.flush()

    job = Job(folder, "backlog", bootstrap_servers, trigger=dict(trigger or {}))
    job.write_settings()
    memory = job.start("--once").wait()
    return drained(job.batches(), memory.samples, job.judged(tables, [each] * len(tables)), job.files())


def drained(batches: Sequence[Version], samples: Sequence[Sample], judgement: Judgement, files: int) -> Outcome:
    """What the commits of the batches, the memory meanwhile and the rows that landed come to.

    Args:
        batches: at least two, oldest first.
    """
    thirds = _thirds(batches, samples)
    # From the first commit to the last: the start, and the first batch with it, left out.
    seconds = (batches[-1].written_ms - batches[0].written_ms) / 1000
    rate = (judgement.records - _records(batches[0])) / seconds
    return Outcome(
        f"a backlog of {judgement.records:,} events",
        {
            "rows": judgement_text(judgement),
            "batches": f"{len(batches)}, {files} files",
            "drained at": f"{rate:,.0f} events/s after the first batch",
            **{f"MiB, {name}": " / ".join(str(third.get(kind, 0)) for third in thirds) for kind, name in KINDS.items()},
        },
        (*judgement_failures(judgement), *_growth(thirds)),
    )


def _records(batch: Version) -> int:
    return sum(end - start for topic in batch.planned.values() for start, end in topic.partitions.values())


def _thirds(batches: Sequence[Version], samples: Sequence[Sample]) -> list[dict[bytes, int]]:
    """Peaks of memory in the first, second and last third of the batches."""
    times = [batch.written_ms for batch in batches]
    cuts = [0, times[len(times) // 3], times[2 * len(times) // 3], times[-1] + 1]
    return [peaks(samples, begin, end) for begin, end in pairwise(cuts)]


def _growth(thirds: Sequence[Mapping[bytes, int]]) -> list[str]:
    unseen = [f"no {name} was seen in each third" for kind, name in KINDS.items() if any(kind not in t for t in thirds)]
    if unseen:
        return unseen
    first, middle, last = thirds
    grown = [
        f"the {KINDS[kind]} grew from {first[kind]} to {last[kind]} MiB"
        for kind in (WORKER, OWN)
        if last[kind] > SLACK * first[kind]
    ]
    # Java takes the heap that it may have as it goes; once it has, it has to stay there.
    if last[DRIVER] > SLACK * middle[DRIVER]:
        grown.append(f"the {KINDS[DRIVER]} still grew, from {middle[DRIVER]} to {last[DRIVER]} MiB")
    if last[DRIVER] > JAVA_MIB:
        grown.append(f"the {KINDS[DRIVER]} came to {last[DRIVER]} MiB, above {JAVA_MIB}")
    return grown
