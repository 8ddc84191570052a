"""What the ledger knows: the state of the zone after a version, and the version that led there.

A version is written once and never changed. It holds what changed; claims and every
:data:`SNAPSHOT_EVERY`-th version hold the whole state as well, so that any state is at most that many versions away.
"""

from __future__ import annotations

import enum
from typing import NewType

import msgspec

from connectors.landing_zone.ledger.table_state import (
    Dropped,
    Parked,
    PartitionState,
    Phase,
    Rebuild,
    RebuildKind,
    Relation,
    RenamedColumns,
    RunStart,
    SnapshotIdentity,
    TableState,
    TableStatus,
)

__all__ = [
    "FORMAT",
    "KEPT_HANDLED",
    "KEPT_PASSED_OVER",
    "KEPT_RUNS",
    "NOTHING_LANDED",
    "SNAPSHOT_EVERY",
    "Dropped",
    "Epoch",
    "LandedFile",
    "LedgerState",
    "LedgerVersion",
    "Parked",
    "PartitionState",
    "Phase",
    "PlannedTopic",
    "Rebuild",
    "RebuildKind",
    "Relation",
    "RenamedColumns",
    "RunStart",
    "SnapshotIdentity",
    "TableState",
    "TableStatus",
    "TopicOffsets",
    "Version",
    "VersionKind",
]

LedgerVersion = NewType("LedgerVersion", int)
Epoch = NewType("Epoch", int)

SNAPSHOT_EVERY = 100

FORMAT = 1
"""The format that versions are written in. It rises when a release that does not know the new one would go wrong with
it: by passing over what it must not pass over. A member that such a release may leave unread does not raise it."""

KEPT_RUNS = 16
"""Runs of a connector that the state remembers, those with the newest records; Kafka may hold some of the last ones."""

KEPT_PASSED_OVER = 10_000
"""Source tables left out that the state names: records name as many as they like. Behind a full list any may be one."""

KEPT_HANDLED = 100
"""Requests whose ids the state remembers; far more than can wait at a time."""


class TopicOffsets(msgspec.Struct, frozen=True):
    """One topic's progress.

    Attributes:
        id: Kafka's topic id (a UUID); another one means that the topic was deleted and made again.
        partitions: next offset to land per partition.
        epochs: per partition, the leader epoch in which Kafka's log reached up to that offset, where it is known: in a
            log that a later leader has not cut off below, that epoch, or the last one before it, ends no earlier.
    """

    id: str
    partitions: dict[int, int]
    epochs: dict[int, int] = {}

    def next_offset(self, partition: int) -> int:
        """The next offset to land; a partition that was added to the topic since it is known begins at 0."""
        return self.partitions.get(partition, 0)


class PlannedTopic(msgspec.Struct, frozen=True):
    """A batch's offset range per partition: ``[start, end)``.

    Attributes:
        epochs: as of :class:`TopicOffsets`, of the ends.
    """

    id: str
    partitions: dict[int, tuple[int, int]]
    epochs: dict[int, int] = {}


class LandedFile(msgspec.Struct, frozen=True):
    """A file that a version binds to a number.

    Attributes:
        sequence: its number in the table's folder.
        staged, target: paths in the zone, before and after publishing.
        sha256: of its bytes; ``logical``: order-sensitive digest of its rows.
        bytes: its size; ``rows``: number of rows per marker (``""`` for rows without marker).
        schema: fingerprint of its pinned schema.
        ranges: ``[first, last]`` offsets of the events in it, per topic and partition.
        letters: how many dead letters it was made of; 0 for a file of Kafka's records.
        follows_unseen: the number before is one that nobody sees, see :attr:`TableState.unseen`.
    """

    table: str
    generation: int
    sequence: int
    staged: str
    target: str
    sha256: str
    logical: str
    bytes: int
    rows: dict[str, int]
    schema: str
    ranges: dict[str, dict[int, tuple[int, int]]] = {}
    letters: int = 0
    follows_unseen: bool = False


