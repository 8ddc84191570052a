"""Storages, ledgers and zones opened to be looked at: nothing in them is written, removed or claimed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from connectors.landing_zone.errors import VersionNotKeptError, ZoneOwnedError
from connectors.landing_zone.layout import possible_paths
from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.owner import read_owner
from connectors.landing_zone.ledger.state import LandedFile, LedgerState
from connectors.landing_zone.numbering import SequenceNumber
from connectors.landing_zone.replay.zone import require_zone
from connectors.landing_zone.side_by_side import side_by_side
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import StorageLocation, local_root
from connectors.landing_zone.storage.open import open_storage
from connectors.landing_zone.storage.protocol import Storage
from streaming.job_options import storage_location
from streaming.settings import BridgeSettings

_LOCAL = "file"
THREADS = 8


@dataclass(frozen=True)
class ReadLedger:
    """A ledger at one moment.

    Attributes:
        landed: the files that the versions kept have bound, oldest first.
    """

    state: LedgerState
    landed: tuple[LandedFile, ...]


def reading_storage(location: StorageLocation) -> Storage:
    """The storage at a location; unlike one opened to write, it does not sweep what crashed attempts left behind.

    Raises:
        InvalidLocationError: not a location that can be opened.
    """
    if location.scheme == _LOCAL:
        return LocalStorage(local_root(location))
    return open_storage(location)


def state_storage(settings: BridgeSettings) -> Storage:
    """The settings' state storage, to be read."""
    return reading_storage(storage_location(settings, settings.state_url))


def zone_storage(settings: BridgeSettings) -> Storage:
    """The settings' landing zone, to be read."""
    return reading_storage(storage_location(settings, settings.landing_zone.url))


def location_of(place: str) -> StorageLocation:
    """The location of a folder's path or a storage's URL."""
    if "://" in place:
        return StorageLocation(place.rstrip("/"))
    return StorageLocation(Path(place).absolute().as_uri())


def existing_zone(place: str) -> Storage:
    """The landing zone at a path or URL.

    Raises:
        InvalidZoneError: there is no such folder, or it is no landing zone.
    """
    storage = reading_storage(location_of(place))
    require_zone(storage)
    return storage


def state_place(zone: str, state: str | None) -> str:
    """Where a zone's ledger is: as said, or by default beside the zone, in ``<zone>-state``."""
    return state if state is not None else f"{zone.rstrip('/')}-state"


def head_state(state: Storage) -> LedgerState:
    """The ledger's newest state; version 0 where there is none.

    Raises:
        LedgerCorruptError: it cannot be read.
    """
    return Ledger.open(state, now_ms=lambda: time.time_ns() // 1_000_000).state


def ledger_of_zone(zone: Storage, state: Storage, *, required: bool) -> ReadLedger | None:
    """The ledger at ``state`` if it is the zone's; None where there is none.

    Args:
        required: a missing ledger is an error.

    Raises:
        VersionNotKeptError: required, and there is none.
        ZoneOwnedError: the zone belongs to another ledger.
    """
    head = head_state(state)
    if head.version == 0:
        if required:
            raise VersionNotKeptError(
                "there is no ledger here",
                remedy="name the state storage of the bridge that writes this zone: "
                "`cdc-bridge verify ZONE --state URL`",
                state=state.url,
            )
        return None
    require_own(zone, state, head)
    landed = tuple(file for version in versions(state) for file in version.files.values())[::-1]
    return ReadLedger(head, landed)


def unpublished(zone: Storage, state: LedgerState) -> frozenset[str]:
    """The tables whose pending file is under none of its final paths yet.

    The ledger confirms a file with the version that follows, so its newest files count as pending there for a while.
    """
    waiting = [
        (name, possible_paths(state.tables[name].folder, SequenceNumber(file.sequence), state.tables[name].extension))
        for name, file in state.pending.items()
    ]
    gone = side_by_side(lambda one: all(zone.stat(path) is None for path in one[1]), waiting, threads=THREADS)
    return frozenset(name for (name, _), absent in zip(waiting, gone, strict=True) if absent)


def require_own(zone: Storage, state: Storage, head: LedgerState) -> None:
    """Return if the zone belongs to this ledger, or to none yet.

    Raises:
        ZoneOwnedError: it belongs to another.
    """
    owner = read_owner(zone)
    if owner is not None and owner.ledger_id != head.ledger_id:
        raise ZoneOwnedError(
            f"the landing zone belongs to the ledger {owner.ledger_id} of source {owner.source}, not to this one, "
            f"{head.ledger_id}",
            remedy="name the state storage of the bridge that writes this zone: `cdc-bridge verify ZONE --state URL`, "
            "or state.url in the settings",
            zone=zone.url,
            state=state.url,
        )
