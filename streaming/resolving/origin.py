"""What a committed file was made from: the state of the ledger before it, and its offsets in Kafka."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from connectors.landing_zone.errors import VersionNotKeptError
from connectors.landing_zone.ledger.history import state_at, versions
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, PlannedTopic, TableState, TableStatus, Version
from connectors.landing_zone.storage.protocol import Storage
from streaming.driver.resuming import Resume, resume_of
from streaming.lifecycle.catching_up import going_on, ranges_to_land
from streaming.lifecycle.outside import Ranges


@dataclass(frozen=True)
class Origin:
    """How a file came about.

    Attributes:
        version: that bound it to its number.
        before: the ledger's state that it was landed on.
        ranges: ``[start, end)`` of the records that were read.
        only: the file's table where it landed beside the stream; None for a micro-batch.
        table: the file's table before it; None where nobody knew of it.
        resume: the first offset per topic and partition that the table had not landed before it.
    """

    version: int
    before: LedgerState
    ranges: Ranges
    only: str | None
    table: TableState | None
    resume: Resume


def origin_of(state: Storage, file: LandedFile) -> Origin | str:
    """What the file was made from, or why nobody can tell any more.

    Args:
        state: where the ledger is.

    Raises:
        LedgerCorruptError: a version cannot be read.
        Transient: the storage failed.
    """
    version = _bound_by(state, file)
    if version is None:
        return "the version of the ledger that bound it is not kept any more"
    try:
        before = state_at(state, version.version - 1)
    except VersionNotKeptError as error:
        return error.message
    known = before.tables.get(file.table)
    if version.planned:
        return Origin(version.version, before, version.planned, None, known, _resume(file, known, before, version))
    if known is None or known.status is not TableStatus.CATCHING_UP:
        return "it holds dead letters that were replayed, which no range of Kafka makes again"
    ends = _chunk_ends(known, before, version.tables[file.table])
    seen = replace(before, tables={**before.tables, file.table: going_on(known)})
    return Origin(version.version, seen, ends, file.table, known, resume_of(known, before.topics))


def _bound_by(state: Storage, file: LandedFile) -> Version | None:
    for version in versions(state):
        found = version.files.get(file.table)
        same = found is not None and (found.generation, found.sequence) == (file.generation, file.sequence)
        if same and file.table not in version.decided:
            return version
    return None


def _resume(file: LandedFile, known: TableState | None, before: LedgerState, version: Version) -> Resume:
    """Where the table stood, also in topics that fed it for the first time."""
    resume = {} if known is None else resume_of(known, before.topics)
    for topic in sorted(file.ranges.keys() & version.planned.keys()):
        starts = {partition: start for partition, (start, _) in version.planned[topic].partitions.items()}
        resume[topic] = {**starts, **resume.get(topic, {})}
    return resume


def _chunk_ends(known: TableState, before: LedgerState, after: TableState) -> Ranges:
    """The chunk of a catch-up: up to where the table went on from, or to the ledger's own offsets."""
    ranges = ranges_to_land(known, before)
    if after.parked is None:
        return ranges
    reached = after.parked.resume
    return {
        topic: PlannedTopic(
            planned.id,
            {
                number: (start, min(end, max(start, reached.get(topic, {}).get(number, end))))
                for number, (start, end) in planned.partitions.items()
            },
        )
        for topic, planned in ranges.items()
    }
