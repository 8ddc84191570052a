"""What a command used is counted to its last descendant, whoever left it behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench.contender import high_water, measured
from tests.bench.supervise import Use, ignores_ended_children

SHARE = 0.1
"""Seconds of the processor that each burner takes, by its own count."""
BURN = f"import time\nwhile time.process_time() < {SHARE}: pass\n"
WAITS_FOR_A_CHILD = f"import os\nif os.fork(): os.wait()\n{BURN}"
LEAVES_A_CHILD = f"import os\nos.fork()\n{BURN}"
LEAVES_A_GRANDCHILD = f"import os\nif os.fork() == 0 and os.fork(): os._exit(0)\n{BURN}"
KILLS_A_CHILD = f"""
import os, signal
read, write = os.pipe()
child = os.fork()
{BURN}
if child == 0:
    os.write(write, b"burnt")
    signal.pause()
os.read(read, 5)
os.kill(child, signal.SIGKILL)
"""

WAIT_UNTIL_LOOKED_AT = """
import pathlib, time
def reads():
    told = (supervisor / "io").read_text().split()
    return int(told[told.index("syscr:") + 1])
one_look = 10 * len(list(pathlib.Path("/proc").glob("[0-9]*"))) + 100
until = reads() + one_look
while reads() < until: time.sleep(0.01)
"""
"""A look reads two files at most of each process: once the supervisor has read many more, it has looked at this one."""

IGNORES_ITS_CHILDREN = f"""
import os, pathlib, signal, sys
supervisor = pathlib.Path(f"/proc/{{os.getppid()}}")
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
read, write = os.pipe()
if os.fork():
    os.close(write)
    os.read(read, 1)
    sys.exit()
{BURN}
{WAIT_UNTIL_LOOKED_AT}
"""
"""As the daemon of Spark's Python workers does: only the child uses the processor, and nobody can wait for it."""
LEAVES_A_CHILD_THAT_IT_IGNORES = f"""
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    {BURN.replace(chr(10), chr(10) + "    ")}
    time.sleep(0.3)
else:
    import time
    time.sleep(0.1)
"""


def run(tmp_path: Path, program: str) -> Use:
    return measured([sys.executable, "-c", program], tmp_path / "log.txt", tmp_path / "use.json")[0]


@pytest.mark.parametrize("program", [WAITS_FOR_A_CHILD, LEAVES_A_CHILD, LEAVES_A_GRANDCHILD, KILLS_A_CHILD])
def test_a_descendant_counts_however_it_was_left(tmp_path: Path, program: str) -> None:
    use = run(tmp_path, program)

    assert use.code == 0
    assert use.cpu >= 2 * SHARE


@pytest.mark.parametrize("program", [IGNORES_ITS_CHILDREN, LEAVES_A_CHILD_THAT_IT_IGNORES])
def test_a_child_whose_end_nobody_is_told_counts_once(tmp_path: Path, program: str) -> None:
    little = run(tmp_path, program).cpu
    much = run(tmp_path, program.replace(f"< {SHARE}", f"< {10 * SHARE}")).cpu

    assert 7.5 * SHARE < much - little < 10.5 * SHARE


def test_whose_parent_is_told_of_its_end_is_the_systems_to_count() -> None:
    assert ignores_ended_children("Name:\tpython\nSigIgn:\t0000000000011001\n")
    assert not ignores_ended_children("Name:\tpython\nSigIgn:\t0000000001001000\n")
    assert not ignores_ended_children("Name:\tkthread\n")


def test_a_command_that_fails_ends_the_benchmark_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="ended with code 3\nnothing works"):
        run(tmp_path, "import sys\nprint('nothing works', file=sys.stderr)\nsys.exit(3)")


def test_the_high_water_mark_is_the_kernels() -> None:
    assert high_water("Name:\tjava\nVmHWM:\t  614400 kB\nVmRSS:\t  1024 kB\n") == 614_400
    assert high_water("Name:\tkthread\n") == 0
