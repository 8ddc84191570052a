"""How a mirrored database and its tables stand, in Fabric's words.

The same values whether they come from the REST API ("Mirroring - Get Mirroring Status", "Get Tables Mirroring Status")
or from the files that the replicator writes beside the landing zone (``Files/Monitoring``), whose form is not
documented. Fabric says that it may add states: a state is kept as the text that came, and :func:`mirror_state` and
:func:`table_state` know those that are documented.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from datetime import UTC, datetime

LONGEST_TEXT = 500
"""Characters of an error's message that are kept."""


class MirrorState(enum.StrEnum):
    """States of a mirrored database."""

    INITIALIZING = "Initializing"
    INITIALIZED = "Initialized"
    STARTING = "Starting"
    RUNNING = "Running"
    PAUSED = "Paused"
    STOPPING = "Stopping"
    STOPPED = "Stopped"


class TableState(enum.StrEnum):
    """States of a mirrored table."""

    INITIALIZED = "Initialized"
    SNAPSHOTTING = "Snapshotting"
    REPLICATING = "Replicating"
    RESEEDING = "Reseeding"
    STOPPED = "Stopped"
    FAILED = "Failed"


@dataclass(frozen=True)
class MirroringError:
    """What Fabric says is wrong; one line each, either may be empty, not both."""

    code: str
    message: str

    @property
    def text(self) -> str:
        """``code: message``."""
        return ": ".join(part for part in (self.code, self.message) if part)


@dataclass(frozen=True)
class DatabaseMirroring:
    """The mirrored database.

    Attributes:
        state: as Fabric says it, such as ``Running``.
        heartbeat_ms: when the replicator last wrote that it lives, milliseconds since 1970; None where it is not told.
    """

    state: str
    error: MirroringError | None = None
    heartbeat_ms: int | None = None


@dataclass(frozen=True)
class TableMirroring:
    """One table.

    Attributes:
        schema: empty for a table without one.
        state: as Fabric says it, such as ``Replicating``.
        rows: operations applied so far, not the table's number of rows; ``bytes`` of them. None where not told.
        synced_ms: when it was last worked on, milliseconds since 1970; 0 for never, None where it is not told.
    """

    schema: str
    table: str
    state: str
    error: MirroringError | None = None
    rows: int | None = None
    bytes: int | None = None
    synced_ms: int | None = None


@dataclass(frozen=True)
class MirroringStatus:
    """A mirrored database and all of its tables that Fabric knows."""

    database: DatabaseMirroring
    tables: tuple[TableMirroring, ...] = ()


def mirror_state(text: str) -> MirrorState | None:
    """The documented state that a text names, in upper or lower case; None for any other."""
    return next((state for state in MirrorState if state.lower() == text.lower()), None)


def table_state(text: str) -> TableState | None:
    """The documented state that a text names, in upper or lower case; None for any other."""
    return next((state for state in TableState if state.lower() == text.lower()), None)


def moment_ms(text: object) -> int | None:
    """Milliseconds since 1970 of Fabric's ISO 8601, in UTC where it names no zone; None where it is no time.

    The zero date ``0001-01-01``, and whatever else is before 1970, is 0: it never happened.
    """
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if moment.year <= 1970:
        return 0
    zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return int(zoned.timestamp() * 1000)


def error_of(code: object, message: object) -> MirroringError | None:
    """What is wrong, of two texts that may be missing or empty; None where both are."""
    told = MirroringError(_line(code), _line(message))
    return told if told.text else None


def _line(value: object) -> str:
    text = re.sub(r"\s+", " ", value).strip() if isinstance(value, str) else ""
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 3]}..."
