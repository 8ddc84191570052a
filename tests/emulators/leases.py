"""Leases on files: who holds one may write, nobody else (Blob Storage, "Lease Blob"; ADLS Gen2, "Path - Lease")."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from tests.emulators.file_tree import Refusal


@dataclass(frozen=True)
class _Lease:
    id: str
    until: float


class Leases:
    """The leases of one account, by path. Safe for threads.

    Args:
        clock: seconds; a lease that has run out counts as none.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = Lock()
        self._held: dict[str, _Lease] = {}

    def acquire(self, path: str, seconds: float, proposed: str = "") -> str:
        """A lease for so many seconds, for ever with -1; returns its id. 409 while another one is held."""
        with self._lock:
            held = self._lease(path)
            if held is not None and held.id != proposed:
                raise Refusal(409, "LeaseAlreadyPresent")
            lease = _Lease(proposed or str(uuid.uuid4()), self._until(seconds))
            self._held[path] = lease
            return lease.id

    def renew(self, path: str, lease: str, seconds: float) -> str:
        """The same lease, counted from now."""
        with self._lock:
            self._own(path, lease)
            self._held[path] = _Lease(lease, self._until(seconds))
            return lease

    def release(self, path: str, lease: str) -> None:
        """Give the lease back."""
        with self._lock:
            self._own(path, lease)
            del self._held[path]

    def end(self, path: str) -> None:
        """Break whatever lease there is, at once."""
        with self._lock:
            if self._lease(path) is None:
                raise Refusal(409, "LeaseNotPresentWithLeaseOperation")
            del self._held[path]

    def require(self, path: str, given: str) -> None:
        """Return if a writer that presents the lease id ``given`` (empty for none) may write at ``path`` or below."""
        with self._lock:
            for leased in list(self._held):
                held = self._lease(leased)
                if held is None or not (leased == path or leased.startswith(f"{path}/")):
                    continue
                if not given:
                    raise Refusal(412, "LeaseIdMissing")
                if given != held.id:
                    raise Refusal(412, "LeaseIdMismatchWithBlobOperation")

    def move(self, source: str, target: str) -> None:
        """A lease follows its file."""
        with self._lock:
            held = self._held.pop(source, None)
            if held is not None:
                self._held[target] = held

    def _lease(self, path: str) -> _Lease | None:
        held = self._held.get(path)
        if held is not None and held.until <= self._clock():
            del self._held[path]
            return None
        return held

    def _own(self, path: str, lease: str) -> None:
        held = self._lease(path)
        if held is None:
            raise Refusal(409, "LeaseNotPresentWithLeaseOperation")
        if held.id != lease:
            raise Refusal(409, "LeaseIdMismatchWithLeaseOperation")

    def _until(self, seconds: float) -> float:
        return math.inf if seconds < 0 else self._clock() + seconds
