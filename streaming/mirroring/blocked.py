"""Tables whose published files nobody takes in although they have lain there for long: a silent standstill.

Fabric may call a table ``Replicating`` for weeks while a missing number or a bad file holds it up. So what lies in the
table's folder decides whether it is blocked; what Fabric tells only helps to say why.
"""

from __future__ import annotations

from connectors.fabric.status import MirroringStatus, TableMirroring, TableState, table_state
from streaming.mirroring.progress import Progress
from streaming.mirroring.trouble import (
    CAPACITY,
    LOADED,
    NOT_BEGUN,
    REBUILD,
    Cause,
    Trouble,
    mirror_trouble,
    table_trouble,
)
from streaming.wording import count_text, moment_text, seconds_text

TITLE = "Blocked"


def is_blocked(progress: Progress, after_ms: int) -> bool:
    """Whether nothing has been taken in for this long, by the last look at the folder, while something waits."""
    since = progress.stands_since_ms
    return since is not None and progress.looked_ms - since >= after_ms


def blocked(
    progress: Progress,
    after_ms: int,
    status: MirroringStatus | None,
    told: TableMirroring | None,
    *,
    begun: bool = True,
    moving: bool = True,
) -> Trouble | None:
    """Why a table is blocked, as far as the zone and Fabric show it; None where it is not.

    Args:
        after_ms: ``fabric.blocked_after``.
        status: what Fabric told; None where it told nothing. told: of this table, None where it is not listed.
        begun: whether mirroring has; moving: whether any table was seen to move within ``after_ms``.
    """
    if not is_blocked(progress, after_ms):
        return None
    cause, why, remedy = _cause(progress, status, told, begun, moving)
    return Trouble(cause, TITLE, f"{_waiting(progress)}; {why}", remedy)


def _cause(
    progress: Progress, status: MirroringStatus | None, told: TableMirroring | None, begun: bool, moving: bool
) -> tuple[Cause, str, str]:
    of_mirror = None if status is None else mirror_trouble(status.database, progress.looked_ms)
    of_mirror = of_mirror if begun else NOT_BEGUN
    if of_mirror is not None:
        return Cause.MIRROR, f"{of_mirror.title}: {of_mirror.message}", of_mirror.remedy
    of_table = None if told is None else table_trouble(told)
    if of_table is not None:
        return of_table.cause, f"{of_table.title}: {of_table.message}", of_table.remedy
    if progress.missing is not None and (progress.first is None or progress.missing < progress.first.number):
        return Cause.MISSING_FILE, f"number {progress.missing:,} is missing, and mirroring waits for it", REBUILD
    if progress.first is not None and progress.first.fault:
        return Cause.BAD_FILE, progress.first.fault, REBUILD
    if status is not None and told is None:
        return Cause.UNKNOWN_TABLE, "Fabric does not list the table", _OTHER_ZONE
    remedy = REBUILD if moving else CAPACITY
    if told is None:
        return Cause.SILENT, "Fabric does not tell why", remedy
    if table_state(told.state) in _LOADING:
        remedy = LOADED
    worked = f", last worked on it at {moment_text(told.synced_ms)}" if told.synced_ms else ""
    return Cause.SILENT, f"Fabric calls it {told.state}{worked} and tells no error", remedy


_LOADING = frozenset({TableState.INITIALIZED, TableState.SNAPSHOTTING, TableState.RESEEDING})
_OTHER_ZONE = (
    "check that landing_zone.url leads to the landing zone of the mirrored database that is asked, and that it has no "
    f"more than the 1,000 tables that Fabric allows. Where both is so: {REBUILD}"
)


def _waiting(progress: Progress) -> str:
    since = progress.stands_since_ms or progress.looked_ms
    for_long = seconds_text((progress.looked_ms - since) / 1000)
    last = f"the last one that was taken in is {progress.number:,}" if progress.number else "none has been taken in"
    waits = count_text(progress.published - progress.number, "file waits", "files wait")
    which = f"file {progress.number + 1:,}" if progress.first is None else progress.first.path
    return f"{which} has waited for {for_long} to be taken in; {waits}, {last}"
