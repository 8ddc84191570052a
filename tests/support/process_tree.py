"""The processes below a process, and how much memory they have, from /proc."""

from __future__ import annotations

import os
import threading
from pathlib import Path

# By which the command lines of Spark's processes are told apart; the first that is found counts.
WORKER, EXECUTOR, DRIVER = b"pyspark.daemon", b"CoarseGrainedExecutorBackend", b"org.apache.spark.deploy.SparkSubmit"


class Peak:
    """The largest resident sizes of any one process of each kind below a process."""

    def __init__(self, pid: int) -> None:
        self._mebibytes: dict[bytes, int] = {}
        self._root = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def of(self, kind: bytes) -> int:
        """MiB; 0 where there was none."""
        return self._mebibytes.get(kind, 0)

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            for kind, size in resident_mebibytes(self._root).items():
                self._mebibytes[kind] = max(self.of(kind), size)


def resident_mebibytes(root: int) -> dict[bytes, int]:
    """The largest resident size of any one process of each kind below a process, itself included."""
    sizes: dict[bytes, int] = {}
    for pid in (root, *descendants(root)):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            continue
        kind = next((kind for kind in (WORKER, EXECUTOR, DRIVER) if kind in command), b"")
        sizes[kind] = max(sizes.get(kind, 0), pages * os.sysconf("SC_PAGE_SIZE") >> 20)
    return sizes


def descendants(root: int) -> list[int]:
    """All processes below one, from /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
