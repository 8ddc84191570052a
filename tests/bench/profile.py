"""Where the processor's time goes: ``python -m tests.bench.profile``, ``make bench-profile``.

One workload in two sizes, each a real ``run --once`` with everything on, under a profiler for Java and one for Python.
What it finds goes to docs/measured/profile.json, from which the page is made, and the larger size's stacks, collapsed,
to build/bench/stacks.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.jars import JarSet, resolve_jars
from tests.bench.contender import Place
from tests.bench.machine import this_machine
from tests.bench.profile_budget import budget
from tests.bench.profile_page import FILE, STACKS, Profiled, budget_table, wall_table
from tests.bench.profile_run import Taken, profiled
from tests.bench.profile_stacks import Kind, Stack, text_of
from tests.bench.rounds import selected
from tests.bench.topics import TopicSet, fill
from tests.bench.workloads import WORKLOADS, Workload


def main(workload: Workload, runs: int, *, native: bool) -> None:
    """Profile a workload in its two sizes."""
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-profile-"))
    taken: list[Taken] = []
    try:
        with EmbeddedBroker(folder / "kafka", resolve_jars(JarSet.BROKER)) as broker, EmbeddedRegistry() as registry:
            sets = [TopicSet.of(workload, asked, registry) for asked in (workload.small, workload.large)]
            for topic_set in sets:
                fill(topic_set, broker.bootstrap_servers)
            for number in range(runs):
                for topic_set in sets:
                    name = f"{workload.name}-{topic_set.asked}-{number}"
                    place = Place(folder / name, broker.bootstrap_servers, registry.url)
                    one = profiled(topic_set, place, native=native)
                    taken.append(one)
                    shutil.rmtree(folder / name)
                    print(
                        f"{one.profile.records:,} records: {one.profile.wall:.1f} s, cpu {one.profile.cpu:.1f} s",
                        flush=True,
                    )
    finally:
        shutil.rmtree(folder)
    when = datetime.now(UTC).date().isoformat()
    found = Profiled(this_machine(), when, workload.about, tuple(one.profile for one in taken))
    save(found, taken)
    print(f"\n{budget_table(budget(found.profiles))}\n\n{wall_table(found.profiles)}\n")
    print(f"all figures are in {FILE}, the stacks in {STACKS}")


def save(found: Profiled, taken: Sequence[Taken]) -> None:
    """Leave the figures, and the stacks of the larger size's runs together, a file for each kind of process."""
    most = max(one.profile.records for one in taken)
    for folder in (STACKS, FILE.parent):
        folder.mkdir(parents=True, exist_ok=True)
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    for kind in Kind:
        together: Counter[Stack] = Counter()
        for one in taken:
            together.update(one.stacks[kind] if one.profile.records == most else {})
        (STACKS / f"{kind.name.lower()}.collapsed").write_text(text_of(together))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.profile", description=__doc__)
    parser.add_argument("workload", nargs="?", default="one-table", help=", ".join(each.name for each in WORKLOADS))
    parser.add_argument("--runs", type=int, default=1, help="of each size, of which the means are taken")
    parser.add_argument("--small", type=int, help="records of each table, instead of the workload's")
    parser.add_argument("--large", type=int, help="the same of the larger size")
    parser.add_argument("--native", action="store_true", help="with the frames of Python's compiled libraries")
    given = parser.parse_args()
    [chosen] = selected([given.workload], WORKLOADS)
    sizes = {"small": given.small or chosen.small, "large": given.large or chosen.large}
    main(replace(chosen, **sizes, obvious_large=None), given.runs, native=given.native)
