"""Looking at mirroring now and then, on a thread of its own beside the job, which does not depend on it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from connectors.errors import BridgeError, Transient
from connectors.landing_zone.ledger.state import LedgerState
from streaming.mirroring.asking import failure_code
from streaming.mirroring.look import MirroringSource, look
from streaming.mirroring.view import MirroringView
from streaming.watch import Watch

_log = logging.getLogger(__name__)

UNFORESEEN = "other"
LONGEST_PATIENCE = 600.0
"""Seconds that the next look waits at most because Fabric asked for it; the folders are not Fabric's API."""


class MirroringWatch(Watch):
    """Looks every so often until it is stopped; it ends with the process in any case.

    Args:
        state: what the ledger knows now; None before the zone is claimed, when nothing is asked.
        seen: told of each view; failed: of each question that failed, by its
            :func:`~streaming.mirroring.asking.failure_code`.
        interval: seconds between the end of one look and the next; longer where Fabric asks for more patience.
        now_ms: wall clock, milliseconds since 1970.
    """

    def __init__(
        self,
        source: MirroringSource,
        state: Callable[[], LedgerState | None],
        seen: Callable[[MirroringView], None],
        failed: Callable[[str], None],
        *,
        interval: float,
        now_ms: Callable[[], int],
    ) -> None:
        super().__init__("mirroring", interval)
        self._source = source
        self._state = state
        self._seen = seen
        self._failed = failed
        self._now_ms = now_ms
        self._view: MirroringView | None = None
        self._failing: frozenset[str] = frozenset()

    def look_once(self) -> float:
        """Look, unless the zone is not claimed yet; returns how many seconds to wait until the next look."""
        state = self._state()
        if state is None:
            return self.until_claimed
        before = self._view
        self._view = view = look(self._source, state, before, self._now_ms())
        failures = [error for error in (view.told.failure, view.folder_failure) if error is not None]
        self._tell_failures(failures)
        _tell_changes(before, view)
        self._seen(view)
        asked = [error.retry_after or 0.0 for error in failures if isinstance(error, Transient)]
        return max([self._interval, *(min(seconds, LONGEST_PATIENCE) for seconds in asked)])

    def _tell_failures(self, failures: list[BridgeError]) -> None:
        """Count all, and say each kind once until it has passed."""
        kinds = frozenset(map(failure_code, failures))
        for error in failures:
            kind = failure_code(error)
            self._failed(kind)
            if kind not in self._failing:
                _log.warning("how mirroring goes is not known; files land all the same: %s", error)
        if self._failing and not kinds:
            _log.info("Fabric tells again how mirroring goes")
        self._failing = kinds

    def on_unforeseen(self) -> None:
        self._failed(UNFORESEEN)


def _tell_changes(before: MirroringView | None, view: MirroringView) -> None:
    """Say which tables have come to be blocked since the last look, and which are not any more."""
    earlier = {} if before is None else before.tables
    for name, table in view.tables.items():
        was = name in earlier and earlier[name].blocked
        if table.blocked and not was and table.trouble is not None:
            _log.warning(
                "table %s is blocked in the mirrored database: %s. What to do: %s",
                name,
                table.trouble.message,
                table.trouble.remedy,
            )
        elif was and not table.blocked:
            _log.info("table %s is not blocked in the mirrored database any more", name)
