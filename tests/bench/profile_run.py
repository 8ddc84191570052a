"""One run of the bridge under both profilers: async-profiler within its Java, py-spy around its Python processes."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import requests
import yaml
from prometheus_client.parser import text_string_to_metric_families

from connectors.kafka.jars import JarSet, resolve_jars
from streaming.metrics.declared import durations
from tests.bench.contender import Place, settings
from tests.bench.landed import inspect
from tests.bench.profile_budget import Profile
from tests.bench.profile_stacks import Kind, Stacks, java_stacks, kind_of, python_stacks
from tests.bench.profile_stages import running, samples_by_part
from tests.bench.supervise import Use
from tests.bench.topics import TopicSet
from tests.support.process_tree import descendants

JAVA_INTERVAL = 0.005
"""Seconds of the processor between two samples of a thread of Java: more than a tick of the kernel, 4 ms as a rule."""
PYTHON_RATE = 100
"""Looks a second at each Python process."""
_LIBRARIES = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}
_TICKS = os.sysconf("SC_CLK_TCK")
_KERNEL_LOOK_SECONDS, _METRICS_LOOK_SECONDS = 0.05, 0.1


@dataclass(frozen=True)
class Taken:
    """A run's figures, and its stacks by kind of process, without those that wait."""

    profile: Profile
    stacks: dict[Kind, Stacks]


def profiled(topic_set: TopicSet, place: Place, *, native: bool = False) -> Taken:
    """Let the bridge carry everything that is in the topics.

    Args:
        native: with the frames of compiled libraries in Python's stacks, which makes each look take longer.

    Raises:
        SystemExit: it failed, landed other rows than were produced, or was gone before its metrics had the last batch;
            py-spy is not installed, or there is no async-profiler for this processor.
    """
    place.folder.mkdir(parents=True)
    java, python, out, log = (
        place.folder / name for name in ("java.collapsed", "python.collapsed", "use.json", "log.txt")
    )
    config = place.folder / "bridge.yaml"
    config.write_text(yaml.safe_dump(profiled_settings(topic_set, place, agent(place.folder), java), sort_keys=False))
    command = [
        *(py_spy(), "record", "--format", "raw", "--output", str(python), "--rate", str(PYTHON_RATE)),
        *("--subprocesses", "--full-filenames", "--function", *(["--native"] if native else []), "--"),
        *(sys.executable, "-m", "tests.bench.supervise", str(out)),
        *(sys.executable, "-m", "streaming", "run", str(config), "--once"),
    ]
    with log.open("wb") as said:
        spy = subprocess.Popen(command, stdout=said, stderr=said)
        kernel, metrics = KernelSeconds(spy.pid), LastMetrics(log)
        with Every(_KERNEL_LOOK_SECONDS, kernel.look), Every(_METRICS_LOOK_SECONDS, metrics.look):
            spy.wait()
    use = Use(**json.loads(out.read_text())) if out.exists() else Use(spy.returncode or 1, 0.0, 0.0)
    if use.code != 0 or not (java.exists() and python.exists()):
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
        raise SystemExit(f"{' '.join(command)}\nended with code {use.code}\n{tail}")
    inspect(place.zone, topic_set)
    read = counted(metrics.text, "bridge_records_read")
    if read != topic_set.records:
        raise SystemExit(f"{place.folder}: its metrics were last read at {read:,.0f} of {topic_set.records:,} records")
    found: dict[Kind, Stacks] = {Kind.JAVA: java_stacks(java.read_text()), **python_stacks(python.read_text())}
    stacks = {kind: running(each, kind) for kind, each in found.items()}
    each_stands_for = {Kind.JAVA: JAVA_INTERVAL, Kind.WORKER: 1 / PYTHON_RATE, Kind.DRIVER: 1 / PYTHON_RATE}
    return Taken(
        Profile(
            records=topic_set.records,
            wall=use.wall,
            cpu=use.cpu,
            kernel=kernel.by_kind(),
            samples={kind: samples_by_part(each, kind) for kind, each in stacks.items()},
            sampled={kind: sum(each.values()) * each_stands_for[kind] for kind, each in stacks.items()},
            stages=histogram(metrics.text, durations.STAGE_SECONDS.name, "stage"),
            steps=histogram(metrics.text, durations.STEP_SECONDS.name, "step"),
        ),
        stacks,
    )


def profiled_settings(topic_set: TopicSet, place: Place, library: Path, out: Path) -> dict[str, object]:
    """The settings of ``make bench``, with the agent in Java and a server for the metrics."""
    # The processor's own clock of each thread: unlike perf events it needs no rights.
    options = f"start,event=ctimer,interval={JAVA_INTERVAL * 1e6:.0f}us,threads,collapsed,file={out}"
    conf = {"spark.driver.extraJavaOptions": f"-agentpath:{library}={options}"}
    return settings(topic_set, place) | {"spark": {"conf": conf}, "http": {"port": 0}}


def agent(folder: Path) -> Path:
    """async-profiler's library for this machine, unpacked into a folder.

    Raises:
        SystemExit: there is none.
    """
    machine = platform.machine()
    if sys.platform != "linux" or machine not in _LIBRARIES:
        raise SystemExit(f"async-profiler runs on Linux on {' and '.join(_LIBRARIES)}, and this is {machine}")
    [jar] = resolve_jars(JarSet.PROFILER, progress=print)
    with zipfile.ZipFile(jar) as packed:
        return Path(packed.extract(f"{_LIBRARIES[machine]}/libasyncProfiler.so", folder)).absolute()


def py_spy() -> str:
    """The program, beside this Python or on the path.

    Raises:
        SystemExit: it is not there.
    """
    found = shutil.which("py-spy", path=f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        raise SystemExit("py-spy is not installed: make install")
    return found


class Every:
    """Does something now and then, in a thread."""

    def __init__(self, seconds: float, look: Callable[[], None]) -> None:
        self._seconds = seconds
        self._look = look
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._seconds):
            self._look()


class KernelSeconds:
    """What the kernel has counted for the processes below one, by their kind, up to the last look at each."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._seconds: dict[int, tuple[Kind, float]] = {}

    def look(self) -> None:
        for pid in descendants(self._root):
            try:
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            kind = kind_of(command)
            if kind is not None and len(fields) > 12:
                self._seconds[pid] = kind, (int(fields[11]) + int(fields[12])) / _TICKS

    def by_kind(self) -> dict[Kind, float]:
        found = dict.fromkeys(Kind, 0.0)
        for kind, seconds in self._seconds.values():
            found[kind] += seconds
        return found


class LastMetrics:
    """What the bridge's metrics last said; its log says where they are.

    They are read only where the log has grown, after a batch and at the end, since reading them is work as well.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read = 0
        self.text = ""

    def look(self) -> None:
        said = self._log.read_text(errors="replace")
        where = re.search(r"status page: (http://\S+)/ ", said)
        if where is None or len(said) == self._read:
            return
        try:
            answer = requests.get(f"{where[1]}/metrics", timeout=5)
            answer.raise_for_status()
        except requests.RequestException:
            return  # the bridge ends: what it last said stands
        self._read, self.text = len(said), answer.text


def histogram(metrics: str, name: str, label: str) -> dict[str, float]:
    """The sums of a histogram, in seconds, by its label."""
    return {
        sample.labels[label]: sample.value
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
        if sample.name == f"{name}_sum"
    }


def counted(metrics: str, name: str) -> float:
    """A counter, over all of its labels."""
    return sum(
        sample.value
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
        if sample.name == f"{name}_total"
    )
