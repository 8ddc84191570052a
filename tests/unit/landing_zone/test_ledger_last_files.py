"""A zone whose owner file is lost is told by the last files of the ledger's tables."""

from __future__ import annotations

import hashlib

import pytest

from connectors.landing_zone.errors import ForeignLedgerError
from connectors.landing_zone.layout import FILES_READY_TO_DELETE, PROCESSED_FILES
from connectors.landing_zone.ledger.last_files import LOOKED_AT, holds_last_files
from connectors.landing_zone.ledger.owner import ensure_belongs
from connectors.landing_zone.ledger.state import LedgerState, TableState, TableStatus
from tests.unit.landing_zone.ledger_builders import ORDERS, landed, table
from tests.unit.landing_zone.memory_storage import MemoryStorage

LAST = "00000000000000000003.parquet"
DIGEST = hashlib.sha256(b"rows").hexdigest()
ORDERS_TABLE = table(3, sha256=DIGEST)


def ledger(**tables: TableState) -> LedgerState:
    return LedgerState("L1", 5, 1, "run-1", tables={f"public.{name}": state for name, state in tables.items()})


def zone_with(path: str, body: bytes = b"rows") -> MemoryStorage:
    zone = MemoryStorage()
    zone.put(path, body)
    return zone


@pytest.mark.parametrize("folder", ["", f"{PROCESSED_FILES}/", f"{FILES_READY_TO_DELETE}/"])
def test_a_last_file_that_lies_there_shows_it_read_or_not(folder: str) -> None:
    zone = zone_with(f"public.schema/orders/{folder}{LAST}")
    assert holds_last_files(zone, ledger(orders=ORDERS_TABLE))
    ensure_belongs(zone, MemoryStorage(), ledger(orders=ORDERS_TABLE), "shop")


def test_so_does_one_that_is_still_to_be_published() -> None:
    pending = landed(3)
    waiting = LedgerState("L1", 5, 1, "run-1", tables={ORDERS: ORDERS_TABLE}, pending={ORDERS: pending})
    assert holds_last_files(zone_with(pending.staged), waiting)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("public.schema/orders/_metadata.json", b"rows"),
        ("public.schema/orders/00000000000000000002.parquet", b"rows"),
        (f"public.schema/orders/{LAST}", b"rows of another source"),
    ],
)
def test_files_of_other_numbers_or_of_other_content_do_not(path: str, body: bytes) -> None:
    zone = zone_with(path, body)
    with pytest.raises(ForeignLedgerError, match="has no owner and none of their last files"):
        ensure_belongs(zone, MemoryStorage(), ledger(orders=ORDERS_TABLE), "shop")


def test_tables_whose_last_file_nobody_can_know_are_passed_over() -> None:
    gone = [
        table(0, name="a"),
        TableState(("shop", "public", "b"), "public.schema/b", sequence=3, sha256=DIGEST, status=TableStatus.DELETING),
        TableState(("shop", "public", "c"), "public.schema/c", sequence=3, sha256=DIGEST, unseen=3),
    ]
    tables = {f"a{number}": gone[number % 3] for number in range(3 * LOOKED_AT)}
    assert holds_last_files(zone_with(f"public.schema/orders/{LAST}"), ledger(**tables, orders=ORDERS_TABLE))


def test_only_some_tables_are_looked_at() -> None:
    zone = zone_with(f"public.schema/orders/{LAST}")
    tables = {f"a{number}": table(3, name=f"a{number}", sha256=DIGEST) for number in range(LOOKED_AT)}
    assert not holds_last_files(zone, ledger(**tables, orders=ORDERS_TABLE))
    del tables["a0"]
    assert holds_last_files(zone, ledger(**tables, orders=ORDERS_TABLE))
