"""The result of ``make bench`` as a file: the machine and every single run, from which all figures are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tests.bench.arithmetic import Measurement
from tests.bench.machine import Machine
from tests.bench.workloads import Workload

FOLDER = Path("docs/measured")
"""Every single run that the documents tell of; it is kept with them."""
BUILT = Path("build/bench")
"""What nobody has to keep."""
FILE = FOLDER / "results.json"
LATENCY_FILE = FOLDER / "latency.json"
CORES_FILE = FOLDER / "cores.json"


@dataclass(frozen=True)
class Facts:
    """What else a table of results says of a workload.

    Attributes:
        value_bytes: of a record, on average.
    """

    about: str
    tables: int
    partitions: int
    columns: int
    value_bytes: float
    batch: int

    @classmethod
    def of(cls, workload: Workload, value_bytes: float) -> Facts:
        return cls(workload.about, workload.tables, workload.partitions, workload.columns, value_bytes, workload.batch)


@dataclass(frozen=True)
class Results:
    """Of one or several runs of the benchmark on one machine.

    Attributes:
        facts: by the workload's name.
    """

    machine: Machine
    when: str
    facts: dict[str, Facts]
    measurements: tuple[Measurement, ...]


def load(path: Path) -> Results:
    """Read a result."""
    return msgspec.json.decode(path.read_bytes(), type=Results)


def save(results: Results, path: Path) -> None:
    """Write a result, its folder too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def merged(earlier: Results | None, later: Results) -> Results:
    """The later result, with the workloads of the earlier one that it does not have, if both are of one machine."""
    if earlier is None or _hardware(earlier.machine) != _hardware(later.machine):
        return later
    kept: Sequence[Measurement] = [each for each in earlier.measurements if each.workload not in later.facts]
    return Results(later.machine, later.when, {**earlier.facts, **later.facts}, (*kept, *later.measurements))


def _hardware(machine: Machine) -> tuple[int, str, str, str]:
    return machine.cores, machine.processor, machine.commit, machine.pinning
