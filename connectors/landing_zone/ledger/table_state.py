"""What the ledger knows of one table: how far it has come, what its files look like, why it stands still."""

from __future__ import annotations

import enum

import msgspec

from connectors.landing_zone.ledger.replayed import Replayed

NAME_COLLISION = "name_collision"
"""Why a table stands still whose folder another source table has. It never has another reason: that is how it is told
from the folder's owner."""


class TableStatus(enum.StrEnum):
    """Where a table stands; ``CATCHING_UP`` and what follows are ways back from ``PARKED``.

    A rebuild goes ``DELETING`` (the folder of this generation is being removed) -> ``CLEARED`` (the next generation,
    without a folder; what it begins with is known) -> ``FILLING`` (the snapshot has been asked for) -> ``STREAMING``.
    """

    LOADING = "loading"
    STREAMING = "streaming"
    PARKED = "parked"
    CATCHING_UP = "catching_up"
    DELETING = "deleting"
    CLEARED = "cleared"
    FILLING = "filling"


class RebuildKind(enum.StrEnum):
    """Where the rows of a table's next generation come from."""

    KAFKA = "kafka"
    """From the table's events in Kafka, from the one that asked for the rebuild on (a truncate, a second snapshot)."""
    SNAPSHOT = "snapshot"
    """From a snapshot that Debezium is asked for by a signal."""


class Phase(enum.StrEnum):
    """Whether a partition still delivers the initial snapshot or already streams."""

    SNAPSHOT = "snapshot"
    STREAMING = "streaming"


class PartitionState(msgspec.Struct, frozen=True):
    """How far a (table, topic, partition) has come.

    Attributes:
        epoch, high, below: the running maximum of log positions, see
            :class:`connectors.debezium.position.PositionCarry`; ``high`` is two hexadecimal words.
    """

    phase: Phase = Phase.SNAPSHOT
    epoch: int = 0
    high: str = ""
    below: int = 0


class SnapshotIdentity(msgspec.Struct, frozen=True):
    """Which snapshot loaded the table: ``(connector, run id, position)``."""

    connector: str
    run_id: str
    position: str


class RunStart(msgspec.Struct, frozen=True):
    """Where a connector run began to stream, as far as one table's events tell.

    Attributes:
        position: the lowest of its first streamed events' log positions, as two hexadecimal words; empty where one of
            them has none.
        partitions: those in which it has streamed, per topic, ascending.
    """

    position: str = ""
    partitions: dict[str, tuple[int, ...]] = {}


class Parked(msgspec.Struct, frozen=True):
    """Why a table stands still.

    Attributes:
        reason: a short code, such as ``type_changed`` or ``truncate``.
        message, remedy: for a person.
        topic, partition, offset: the event that parked it.
        resume: the first offset not landed, per topic and partition.
        skipped: records of this table since then.
        rebuild: the rebuild that the table's policy asks for, if it does.
        postponed: the one that it asked for before a person let the table stand still; it begins when the table is to
            go on.
        run: the connector run that the event came from; empty where it says none.
        place: the event's log position and its time at the source in milliseconds, as three hexadecimal words; empty
            for an event without position.
        beneath: what else the table stands still for: it does so once a person has let it go on from here. Beneath a
            fault (of its folder, or of a step that failed) whatever it stood still for; else what no event tells again.
    """

    reason: str
    message: str
    remedy: str
    topic: str
    partition: int
    offset: int
    resume: dict[str, dict[int, int]] = {}
    skipped: int = 0
    rebuild: RebuildKind | None = None
    postponed: RebuildKind | None = None
    run: str = ""
    place: str = ""
    beneath: Parked | None = None


class Rebuild(msgspec.Struct, frozen=True):
    """A rebuild under way.

    Attributes:
        reason: a short code: what asked for it (``resync``, ``truncate``, ``second_snapshot``, ``type_changed``, ...).
        deleted_ms: the driver's clock when the folder was found to be gone; 0 before.
        signal: id of the signal that asked for the snapshot; empty before.
        connector: Debezium's connector that the table's events came from, where it is known.
        keyless: the table had no key, so its snapshot interrupts the stream and its rows are appended.
        heard: per partition of the notifications topic, the end that it had before the snapshot was asked for.
        runs: the connector runs that had streamed by then, in any table.
        staged: path of a file that was committed, but not published when this began; it goes before the folder.
    """

    kind: RebuildKind
    reason: str
    deleted_ms: int = 0
    signal: str = ""
    connector: str = ""
    keyless: bool = False
    heard: dict[int, int] = {}
    runs: tuple[str, ...] = ()
    staged: str = ""


