"""Where a run's zone and ledger are: folders of their own on this disk, or behind HTTPS on the emulator of ADLS."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from connectors.landing_zone.layout import PROCESSED_FILES
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import StorageLocation
from connectors.landing_zone.storage.protocol import Storage
from tests.emulators.dfs_server import DfsServer
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage


@dataclass(frozen=True)
class Place:
    """One zone and its ledger.

    Attributes:
        zone_location, state_location: where the job finds them; zone, state: the same for this process.
    """

    zone_location: StorageLocation
    state_location: StorageLocation
    zone: Storage
    state: Storage

    def consume(self) -> None:
        """The replicator has read what is there: all but each table's last file are in its cleanup folder now."""
        for folder in _table_folders(self.zone):
            numbered = [entry for entry in self.zone.list(folder) if entry.name[0].isdecimal()]
            for entry in numbered[:-1]:
                self.zone.put(f"{folder}/{PROCESSED_FILES}/{entry.name}", self.zone.read(entry.path))
                self.zone.delete(entry.path)


def local_place(folder: Path) -> Place:
    """Two folders of this disk."""
    zone, state = folder / "zone", folder / "zone-state"
    return Place(
        StorageLocation(zone.as_uri()), StorageLocation(state.as_uri()), LocalStorage(zone), LocalStorage(state)
    )


def remote_place(server: DfsServer, folder: Path) -> Place:
    """Two folders of the emulator; what a process uploads is made in ``folder`` first."""
    zone, state = (emulated_location(server, folder / name) for name in ("work", "work-state"))
    return Place(zone, state, emulated_storage(zone, Timeline()), emulated_storage(state, Timeline()))


def _table_folders(zone: Storage) -> Iterator[str]:
    schemas = [entry.path for entry in zone.list("") if entry.is_folder and not entry.name.startswith("_")]
    return itertools.chain.from_iterable(
        (entry.path for entry in zone.list(path) if entry.is_folder) for path in schemas
    )