class LedgerState(msgspec.Struct, frozen=True):
    """Everything the ledger knows after a version.

    Attributes:
        ledger_id: made once with the ledger; the zone's owner file holds it too.
        source: name of the source whose changes it records; empty until a release that records it has claimed it.
        commits: number of versions that carried a batch (claims do not count), so it does not depend on restarts.
        tables: by the landing zone's name of the table, ``schema.table``.
        schemas: pinned schemas of the tables and of the pending files as JSON text, by fingerprint.
        pending: committed files whose rename is not confirmed, by table.
        merging: topics that must take the merge path because they share a table.
        passed_over: source tables of which events passed by while the settings left them out, before the table was
            known; at most :data:`KEPT_PASSED_OVER`.
        runs: by the connector's logical name (its topic prefix), the runs that records of any kind have named, each
            with Kafka's time of its newest record in milliseconds; at most :data:`KEPT_RUNS` of each connector, and no
            connector but that of the settings or those that topics are called by.
        counters: totals since the ledger began (``skipped.tombstone``, ``dead_letters.decode``, ...).
        handled: ids of the requests of people that were carried out, newest last, at most :data:`KEPT_HANDLED`.
    """

    ledger_id: str
    version: int
    epoch: int
    writer: str
    commits: int = 0
    topics: dict[str, TopicOffsets] = {}
    tables: dict[str, TableState] = {}
    schemas: dict[str, str] = {}
    pending: dict[str, LandedFile] = {}
    merging: tuple[str, ...] = ()
    passed_over: tuple[tuple[str, str | None, str], ...] = ()
    runs: dict[str, dict[str, int]] = {}
    counters: dict[str, int] = {}
    handled: tuple[str, ...] = ()
    source: str = ""

    def next_offset(self, topic: str, partition: int, earliest: int) -> int:
        """The next offset to land; of a topic that is not known, the ``earliest`` that Kafka has."""
        recorded = self.topics.get(topic)
        return earliest if recorded is None else recorded.next_offset(partition)


NOTHING_LANDED = LedgerState(ledger_id="", version=0, epoch=0, writer="")
"""The state before the first version."""


class VersionKind(enum.StrEnum):
    CLAIM = "claim"
    COMMIT = "commit"


class Version(msgspec.Struct, frozen=True):
    """One version of the ledger as it is written.

    Attributes:
        based_on: the version whose state this one extends; always ``version - 1``.
        attempt: makes two attempts of one writer tell apart.
        written_ms: wall clock of the driver, milliseconds; for people and pruning, never for order.
        format: what :data:`FORMAT` was where it was written; versions of release 0.1.0 do not say so and have 1.
        host: who wrote it, for :class:`~connectors.landing_zone.errors.FencedError`.
        planned: the batch's offset range, for every partition of every topic, rows or not.
        files: what this version binds, by table.
        tables, schemas: entries of the state that are new or changed.
        pending: all of the state's pending files (this version's own included).
        merging, passed_over: topics and source tables that this version adds to the state's; counters: what this
            version adds to the state's totals.
        runs: the connector runs that its records name, where they are new or have a newer record than the state knows;
            the newest ones, as many as the state keeps.
        handled: requests of people that this version carries out.
        decided: what a person has decided about the file of a table, by table, with who it was.
        snapshot: the whole state after this version; on claims and every :data:`SNAPSHOT_EVERY`-th version.
    """

    version: int
    kind: VersionKind
    epoch: int
    writer: str
    host: str
    attempt: int
    based_on: int
    written_ms: int
    format: int = FORMAT
    commits: int = 0
    planned: dict[str, PlannedTopic] = {}
    files: dict[str, LandedFile] = {}
    tables: dict[str, TableState] = {}
    schemas: dict[str, str] = {}
    pending: dict[str, LandedFile] = {}
    merging: tuple[str, ...] = ()
    passed_over: tuple[tuple[str, str | None, str], ...] = ()
    runs: dict[str, dict[str, int]] = {}
    counters: dict[str, int] = {}
    handled: tuple[str, ...] = ()
    decided: dict[str, str] = {}
    snapshot: LedgerState | None = None