class Relation(msgspec.Struct, frozen=True):
    """The table in PostgreSQL's catalog, as it was last seen there under its name.

    Attributes:
        database: identifier of the server's storage, the database's OID and the log's timeline,
            ``7711001329837079431/16384/00000001``.
        oid: the table's, which it keeps under any name and never shares with another one of its database.
        renamed: the name that it has by now, where that is another one; told already.
    """

    database: str
    oid: int
    renamed: str = ""


class Dropped(msgspec.Struct, frozen=True):
    """Where the source's table ended: dropped, renamed, or its name taken by another one.

    It is the latest such change that the source's schema-change topic has told of, or its catalog has shown.

    Attributes:
        epoch, position: where in the source's log, the position as two hexadecimal words; whatever the table's events
            up to there say is about the table that is gone.
        generation: of the table then, or the one before where nothing had landed; the next one has no row from before.
        first: the place of the first one behind the mirrored rows, of several such changes: its position and its time,
            as three hexadecimal words; empty where that is this one.
        source_ms: when, by the source's clock, milliseconds since 1970; 0 where unknown.
        back: events from behind it have landed, so that a table of this name exists again.
        by_lsn: the catalog has shown it (PostgreSQL). Then the second words of positions alone, the events' own LSNs,
            tell what lies behind it: the first one is where the commit before ended, which may lie before the drop. One
            that is ``back`` from the beginning may lie behind events of the table that is back, too.
        renamed: the name that the table got there, where it was renamed and not dropped (schema-change topic).
        taken_by: the name before of the table that was given this one's name there: it brought rows that no event of
            this name says.
        returned: that is the name which this table was given before, so it may well be this one that has come back.
    """

    epoch: int
    position: str
    generation: int
    source_ms: int = 0
    back: bool = False
    by_lsn: bool = False
    renamed: str = ""
    taken_by: str = ""
    returned: bool = False
    first: str = ""


class RenamedColumns(msgspec.Struct, frozen=True):
    """The columns that the source has renamed since this generation began: its schema-change topic or catalog tells.

    Attributes:
        epoch, position: of the latest change of columns in the source's log, the position as two hexadecimal words;
            what is sent again lies up to there. 0 and empty where the catalog has shown it.
        columns: the name that each has by now, by the one under which rows have landed.
        absent: names under which rows have landed, and that no column had behind that change (schema-change topic).
        source_ms: of that change, when, by the source's clock, milliseconds since 1970; 0 where unknown.
    """

    epoch: int
    position: str
    columns: dict[str, str]
    absent: tuple[str, ...] = ()
    source_ms: int = 0


