"""The shop's topics, and bridges that carry them with the command line: on a local zone, or on one behind HTTPS."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.protocol import Storage
from tests.emulators.dfs_server import DfsServer
from tests.support.bridge import QUICK_START
from tests.support.process import run_once
from tests.support.shop import TABLES_SETTINGS
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage
from tests.unit.streaming.settings_builder import settings_text

MAX_OFFSETS = 200
# Executors start, die and start again on a machine that has other work, too.
SECONDS = 600.0


@dataclass(frozen=True)
class Outcome:
    """What a bridge has made of the topics.

    Attributes:
        zone, state: where it has put them.
        files: all that the mirrored database reads, by path.
        rows: how many rows each table has after replay.
        staged: files in the zone's scratch folder that nobody names any more.
    """

    zone: Storage
    state: Storage
    files: Mapping[str, bytes]
    ledger: LedgerState
    rows: Mapping[str, int]
    staged: tuple[str, ...]


class RemoteZone:
    """A zone and its state behind HTTPS.

    Args:
        folder: what this process downloads goes there.

    Attributes:
        settings: where a bridge finds both.
    """

    def __init__(self, server: DfsServer, folder: Path) -> None:
        zone = emulated_location(server, folder / uuid.uuid4().hex)
        state = emulated_location(server, folder / uuid.uuid4().hex)
        self._storages = [emulated_storage(location, Timeline()) for location in (zone, state)]
        self.settings: dict[str, Any] = {
            "landing_zone": {
                "url": zone.url,
                "ca_file": str(server.certificate),
                "dfs_endpoint": zone.dfs_endpoint,
                "blob_endpoint": zone.blob_endpoint,
            },
            "state__url": state.url,
        }

    def commits(self) -> int:
        """How many micro-batches have been committed."""
        return Ledger.open(self._storages[1], now_ms=lambda: 0).state.commits

    def outcome(self) -> Outcome:
        """What has become of it."""
        return _outcome(*self._storages)


class Shop:
    """Topics with a workload in them; each run carries all of it into a zone of its own."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    def carried(self, folder: Path, environment: Mapping[str, str] | None = None, **changes: Any) -> Outcome:
        """Run the bridge with a zone on the local disk."""
        _run(folder, {**self._settings, "landing_zone__url": (folder / "zone").as_uri(), **changes}, environment or {})
        return _outcome(LocalStorage(folder / "zone"), LocalStorage(folder / "zone-state"))

    def carried_remotely(
        self, folder: Path, server: DfsServer, environment: Mapping[str, str], **changes: Any
    ) -> Outcome:
        """Run the bridge with zone and state on the emulator of ADLS.

        Args:
            environment: of the driver, beside this process's own.
        """
        remote = RemoteZone(server, folder / "looking")
        _run(folder, {**self._settings, **remote.settings, **changes}, environment)
        return remote.outcome()


def shop_settings(bootstrap_servers: str, prefix: str, registry: str) -> dict[str, Any]:
    """Settings of every run: of their own they change only where the work is done, and where its files go."""
    return {
        "kafka__bootstrap_servers": bootstrap_servers,
        "kafka__topics": None,
        "kafka__pattern": rf"{prefix}\..*",
        "dead_letters__topic": f"{prefix}-dead-letters",
        "registry__url": registry,
        "retry__attempts": 0,
        "spark__conf": QUICK_START,
        "tables__overrides": TABLES_SETTINGS,
        "trigger": {"max_offsets": MAX_OFFSETS},
    }


def _run(folder: Path, changes: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    (folder / "tmp").mkdir(parents=True)
    path = folder / "bridge.yaml"
    path.write_text(settings_text(**{**changes, "state__checkpoint": str(folder / "checkpoint")}), encoding="utf-8")
    code, said = run_once(path, {"TMPDIR": str(folder / "tmp"), **environment}, SECONDS)
    assert code == 0, said


def zone_files(zone: Storage) -> dict[str, bytes]:
    """Everything that the mirrored database reads, by path: the tables' files and their metadata."""
    return {path: zone.read(path) for path in sorted(_walked(zone, "")) if not path.startswith("_")}


def _outcome(zone: Storage, state: Storage) -> Outcome:
    return Outcome(
        zone=zone,
        state=state,
        files=zone_files(zone),
        ledger=Ledger.open(state, now_ms=lambda: 0).state,
        rows={table.name: replay(table).table.num_rows for table in open_zone(zone).tables()},
        staged=tuple(path for path in sorted(_walked(zone, "")) if path.startswith("_scratchPad/")),
    )


def _walked(storage: Storage, folder: str) -> Iterator[str]:
    for entry in storage.list(folder):
        if entry.is_folder:
            yield from _walked(storage, entry.path)
        else:
            yield entry.path
