"""Storages to prove: a local folder, and the real ADLS clients against the emulator, without waiting."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from azure.core.credentials import AccessToken

from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.location import StorageLocation
from connectors.landing_zone.storage.open import open_adls
from connectors.landing_zone.storage.protocol import Storage
from tests.emulators.dfs_protocol import Host
from tests.emulators.dfs_server import FILESYSTEM, DfsServer, EmulatorCredential

LARGE = bytes(range(256)) * (33 << 10)
"""Content of a file that no single request carries: 8.25 MiB."""


class Timeline:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


def local_file(storage: Storage, body: bytes) -> Path:
    """A finished file in the storage's work folder."""
    file = storage.work_folder("orders/x") / uuid.uuid4().hex
    file.write_bytes(body)
    return file


def emulated_location(server: DfsServer, work: Path) -> StorageLocation:
    """The landing zone of a new item on the emulator: a OneLake URL with the emulator's endpoints."""
    return StorageLocation(
        url=f"abfss://{FILESYSTEM}@onelake.dfs.fabric.microsoft.com/{server.onelake.new_item()}/Files/LandingZone",
        ca_file=str(server.certificate),
        dfs_endpoint=server.endpoint(Host.DFS),
        blob_endpoint=server.endpoint(Host.BLOB),
        work_folder=str(work),
    )


def emulated_storage(
    location: StorageLocation,
    timeline: Timeline,
    issue: Callable[[], AccessToken] | None = None,
    *,
    read_timeout: float = 10.0,
) -> AdlsStorage:
    """A storage whose retries wait on ``timeline``, with waits of 0.25, 0.5, 1, ... seconds.

    Args:
        issue: gives tokens; ones that never end when None.
        read_timeout: seconds that a request really waits.
    """
    return open_adls(
        replace(location, read_timeout=read_timeout),
        credential=EmulatorCredential(issue),
        clock=timeline.clock,
        sleep=timeline.sleep,
        jitter=lambda: 0.0,
    )