class TableState(msgspec.Struct, frozen=True):
    """A table as the ledger knows it.

    Attributes:
        source: the source's name of it (``database``, ``schema``, ``table``).
        folder: its folder in the zone; ``extension`` of its files; ``column_separator`` of text files, else empty.
        sequence: number of the last file that was bound; 0 before the first.
        schema: fingerprint of the pinned schema, a key of :attr:`LedgerState.schemas`.
        rows: landed so far, per marker.
        streamed_runs: connector runs whose streaming events this table has seen, newest last, at most 16.
        run_starts: where each of them began to stream.
        loaded: the highest log position of a loading snapshot's row, as two hexadecimal words; what was created up to
            there may be in the snapshot.
        loaded_ms: the latest time of such a row at the source, milliseconds since 1970; 0 where unknown. A lower
            position with a later time is of a log that has begun anew.
        starts: first offset of this generation per topic and partition; the effect of what came before is in the rows
            that a rebuild has filled the table with. Partitions that are not named have no such bound.
        landed_to: first offset per topic and partition that this generation has not landed, where the ledger was made
            again and reads records once more that lie before it.
        first_run: the connector run whose first event begins this generation in each partition; empty for any.
        runs_before: the connector runs that were known when ``first_run`` began the generation, and that one; empty
            where there is none, and in ledgers of earlier releases.
        first_ms: time at the source of the event that began this generation, where ``first_run`` is set; milliseconds.
        first_position: log position of that event as two hexadecimal words; empty where positions cannot be compared
            with those before it.
        truncated: position of the truncate that began this generation, or whose effect is in the snapshot that filled
            it, and its time at the source in milliseconds, as three hexadecimal words; it, and what came before it,
            may be sent again.
        rebuild: the rebuild under way.
        heard_ms: when the latest of the initial snapshots was told of that this generation has taken account of;
            milliseconds since 1970 by Kafka Connect's clock.
        doubt_ms: when the latest snapshot was told of that found the table empty and of which nothing shows whether it
            was an initial one: rows that the source has not may be left behind it; 0 for none, and settled once
            :attr:`heard_ms` is not before it.
        gone: source columns that have landed and that the newest rows do not have any more.
        dropped: the table was dropped or renamed at the source, or another one has got its name.
        renamed_columns: None for none.
        column_numbers: of the pinned columns in the source's table, as its catalog has them; 0 for a column of which it
            is not known, and none for the last ones that have not been looked for.
        relation: what the source's catalog calls the table; None until it has been seen there, and for a database
            that is not looked into.
        ignored_values: values that landed as NULL because their column does not follow a changed type.
        sources: every source table that lands in this one, where several may; empty for any other table.
        history: the table has every change as a row of its own, and no key.
        key_forms: how each key column lands, where not as it is: ``hash:`` or ``encrypt:`` and its secret's digest.
        replayed: dead letters that have landed after all, see :mod:`connectors.landing_zone.ledger.replayed`.
        replayed_to: the highest log position of those that have landed in this generation, as two hexadecimal words,
            and a third one: the epoch in which its partition was. Empty for none, or where none has a position.
        tainted: an event was left out (dead letter, ignored truncate): no row may be proven new any more.
        inserted_to: the highest merge key of a row that landed as a new one (marker 0), as three hexadecimal words;
            empty where there is none, or where it is not known.
        doubled: rows that were taken for new may stand beside those of a table that is gone: its drop was told of only
            after they had landed. Only a rebuild mends that.
        sha256: digest of the last file.
        unseen: number of the last file where a person has said that the replicator has read it, although nobody sees
            it; counts as long as no later number is bound. 0 for none.
        metadata: content of its ``_metadata.json`` where another tool wrote that; empty where the bridge did.
        left_out: topics that have fed it and that the settings leave out: others have followed them, or the table was
            parked for them.
    """

    source: tuple[str, str | None, str]
    folder: str
    extension: str = "parquet"
    column_separator: str = ""
    status: TableStatus = TableStatus.LOADING
    generation: int = 1
    sequence: int = 0
    schema: str = ""
    keys: tuple[str, ...] = ()
    snapshot: SnapshotIdentity | None = None
    partitions: dict[str, dict[int, PartitionState]] = {}
    rows: dict[str, int] = {}
    streamed_runs: tuple[str, ...] = ()
    run_starts: dict[str, RunStart] = {}
    loaded: str = ""
    loaded_ms: int = 0
    starts: dict[str, dict[int, int]] = {}
    landed_to: dict[str, dict[int, int]] = {}
    first_run: str = ""
    runs_before: tuple[str, ...] = ()
    first_ms: int = 0
    first_position: str = ""
    truncated: str = ""
    rebuild: Rebuild | None = None
    heard_ms: int = 0
    doubt_ms: int = 0
    gone: tuple[str, ...] = ()
    dropped: Dropped | None = None
    renamed_columns: RenamedColumns | None = None
    column_numbers: tuple[int, ...] = ()
    relation: Relation | None = None
    ignored_values: int = 0
    sources: tuple[tuple[str, str | None, str], ...] = ()
    history: bool = False
    key_forms: tuple[str, ...] = ()
    replayed: Replayed = {}
    replayed_to: str = ""
    tainted: bool = False
    inserted_to: str = ""
    doubled: bool = False
    parked: Parked | None = None
    late: int = 0
    dead_letters: int = 0
    source_ms: int = 0
    sha256: str = ""
    unseen: int = 0
    metadata: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def owns_folder(self) -> bool:
        """Whether the folder is the table's, and not that of another one whose name leads to it as well."""
        return self.parked is None or self.parked.reason != NAME_COLLISION
