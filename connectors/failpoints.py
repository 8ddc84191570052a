"""Named places where a test may kill the process.

``CDC_BRIDGE_FAILPOINT=<name>`` or ``<name>:<n>`` kills it with SIGKILL at the n-th passage, the first without a number.
Without the variable a failpoint is one dictionary look-up; the tests of crashes are its only user. With
``CDC_BRIDGE_FAILPOINT_TRACE=<file>`` the process leaves the failpoint's name in that file right before it dies, so that
its death is told apart from any other.
"""

from __future__ import annotations

import enum
import os
import signal
from collections import Counter
from pathlib import Path

VARIABLE = "CDC_BRIDGE_FAILPOINT"
TRACE = "CDC_BRIDGE_FAILPOINT_TRACE"


class Failpoint(enum.StrEnum):
    """The steps of a batch, in order (architecture, "One micro-batch" and "The ledger"), then those of the chores."""

    CLAIM_BEFORE = "claim_before"
    CLAIM_AFTER = "claim_after"
    STAGE_BEFORE = "stage_before"
    STAGE_AFTER = "stage_after"
    COMMIT_BEFORE = "commit_before"
    COMMIT_AFTER = "commit_after"
    METADATA_AFTER = "metadata_after"
    RENAME_BEFORE = "rename_before"
    RENAME_AFTER = "rename_after"
    PUBLISH_AFTER = "publish_after"
    BATCH_END = "batch_end"
    REQUEST_BEFORE_ANSWER = "request_before_answer"
    CATCH_UP_BEFORE = "catch_up_before"
    CATCH_UP_AFTER = "catch_up_after"
    REBUILD_BEGUN = "rebuild_begun"
    REBUILD_DELETED = "rebuild_deleted"
    REBUILD_RELEASED = "rebuild_released"
    REBUILD_CLEARED = "rebuild_cleared"
    REBUILD_SIGNALLED = "rebuild_signalled"
    REBUILD_FILLED = "rebuild_filled"


# Counts passages in this process only; a killed process takes them with it, which is what a test wants.
_passages: Counter[Failpoint] = Counter()


def pass_failpoint(point: Failpoint) -> None:
    """Kill this process here if the environment asks for it."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    name, _, number = wanted.partition(":")
    if name != point.value:
        return
    _passages[point] += 1
    if _passages[point] == int(number or 1):
        _leave_trace(point)
        os.kill(os.getpid(), signal.SIGKILL)


def _leave_trace(point: Failpoint) -> None:
    file = os.environ.get(TRACE)
    if file:
        with Path(file).open("a", encoding="utf-8") as trace:
            trace.write(f"{point}\n")
