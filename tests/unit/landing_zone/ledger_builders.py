"""Small words for ledgers, tables and files in tests."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LandedFile, PlannedTopic, TableState
from connectors.landing_zone.staging import staged_path
from tests.unit.landing_zone.memory_storage import MemoryStorage

NOON_MS = 1_767_268_800_000
"""2026-01-01 12:00:00 UTC."""

WEEK_MS = 7 * 24 * 3600 * 1000

ORDERS = "public.orders"
ORDERS_FOLDER = "public.schema/orders"
METADATA = b'{"keyColumns": ["id"]}'


def no_wait(seconds: float) -> None:
    """Sleeping, for tests: not at all."""


def table(sequence: int = 0, *, name: str = "orders", sha256: str = "") -> TableState:
    return TableState(
        source=("shop", "public", name), folder=f"public.schema/{name}", sequence=sequence, schema="s", sha256=sha256
    )


def landed(sequence: int, body: bytes = b"rows", *, name: str = "orders", epoch: int = 1) -> LandedFile:
    folder = f"public.schema/{name}"
    return LandedFile(
        table=f"public.{name}",
        generation=1,
        sequence=sequence,
        staged=staged_path(epoch, folder, sequence, "a1", "parquet"),
        target=f"{folder}/{sequence:020d}.parquet",
        sha256=hashlib.sha256(body).hexdigest(),
        logical="",
        bytes=len(body),
        rows={"4": 1},
        schema="s",
    )


def planned(start: int, end: int, *, topic: str = "orders", id: str = "T1") -> dict[str, PlannedTopic]:
    return {topic: PlannedTopic(id, {0: (start, end)})}


def batch(sequence: int, start: int, end: int, body: bytes = b"rows") -> Draft:
    """A micro-batch of the table ``public.orders``: its file ``sequence`` with the offsets ``[start, end)``."""
    file = landed(sequence, body)
    return Draft(planned=planned(start, end), files={ORDERS: file}, tables={ORDERS: table()}, schemas={"s": "{}"})


def offsets_only(start: int, end: int) -> Draft:
    return Draft(planned=planned(start, end))


def noon() -> int:
    return NOON_MS


def ticking(step_ms: int = 1000) -> Callable[[], int]:
    """A clock that goes on by ``step_ms`` whenever it is read."""
    ticks = itertools.count(NOON_MS, step_ms)
    return lambda: next(ticks)


def opened(state: MemoryStorage, *, zone: MemoryStorage | None = None, now_ms: Callable[[], int] = noon) -> Ledger:
    return Ledger.open(state, now_ms=now_ms, zone=zone, sleep=no_wait)


def claimed(state: MemoryStorage, writer: str = "run-1", *, now_ms: Callable[[], int] = noon) -> Ledger:
    ledger = opened(state, now_ms=now_ms)
    ledger.claim(writer, f"host-of-{writer}")
    return ledger


def fill(ledger: Ledger, upto: int) -> None:
    """Commit versions without files until the ledger is at version ``upto``."""
    while (version := ledger.state.version) < upto:
        ledger.commit(offsets_only(version, version + 1))
