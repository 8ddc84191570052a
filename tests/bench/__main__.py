"""The contenders side by side: ``python -m tests.bench [WORKLOAD ...]``, ``make bench``. Minutes each; all take hours.

Everything that it measures goes to docs/measured/results.json; workloads that are there already and are not measured
again stay, as long as machine and commit are the same.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.jars import JarSet, resolve_jars
from tests.bench.arithmetic import Measurement, summaries
from tests.bench.machine import pinned, this_machine
from tests.bench.page import figure_table, ratio_table
from tests.bench.results import FILE, Facts, Results, load, merged, save
from tests.bench.rounds import selected, side_by_side
from tests.bench.targets import verdicts
from tests.bench.topics import TopicSet
from tests.bench.workloads import WORKLOADS, Workload


def main(workloads: list[Workload], runs: int, out: Path, cores: frozenset[int], broker_cores: frozenset[int]) -> None:
    """Measure the workloads one after the other; what is measured is saved after each.

    Args:
        cores, broker_cores: that contenders and broker are kept to; empty for all.
    """
    began = time.monotonic()
    when = datetime.now(UTC).date().isoformat()
    machine = this_machine(cores, broker_cores)
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-bench-"))
    facts: dict[str, Facts] = {}
    measurements: list[Measurement] = []
    print(machine.text(), flush=True)
    try:
        broker = EmbeddedBroker(folder / "kafka", resolve_jars(JarSet.BROKER))
        with pinned(broker_cores):
            broker.start()
        with broker, EmbeddedRegistry() as registry, pinned(cores):
            for workload in workloads:
                measurements += side_by_side(workload, runs, folder, broker.bootstrap_servers, registry, _say)
                size = TopicSet.of(workload, workload.small, registry).value_bytes
                facts[workload.name] = Facts.of(workload, size)
                results = Results(machine, when, facts, tuple(measurements))
                save(merged(load(out) if out.exists() else None, results), out)
    finally:
        shutil.rmtree(folder)
    found = summaries(measurements)
    print(f"\n{figure_table(found, facts)}\n\n{ratio_table(verdicts(found, facts))}\n")
    print(f"{time.monotonic() - began:,.0f} s in all; every run is in {out}")


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("workload", nargs="*", help=", ".join(each.name for each in WORKLOADS))
    parser.add_argument("--runs", type=int, default=5, help="rounds, of which the medians are taken")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="records, as a share; below 1 to try the benchmark out"
    )
    parser.add_argument("--cores", nargs="*", type=int, default=[], help="numbers of the cores that contenders get")
    parser.add_argument("--broker-cores", nargs="*", type=int, default=[], help="and of those that the broker gets")
    parser.add_argument("--out", type=Path, default=FILE)
    given = parser.parse_args()
    chosen = selected(given.workload, WORKLOADS)
    if given.scale != 1.0:
        chosen = [each.scaled(given.scale) for each in chosen]
    main(chosen, given.runs, given.out, frozenset(given.cores), frozenset(given.broker_cores))
