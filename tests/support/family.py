"""The command lines and environments of a process and of all those below it, looked at for as long as it lives."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import TracebackType

_PAUSE_SECONDS = 0.001
_YOUNG_SECONDS = 0.5
_AGAIN_SECONDS = 0.1


class Family:
    """A process and all that it starts, and what these start; a context manager, inside of which they are watched.

    Every millisecond it is asked whether there is a new process, so that hardly one is missed that lives no longer.

    Args:
        root: the process; it leads a session of its own, by which those are known whose parent has ended.

    Attributes:
        seen: the environments by command line, each as in ``/proc``.
    """

    def __init__(self, root: int) -> None:
        self.seen: dict[bytes, bytes] = {}
        self._root = root
        self._members = {root: time.monotonic()}
        self._strangers: set[int] = set()
        self._over = Event()
        self._pool = ThreadPoolExecutor(1)

    def __enter__(self) -> Family:
        self._watching = self._pool.submit(self._watch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._pool.shutdown()
        self._watching.result()

    def _watch(self) -> None:
        newest, all_looked_at = b"", 0.0
        with Path("/proc/loadavg").open("rb", buffering=0) as load:
            while not self._over.wait(_PAUSE_SECONDS):
                # Its last field is the number of the newest process, so that nobody need be counted in vain.
                last = os.pread(load.fileno(), 100, 0).split()[-1]
                if last != newest:
                    newest = last
                    self._find()
                # What has just been started may call itself otherwise at any moment, and others seldom do.
                now = time.monotonic()
                everybody = now - all_looked_at > _AGAIN_SECONDS
                all_looked_at = now if everybody else all_looked_at
                for pid, found in self._members.items():
                    if everybody or now - found < _YOUNG_SECONDS:
                        self._look(pid)

    def _find(self) -> None:
        """Tell new processes that belong here from those that do not, and forget those that have ended."""
        with os.scandir("/proc") as entries:
            running = {int(entry.name) for entry in entries if entry.name.isdecimal()}
        self._members = {pid: found for pid, found in self._members.items() if pid in running}
        self._strangers &= running
        # A child's number is mostly the higher one, so that its parent is known when it is looked at.
        for pid in sorted(running - self._members.keys() - self._strangers):
            if self._belongs(pid):
                self._members[pid] = time.monotonic()
            else:
                self._strangers.add(pid)

    def _belongs(self, pid: int) -> bool:
        try:
            _, parent, _, session, *_ = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            return False  # It has ended by now.
        return int(parent) in self._members or int(session) == self._root

    def _look(self, pid: int) -> None:
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            if line and not self.seen.get(line):
                self.seen[line] = b""
                self.seen[line] = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return  # It has ended by now.
