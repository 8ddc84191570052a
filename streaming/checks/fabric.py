"""Whether Fabric tells this identity how mirroring goes, and whether the mirrored database runs."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.errors import BridgeError
from streaming.checks.check import Check, failed, ok, warning
from streaming.checks.patience import SECONDS, patiently
from streaming.mirroring.asking import Asking, asking_of
from streaming.mirroring.trouble import SET_UP, mirror_trouble
from streaming.mirroring.view import ANSWERED, Told, Via
from streaming.settings import BridgeSettings
from streaming.wording import count_text

_CLIENT_PART = 0.8
"""Of the time for a check, what the clients get: they can say more about what is wrong than the clock."""


def check_fabric(settings: BridgeSettings, now_ms: int) -> Iterator[Check]:
    """What Fabric tells, where the settings want it asked; nothing it says keeps files from landing."""
    asking = asking_of(settings, seconds=SECONDS * _CLIENT_PART)
    if asking is not None:
        yield from check_asking(asking, now_ms)


def check_asking(asking: Asking, now_ms: int) -> Iterator[Check]:
    """One question; warnings at the worst."""
    try:
        told = patiently("fabric", asking.ask)
    except BridgeError as error:
        yield _untold(error)
        return
    if told.failure is not None:
        yield _untold(told.failure)
    if told.via is not None:
        yield _told(told, told.via, now_ms)


def _untold(error: BridgeError) -> Check:
    found = failed("fabric status", error)
    return warning(found.subject, found.detail, found.remedy)


def _told(told: Told, via: Via, now_ms: int) -> Check:
    if told.status is None:
        return warning("fabric", "the replicator has written no status yet: mirroring has not begun", SET_UP)
    trouble = mirror_trouble(told.status.database, now_ms)
    if trouble is not None:
        return warning("fabric", f"{trouble.title}: {trouble.message}", trouble.remedy)
    tables = count_text(len(told.status.tables), "table")
    return ok("fabric", f"{ANSWERED[via]}: the mirrored database is {told.status.database.state}, with {tables}")
