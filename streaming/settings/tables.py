"""Which tables land, under which names, and by which rules."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field

from connectors.debezium.declared import parse_column
from connectors.debezium.errors import ColumnDeclarationError
from streaming.policies import (
    FileFormat,
    MetadataColumn,
    OnBadRecord,
    OnKeyChange,
    OnMissingKey,
    OnResnapshot,
    OnTruncate,
    OnTypeChange,
    OnUnavailable,
)
from streaming.settings.scalars import NULL_IS_A_CHOICE
from streaming.settings.section import KeyPath, Section, path_text

S = TypeVar("S", bound=Section)

_PLACEHOLDERS = frozenset({"database", "schema", "table"})


def _template(text: str) -> str:
    names = re.findall(r"\{([^{}]*)\}", text)
    unknown = sorted(set(names) - _PLACEHOLDERS)
    if unknown or re.sub(r"\{[^{}]*\}", "", text).strip("{}") != re.sub(r"\{[^{}]*\}", "", text):
        raise ValueError("is not a name template: the placeholders are {database}, {schema} and {table}")
    return text


NameTemplate = Annotated[str, AfterValidator(_template)]
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


class Naming(Section):
    """How a source table's place in the landing zone is named; each key is a template."""

    schema_template: NameTemplate = Field(default="{schema}", alias="schema")
    """Schema in the mirrored database; when it comes out empty the table lands without one."""
    table_template: NameTemplate = Field(default="{table}", alias="table", min_length=1)
    """Table in the mirrored database."""


class Columns(Section):
    """Which of the source's columns land. Key columns always land, as they are."""

    include: list[Glob] = Field(default=[], examples=[["id", "name*"]])
    """Glob patterns of the columns to land; empty takes all."""
    exclude: list[Glob] = Field(default=[], examples=[["internal_*"]])
    """Glob patterns of columns to leave out; wins over include."""
    mask: list[Glob] = Field(default=[], examples=[["email"]])
    """Glob patterns of columns that land masked: **** for text, NULL for anything else."""


class Policies(Section):
    """What happens where the source's history can't simply be carried over; park stops only this table."""

    on_type_change: OnTypeChange = OnTypeChange.PARK
    """A column's new type doesn't fit the pinned one: park, or land it as a new column."""
    on_key_change: OnKeyChange = OnKeyChange.PARK
    """The key columns changed, which a mirrored table can't follow."""
    on_truncate: OnTruncate = OnTruncate.PARK
    """The source truncated the table, for which no row marker exists: park, or ignore (rows stay behind)."""
    on_unavailable: Annotated[OnUnavailable, NULL_IS_A_CHOICE] = OnUnavailable.PARK
    """The source did not send a large value and it is known nowhere else: park, dead-letter the event, or land NULL."""
    on_missing_key: OnMissingKey = OnMissingKey.PARK
    """The table has no key: park, or append (inserts only; a re-sent event doubles its row)."""
    on_resnapshot: OnResnapshot = OnResnapshot.PARK
    """A second initial snapshot arrives: park, or upsert its rows (rows deleted in between stay behind)."""


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
    declared: dict[ColumnName, str] = Field(default={}, examples=[{"id": "int64", "price": "decimal(10,2)"}])
    """Columns and types of JSON without embedded schema, in file order."""
    schema_origin: SchemaOrigin = Field(default=SchemaOrigin.DECLARED, alias="schema")
    """JSON without embedded schema or declared columns: a bad record (declared), or learn the types from it."""
    metadata_columns: list[MetadataColumn] = Field(default=[], examples=[["op", "source_ts"]])
    """Columns about the event to land beside the row's own."""
    metadata_prefix: str = "_cdc_"
    """Prefix of the names of metadata columns."""
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
        for what in ("mask", "exclude"):
            for index, glob in enumerate(getattr(self.columns, what)):
                for key in dict.fromkeys(self.keys):
                    if fnmatchcase(key, glob):
                        verb = "masks" if what == "mask" else "excludes"
                        yield ("columns", what, index), f"{verb} the key column {key}: a row is found by its key"


class TableOverride(TableSettings):
    """Rules of the tables that match: every key of tables.defaults, as far as it differs there, and two more."""

    match: Glob = Field(examples=["public.orders"])
    """Glob pattern of schema.table or database.schema.table."""
    naming: Naming | None = None
    """Names in the mirrored database, where they differ from tables.naming."""


@dataclass(frozen=True)
class ResolvedTable:
    """The rules of the tables that match a pattern: override over defaults.

    Attributes:
        match: glob pattern of ``schema.table`` or ``database.schema.table``.
    """

    match: str
    settings: TableSettings
    naming: Naming


class Tables(Section):
    """Which tables land and how."""

    include: list[Glob] = Field(default=[], examples=[["public.*"]])
    """Glob patterns of schema.table or database.schema.table to land; empty takes all."""
    exclude: list[Glob] = Field(default=[], examples=[["public.tmp_*"]])
    """Glob patterns of tables to leave out; wins over include."""
    naming: Naming = Naming()
    """Names in the mirrored database."""
    on_bad_record: OnBadRecord = OnBadRecord.DEAD_LETTER
    """A record can't be decoded: send it to the dead-letter topic and go on, or stop the job (fail)."""
    defaults: TableSettings = TableSettings()
    """Rules of every table."""
    overrides: list[TableOverride] = Field(default=[], examples=[[{"match": "public.orders", "keys": ["id"]}]])
    """Rules of some tables; the first match counts, and only the keys written there differ from the defaults."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        for index, override in enumerate(self.overrides):
            if override.match in {earlier.match for earlier in self.overrides[:index]}:
                yield ("overrides", index, "match"), "is the pattern of an earlier override, which wins: merge the two"
            for path, message in _merged(self.defaults, override).problems():
                where = path_text(path)
                yield ("overrides", index), f"doesn't go with tables.defaults: {where} {message}"

    def resolved(self) -> tuple[ResolvedTable, ...]:
        """The overrides in order, each completed by the defaults; a ``*`` with the defaults alone ends them."""
        return (
            *(
                ResolvedTable(
                    match=override.match,
                    settings=_merged(self.defaults, override),
                    naming=_merged(self.naming, override.naming or Naming()),
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
