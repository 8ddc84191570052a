"""A hostile OneLake with the replicator at work, and the bridge as a process that lands there."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import RenameMode, StorageLocation
from connectors.landing_zone.storage.protocol import Storage
from tests.emulators.dfs_requests import Operation, Request
from tests.emulators.dfs_server import DfsServer
from tests.emulators.faults import Fault, Lost, SeededFaults
from tests.emulators.identity_server import IdentityServer
from tests.emulators.replicator import CLEANUP, Replicator
from tests.emulators.tokens import NEAR_ITS_END, Tokens
from tests.support.process import command
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage
from tests.unit.streaming.settings_builder import settings_text

SHARE = 0.2
"""Of the requests meet a fault."""
# A machine that has other work, too.
SECONDS = 900.0
Rows: TypeAlias = Counter[tuple[tuple[str, str, Any], ...]]


@dataclass
class Hostile:
    """The emulator's hook: seeded faults, and the end of a driver at the rename that a test waits for.

    Attributes:
        faults: of the requests; None once it is over.
        doomed: the driver that dies when ``renames`` have begun.
    """

    faults: SeededFaults | None
    doomed: subprocess.Popen[str] | None = None
    renames: int = 0
    _lock: Lock = field(default_factory=Lock)

    def kill(self, driver: subprocess.Popen[str], renames: int) -> None:
        """Kill the driver at the given rename from now."""
        with self._lock:
            self.doomed, self.renames = driver, renames

    def __call__(self, request: Request) -> Fault | None:
        if request.operation is Operation.RENAME:
            with self._lock:
                self.renames -= 1
                if self.renames == 0 and self.doomed is not None:
                    self.doomed.send_signal(signal.SIGKILL)
                    return Lost.BEFORE
        return None if self.faults is None else self.faults(request)


@dataclass(frozen=True)
class OneLakeJob:
    """A job's OneLake, and how to start the bridge on it.

    Attributes:
        config: the bridge's settings; environment: how it finds who gives it tokens.
    """

    server: DfsServer
    tokens: Tokens
    hostile: Hostile
    replicator: Replicator
    config: Path
    environment: Mapping[str, str]
    state: Storage

    @contextmanager
    def driver(self, *options: str) -> Iterator[subprocess.Popen[str]]:
        """``cdc-bridge run`` with the options; what it says goes to :meth:`said`. Ended at the latest with the test."""
        with (
            self._log.open("a", encoding="utf-8") as log,
            subprocess.Popen(
                command("run", str(self.config), *options),
                env={**os.environ, **self.environment},
                stderr=log,
                text=True,
            ) as driver,
        ):
            try:
                yield driver
            finally:
                driver.kill()

    @property
    def _log(self) -> Path:
        return self.config.with_suffix(".log")

    def said(self) -> str:
        """The end of what its drivers have said."""
        return self._log.read_text(encoding="utf-8")[-4_000:]

    def ledger(self) -> LedgerState:
        """What the ledger says, once nothing hostile is asked any more."""
        self.hostile.faults = None
        return Ledger.open(self.state, now_ms=lambda: 0).state

    def bound(self) -> dict[tuple[str, int], str]:
        """Digests of the files by table and number, as the ledger's versions have them."""
        self.hostile.faults = None
        files = [file for version in versions(self.state) for file in version.files.values()]
        bound = {(file.table, file.sequence): file.sha256 for file in files}
        assert len(bound) == len(files), "a number is bound once"
        return bound


@contextmanager
def onelake_job(
    folder: Path, settings: Mapping[str, Any], *, seed: int, state_on_onelake: bool, **changes: Any
) -> Iterator[OneLakeJob]:
    """A OneLake of a test's own, of whose requests a share meets a fault from the start.

    Args:
        folder: of the test; settings: of the bridge, but for where it lands.
        changes: of these settings.
    """
    tokens = Tokens(NEAR_ITS_END, always=())
    with ExitStack() as stack:
        server = stack.enter_context(DfsServer(tokens=tokens))
        identity = stack.enter_context(IdentityServer(tokens))
        server.page_size = 3
        server.sparse_pages = True
        if state_on_onelake:
            server.onelake.refused_parameters = frozenset({"mode"})
        zone, state = emulated_location(server, folder / "work"), emulated_location(server, folder / "work")
        where = {
            "landing_zone": {
                "url": zone.url,
                "ca_file": str(server.certificate),
                "dfs_endpoint": zone.dfs_endpoint,
                "blob_endpoint": zone.blob_endpoint,
                "request_timeout": "2s",
                "rename_mode": (RenameMode.REST if state_on_onelake else RenameMode.SDK).value,
            },
            "state__url": state.url if state_on_onelake else (folder / "state").as_uri(),
            "state__checkpoint": str(folder / "checkpoint"),
            "fabric": {"status": "files", "interval": "1s"},
        }
        config = folder / "bridge.yaml"
        config.write_text(settings_text(**{**settings, **where, **changes}), encoding="utf-8")
        hostile = Hostile(SeededFaults(seed, SHARE, hang=2.5))
        server.fault = hostile
        yield OneLakeJob(
            server,
            tokens,
            hostile,
            stack.enter_context(Replicator(server.tree, in_tree(zone), cleanup=CLEANUP[state_on_onelake])),
            config,
            identity.environment,
            emulated_storage(state, Timeline(), tokens.issue) if state_on_onelake else LocalStorage(folder / "state"),
        )


def counted(rows: Iterable[Mapping[str, Any]]) -> Rows:
    """The rows without an order: a number and a text that read alike are not the same."""
    return Counter(tuple(sorted((name, type(value).__name__, value) for name, value in row.items())) for row in rows)


def in_tree(location: StorageLocation) -> str:
    """Path of a storage's root in the emulator's tree."""
    workspace, _, rest = location.url.removeprefix("abfss://").partition("@")
    return f"{workspace}/{rest.partition('/')[2]}"
