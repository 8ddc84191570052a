"""The processes of one running job, and SIGKILL for some or all of them."""

from __future__ import annotations

import enum
import os
import random
import signal
from contextlib import suppress
from pathlib import Path
from typing import assert_never

from tests.support.process_tree import DRIVER, WORKER, descendants


class Victim(enum.StrEnum):
    """What is killed."""

    DRIVER = "the driver, Java and Python"
    PYTHON = "the driver's Python alone"
    JAVA = "the driver's Java alone"
    WORKER = "a Python worker of Spark"


def kill(victim: Victim, root: int, source: random.Random) -> frozenset[int]:
    """SIGKILL.

    Args:
        root: the driver's Python, started with a session of its own.

    Returns:
        Whom it befell; nobody where there is no such process at the moment.
    """
    below = descendants(root)
    match victim:
        case Victim.DRIVER:
            struck = frozenset({root, *below})
        case Victim.PYTHON:
            struck = frozenset({root})
        case Victim.JAVA:
            struck = frozenset(pid for pid in below if DRIVER in _command(pid))
        case Victim.WORKER:
            # The daemon, Java's child, forks the workers and has the same command line.
            daemons = {pid for pid in below if WORKER in _command(pid)}
            workers = sorted(pid for pid in daemons if _parent(pid) in daemons)
            struck = frozenset({source.choice(workers)} if workers else ())
        case _:
            assert_never(victim)
    kill_all(struck)
    if victim is Victim.DRIVER:
        # What was forked between the look and the kill belongs to somebody else by now, but stays in the session.
        kill_all(members(root))
    return struck


def members(session: int) -> frozenset[int]:
    """The living processes of a session, also those whose parents have ended; a worker's daemon keeps the session."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            fields = _status(int(entry.name))
            if fields and fields[3] == str(session) and fields[0] != "Z":
                found.add(int(entry.name))
    return frozenset(found)


def kill_all(pids: frozenset[int]) -> None:
    """SIGKILL for each; those that have ended by themselves are passed over."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _parent(pid: int) -> int:
    fields = _status(pid)
    return int(fields[1]) if fields else 0


def _status(pid: int) -> list[str]:
    """State, parent, process group, session, ... of a process; empty where it is gone (proc(5), "stat")."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []
