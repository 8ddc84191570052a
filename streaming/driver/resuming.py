"""Where a table that stands still has to go on."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from connectors.landing_zone.ledger.state import Parked, RebuildKind, TableState, TableStatus, TopicOffsets

ZONE_REASON = "zone:"
"""Reasons of tables that stand still because of their folder begin so; their files stay pending."""
FAILED = "failed"
"""Reason of tables that an error stopped which passes once its cause is mended."""

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


def with_beneath(after: TableState, before: TableState) -> TableState:
    """The table that a fault has stand still, with what it stood still for before that, which is there again then."""
    if before.status is not TableStatus.PARKED or before.parked is None or after.parked is None:
        return after
    if not before.owns_folder:
        return after
    fault = before.parked.reason.startswith(ZONE_REASON) or before.parked.reason == FAILED
    beneath = before.parked.beneath if fault else before.parked
    return msgspec.structs.replace(after, parked=msgspec.structs.replace(after.parked, beneath=beneath))
