"""The closed sets of choices that a user makes and that the tasks carry out."""

from __future__ import annotations

import enum


class Markers(enum.StrEnum):
    """``safe`` never writes marker 0 for a keyed table; ``natural`` does where a row is proven new."""

    SAFE = "safe"
    NATURAL = "natural"


class FileFormat(enum.StrEnum):
    """Formats of a landing file that the contract knows."""

    PARQUET = "parquet"
    DELIMITED = "delimited"


class OnTypeChange(enum.StrEnum):
    """What becomes of a column whose new type the pinned one cannot hold.

    All but ``REBUILD`` are :class:`connectors.landing_zone.evolution.TypeChangePolicy`.
    """

    PARK = "park"
    NEW_COLUMN = "new_column"
    TO_STRING = "to_string"
    IGNORE = "ignore"
    REBUILD = "rebuild"


class OnKeyChange(enum.StrEnum):
    """What becomes of a table whose key columns changed: ``keyColumns`` can't be changed once written."""

    PARK = "park"
    REBUILD = "rebuild"


class OnTruncate(enum.StrEnum):
    """What a truncate does: there is no row marker for it."""

    PARK = "park"
    IGNORE = "ignore"
    REBUILD = "rebuild"


class OnDrop(enum.StrEnum):
    """What becomes of the mirror of a table that was dropped at the source."""

    KEEP = "keep"
    DROP = "drop"


class OnUnavailable(enum.StrEnum):
    """What becomes of an event with a value that the source did not send (PostgreSQL TOAST)."""

    PARK = "park"
    DEAD_LETTER = "dead_letter"
    NULL = "null"


class OnMissingKey(enum.StrEnum):
    """What becomes of a table without a key: updates and deletes can't be applied to it."""

    PARK = "park"
    APPEND = "append"


class OnResnapshot(enum.StrEnum):
    """What a second initial snapshot does: the deletes before it were never sent."""

    REBUILD = "rebuild"
    PARK = "park"
    UPSERT = "upsert"


class OnBadRecord(enum.StrEnum):
    """What becomes of a record that can't be decoded."""

    DEAD_LETTER = "dead_letter"
    FAIL = "fail"


class MetadataColumn(enum.StrEnum):
    """Columns that describe the event rather than the row; landed as ``<prefix><name>``."""

    OP = "op"
    SOURCE_TS = "source_ts"
    POSITION = "position"
    KAFKA_TOPIC = "kafka_topic"
    KAFKA_PARTITION = "kafka_partition"
    KAFKA_OFFSET = "kafka_offset"
    DELETED = "deleted"
    SOURCE_DATABASE = "source_database"
    SOURCE_SCHEMA = "source_schema"
    SOURCE_TABLE = "source_table"


class TableMode(enum.StrEnum):
    """``mirror``: the mirrored table is the source's; ``history``: it is every change, one row each."""

    MIRROR = "mirror"
    HISTORY = "history"


class Compaction(enum.StrEnum):
    """``last_state`` lands only the last row of each key in a file; ``off`` lands every change."""

    OFF = "off"
    LAST_STATE = "last_state"


class OnCastFailure(enum.StrEnum):
    """What becomes of a value that does not fit the type it is cast to."""

    NULL = "null"
    PARK = "park"
    DEAD_LETTER = "dead_letter"
