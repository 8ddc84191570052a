"""The first phase of a rebuild: the folder goes, and the replicator gets the time to drop the table."""

from __future__ import annotations

import time
from collections.abc import Callable

from connectors.failpoints import Failpoint, pass_failpoint
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Rebuild, TableState
from connectors.landing_zone.removal import remove_folder, require_no_folder
from streaming.driver.startup import OpenZone
from streaming.lifecycle.generations import deleted


class FolderRemoval:
    """The step that removes a table's folder and waits.

    Args:
        release_wait: seconds from the removal of the folder until the replicator has dropped the table.
        once: this process ends when nothing can be done now, so it may not live for that long.
        now_ms: the wall clock; clock: seconds that never go back.
        seen_gone: when this process has first seen that a folder is gone, by ``clock``; per table and removal.
    """

    def __init__(
        self,
        opened: OpenZone,
        release_wait: float,
        *,
        once: bool = False,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        clock: Callable[[], float] = time.monotonic,
        seen_gone: dict[tuple[str, int], float] | None = None,
    ) -> None:
        self._opened = opened
        self._release_wait = release_wait
        self._once = once
        self._now_ms = now_ms
        self._clock = clock
        self._seen_gone = {} if seen_gone is None else seen_gone

    def __call__(self, name: str, table: TableState, rebuild: Rebuild) -> bool | None:
        """Do what is to be done now; False if that is nothing, None once the next generation may begin.

        Raises:
            ForeignFolderError: something else has made the folder anew.
            BridgeError: of the storage; call again.
        """
        zone, ledger = self._opened.zone, self._opened.ledger
        if not rebuild.deleted_ms:
            if rebuild.staged:
                # A driver that sleeps with it in hand would give it its number among those of the next generation.
                zone.delete(rebuild.staged)
            remove_folder(zone, name, table.folder, ledger.check_fence)
            pass_failpoint(Failpoint.REBUILD_DELETED)
            ledger.commit(Draft(tables={name: deleted(table, rebuild, self._now_ms())}))
            return True
        require_no_folder(zone, name, table.folder)
        if self._once and max(self._now_ms(), 1) < rebuild.deleted_ms:
            # The clock has gone back: nobody knows how long ago the folder was removed, so the wait begins anew.
            ledger.commit(Draft(tables={name: deleted(table, rebuild, self._now_ms())}))
            return True
        if self._waited(name, rebuild) < self._release_wait:
            return False
        pass_failpoint(Failpoint.REBUILD_RELEASED)
        return None

    def _waited(self, name: str, rebuild: Rebuild) -> float:
        """Seconds since this process has first seen that the folder is gone, by a clock that is its own.

        The wall clock of the host that removed it may go before or behind this one's. It counts only where no process
        lives long enough to wait.
        """
        now = self._clock()
        waited = now - self._seen_gone.setdefault((name, rebuild.deleted_ms), now)
        return max(waited, (self._now_ms() - rebuild.deleted_ms) / 1000) if self._once else waited
