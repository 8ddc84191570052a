"""What a micro-batch's tasks are told and what they answer: plain values between driver and executors."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property

import msgspec

from connectors.debezium.options import DecodeOptions
from connectors.debezium.schema import SourceTable
from connectors.debezium.table_change import TableChange
from connectors.kafka.config import KafkaConfig
from connectors.kafka.dead_letters import DeadLetterConfig
from connectors.kafka.registry_config import RegistryConfig
from connectors.landing_zone.ledger.state import Dropped, LandedFile, TableState
from connectors.landing_zone.storage.open import StorageLocation
from streaming.landing.shaping.secrecy import Secrecy
from streaming.policies import (
    Compaction,
    FileFormat,
    Markers,
    MetadataColumn,
    OnBadRecord,
    OnCastFailure,
    OnDrop,
    OnKeyChange,
    OnMissingKey,
    OnResnapshot,
    OnTruncate,
    OnTypeChange,
    OnUnavailable,
    TableMode,
)
from streaming.sources import Source, sources_of


@dataclass(frozen=True)
class TableOptions:
    """How one table lands; the settings' defaults with the first matching override.

    Attributes:
        include, exclude: glob patterns of source columns; an empty ``include`` takes all.
        mask: glob patterns of columns that land masked: ``****`` for text, NULL for anything else.
        hashed, encrypted: glob patterns of columns that land so; hashed wins, then encrypted, then ``mask``.
        casts: (column, type as :func:`streaming.landing.shaping.landing_types.landing_type` reads it) pairs.
        added: (column, SQL expression) pairs, in file order.
        merge_sources: source tables of one landing-zone name land in it together.
        soft_delete: the column that says that the row was deleted; empty where deletes are deletes.
        gzip: delimited text only.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()
    hashed: tuple[str, ...] = ()
    encrypted: tuple[str, ...] = ()
    casts: tuple[tuple[str, str], ...] = ()
    added: tuple[tuple[str, str], ...] = ()
    mode: TableMode = TableMode.MIRROR
    soft_delete: str = ""
    compaction: Compaction = Compaction.OFF
    merge_sources: bool = False
    metadata_columns: tuple[MetadataColumn, ...] = ()
    metadata_prefix: str = "_cdc_"
    schema_template: str = "{schema}"
    table_template: str = "{table}"
    on_type_change: OnTypeChange = OnTypeChange.PARK
    on_key_change: OnKeyChange = OnKeyChange.PARK
    on_truncate: OnTruncate = OnTruncate.PARK
    on_drop: OnDrop = OnDrop.KEEP
    on_unavailable: OnUnavailable = OnUnavailable.PARK
    on_missing_key: OnMissingKey = OnMissingKey.PARK
    on_resnapshot: OnResnapshot = OnResnapshot.REBUILD
    on_cast_failure: OnCastFailure = OnCastFailure.NULL
    file_format: FileFormat = FileFormat.PARQUET
    column_separator: str = ","
    gzip: bool = False


_REMEMBERED_TABLES = 10_000


@dataclass(frozen=True)
class JobOptions:
    """Everything that stays the same from batch to batch and that a task needs. Travels to executors.

    Attributes:
        fingerprint: of the settings that influence the files' content; part of every file's footer.
        tables: (glob pattern of ``schema.table``, options) in order; the first match counts, ``defaults`` otherwise.
        secrecy: the secrets of hashed and encrypted columns.
    """

    fingerprint: str
    decode: DecodeOptions
    zone: StorageLocation
    kafka: KafkaConfig = field(default_factory=lambda: KafkaConfig(""))
    isolation: str = "read_committed"
    defaults: TableOptions = TableOptions()
    tables: tuple[tuple[str, TableOptions], ...] = ()
    markers: Markers = Markers.SAFE
    on_bad_record: OnBadRecord = OnBadRecord.DEAD_LETTER
    registry: RegistryConfig | None = None
    dead_letters: DeadLetterConfig | None = None
    compression: str = "zstd"
    compression_level: int | None = 1
    row_group_rows: int = 131_072
    lasting_fall: int = 1_000
    upload_threads: int = 8
    most_tables: int = 1_000
    secrecy: Secrecy = field(default_factory=Secrecy)

    def options_for(self, table: SourceTable) -> TableOptions:
        """The options of a source table; remembered, since each pattern is compared with each table."""
        known = self._chosen.get(table)
        if known is None:
            known = self._choose(table)
            # Records name as many tables as they like.
            if len(self._chosen) < _REMEMBERED_TABLES:
                self._chosen[table] = known
        return known

    @cached_property
    def _chosen(self) -> dict[SourceTable, TableOptions]:
        return {}

    def _choose(self, table: SourceTable) -> TableOptions:
        names = {str(table), f"{table.database}.{table}"}
        for pattern, options in self.tables:
            if any(fnmatchcase(name, pattern) for name in names):
                return options
        return self.defaults


@dataclass(frozen=True)
class TopicPlan:
    """One topic in one batch.

    Attributes:
        id: Kafka's topic id.
        ranges: ``[start, end)`` per partition, already trimmed to what the ledger has not landed.
        merges: True when its tables take the merge path: several partitions have records, or it shares a table.
    """

    id: str
    ranges: dict[int, tuple[int, int]]
    merges: bool


