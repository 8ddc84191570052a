"""The copy of the ledger's state in the zone, which a lost ledger is made again from; when it is written anew.

Each landing file says itself how far its table has come, so the copy may lie behind in that. It may not in anything
that no file says: which topics, partitions and tables there are, in which state, and what people and policies have
decided. So it follows whenever one of these changes, and now and then.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from connectors.json_errors import DECODE_ERRORS
from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.ledger.state import LedgerState, TableState, Version
from connectors.landing_zone.storage.protocol import Storage

SNAPSHOT_COPY = "_cdc_bridge_snapshot.json"
"""In the zone's root: the whole state some versions ago."""

COPY_EVERY_MS = 3_600_000
"""A copy that lies further behind is written anew with the next version."""


def read_copy(zone: Storage) -> LedgerState | None:
    """The copy in the zone, whosesoever ledger it is of; None if there is none, or none that can be read.

    Raises:
        Transient: the storage failed.
    """
    try:
        return msgspec.json.decode(zone.read(SNAPSHOT_COPY), type=LedgerState)
    except (PathNotFoundError, *DECODE_ERRORS):
        return None


def is_newer(copy: LedgerState | None, head: LedgerState) -> bool:
    """Whether the zone's copy is of a version of this ledger that comes after ``head``.

    A version is written before its copy. So a ledger that lacks the copy's version is an older one, if its head was
    read after the copy; read before it, the head may lie behind because a driver has gone on meanwhile.
    """
    return copy is not None and copy.ledger_id == head.ledger_id and copy.version > head.version


def changes_ground(version: Version, before: LedgerState, after: LedgerState) -> bool:
    """Whether the version changes what no landing file says.

    Args:
        before, after: the states that it leads from and to.
    """
    if version.snapshot is not None or version.passed_over or version.handled or version.merging or version.decided:
        return True
    for topic in version.planned:
        known, now = before.topics.get(topic), after.topics[topic]
        if known is None or known.id != now.id or known.partitions.keys() != now.partitions.keys():
            return True
    return any(_ground(before.tables.get(name)) != _ground(after.tables[name]) for name in version.tables)


def _ground(table: TableState | None) -> TableState | None:
    """The table without what its files' footers say, and without figures for people."""
    if table is None:
        return None
    parked = None if table.parked is None else replace(table.parked, skipped=0)
    return replace(
        table,
        parked=parked,
        sequence=0,
        schema="",
        snapshot=None,
        partitions={topic: dict.fromkeys(partitions) for topic, partitions in table.partitions.items()},
        rows={},
        streamed_runs=(),
        run_starts={},
        loaded="",
        loaded_ms=0,
        ignored_values=0,
        replayed={},
        replayed_to="",
        late=0,
        dead_letters=0,
        source_ms=0,
        sha256="",
    )
