"""Where a table that stands still has to go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from connectors.landing_zone.ledger.state import Parked, RebuildKind, TableState, TableStatus, TopicOffsets
from connectors.landing_zone.requests import SEEN_REASON

ZONE_REASON = "zone:"
"""Reasons of tables that stand still because of their folder begin so; their files stay pending."""
FAILED = "failed"
"""Reason of tables that an error stopped which passes once its cause is mended."""
REBUILDING = "rebuild"
"""Reason of tables that stand still while they are rebuilt."""
RECREATED, COLUMN_REPLACED = "recreated", "column_replaced"
_UNTOLD = frozenset({RECREATED, COLUMN_REPLACED})
"""Reasons of which no event tells that is read again. (Nor of a drop: but its mirror goes, with all that was wrong.)"""

Resume = dict[str, dict[int, int]]
"""The first offset that has not landed, per topic and partition."""


def resume_of(table: TableState, topics: Mapping[str, TopicOffsets]) -> Resume:
    """Where the table goes on if it stands still from now on: where it stood already, else where the ledger ends."""
    if table.parked is not None:
        return table.parked.resume
    feeding = sorted({*table.partitions, *table.starts}.intersection(topics))
    return {topic: dict(topics[topic].partitions) for topic in feeding}


def first_place(resume: Resume) -> tuple[str, int, int]:
    """Topic, partition and offset of the first place in ``resume``; empty and zeros where there is none."""
    for topic, partitions in resume.items():
        for partition, offset in partitions.items():
            return topic, partition, offset
    return "", 0, 0


def stopped(
    table: TableState, resume: Resume, *, reason: str, message: str, remedy: str, rebuild: RebuildKind | None = None
) -> TableState:
    """The table as it stands still from now on, with what it has passed over so far.

    One that has no folder of its own keeps its reason and remedy, whatever else becomes of it: there is no other.

    Args:
        resume: where it goes on; its first place stands for the event that stopped it.
        reason, message, remedy, rebuild: see :class:`~connectors.landing_zone.ledger.state.Parked`.
    """
    topic, partition, offset = first_place(resume)
    if table.parked is not None and not table.owns_folder:
        collided = msgspec.structs.replace(table.parked, topic=topic, partition=partition, offset=offset, resume=resume)
        return msgspec.structs.replace(table, parked=collided)
    parked = Parked(
        reason=reason,
        message=message,
        remedy=remedy,
        topic=topic,
        partition=partition,
        offset=offset,
        resume=resume,
        skipped=0 if table.parked is None else table.parked.skipped,
        rebuild=rebuild,
    )
    return msgspec.structs.replace(table, status=TableStatus.PARKED, parked=parked)


def is_fault(parked: Parked) -> bool:
    """Whether the table would go on but for something that went wrong: with its folder, or in a step of its own."""
    return parked.reason.startswith(ZONE_REASON) or parked.reason == FAILED


def with_beneath(after: TableState, before: TableState) -> TableState:
    """The table that a fault has stand still, with what it stood still for before that: its resume brings that back."""
    return _lying_over(after, [stop for stop in _stops(before) if not is_fault(stop)])


def with_untold(after: TableState, before: TableState) -> TableState:
    """The table that stands still for what nothing tells again, and beneath that for other such things from before."""
    reason = "" if after.parked is None else after.parked.reason
    return _lying_over(after, [stop for stop in _stops(before) if stop.reason in _UNTOLD and stop.reason != reason])


def beneath_fault(table: TableState, change: Callable[[TableState], TableState]) -> TableState:
    """The table after ``change``; where a fault has it stand still, a stop of ``change`` goes beneath that one.

    The fault is not to be forgotten for it: its folder, say, is not what the ledger left.
    """
    fault = table.parked
    if table.status is not TableStatus.PARKED or fault is None or not is_fault(fault):
        return change(table)
    changed = change(msgspec.structs.replace(table, parked=fault.beneath))
    return msgspec.structs.replace(changed, parked=msgspec.structs.replace(fault, beneath=changed.parked))


def seen_reason(table: TableState | None) -> dict[str, str]:
    """The arguments of a resume by somebody who sees the table so."""
    parked = table.parked if table is not None and table.status is TableStatus.PARKED else None
    return {} if parked is None else {SEEN_REASON: parked.reason}


def _stops(table: TableState) -> list[Parked]:
    """What the table stands still for, uppermost first; for one whose folder is being removed, that too."""
    stops: list[Parked] = []
    stands = table.status in (TableStatus.PARKED, TableStatus.DELETING) and table.owns_folder
    parked = table.parked if stands else None
    while parked is not None:
        stops.append(parked)
        parked = parked.beneath
    return stops


def _lying_over(after: TableState, stops: Sequence[Parked]) -> TableState:
    beneath: Parked | None = None
    for stop in reversed(stops):
        beneath = msgspec.structs.replace(stop, beneath=beneath)
    if after.parked is None:
        return after
    return msgspec.structs.replace(after, parked=msgspec.structs.replace(after.parked, beneath=beneath))
