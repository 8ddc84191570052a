"""The processor's time of a run is told by kind of process, between any two moments."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench.growth_watch import Look, Watch, cpu_between

LOOKS = [
    Look(float(at), {"worker": worker, "java": 2.0 * at, "python": 1.0})
    for at, worker in ((0, 0.0), (2, 4.0), (3, 4.0))
]

SECONDS, MEBIBYTES = 0.6, 30
TICKS = 0.03
"""Seconds that a kernel may leave out: it counts whole ticks of 10 ms, in a process and in its kernel's part."""


def test_time_between_two_looks_is_taken_as_even() -> None:
    assert cpu_between(LOOKS, 0.5, 2.5) == pytest.approx({"worker": 3.0, "java": 4.0, "python": 0.0})
    assert cpu_between(LOOKS, 0.0, 3.0) == pytest.approx({"worker": 4.0, "java": 6.0, "python": 0.0})


@pytest.mark.parametrize(("begin", "end"), [(-0.5, 1.0), (1.0, 3.5), (2.0, 1.0)])
def test_nothing_is_said_of_time_that_nobody_looked_at(begin: float, end: float) -> None:
    with pytest.raises(ValueError, match="not looked at"):
        cpu_between(LOOKS, begin, end)
    with pytest.raises(ValueError, match="not looked at"):
        cpu_between([], begin, end)


BURN = f"""
import time
kept = bytearray({MEBIBYTES} << 20)
while time.process_time() < {SECONDS + TICKS}: pass
time.sleep(0.7)
"""
LEAVES_ITS_CHILD_UNWAITED_FOR = """
import pathlib, subprocess, sys
child = subprocess.Popen([sys.executable, *pathlib.Path(sys.argv[1]).glob("*.py")])
sys.stdin.read()
"""


def test_a_process_counts_as_what_it_was_also_when_it_has_ended(tmp_path: Path) -> None:
    (tmp_path / "pyspark.daemon.py").write_text(BURN)
    process = subprocess.Popen(
        [sys.executable, "-c", LEAVES_ITS_CHILD_UNWAITED_FOR, str(tmp_path)], stdin=subprocess.PIPE
    )
    watch = Watch(process.pid)
    deadline = time.monotonic() + 60
    while not (watch.looks and watch.looks[-1].cpu["worker"] >= SECONDS) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    assert process.stdin is not None
    process.stdin.close()
    process.wait()
    watch.stop()

    last = watch.looks[-1].cpu
    assert SECONDS <= last["worker"] < 2 * SECONDS
    assert last["java"] == 0
    assert watch.peak("worker") >= MEBIBYTES
    assert watch.peak("java") == 0
    assert watch.peak("python") > 0
