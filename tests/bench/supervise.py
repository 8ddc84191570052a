"""Runs a command and says what it and every process below it has used: ``python -m tests.bench.supervise OUT COMMAND``.

Spark's processes leave their children behind: Python ends before its Java, which ends before its daemon of workers.
This process adopts whatever is left behind and waits for all of it, so the system's own count of the processor's
time of ended processes has everything in it. Only Linux has adoption.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
PATIENCE_SECONDS = 120.0
"""How long what the command has left behind may go on."""


@dataclass(frozen=True)
class Use:
    """What a command took.

    Attributes:
        code: of its exit; negative for a signal.
        wall: seconds until it ended; cpu: seconds of the processor, of all processes below it, until the last ended.
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
    code, wall = 0, 0.0
    while True:
        try:
            ended, status = os.wait()
        except ChildProcessError:
            return Use(code, wall, _children_seconds() - before)
        if ended == pid:
            code, wall = os.waitstatus_to_exitcode(status), time.monotonic() - began
            patience = threading.Timer(PATIENCE_SECONDS, _give_up)
            patience.daemon = True
            patience.start()


def _give_up() -> None:
    left = subprocess.run(["ps", "-ef"], check=False, capture_output=True, text=True).stdout
    sys.stderr.write(f"what the command left behind still runs after {PATIENCE_SECONDS:.0f} s\n{left}")
    os._exit(70)


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(asdict(supervised(sys.argv[2:]))))
