"""Which tables land, under which names, and by which rules."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, TypeVar

from pydantic import Field

from connectors.debezium.declared import parse_column
from connectors.debezium.errors import ColumnDeclarationError
from streaming.landing.own_columns import HISTORY_COLUMNS
from streaming.policies import (
    Compaction,
    FileFormat,
    MetadataColumn,
    OnBadRecord,
    OnMissingKey,
    TableMode,
)
from streaming.settings.naming import Naming
from streaming.settings.policies import Policies
from streaming.settings.section import KeyPath, Section, path_text
from streaming.settings.shape import (
    OFF_IS_A_CHOICE,
    Secrecy,
    SoftDelete,
    added_problems,
    cast_problems,
    disguise_problems,
    merging_problems,
)

S = TypeVar("S", bound=Section)

Glob = Annotated[str, Field(min_length=1)]
ColumnName = Annotated[str, Field(min_length=1)]


class SchemaOrigin(enum.StrEnum):
    """Where the columns of JSON without embedded schema come from."""

    DECLARED = "declared"
    LEARN = "learn"


class ColumnSeparator(enum.StrEnum):
    """Column separators that the contract knows."""

    COMMA = ","
    SEMICOLON = ";"
    PIPE = "|"
    TAB = "\t"


class RowOperation(enum.StrEnum):
    """Debezium's codes of the operations on rows (field ``op``)."""

    CREATE = "c"
    UPDATE = "u"
    DELETE = "d"
    READ = "r"
    TRUNCATE = "t"


class Columns(Section):
    """Which of the source's columns land, and which of them in disguise. Key columns always land."""

    include: list[Glob] = Field(default=[], examples=[["id", "name*"]])
    """Glob patterns of the columns to land; empty takes all."""
    exclude: list[Glob] = Field(default=[], examples=[["internal_*"]])
    """Glob patterns of columns to leave out; wins over include."""
    mask: list[Glob] = Field(default=[], examples=[["email"]])
    """Glob patterns of columns that land masked: **** for text, NULL for anything else."""
    hashed: list[Glob] = Field(default=[], alias="hash", examples=[["national_id"]])
    """Glob patterns of columns that land as the SHA-256 of tables.secrecy.salt and the value; key columns may, too."""
    encrypted: list[Glob] = Field(default=[], alias="encrypt", examples=[["iban"]])
    """Glob patterns of columns that land encrypted under tables.secrecy.key; key columns may, too. hash wins."""


class Delimited(Section):
    """Delimited text; used where file_format is delimited."""

    column_separator: ColumnSeparator = ColumnSeparator.COMMA
    """Character between columns."""
    gzip: bool = False
    """Whether the files are compressed with gzip."""


