"""A lost ledger, made again from what the landing zone says of itself (architecture, "The ledger", point 8).

Three things are left of it. The zone's owner file has its id. ``_cdc_bridge_snapshot.json`` is a copy of its whole
state, never older than the last change of what no landing file says (:mod:`.copying`). And every landing file says in
its footer where in its table's history it stands, and how far each partition had landed by then.

The copy is the ground, and reading begins again where it ended. Where a table's folder has gone on since, the footer of
its last file says how far; what lies before that is passed over for that table alone (``landed_to``). A file that was
staged but not published by then is not taken, unless the copy names it: its events are read again. What is not proven
so stops its table, and without a copy that is every table.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from connectors.command_lines import command
from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.layout import SCRATCH_PAD
from connectors.landing_zone.ledger.lost_table import FoundTable, Offsets, Proof, ends_of, found_table
from connectors.landing_zone.ledger.owner import read_owner, table_folders
from connectors.landing_zone.ledger.state import LedgerState, Parked, TableStatus
from connectors.landing_zone.ledger.version_file import VERSIONS_AHEAD
from connectors.landing_zone.schema import PinnedSchema
from connectors.landing_zone.side_by_side import side_by_side
from connectors.landing_zone.staging import epoch_of
from connectors.landing_zone.storage.protocol import Storage

UNPROVEN = "ledger_rebuilt"
"""The reason for which a table stands still that the zone does not say enough of."""


@dataclass(frozen=True)
class RebuiltLedger:
    """The state that a lost ledger goes on with.

    Attributes:
        state: to be claimed; its version is above every one that the lost ledger has written.
        tables: what was found of each, by folder.
        copied: version of the copy that it rests on; None without one.
    """

    state: LedgerState
    tables: tuple[FoundTable, ...]
    copied: int | None


def rebuilt_ledger(zone: Storage, copy: LedgerState | None, *, work: Path, threads: int = 8) -> RebuiltLedger:
    """Make a ledger's state from the zone's files; nothing is written.

    Args:
        copy: the newest whole state that is left of the ledger, see
            :func:`connectors.landing_zone.ledger.remains.newest_copy`; None for none.
        work: a local folder for files while their footers are read.

    Raises:
        InvalidZoneError: the zone has no owner, or its owner file cannot be read.
        Transient: the storage failed.
    """
    owner = read_owner(zone)
    if owner is None:
        raise InvalidZoneError(
            "no ledger has ever owned this landing zone, so there is none to make again",
            remedy="check landing_zone.url in the settings; it names a zone that no bridge has filled. If it is right, "
            "`cdc-bridge adopt CONFIG` takes over the tables that another tool has filled; if it holds none, nothing "
            "has landed yet: empty the state storage and begin anew",
            zone=zone.url,
        )
    base = copy or LedgerState(ledger_id=owner.ledger_id, version=0, epoch=0, writer="")
    names = {table.folder: name for name, table in base.tables.items() if table.owns_folder}
    # They have landed nothing, so that nothing is to be proven.
    collided = {name: table for name, table in base.tables.items() if not table.owns_folder}
    folders = sorted({*names, *table_folders(zone)})
    looked = side_by_side(
        lambda folder: found_table(zone, folder, names.get(folder), base, work), folders, threads=threads
    )
    tables = tuple(_judged(one, base) for one in looked if one is not None)
    footers = [one.footer for one in tables if one.footer is not None]
    commits = max([base.commits, *(footer.commit for footer in footers)])
    copied = {one.name for one in tables if one.proof is Proof.COPY}
    state = replace(
        base,
        version=max(base.version, commits) + VERSIONS_AHEAD,
        epoch=max([base.epoch, *staged_epochs(zone)]),
        commits=commits,
        tables={**collided, **{one.name: one.state for one in tables if one.state is not None}},
        schemas={**base.schemas, **{str(one.schema.fingerprint): schema_text(one.schema) for one in footers}},
        pending={name: file for name, file in base.pending.items() if name in copied},
    )
    return RebuiltLedger(state, tables, None if copy is None else copy.version)


def _judged(one: FoundTable, base: LedgerState) -> FoundTable:
    """The table, standing still where it is not proven that it has landed all that lies before the copy's offsets."""
    if one.state is None or one.proof is Proof.COPY:
        return one
    if one.proof is Proof.NONE or one.footer is None:
        return _standing(one, one.why)
    ends = ends_of(one.footer)
    other = sorted(topic for topic, id in one.footer.topics.items() if _copied_id(base, topic) != id)
    if other:
        return _standing(one, f"the ledger's copy does not know {', '.join(other)} as its last file does")
    if _behind(ends, base):
        return _standing(one, "it was catching up when the ledger was lost")
    return one


def _standing(one: FoundTable, why: str) -> FoundTable:
    if one.state is None:
        return one
    parked = Parked(
        reason=UNPROVEN,
        message=f"the ledger was lost and made again, and what this table has landed is not proven: {why}",
        remedy=command("resync CONFIG {}", one.name),
        topic="",
        partition=0,
        offset=0,
    )
    state = replace(one.state, status=TableStatus.PARKED, parked=parked, rebuild=None)
    return FoundTable(one.name, one.folder, one.last, Proof.NONE, state, why, one.footer)


def _copied_id(base: LedgerState, topic: str) -> str | None:
    known = base.topics.get(topic)
    return None if known is None else known.id


def _behind(ends: Offsets, base: LedgerState) -> bool:
    return any(
        offset < base.topics[topic].partitions.get(number, 0)
        for topic, partitions in ends.items()
        for number, offset in partitions.items()
    )


def staged_epochs(zone: Storage) -> list[int]:
    """The epochs that have staged files, however far they came."""
    return [epoch for entry in zone.list(SCRATCH_PAD) if (epoch := epoch_of(entry.name)) is not None]


def schema_text(schema: PinnedSchema) -> str:
    """A pinned schema as the ledger holds it."""
    return msgspec.json.encode(schema).decode()
