"""What a person should know of a mirrored database or table that does not do its work, and what to do about it.

A stop and a start of the mirrored database is never the advice: it begins with every table anew, from files that are
gone by then (open mirroring best practices, "Recover"). One table is rebuilt by itself.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from connectors.fabric.status import (
    DatabaseMirroring,
    MirrorState,
    TableMirroring,
    TableState,
    mirror_state,
    table_state,
)
from streaming.wording import moment_text

STALE_SECONDS = 600.0
"""Age of the replicator's last heartbeat, which comes about once a minute, from which it counts as standing still."""

REBUILD = (
    "`cdc-bridge verify ZONE` tells whether its files keep the format's rules; then rebuild it, and it alone, with "
    "`cdc-bridge resync CONFIG TABLE`. Stopping and starting the mirrored database would begin with every table anew"
)
GO_ON = "look in Fabric why it is paused, mostly a paused capacity, and let it go on there: the files wait for it"
FIND_OUT = (
    "find out in Fabric who stopped it. Once it runs again it begins with every table anew, from files of which it has "
    "removed some by then: rebuild each table with `cdc-bridge resync CONFIG TABLE`"
)
SET_UP = "finish setting the mirrored database up in Fabric: mirroring has not begun yet, and the files wait for it"
WAIT = "wait; if it stays so, look at the mirrored database's replication page in Fabric"

LOADED = (
    "wait: Fabric loads the table, which can take hours, and a resync in the middle would begin that anew. Where its "
    "number of rows stands still as well, look at the mirrored database's replication page in Fabric"
)
CAPACITY = (
    "so far no table was seen to move: see first in Fabric whether the capacity is paused or throttled, which holds "
    f"all tables up and which no rebuild mends. Where other tables move: {REBUILD}"
)


class Cause(enum.StrEnum):
    """Why a table's files are not taken in, as far as it can be told."""

    ERROR = "error"
    """Fabric tells of an error for the table."""
    STATE = "state"
    """The table is in a state in which nothing is taken in."""
    MIRROR = "mirror"
    """The mirrored database as a whole does not run."""
    MISSING_FILE = "missing_file"
    """A number lies nowhere; the replicator waits for it for ever."""
    BAD_FILE = "bad_file"
    """The first file that waits is not one that can be read."""
    UNKNOWN_TABLE = "unknown_table"
    """Fabric does not list the table."""
    SILENT = "silent"
    """Nothing tells why."""


class Fault(enum.StrEnum):
    """What can be wrong with the mirrored database itself, as ``bridge_mirroring_trouble`` tells it."""

    ERROR = "error"
    """Fabric tells of an error for it."""
    STOPPED = "stopped"
    """It is paused, stopping or stopped."""
    NOT_BEGUN = "not_begun"
    """Mirroring has never run."""
    STARTING = "starting"
    """It starts."""
    UNKNOWN_STATE = "unknown_state"
    """It is in a state that is not documented."""
    NO_HEARTBEAT = "no_heartbeat"
    """It is said to run, and the replicator gives no sign of life."""


@dataclass(frozen=True)
class Trouble:
    """Something that a person should know.

    Attributes:
        title: in a few words; message: one sentence; remedy: what to do.
    """

    cause: Cause
    title: str
    message: str
    remedy: str


NOT_BEGUN = Trouble(
    Cause.MIRROR, "Mirroring has not begun", "the replicator has written no status yet, and no file is taken in", SET_UP
)


def faults(database: DatabaseMirroring, now_ms: int) -> Iterator[Fault]:
    """All that is wrong with the mirrored database itself; nothing while it runs."""
    if database.error is not None:
        yield Fault.ERROR
    state = mirror_state(database.state)
    if state is None:
        yield Fault.UNKNOWN_STATE
    elif state is not MirrorState.RUNNING:
        yield _FAULTS[state]
    elif database.heartbeat_ms is not None and now_ms - database.heartbeat_ms > STALE_SECONDS * 1000:
        yield Fault.NO_HEARTBEAT


def mirror_trouble(database: DatabaseMirroring, now_ms: int) -> Trouble | None:
    """What is wrong with the mirrored database itself; None while it runs."""
    fault = next(faults(database, now_ms), None)
    if fault is Fault.ERROR and database.error is not None:
        return Trouble(
            Cause.ERROR,
            f"The mirrored database is {database.state}, with an error",
            f"Fabric says: {database.error.text}",
            WAIT,
        )
    state = mirror_state(database.state)
    if state is not None and state is not MirrorState.RUNNING:
        return Trouble(
            Cause.MIRROR, f"The mirrored database is {database.state}", "no table's files are taken in", _ACTS[state]
        )
    if state is None:
        return Trouble(
            Cause.MIRROR, f"The mirrored database is {database.state}", "this state is not known to the bridge", WAIT
        )
    if fault is Fault.NO_HEARTBEAT:
        since = moment_text(database.heartbeat_ms) if database.heartbeat_ms else "never"
        return Trouble(
            Cause.MIRROR, "The replicator gives no sign of life", f"the last one that it wrote down was: {since}", WAIT
        )
    return None


_FAULTS = {
    MirrorState.INITIALIZING: Fault.NOT_BEGUN,
    MirrorState.INITIALIZED: Fault.NOT_BEGUN,
    MirrorState.STARTING: Fault.STARTING,
    MirrorState.PAUSED: Fault.STOPPED,
    MirrorState.STOPPING: Fault.STOPPED,
    MirrorState.STOPPED: Fault.STOPPED,
}
_ACTS = {
    MirrorState.INITIALIZING: SET_UP,
    MirrorState.INITIALIZED: SET_UP,
    MirrorState.STARTING: WAIT,
    MirrorState.PAUSED: GO_ON,
    MirrorState.STOPPING: FIND_OUT,
    MirrorState.STOPPED: FIND_OUT,
}


def table_trouble(told: TableMirroring) -> Trouble | None:
    """What Fabric itself says is wrong with a table."""
    if told.error is not None:
        return Trouble(Cause.ERROR, f"{told.state}, with an error", f"Fabric says: {told.error.text}", REBUILD)
    if table_state(told.state) in (TableState.FAILED, TableState.STOPPED):
        return Trouble(
            Cause.STATE, told.state, "Fabric takes none of the table's files in, and tells no error", REBUILD
        )
    return None
