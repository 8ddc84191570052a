"""What a command used is counted to its last descendant, whoever left it behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench.contender import high_water, measured
from tests.bench.supervise import Use

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


def run(tmp_path: Path, program: str) -> Use:
    return measured([sys.executable, "-c", program], tmp_path / "log.txt", tmp_path / "use.json")[0]


@pytest.mark.parametrize("program", [WAITS_FOR_A_CHILD, LEAVES_A_CHILD, LEAVES_A_GRANDCHILD, KILLS_A_CHILD])
def test_a_descendant_counts_however_it_was_left(tmp_path: Path, program: str) -> None:
    use = run(tmp_path, program)

    assert use.code == 0
    assert use.cpu >= 2 * SHARE


def test_a_command_that_fails_ends_the_benchmark_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="ended with code 3\nnothing works"):
        run(tmp_path, "import sys\nprint('nothing works', file=sys.stderr)\nsys.exit(3)")


def test_the_high_water_mark_is_the_kernels() -> None:
    assert high_water("Name:\tjava\nVmHWM:\t  614400 kB\nVmRSS:\t  1024 kB\n") == 614_400
    assert high_water("Name:\tkthread\n") == 0
