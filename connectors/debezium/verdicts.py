"""What is decided about records that yield no row: skipped with a reason, or bad with a reason and a detail."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, field

from connectors.debezium.events import SkipReason
from connectors.debezium.schema import SourceTable


class BadReason(enum.StrEnum):
    """Why a record could not be decoded; the reason code of the dead letter."""

    NOT_JSON = "not JSON"
    NOT_UTF8 = "not UTF-8"
    TRUNCATED = "truncated"
    EMPTY_VALUE = "empty value"
    WRONG_MAGIC_BYTE = "wrong magic byte"
    UNSUPPORTED_FRAMING = "unsupported schema id form"
    UNKNOWN_SCHEMA_ID = "unknown schema id"
    UNUSABLE_SCHEMA = "unusable schema"
    CORRUPT_AVRO = "corrupt Avro"
    TRAILING_BYTES = "trailing bytes"
    NO_COLUMN_TYPES = "no column types"
    NOT_A_CHANGE_EVENT = "not a change event"
    FLATTENED = "flattened record"
    OTHER_TABLE = "another table than the topic's"
    MISSING_OP = "missing op"
    UNKNOWN_OP = "unknown op"
    MISSING_AFTER = "missing after"
    MISSING_SOURCE = "missing source"
    MISSING_KEY = "missing key"
    BAD_KEY = "unreadable key"
    MISSING_FIELD = "required field missing"
    TYPE_MISMATCH = "type mismatch"
    OUT_OF_RANGE = "value out of range"
    INEXACT_KEY = "inexact key"
    UNSUPPORTED_CONNECTOR = "unsupported connector"
    UNFORESEEN = "unforeseen"


LONGEST_SAMPLE = 100


def sample(value: object) -> str:
    """A value of a record as a rejection's detail quotes it."""
    text = repr(value)
    return text if len(text) <= LONGEST_SAMPLE else f"{text[:LONGEST_SAMPLE]}..."


@dataclass(frozen=True)
class Rejection:
    """Why one record is bad.

    Attributes:
        detail: one sentence, which may quote values: it is for the dead letter and for who asks, not for logs.
    """

    reason: BadReason
    detail: str


def no_key(column: str) -> Rejection:
    """Of a row without a value in a key column. Whether it has such a column can depend on the rows beside it."""
    return Rejection(
        BadReason.MISSING_KEY,
        f"key column {column} is null or no column of the row; have the connector send it, or declare it, or declare "
        "other key columns for the table",
    )


@dataclass
class Verdicts:
    """Decisions about the records of one call, by their index among the raw records.

    Attributes:
        bad: what is wrong, per index; the first decision about a record stays.
        skipped: number of records per reason.
        schema_changes: the skipped records that tell of a schema change.
        excluded: the tables of the records that were skipped because the settings leave their table out.
    """

    bad: dict[int, Rejection] = field(default_factory=dict)
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    schema_changes: list[int] = field(default_factory=list)
    excluded: set[SourceTable] = field(default_factory=set)

    def reject(self, index: int, reason: BadReason, detail: str) -> None:
        self.bad.setdefault(int(index), Rejection(reason, detail))

    def settle(self, index: int, verdict: SkipReason | Rejection) -> None:
        """Skip or reject a record."""
        if isinstance(verdict, SkipReason):
            self.skip(verdict)
            if verdict is SkipReason.SCHEMA_CHANGE:
                self.schema_changes.append(int(index))
        else:
            self.reject(index, verdict.reason, verdict.detail)

    def exclude(self, table: SourceTable, count: int) -> None:
        """Skip ``count`` records of a table that the settings leave out."""
        self.skip(SkipReason.EXCLUDED_TABLE, count)
        self.excluded.add(table)

    def skip(self, reason: SkipReason, count: int = 1) -> None:
        if count:
            self.skipped[reason] += count
