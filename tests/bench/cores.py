"""How much more two cores carry than one: ``make bench-cores``. The bridge alone, on 50 tables, which share out evenly.

Rounds alternate. Where there are more than two cores the broker is kept to the others. Where there are two it is kept
to the second one, which the bridge shares with it when it has both: the ratio is less than it would be.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.jars import JarSet, resolve_jars
from tests.bench.arithmetic import Measurement, ratio, summary
from tests.bench.contender import Place
from tests.bench.machine import Machine, pinned, separate_cores, this_machine
from tests.bench.results import CORES_FILE
from tests.bench.rounds import measured, selected
from tests.bench.targets import Target, Verdict
from tests.bench.topics import TopicSet, fill
from tests.bench.workloads import WORKLOADS, Contender

TARGET = Target("two-cores", "50 tables: two cores over one", 1.8)
_WORKLOAD = "fifty-tables"


@dataclass(frozen=True)
class Pinning:
    """Which cores the bridge has, when it has one and when it has two, and which the broker has in both cases."""

    one: tuple[int, ...]
    two: tuple[int, ...]
    broker: tuple[int, ...]

    @classmethod
    def of(cls, cores: Sequence[int]) -> Pinning:
        """Of all cores that there are, threads of one core not counted.

        Raises:
            SystemExit: there is only one.
        """
        if len(cores) < 2:
            raise SystemExit("two cores at least are needed to compare one with two")
        ordered = tuple(sorted(cores))
        return cls(ordered[:1], ordered[:2], ordered[2:] or ordered[1:])

    def text(self) -> str:
        """Half a sentence."""
        shared = ", which the bridge shares where it has both" if set(self.two) & set(self.broker) else ""
        bridge = f"the bridge on {_named(self.one)} or on {_named(self.two)}"
        return f"{bridge}, the broker on {_named(self.broker)}{shared}"


@dataclass(frozen=True)
class CoresResults:
    """Of one run of this benchmark.

    Attributes:
        one, two: the runs with one core and with two.
    """

    machine: Machine
    when: str
    pinning: Pinning
    one: tuple[Measurement, ...]
    two: tuple[Measurement, ...]

    def verdict(self) -> Verdict:
        """Warm records a second with two cores over those with one."""
        return Verdict(TARGET, ratio(summary(self.two).warm, summary(self.one).warm))


def main(runs: int, scale: float, out: Path) -> None:
    """Measure, print each run and the ratio, and save them."""
    [workload] = selected([_WORKLOAD], WORKLOADS)
    workload = workload.scaled(scale) if scale != 1.0 else workload
    pinning = Pinning.of(separate_cores())
    machine, when = this_machine(), datetime.now(UTC).date().isoformat()
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-cores-"))
    found: dict[tuple[int, ...], list[Measurement]] = {pinning.one: [], pinning.two: []}
    print(f"{machine.text()}; {pinning.text()}", flush=True)
    try:
        broker = EmbeddedBroker(folder / "kafka", resolve_jars(JarSet.BROKER))
        with pinned(frozenset(pinning.broker)):
            broker.start()
        with broker, EmbeddedRegistry() as registry:
            sets = [TopicSet.of(workload, asked, registry) for asked in (workload.small, workload.large)]
            for topic_set in sets:
                fill(topic_set, broker.bootstrap_servers)
            for number in range(runs):
                for topic_set in sets:
                    for cores in list(found) if number % 2 else reversed(list(found)):
                        place = Place(folder / "run", broker.bootstrap_servers, registry.url)
                        with pinned(frozenset(cores)):
                            one, _ = measured(Contender.BRIDGE, number, topic_set, place)
                        shutil.rmtree(place.folder)
                        found[cores].append(one)
                        print(
                            f"  round {number + 1} cores {_listed(cores):<5} {one.records:>10,} records "
                            f"{one.wall:7.2f} s, cpu {one.cpu:7.2f} s",
                            flush=True,
                        )
    finally:
        shutil.rmtree(folder)
    results = CoresResults(machine, when, pinning, tuple(found[pinning.one]), tuple(found[pinning.two]))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    print(results.verdict().line())


def _listed(cores: Sequence[int]) -> str:
    return " and ".join(str(core) for core in cores)


def _named(cores: Sequence[int]) -> str:
    return f"core{'s' if len(cores) > 1 else ''} {_listed(cores)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cores", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="rounds, of which the medians are taken")
    parser.add_argument("--scale", type=float, default=1.0, help="records, as a share")
    parser.add_argument("--out", type=Path, default=CORES_FILE)
    given = parser.parse_args()
    main(given.runs, given.scale, given.out)
