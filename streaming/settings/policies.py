"""The policies of a table: what happens where the source's history can't simply be carried over."""

from __future__ import annotations

from typing import Annotated

from streaming.policies import (
    OnCastFailure,
    OnDrop,
    OnKeyChange,
    OnMissingKey,
    OnResnapshot,
    OnTruncate,
    OnTypeChange,
    OnUnavailable,
)
from streaming.settings.scalars import NULL_IS_A_CHOICE
from streaming.settings.section import Section


class Policies(Section):
    """What happens where the source's history can't simply be carried over; park stops only this table."""

    on_type_change: OnTypeChange = OnTypeChange.PARK
    """A column's new type doesn't fit: park, new_column, to_string (a text column), ignore (NULL if unfit), rebuild."""
    on_key_change: OnKeyChange = OnKeyChange.PARK
    """The key columns changed, which a mirrored table can't follow: park, or rebuild the table."""
    on_truncate: OnTruncate = OnTruncate.PARK
    """The source truncated the table, for which no row marker exists: park, ignore (rows stay behind), or rebuild."""
    on_drop: OnDrop = OnDrop.KEEP
    """The source dropped the table (by its schema-change topic or catalog): keep the mirrored table, or drop it."""
    on_unavailable: Annotated[OnUnavailable, NULL_IS_A_CHOICE] = OnUnavailable.PARK
    """The source did not send a large value and it is known nowhere else: park, dead-letter the event, or land NULL."""
    on_missing_key: OnMissingKey = OnMissingKey.PARK
    """The table has no key: park, or append (inserts only; a re-sent event doubles its row)."""
    on_resnapshot: OnResnapshot = OnResnapshot.REBUILD
    """A second initial snapshot arrives: rebuild the table from it, park, or upsert (rows deleted in between stay)."""
    on_cast_failure: Annotated[OnCastFailure, NULL_IS_A_CHOICE] = OnCastFailure.NULL
    """A value doesn't fit the type that casts names: land NULL and count it, park, or dead-letter the event."""
