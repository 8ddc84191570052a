"""The machine that figures are of, and the versions of what ran on it."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from connectors.java import find_java
from connectors.kafka.jars import JarSet, pinned_jars

_MEASURED = (
    "streaming",
    "connectors",
    "tests/bench",
    "pyproject.toml",
    "setup.py",
    "kernel_build.py",
    "requirements.lock",
)
_PACKAGES = ("pyspark", "pyarrow", "msgspec", "polars")


@dataclass(frozen=True)
class Machine:
    """What figures depend on.

    Attributes:
        cores: that the contenders may run on; pinning: which these are and which the broker has, empty for all of them.
        memory: GiB.
        versions: by name.
        commit: the last one that changed what is measured or how, so that figures outlive a change of words; ends with
            ``+`` where the work tree differs from it.
    """

    cores: int
    processor: str
    memory: float
    system: str
    versions: dict[str, str]
    commit: str
    pinning: str = ""

    def text(self) -> str:
        """One sentence."""
        pinning = f", {self.pinning}" if self.pinning else ""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"{self.cores} cores of {self.processor}, {self.memory:.0f} GiB, {self.system}{pinning}; {versions}"


def this_machine(cores: frozenset[int] = frozenset(), broker_cores: frozenset[int] = frozenset()) -> Machine:
    """The one that this runs on.

    Args:
        cores, broker_cores: that contenders and broker are kept to; empty for all.
    """
    described = Path("/proc/cpuinfo").read_text().splitlines()
    processor = next((line.partition(":")[2].strip() for line in described if line.startswith("model name")), "")
    memory = next(int(line.split()[1]) for line in Path("/proc/meminfo").read_text().splitlines() if "MemTotal" in line)
    kafka = next(jar for jar in pinned_jars(JarSet.BROKER) if jar.coordinates.artifact == "kafka-clients")
    versions = {
        "Python": platform.python_version(),
        "Java": _java(),
        "Kafka": kafka.coordinates.revision,
        **{name: metadata.version(name) for name in _PACKAGES},
    }
    return Machine(
        len(cores or os.sched_getaffinity(0)),
        processor or platform.machine(),
        memory / (1 << 20),
        f"Linux {platform.release()}",
        versions,
        _commit(),
        _pinning(cores, broker_cores),
    )


@contextmanager
def pinned(cores: frozenset[int]) -> Iterator[None]:
    """What this thread starts within runs on these cores only; empty for all of them."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def unpinned() -> None:
    """Let this thread, and what it starts from now on, run on every core again: who looks on takes nobody's."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))


def separate_cores() -> list[int]:
    """Numbers of the cores that this may run on, of those that are threads of one core the first alone."""
    first: dict[str, int] = {}
    for number in sorted(os.sched_getaffinity(0)):
        told = Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
        first.setdefault(told.read_text().strip() if told.exists() else str(number), number)
    return sorted(first.values())


def _pinning(cores: frozenset[int], broker_cores: frozenset[int]) -> str:
    kept = {"contenders": cores, "broker": broker_cores}
    return " and ".join(f"{who} on cores {sorted(on)}" for who, on in kept.items() if on)


def _java() -> str:
    said = subprocess.run([find_java(), "-version"], check=True, capture_output=True, text=True).stderr
    return said.split('"')[1]


def _commit() -> str:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], check=False, capture_output=True, text=True)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", *_MEASURED)
    return git("log", "-1", "--format=%h", "--abbrev=12", "--", *_MEASURED) + ("+" if changed else "")
