"""Where a process was when it was killed: it notes its step in memory that outlives it."""

from __future__ import annotations

import enum
import mmap
import struct

_LAYOUT = struct.Struct("<BII")


class Step(enum.StrEnum):
    """What a driver does, in the order of a start and of a batch (architecture, "One micro-batch")."""

    OPEN = "open the ledger"
    CLAIM = "claim"
    RECOVER = "recover"
    VACUUM = "vacuum"
    PLAN = "plan"
    LAND = "decode and land"
    STAGE = "stage"
    COMMIT = "commit"
    METADATA = "metadata"
    RENAME = "publish"
    COPY = "copy the ledger"
    END = "end of a batch"


_STEPS = list(Step)


class StepBoard:
    """A step and two counters in memory that a process shares with those it forks.

    Attributes:
        requests: to a storage, so far; file_operations: on the zone's disk.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)
        self.clear()

    def clear(self) -> None:
        """Forget the process before."""
        self.requests = 0
        self.file_operations = 0
        self.enter(Step.OPEN)

    def enter(self, step: Step) -> None:
        """The process is in this step from now on."""
        self.step = step
        self._note()

    def count_request(self) -> int:
        """One more request; returns how many there were with it."""
        self.requests += 1
        self._note()
        return self.requests

    def count_file_operation(self) -> int:
        """One more file operation; returns how many there were with it."""
        self.file_operations += 1
        self._note()
        return self.file_operations

    def read(self) -> tuple[Step, int, int]:
        """Step, requests and file operations, as the last process that wrote here has left them."""
        step, requests, file_operations = _LAYOUT.unpack_from(self._memory)
        return _STEPS[step], requests, file_operations

    def _note(self) -> None:
        _LAYOUT.pack_into(self._memory, 0, _STEPS.index(self.step), self.requests, self.file_operations)
