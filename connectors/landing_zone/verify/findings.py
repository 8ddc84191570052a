"""What verify reports."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Severity(enum.StrEnum):
    """A problem breaks the format or loses data; a warning can be right, and somebody should know that it is."""

    PROBLEM = "problem"
    WARNING = "warning"


class Rule(enum.StrEnum):
    """The rules of the landing-zone format, its best practices, and of the ledger."""

    METADATA_MISSING = "metadata-missing"
    METADATA_INVALID = "metadata-invalid"
    METADATA_PROPERTY = "metadata-property"
    DETECTION_STRATEGY = "detection-strategy"
    PARTNER_EVENTS = "partner-events"
    FOREIGN_FILE = "foreign-file"
    LEFTOVER = "leftover"
    NO_FILES = "no-files"
    NUMBER_GAP = "number-gap"
    NUMBER_TWICE = "number-twice"
    HISTORY_REMOVED = "history-removed"
    EMPTY_FILE = "empty-file"
    UNREADABLE_FILE = "unreadable-file"
    COMPRESSION = "compression"
    MARKER_POSITION = "marker-position"
    MARKER_TYPE = "marker-type"
    MARKER_VALUE = "marker-value"
    COLUMN_TYPE = "column-type"
    COLUMN_CHANGED = "column-changed"
    COLUMN_REQUIRED = "column-required"
    COLUMN_NAME = "column-name"
    COLUMN_UNDECLARED = "column-undeclared"
    KEY_MISSING = "key-missing"
    KEY_NULL = "key-null"
    KEYLESS_CHANGE = "keyless-change"
    INSERT_OF_EXISTING_KEY = "insert-of-existing-key"
    UPDATE_OF_MISSING_KEY = "update-of-missing-key"
    DELETE_OF_MISSING_KEY = "delete-of-missing-key"
    LEDGER_TABLE = "ledger-table"
    LEDGER_NUMBER = "ledger-number"
    LEDGER_CONTENT = "ledger-content"
    LEDGER_ROWS = "ledger-rows"
    LEDGER_KEYS = "ledger-keys"


@dataclass(frozen=True)
class Finding:
    """One breach of a rule.

    Attributes:
        table: the zone's name of it; None for the zone itself.
        file: path in the zone; None for the table as a whole.
        message: one sentence: what is wrong. ``remedy``: what to do about it.
    """

    severity: Severity
    rule: Rule
    table: str | None
    file: str | None
    message: str
    remedy: str


def problem(rule: Rule, table: str | None, file: str | None, message: str, remedy: str) -> Finding:
    """A finding that breaks the format or loses data."""
    return Finding(Severity.PROBLEM, rule, table, file, message, remedy)


def warning(rule: Rule, table: str | None, file: str | None, message: str, remedy: str) -> Finding:
    """A finding that can be right."""
    return Finding(Severity.WARNING, rule, table, file, message, remedy)
