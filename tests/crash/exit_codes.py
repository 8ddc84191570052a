"""How a start of the whole job ends that was killed: which exit codes a kill explains.

A start that ends with any other code has failed by itself, and a campaign has to tell that, kill or no kill.
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from connectors.failpoints import Failpoint
from tests.crash.job_start import Blow
from tests.crash.kills import AtFailpoint
from tests.crash.spark_processes import Victim

SIGKILLED, FAILED = -9, 1
IN_WORKERS = frozenset({Failpoint.STAGE_BEFORE, Failpoint.STAGE_AFTER})
"""A killed worker fails its task, and with it the driver, which says so and ends by itself."""

JobKill = Blow | AtFailpoint


def codes_of(kill: JobKill) -> frozenset[int]:
    """The exit codes of a start that this kill has struck.

    The driver's Python is the process that is started: where that dies, it ends by the signal and by nothing else. It
    outlives its Java and its workers, says what is gone, and ends by itself.
    """
    if isinstance(kill, AtFailpoint):
        return frozenset({FAILED if kill.point in IN_WORKERS else SIGKILLED})
    match kill.victim:
        case Victim.DRIVER | Victim.PYTHON:
            return frozenset({SIGKILLED})
        case Victim.JAVA | Victim.WORKER:
            return frozenset({FAILED})
        case _:
            assert_never(kill.victim)


def struck_at(kill: AtFailpoint, code: int | None, trace: Path) -> bool:
    """Whether a start that ended with this code died of the failpoint.

    A driver whose worker was killed ends with the code that it has for every failure, so the code alone says nothing.

    Args:
        trace: where the failpoint has left its name, if it has struck.
    """
    if not trace.exists() or kill.point not in trace.read_text(encoding="utf-8").split():
        return False
    return code in codes_of(kill)
