"""Runs a command and says what it and every process below it has used: ``python -m tests.bench.supervise OUT COMMAND``.

Spark's processes leave their children behind: Python ends before its Java, which ends before its daemon of workers.
This process adopts whatever is left behind and waits for all of it, so the system's own count of the processor's
time of ended processes has nearly everything in it. What it lacks are the children of those that ignore the signal of
a child's end, as the daemon of Spark's Python workers does: nobody is ever told their time, so they are looked at while
they run. Only Linux has adoption.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.machine import unpinned
from tests.support.process_tree import descendants

_PR_SET_CHILD_SUBREAPER = 36
PATIENCE_SECONDS = 120.0
"""How long what the command has left behind may go on."""
_LOOK_SECONDS = 0.2
"""Twenty looks a second took 0.05 of a core, which a contender that uses all cores would have lacked."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Use:
    """What a command took.

    Attributes:
        code: of its exit; negative for a signal.
        wall: seconds until it ended; cpu: seconds of the processor, of all processes below it, until the last ended.
            Those that :class:`Unreported` is for count up to the last look at them.
    """

    code: int
    wall: float
    cpu: float


def supervised(command: list[str]) -> Use:
    """Run the command to the end of its last descendant.

    Raises:
        OSError: it cannot be started, or this system knows no adoption.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "orphans cannot be adopted on this system")
    before = _children_seconds()
    began = time.monotonic()
    # Reaped below, not by Popen.
    pid = os.posix_spawnp(command[0], command, os.environ)
    unreported = Unreported(os.getpid())
    code, wall = 0, 0.0
    while True:
        try:
            ended, status = os.wait()
        except ChildProcessError:
            return Use(code, wall, _children_seconds() - before + unreported.stop())
        unreported.reported(ended)
        if ended == pid:
            code, wall = os.waitstatus_to_exitcode(status), time.monotonic() - began
            patience = threading.Timer(PATIENCE_SECONDS, _give_up)
            patience.daemon = True
            patience.start()


class Unreported:
    """The processor's time of processes below one whose parents ignore their end, from a look now and then.

    Args:
        root: the process id above all of them.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._seconds: dict[int, float] = {}
        self._reported: set[int] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def reported(self, pid: int) -> None:
        """This one has been waited for after all: its parent ended before it did."""
        self._reported.add(pid)

    def stop(self) -> float:
        """Their seconds, together."""
        self._over.set()
        self._thread.join()
        return sum(seconds for pid, seconds in self._seconds.items() if pid not in self._reported)

    def _watch(self) -> None:
        unpinned()
        while not self._over.wait(_LOOK_SECONDS):
            for pid in descendants(self._root):
                try:
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    if pid in self._seconds or ignores_ended_children(Path(f"/proc/{fields[1]}/status").read_text()):
                        self._seconds[pid] = (int(fields[11]) + int(fields[12])) / _TICKS
                except (OSError, IndexError):
                    continue  # it has ended


def ignores_ended_children(status: str) -> bool:
    """Whether a process, of the text of ``/proc/<pid>/status``, lets its children vanish when they end."""
    mask = next((line.split()[1] for line in status.splitlines() if line.startswith("SigIgn:")), "0")
    return bool(int(mask, 16) >> (signal.SIGCHLD - 1) & 1)


def _give_up() -> None:
    left = subprocess.run(["ps", "-ef"], check=False, capture_output=True, text=True).stdout
    sys.stderr.write(f"what the command left behind still runs after {PATIENCE_SECONDS:.0f} s\n{left}")
    os._exit(70)


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(asdict(supervised(sys.argv[2:]))))