class TableSettings(Section):
    """Rules of one table, or of all that no override matches."""

    keys: list[ColumnName] = Field(default=[], examples=[["id"]])
    """Key columns in key order; empty takes the key of the Kafka record."""
    columns: Columns = Columns()
    """Which columns land."""
    casts: dict[ColumnName, str] = Field(default={}, examples=[{"price": "decimal(18,2)"}])
    """Columns and the types that they are cast to: bool, int16, int32, int64, float32, float64, decimal(p,s), string,
    binary, date, timestamp, timestamptz."""
    add: dict[ColumnName, str] = Field(default={}, examples=[{"load_source": "'shop'"}])
    """Further columns, each a SQL expression over the row as it lands."""
    mode: TableMode = TableMode.MIRROR
    """mirror lands the table as it is at the source; history appends every change as a row of its own."""
    soft_delete: SoftDelete = SoftDelete()
    """Let deleted rows stay, marked in a column."""
    compaction: Annotated[Compaction, OFF_IS_A_CHOICE] = Compaction.OFF
    """off lands every change; last_state only the last row of each key in a file."""
    declared: dict[ColumnName, str] = Field(default={}, examples=[{"id": "int64", "price": "decimal(10,2)"}])
    """Columns and types of JSON without embedded schema, in file order."""
    schema_origin: SchemaOrigin = Field(default=SchemaOrigin.DECLARED, alias="schema")
    """JSON without embedded schema or declared columns: a bad record (declared), or learn the types from it."""
    metadata_columns: list[MetadataColumn] = Field(default=[], examples=[["op", "source_ts"]])
    """Columns about the event to land beside the row's own."""
    metadata_prefix: str = "_cdc_"
    """Prefix of the names of metadata columns."""
    included_operations: list[RowOperation] = Field(default=[], examples=[["c", "u", "d", "r"]])
    """Operations whose events land, by Debezium's code; all others are counted and skipped. Empty takes all."""
    excluded_operations: list[RowOperation] = Field(default=[], examples=[["t"]])
    """Operations whose events are counted and skipped, by Debezium's code."""
    policies: Policies = Policies()
    """What happens where history can't simply be carried over."""
    file_format: FileFormat = FileFormat.PARQUET
    """Format of the table's landing files."""
    delimited: Delimited = Delimited()
    """Options of delimited text."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        for name, text in self.declared.items():
            try:
                parse_column(name, text)
            except ColumnDeclarationError as error:
                yield ("declared", name), f"is not a known type: {error.remedy}"
        for index, key in enumerate(self.keys):
            if key in self.keys[:index]:
                yield ("keys", index), f"names {key} a second time"
            if self.declared and key not in self.declared:
                yield ("keys", index), f"names {key}, which is not among the declared columns"
        yield from self._shape_problems()
        for what in ("mask", "exclude"):
            for index, glob in enumerate(getattr(self.columns, what)):
                for key in dict.fromkeys(self.keys):
                    if fnmatchcase(key, glob):
                        verb = "masks" if what == "mask" else "excludes"
                        yield ("columns", what, index), f"{verb} the key column {key}: a row is found by its key"

    def _shape_problems(self) -> Iterator[tuple[KeyPath, str]]:
        yield from cast_problems(self.casts, self.declared)
        history = HISTORY_COLUMNS if self.mode is TableMode.HISTORY else ()
        metadata = {self.metadata_prefix + kind.value for kind in (*history, *self.metadata_columns)}
        yield from added_problems(self.add, self.declared, self.soft_delete.column, metadata)
        yield from disguise_problems(
            {"hash": self.columns.hashed, "encrypt": self.columns.encrypted, "mask": self.columns.mask}
        )
        for index, operation in enumerate(self.excluded_operations):
            if operation in self.included_operations:
                yield ("excluded_operations", index), f"leaves out {operation}, which included_operations takes"
        if self.soft_delete.column is not None and RowOperation.DELETE not in self.landing_operations():
            yield ("soft_delete", "column"), "has no effect: the deletes are left out by the table's operations"
        if self.mode is TableMode.HISTORY:
            if self.soft_delete.column is not None:
                yield ("soft_delete", "column"), "has no effect in mode history, where each row says whether it is gone"
            if self.compaction is not Compaction.OFF:
                yield ("compaction",), "has no effect in mode history, where every change is a row: set it to off"
        if self.compaction is not Compaction.OFF and self.policies.on_missing_key is OnMissingKey.APPEND:
            yield ("compaction",), "needs a key, so policies.on_missing_key can't be append: set one of the two back"

    def landing_operations(self) -> frozenset[RowOperation]:
        """The operations whose events land."""
        return frozenset(self.included_operations or RowOperation) - frozenset(self.excluded_operations)


class TableOverride(TableSettings):
    """Rules of the tables that match: every key of tables.defaults, as far as it differs there, and three more."""

    match: Glob = Field(examples=["public.orders"])
    """Glob pattern of schema.table or database.schema.table."""
    naming: Naming | None = None
    """Names in the mirrored database, where they differ from tables.naming."""
    merge_sources: bool = False
    """Whether source tables that get one name land in it together, as shards do; needs metadata_columns that tell them
    apart, which become part of the key."""


@dataclass(frozen=True)
class ResolvedTable:
    """The rules of the tables that match a pattern: override over defaults.

    Attributes:
        match: glob pattern of ``schema.table`` or ``database.schema.table``.
        merge_sources: source tables that get one name land in it together.
    """

    match: str
    settings: TableSettings
    naming: Naming
    merge_sources: bool = False


class Tables(Section):
    """Which tables land and how."""

    include: list[Glob] = Field(default=[], examples=[["public.*"]])
    """Glob patterns of schema.table or database.schema.table to land; empty takes all."""
    exclude: list[Glob] = Field(default=[], examples=[["public.tmp_*"]])
    """Glob patterns of tables to leave out; wins over include."""
    most: int = Field(default=1_000, ge=1)
    """How many tables may land; a mirrored database takes 1,000. A record of one more is bad: it begins no table."""
    naming: Naming = Naming()
    """Names in the mirrored database."""
    on_bad_record: OnBadRecord = OnBadRecord.DEAD_LETTER
    """A record can't be decoded: send it to the dead-letter topic and go on, or stop the job (fail)."""
    secrecy: Secrecy = Secrecy()
    """The secrets of hashed and encrypted columns."""
    defaults: TableSettings = TableSettings()
    """Rules of every table."""
    overrides: list[TableOverride] = Field(default=[], examples=[[{"match": "public.orders", "keys": ["id"]}]])
    """Rules of some tables; the first match counts, and only the keys written there differ from the defaults."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if not self.naming.names_each():
            yield ("naming", "table"), "has to contain {table}: otherwise all tables would have one name"
        for index, override in enumerate(self.overrides):
            if override.naming is not None and override.naming.may_be_empty():
                yield ("overrides", index, "naming", "table"), "has to contain {table}, or text of its own"
            if override.match in {earlier.match for earlier in self.overrides[:index]}:
                yield ("overrides", index, "match"), "is the pattern of an earlier override, which wins: merge the two"
            for path, message in _merged(self.defaults, override).problems():
                where = path_text(path)
                yield ("overrides", index), f"doesn't go with tables.defaults: {where} {message}"

        for index, rule in enumerate(self.resolved()):
            if rule.merge_sources:
                policies, columns = rule.settings.policies, rule.settings.metadata_columns
                for path, message in merging_problems(policies, columns, rule.settings.mode):
                    yield ("overrides", index, *path), message
        yield from self._secrecy_problems()

    def _secrecy_problems(self) -> Iterator[tuple[KeyPath, str]]:
        rules = [each.settings.columns for each in self.resolved()]
        if any(columns.hashed for columns in rules) and not (self.secrecy.salt or self.secrecy.salt_file):
            yield ("secrecy", "salt_file"), "is required (or salt): there are columns to hash"
        if any(columns.encrypted for columns in rules) and not (self.secrecy.key or self.secrecy.key_file):
            yield ("secrecy", "key_file"), "is required (or key): there are columns to encrypt"

    def resolved(self) -> tuple[ResolvedTable, ...]:
        """The overrides in order, each completed by the defaults; a ``*`` with the defaults alone ends them."""
        return (
            *(
                ResolvedTable(
                    match=override.match,
                    settings=_merged(self.defaults, override),
                    naming=_merged(self.naming, override.naming or Naming()),
                    merge_sources=override.merge_sources,
                )
                for override in self.overrides
            ),
            ResolvedTable(match="*", settings=self.defaults, naming=self.naming),
        )

    def settings_for(self, table: str, database: str = "") -> ResolvedTable:
        """The rules of ``schema.table``: those of the first override that matches, or the defaults."""
        names = (table, f"{database}.{table}")
        return next(each for each in self.resolved() if any(fnmatchcase(name, each.match) for name in names))


def _merged(defaults: S, written: S) -> S:
    """``defaults`` with every key that ``written`` sets: sections key by key, lists and maps as a whole."""
    kind = type(defaults)
    changes: dict[str, object] = {}
    for name in written.model_fields_set & set(kind.model_fields):
        ours, theirs = getattr(written, name), getattr(defaults, name)
        changes[name] = _merged(theirs, ours) if isinstance(ours, Section) else ours
    return defaults.model_copy(update=changes)
