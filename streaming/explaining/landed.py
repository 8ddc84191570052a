"""Which version of the ledger landed an offset, and what the ledger knew before that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from connectors.landing_zone.errors import VersionNotKeptError
from connectors.landing_zone.ledger.history import state_at, versions
from connectors.landing_zone.ledger.state import LandedFile, LedgerState
from connectors.landing_zone.storage.protocol import Storage


@dataclass(frozen=True)
class LandedRange:
    """The offsets ``[start, end)`` of one partition that one version carried."""

    version: int
    start: int
    end: int
    files: Mapping[str, LandedFile]


def landed_ranges(state: Storage, topic: str, topic_id: str, partition: int, first: int) -> list[LandedRange]:
    """The ranges of the versions kept, newest first, back to the one that holds the offset ``first``.

    Offsets of another topic of that name, as of one that was deleted, say nothing of this one's: the ranges end there.

    Raises:
        LedgerCorruptError: a version is missing or cannot be read.
    """
    found = []
    for version in versions(state):
        plan = version.planned.get(topic)
        if plan is None or partition not in plan.partitions:
            continue
        if plan.id != topic_id:
            break
        start, end = plan.partitions[partition]
        if end > start:
            found.append(LandedRange(version.version, start, end, version.files))
        if start <= first:
            break
    return found


def range_of(ranges: list[LandedRange], offset: int) -> LandedRange | None:
    """The range that holds an offset; None when it has not landed, or its version is not kept."""
    return next((one for one in ranges if one.start <= offset < one.end), None)


def state_before(state: Storage, head: LedgerState, landed: LandedRange | None) -> LedgerState:
    """The ledger's state when a range was landed; the present one for offsets that wait, or if it is not kept."""
    if landed is None:
        return head
    try:
        return state_at(state, landed.version - 1)
    except VersionNotKeptError:
        return head
