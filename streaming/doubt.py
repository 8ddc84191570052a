"""Tables of which nothing shows whether they keep rows that the source has not, and what to do about them."""

from __future__ import annotations

from connectors.landing_zone.ledger.state import TableState

MAYBE_STALE = (
    "a snapshot found the table empty at the source, and no event shows whether its connector made it at its start or "
    "somebody asked for it; if it was a second initial snapshot, rows that the source has not are still in the mirror"
)
MAYBE_STALE_REMEDY = (
    "`cdc-bridge reconcile CONFIG --table TABLE` tells whether there are any, `cdc-bridge resync CONFIG TABLE` removes "
    "them; or set policies.on_resnapshot to upsert, which accepts that rows stay that no longer exist at the source"
)


def is_doubtful(table: TableState) -> bool:
    """Whether the table may keep rows that the source has not, and nobody has accepted that yet."""
    return table.doubt_ms > table.heard_ms
