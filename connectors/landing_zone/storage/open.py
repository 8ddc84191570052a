"""Opening a storage by its URL."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import (
    InvalidLocationError,
    RenameMode,
    StorageLocation,
    adls_root,
    local_root,
)
from connectors.landing_zone.storage.proof import Proof, prove_storage
from connectors.landing_zone.storage.protocol import Storage
from connectors.landing_zone.storage.retry import BackOff, Retries

if TYPE_CHECKING:
    from connectors.landing_zone.storage.adls import Credential
    from connectors.landing_zone.storage.adls_storage import AdlsStorage

__all__ = ["InvalidLocationError", "Proof", "RenameMode", "StorageLocation", "open_storage", "prove_storage"]

_DAY = 86_400.0

# Clients hold sockets and locks, which a forked child must not share: the process id is part of the key, so a child
# opens its own. Two threads that race here open the same location twice and keep one of the two, which is harmless.
_opened: dict[tuple[int, StorageLocation], Storage] = {}


def open_storage(location: StorageLocation, *, credential: Credential | None = None) -> Storage:
    """The storage at ``location``; without ``credential`` one and the same for each process and location.

    Files that crashed attempts left in its work folder more than a day ago are removed when it is opened.

    Args:
        location: where, and how to speak to it.
        credential: azure-identity's default chain when None. Unused by local storage.

    Raises:
        InvalidLocationError: neither a ``file`` nor an ``abfss`` URL, or a malformed one.
    """
    if credential is not None:
        return _open(location, credential)
    key = (os.getpid(), location)
    if key not in _opened:
        _opened.setdefault(key, _open(location, None))
    return _opened[key]


def open_adls(
    location: StorageLocation,
    *,
    credential: Credential | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    jitter: Callable[[], float] = random.random,
) -> AdlsStorage:
    """An ``abfss`` location, always opened anew.

    Args:
        clock: seconds, monotonic.
        sleep: waits so many seconds.
        jitter: a random number in [0, 1).

    Raises:
        InvalidLocationError: a malformed URL.
    """
    # Imported here: a local zone needs none of Azure's clients, and they take a second to load.
    from connectors.landing_zone.storage.adls import AdlsRequests
    from connectors.landing_zone.storage.adls_storage import AdlsStorage

    root = adls_root(location)
    back_off = BackOff(attempts=location.attempts, budget=location.budget)
    work = Path(location.work_folder) if location.work_folder is not None else None
    requests = AdlsRequests(location, root, credential)
    return AdlsStorage(location.shown, requests, Retries(back_off, clock, sleep, jitter), work)


def _open(location: StorageLocation, credential: Credential | None) -> Storage:
    storage: LocalStorage | AdlsStorage
    match location.scheme:
        case "file":
            storage = LocalStorage(local_root(location))
        case "abfss":
            storage = open_adls(location, credential=credential)
        case scheme:
            raise InvalidLocationError(
                f"No storage is known for the scheme {scheme!r}",
                remedy="use file:///folder or abfss://workspace@host/item/Files/LandingZone",
                url=location.shown,
            )
    storage.sweep(before=time.time() - _DAY)
    return storage
