"""Rows that could not be found again: no key, another one, or NULL in it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Op
from connectors.landing_zone.ledger.state import RebuildKind
from streaming.landing.rows import OrderedRows
from streaming.landing.stops.stop import Stop
from streaming.plan import TableOptions
from streaming.policies import OnKeyChange, OnMissingKey
from streaming.wording import names_text


def key_stop(events: OrderedRows, options: TableOptions, keys: tuple[str, ...] | None) -> Stop | None:
    """The first event whose key columns are not the table's, or that needs a key and has none.

    Args:
        keys: the table's pinned key columns; None while nothing has landed yet.
    """
    rows = np.flatnonzero(events.ops != Op.TRUNCATE)
    if not len(rows):
        return None
    first = int(rows[0])
    now = events.schema.key
    rebuild = RebuildKind.SNAPSHOT if options.on_key_change is OnKeyChange.REBUILD else None
    # A table that had no key takes rows with one as before, unless it is to get that key.
    if now and keys is not None and keys != now and (keys or rebuild):
        return Stop.at(
            events,
            first,
            "key_changed",
            f"the key columns changed from ({names_text(keys)}) to ({names_text(now)}); a mirrored table's key "
            "never can",
            "`cdc-bridge resync CONFIG TABLE`; or restore the key at the source, or declare the old key columns for "
            "this table in the settings, and `cdc-bridge resume CONFIG TABLE`",
            rebuild,
        )
    if now and keys != ():
        return None
    if keys != () and options.on_missing_key is OnMissingKey.PARK:
        return Stop.at(
            events,
            first,
            "missing_key",
            "the records carry no key, so updates and deletes cannot find their row",
            "declare the table's key columns in the settings, or set policies.on_missing_key to append, restart the "
            "bridge, and `cdc-bridge resume CONFIG TABLE`",
        )
    if keys:
        return Stop.at(
            events,
            first,
            "missing_key",
            f"a record without key arrived for a table with the key ({names_text(keys)})",
            "declare the table's key columns in the settings, restart the bridge, and "
            "`cdc-bridge resume CONFIG TABLE`; or `cdc-bridge resync CONFIG TABLE`, as a table that appends, or with "
            "the key restored at the source",
            rebuild,
        )
    changes = np.flatnonzero((events.ops == Op.UPDATE) | (events.ops == Op.DELETE))
    if not len(changes):
        return None
    return Stop.at(
        events,
        int(changes[0]),
        "change_without_key",
        "an update or delete arrived for a table that can only append",
        "declare the table's key columns in the settings and restart the bridge, or make the source send inserts only; "
        "then `cdc-bridge resync CONFIG TABLE`",
    )


def null_key_stop(events: OrderedRows, keys: tuple[str, ...]) -> Stop | None:
    """The first row that has NULL in a key column: the destination could never find it again."""
    places = [first for name in keys if (first := _first_null(events.rows.column(name))) is not None]
    if events.old_keys is not None:
        places += [
            int(events.key_changed[first])
            for name in keys
            if (first := _first_null(events.old_keys.column(name))) is not None
        ]
    if not places:
        return None
    return Stop.at(
        events,
        min(places),
        "null_key",
        f"a row has NULL in its key ({names_text(keys)}), so later changes could not find it",
        "declare key columns for the table in the settings that are never NULL, restart the bridge, and "
        "`cdc-bridge resync CONFIG TABLE`, or `cdc-bridge resume CONFIG TABLE` if nothing of it has landed",
    )


def _first_null(column: pa.Array) -> int | None:
    if not column.null_count:
        return None
    return int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
