"""The contenders side by side: every round all of them, each time in another order, on the same topics."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from connectors.kafka.embedded_registry import EmbeddedRegistry
from tests.bench.arithmetic import Measurement
from tests.bench.contender import Place, run
from tests.bench.landed import inspect
from tests.bench.topics import TopicSet, fill, remove
from tests.bench.workloads import Contender, Workload

Say = Callable[[str], None]


def schedule(workload: Workload, runs: int) -> list[tuple[int, Contender, int]]:
    """Round, contender and records of each table, in the order in which they run.

    Contenders alternate, and each round begins with another one, so that a machine that gets slower is nobody's favour.
    """
    order: list[tuple[int, Contender, int]] = []
    for number in range(runs):
        first = number % len(workload.contenders)
        turned = workload.contenders[first:] + workload.contenders[:first]
        for large in (False, True):
            order += [(number, each, workload.large_for(each) if large else workload.small) for each in turned]
    return order


def side_by_side(
    workload: Workload, runs: int, folder: Path, bootstrap_servers: str, registry: EmbeddedRegistry, say: Say
) -> list[Measurement]:
    """Fill the topics and run all contenders on them.

    Raises:
        SystemExit: a contender failed, landed other rows than were produced, or other ones than another contender.
    """
    sets = {asked: TopicSet.of(workload, asked, registry) for asked in workload.sizes()}
    for topic_set in sets.values():
        rate = fill(topic_set, bootstrap_servers)
        say(
            f"{workload.name}: {topic_set.records:,} records of {topic_set.value_bytes:,.0f} bytes in "
            f"{workload.tables} x {workload.partitions} partitions, {rate:,.0f} a second"
        )
    measurements: list[Measurement] = []
    digests: dict[int, str] = {}
    for number, contender, asked in schedule(workload, runs):
        place = Place(folder / f"{workload.name}-{number}-{contender}-{asked}", bootstrap_servers, registry.url)
        one, digest = measured(contender, number, sets[asked], place)
        if digest and digests.setdefault(asked, digest) != digest:
            raise SystemExit(
                f"{place.folder}: other rows than those of another contender: {digest}, not {digests[asked]}"
            )
        measurements.append(one)
        say(
            f"  round {number + 1} {contender:<8} {one.records:>10,} records {one.wall:7.2f} s, cpu {one.cpu:7.2f} s, "
            f"worker {one.worker} MiB, java {one.java} MiB, {one.files} files"
        )
        shutil.rmtree(place.folder)
    remove(list(sets.values()), bootstrap_servers)
    return measurements


def measured(contender: Contender, number: int, topic_set: TopicSet, place: Place) -> tuple[Measurement, str]:
    """One run, and the digest of the rows that it landed; empty for one that lands nothing.

    Args:
        number: of the round.

    Raises:
        SystemExit: the contender failed, or landed other rows than were produced.
    """
    use, peaks = run(contender, topic_set, place)
    lands = contender is not Contender.LIMIT
    landed = inspect(place.zone, topic_set) if lands else None
    return (
        Measurement(
            workload=topic_set.workload.name,
            contender=contender,
            round=number,
            records=topic_set.records,
            wall=use.wall,
            cpu=use.cpu,
            worker=peaks.worker,
            java=peaks.java,
            python=peaks.python,
            rows=landed.rows if landed else 0,
            files=landed.files if landed else 0,
            bytes=landed.bytes if landed else 0,
        ),
        landed.digest if landed else "",
    )


def selected(names: Sequence[str], workloads: Sequence[Workload]) -> list[Workload]:
    """The workloads of these names, all of them for none.

    Raises:
        SystemExit: one of them is not there; lists those that are.
    """
    known = {each.name: each for each in workloads}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no workload is called {', '.join(unknown)}: take some of {', '.join(known)}")
    return [known[name] for name in names] if names else list(workloads)
