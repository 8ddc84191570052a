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
    """What becomes of a column whose new type the pinned one cannot hold."""

    PARK = "park"
    NEW_COLUMN = "new_column"


class OnKeyChange(enum.StrEnum):
    """What becomes of a table whose key columns changed: ``keyColumns`` can't be changed once written."""

    PARK = "park"


class OnTruncate(enum.StrEnum):
    """What a truncate does: there is no row marker for it."""

    PARK = "park"
    IGNORE = "ignore"


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
