"""Whether a start goes on with Spark's checkpoint, or with a new one where the ledger ends."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LedgerState
from streaming.driver.checkpoint import Checkpoint, Offsets
from streaming.driver.checkpoint_disk import disk_faults, try_to_write

_log = logging.getLogger(__name__)


def settle_checkpoint(
    checkpoint: Checkpoint, state: LedgerState, present: Mapping[str, TopicDescription], *, drain: bool
) -> None:
    """Keep Spark's checkpoint if it goes on where the ledger ends; else set it aside, so that a new one is made.

    Args:
        drain: whether the query only drains what is there (Spark's ``availableNow``).

    Raises:
        StorageError: the checkpoint's disk is full, or failed.
        StorageDeniedError: it cannot be written.
    """
    with disk_faults(checkpoint.folder):
        if not _goes_on(checkpoint, state, present, drain=drain):
            aside = checkpoint.set_aside()
            if aside is not None:
                _log.warning("Spark's checkpoint does not go on where the ledger ends; it is set aside as %s", aside)
        try_to_write(checkpoint.folder)


def _goes_on(
    checkpoint: Checkpoint, state: LedgerState, present: Mapping[str, TopicDescription], *, drain: bool
) -> bool:
    """Whether the checkpoint goes on where the ledger ends, and can."""
    start = checkpoint.next_start()
    recorded = {topic: offsets.partitions for topic, offsets in state.topics.items() if topic in present}
    partitions = {topic: found.partitions for topic, found in present.items()}
    if start is None or not agrees(start, recorded, partitions):
        return False
    repeated = checkpoint.repeated()
    return repeatable(repeated, partitions) and (not drain or drainable(repeated, partitions))


def agrees(
    start: Offsets, recorded: Mapping[str, Mapping[int, int]], present: Mapping[str, Mapping[int, tuple[int, int]]]
) -> bool:
    """Whether a query that goes on at ``start`` reads on where the ledger ends, or before it, without a gap.

    Args:
        recorded: the ledger's next offsets.
        present: what the broker holds now: ``(earliest, end)`` per topic and partition.
    """
    for topic, partitions in recorded.items():
        if topic not in present:
            return False
        known = start.get(topic)
        if known is None:
            return False
        if not partitions.keys() <= known.keys():
            return False
        # A partition that the ledger does not know was added since, and begins at 0.
        if any(offset > partitions.get(partition, 0) for partition, offset in known.items()):
            return False
    for topic, ranges in present.items():
        for partition, (earliest, _) in ranges.items():
            planned = start.get(topic, {}).get(partition)
            # Spark begins a partition that it has not seen at its earliest record and fails unless that is offset 0.
            if earliest > (0 if planned is None else planned):
                return False
            # It is of another ledger if it has passed records of a topic that this one does not know.
            if topic not in recorded and planned is not None and planned > earliest:
                return False
    return set(start) <= set(present)


def drainable(repeated: Offsets | None, present: Mapping[str, Mapping[int, tuple[int, int]]]) -> bool:
    """Whether a query that drains the topics can begin with this batch.

    Such a query fixes the end of every partition when it starts, and Spark fails when a batch has other partitions.

    Args:
        repeated: the end of the batch that runs again, or None when there is none.
        present: as in :func:`agrees`.
    """
    if repeated is None:
        return True
    return all(partitions.keys() <= repeated.get(topic, {}).keys() for topic, partitions in present.items())


def repeatable(repeated: Offsets | None, present: Mapping[str, Mapping[int, tuple[int, int]]]) -> bool:
    """Whether Kafka still reaches to the end of the batch that runs again.

    A topic that was made again may hold less than the old one did, and Spark would ask for what is not there, for ever.

    Args:
        repeated, present: as in :func:`drainable`.
    """
    return all(
        end <= present.get(topic, {}).get(partition, (0, 0))[1]
        for topic, ends in (repeated or {}).items()
        for partition, end in ends.items()
    )