@dataclass(frozen=True)
class BatchPlan:
    """One attempt at one micro-batch.

    Attributes:
        epoch: of the driver that runs it; part of staged names.
        commit: ordinal of the data commit that this batch becomes.
        unique: tells this attempt's staged files from any other's.
        tables: the ledger's tables by landing-zone name.
        schemas: the tables' present pinned schemas as JSON by fingerprint.
        streamed_runs: connector runs known to have streamed, over all tables.
        doubtful: tables of which an earlier attempt at this batch found that a record was set aside.
        drops: source tables of which an earlier attempt at this batch found that they were dropped at the source.
        passed_over: source tables of which events passed by while the settings left them out, and that the settings
            carry by now.
        passed_over_full: whether the ledger's list of them is full, so that any source table may be one.
        only: the landing zone's name of the one table whose events land, those of all others are none of this plan's
            business; None for a micro-batch, which lands all.
        runs: the folder in which runs wait for their merge, where all tasks are on one machine; None where Spark moves
            them.
    """

    job: JobOptions
    epoch: int
    commit: int
    unique: str
    topics: dict[str, TopicPlan]
    tables: dict[str, TableState] = field(default_factory=dict)
    schemas: dict[str, str] = field(default_factory=dict)
    streamed_runs: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    drops: dict[Source, Dropped] = field(default_factory=dict)
    passed_over: frozenset[Source] = frozenset()
    passed_over_full: bool = False
    only: str | None = None
    runs: str | None = None

    @property
    def merges(self) -> bool:
        """Whether rows of a topic take the merge path, so that stage 2 has to bring them together."""
        return any(topic.merges for topic in self.topics.values())

    def lands(self, found: TableState) -> bool:
        """Whether the events of a table land; ``found`` is what the table directory of a task says."""
        return self.only is None or self.tables[self.only].source == found.source

    @cached_property
    def by_source(self) -> Mapping[Source, str]:
        """Landing-zone name of each known source table."""
        return {source: name for name, state in self.tables.items() for source in sources_of(state)}

    @cached_property
    def places_taken(self) -> int:
        """How many of the known tables count among ``tables.most``; once for all partitions of a task."""
        return sum(map(_takes_a_place, self.tables.values()))

    @cached_property
    def late(self) -> frozenset[Source]:
        """Source tables that are carried by now, of which events passed by before, and that no table is known of."""
        return self.passed_over - self.by_source.keys()


def _takes_a_place(table: TableState) -> bool:
    """Whether the table is mirrored, or will be: one whose mirror was dropped with it at the source is not."""
    return bool(table.sequence) or table.dropped is None or table.dropped.back


class ResultKind(enum.StrEnum):
    TABLE = "table"
    PARTITION = "partition"
    FAILURE = "failure"
    BLOB = "blob"


class TableResult(msgspec.Struct, frozen=True):
    """What landing one table's rows came to.

    Attributes:
        file: the staged file, or None when no row landed.
        state: the table's state after this batch, to be committed as it is.
        schemas: pinned schemas that this batch made, by fingerprint.
        direct_topics: the topics whose rows were landed directly; two results with one table mean that they must merge.
        events: row events of the table that the range holds, landed or passed over.
        clamped: cells changed by a type's range rule; ``notes``: schema changes and the like, for people.
        counts: what else the ledger adds to its counters.
        left_out: events set aside as dead letters because of their rows, per reason.
        filled: whether a value that the source did not send was taken from an earlier row.
        figures: what metrics count beside the ledger: ``unavailable.`` values by what took their place, and
            ``schema_changes.`` by kind.
        seconds: what each :class:`~streaming.landing.steps.Step` of landing the table took.
    """

    table: str
    state: TableState
    file: LandedFile | None = None
    schemas: dict[str, str] = {}
    direct_topics: tuple[str, ...] = ()
    events: int = 0
    clamped: int = 0
    counts: dict[str, int] = {}
    left_out: dict[str, int] = {}
    filled: bool = False
    figures: dict[str, int] = {}
    seconds: dict[str, float] = {}
    notes: tuple[str, ...] = ()


class PartitionResult(msgspec.Struct, frozen=True):
    """What became of one partition's records that yielded no row: counts by reason.

    Attributes:
        epochs: how often the log positions fell for good, as after a failover or a reset of the source's log.
        table_changes: what its schema-change records tell.
        passed_over: source tables of records that the settings leave out and that no table is known of; as many at
            most as the ledger has room for.
        excluded: source tables of records that the settings leave out and that a table is known of.
        runs: the connector runs that its records name, see :attr:`connectors.debezium.events.Decoded.runs`.
        ops: row events by operation (``create``, ``update``, ``delete``, ``read``, ``truncate``).
        oldest_ms, newest_ms: Kafka's timestamps of its records, milliseconds since 1970; 0 without any.
        seconds: what each :class:`~streaming.landing.steps.Step` took, but for landing tables.
    """

    topic: str
    partition: int
    records: int
    skipped: dict[str, int] = {}
    bad: dict[str, int] = {}
    epochs: int = 0
    table_changes: tuple[TableChange, ...] = ()
    passed_over: tuple[Source, ...] = ()
    excluded: tuple[Source, ...] = ()
    runs: dict[str, dict[str, int]] = {}
    ops: dict[str, int] = {}
    oldest_ms: int = 0
    newest_ms: int = 0
    seconds: dict[str, float] = {}


class Failure(msgspec.Struct, frozen=True):
    """An error of a task in a form that keeps its kind, facts and remedy on the way to the driver."""

    kind: str
    message: str
    remedy: str
    facts: dict[str, str]
    transient: bool
    retry_after: float | None = None
