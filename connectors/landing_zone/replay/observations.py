"""What a replay noticed about the history that it applied."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass


class ObservationKind(enum.StrEnum):
    """The first four end a replay, as they end the replication of the table."""

    GAP = "gap"
    UNREADABLE_FILE = "unreadable file"
    ILLEGAL_MARKER = "illegal row marker"
    TYPE_CONFLICT = "type conflict"
    TYPE_WIDENED = "type widened"
    ZERO_ROWS = "file with zero rows"
    KEYLESS_CHANGE = "update, delete or upsert without key columns"
    NULL_KEY = "NULL in a key column"
    INSERT_OF_EXISTING_KEY = "insert of an existing key"
    UPDATE_OF_MISSING_KEY = "update of a missing key"
    DELETE_OF_MISSING_KEY = "delete of a missing key"


STOPPING = frozenset(
    {
        ObservationKind.GAP,
        ObservationKind.UNREADABLE_FILE,
        ObservationKind.ILLEGAL_MARKER,
        ObservationKind.TYPE_CONFLICT,
    }
)


@dataclass(frozen=True)
class Place:
    """A file by its path in the zone, and a row of it counted from 0, or None for the whole file."""

    file: str
    row: int | None = None


@dataclass(frozen=True)
class Observation:
    """Something noticed, how often, and where first.

    Attributes:
        places: the first few, in the order of the history.
        detail: one sentence where the kind does not say it all.
    """

    kind: ObservationKind
    count: int
    places: tuple[Place, ...]
    detail: str = ""

    @property
    def stops(self) -> bool:
        """Whether the replay ended here."""
        return self.kind in STOPPING


class Observations:
    """Observations while they are gathered: one per kind and detail, with the first ``keep`` places.

    More places may be given than are kept; fewer suffice when ``count`` says how many there are.
    """

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self._found: dict[tuple[ObservationKind, str], tuple[int, list[Place]]] = {}

    def add(
        self, kind: ObservationKind, places: Sequence[Place], *, count: int | None = None, detail: str = ""
    ) -> None:
        """``count`` more of ``kind`` (as many as ``places`` unless given); nothing when there are none."""
        count = len(places) if count is None else count
        if count == 0:
            return
        total, kept = self._found.get((kind, detail), (0, []))
        self._found[kind, detail] = (total + count, [*kept, *places][: self.keep])

    def all(self) -> tuple[Observation, ...]:
        """In the order in which each was noticed first."""
        return tuple(
            Observation(kind, count, tuple(places), detail) for (kind, detail), (count, places) in self._found.items()
        )
