"""Where a table that stands still has to go on."""

from __future__ import annotations

from collections.abc import Mapping

from connectors.landing_zone.ledger.state import TableState, TopicOffsets

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
