"""Following the ledger of a driver that runs elsewhere, version by version, without listing it again."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from connectors.landing_zone.backoff import persist
from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.ledger.apply import apply, follows
from connectors.landing_zone.ledger.history import of_another
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.ledger.version_file import read_version
from connectors.landing_zone.storage.protocol import Storage


class Follower:
    """A reader of the ledger who keeps up with its writer; writes nothing.

    Args:
        state: where the ledger is.
        sleep: waits so many seconds before a request is repeated.

    Raises:
        LedgerCorruptError: a version is missing between two others, or cannot be read.
    """

    def __init__(self, state: Storage, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._storage = state
        self._sleep = sleep
        self._state = Ledger.open(state, now_ms=lambda: 0, sleep=sleep).state

    @property
    def state(self) -> LedgerState:
        """The state after the last version read; version 0 where there is no ledger yet."""
        return self._state

    def advance(self) -> LedgerState:
        """Read the versions written since, and return the state after them.

        Raises:
            LedgerCorruptError: a version cannot be read, or is of another ledger.
            Transient: the storage failed for longer than the back-off lasts; call again.
        """
        while True:
            following = self._state.version + 1
            try:
                version = persist(partial(read_version, self._storage, following), sleep=self._sleep)
            except PathNotFoundError:
                return self._state
            if not follows(self._state, version):
                raise of_another(self._storage, version)
            self._state = apply(self._state, version)
