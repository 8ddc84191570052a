from __future__ import annotations

import pytest

from connectors.landing_zone.errors import InvalidZoneError, LedgerBehindError, ZoneOwnedError
from connectors.landing_zone.ledger.owner import OWNER_FILE, Owner, ensure_no_foreign_files, ensure_owner, read_owner
from tests.unit.landing_zone.memory_storage import MemoryStorage


def test_the_first_ledger_owns_the_zone() -> None:
    zone = MemoryStorage()
    assert read_owner(zone) is None

    ensure_owner(zone, "L1", "shop")
    ensure_owner(zone, "L1", "shop, renamed")

    assert read_owner(zone) == Owner("L1", "shop")
    assert zone.files == {OWNER_FILE: b'{\n "ledger_id": "L1",\n "source": "shop"\n}'}


def test_a_second_ledger_is_refused() -> None:
    zone = MemoryStorage()
    ensure_owner(zone, "L1", "shop")

    with pytest.raises(ZoneOwnedError) as caught:
        ensure_owner(zone, "L2", "store")
    assert str(caught.value) == (
        "The landing zone belongs to the ledger L1 of source shop, not to this one, L2 of source store "
        "[zone=memory:///zone, file=_cdc_bridge_owner.json]. Remedy: set state.url to where that ledger is, or put it "
        "back there from a backup; otherwise choose an empty landing zone"
    )


def test_an_unreadable_owner_file_stops_the_start() -> None:
    zone = MemoryStorage()
    zone.put(OWNER_FILE, b"?")

    with pytest.raises(InvalidZoneError) as caught:
        ensure_owner(zone, "L1", "shop")
    assert str(caught.value) == (
        "The owner file of the landing zone cannot be read: JSON is malformed: invalid character (byte 0) "
        "[zone=memory:///zone, file=_cdc_bridge_owner.json]. Remedy: restore it from the ledger's id in the state "
        "storage; delete it only if no other bridge can write to this zone"
    )


@pytest.mark.parametrize("content", [b'{"ledger_id": "\xff", "source": ""}', b'{"x": ' + b"[" * 100_000])
def test_bytes_that_are_no_text_do_too(content: bytes) -> None:
    zone = MemoryStorage()
    zone.put(OWNER_FILE, content)

    with pytest.raises(InvalidZoneError, match="The owner file of the landing zone cannot be read"):
        ensure_owner(zone, "L1", "shop")


@pytest.mark.parametrize("folder", ["orders", "public.schema/orders", "public.schema/orders/_ProcessedFiles"])
def test_an_empty_ledger_does_not_number_files_where_there_are_some(folder: str) -> None:
    zone = MemoryStorage()
    zone.put("public.schema/items/_metadata.json", b"{}")
    zone.put(f"{folder}/00000000000000000004.parquet", b"rows")

    with pytest.raises(LedgerBehindError) as caught:
        ensure_no_foreign_files(zone)
    assert str(caught.value) == (
        "The ledger is empty, but the landing zone holds files up to number 4 "
        f"[zone=memory:///zone, folder={folder.removesuffix('/_ProcessedFiles')}]. "
        "Remedy: set state.url to where this zone's ledger is, or put it back there from a backup; "
        "if it is lost, stop every bridge of this zone, then `cdc-bridge ledger rebuild CONFIG`; if no copy of it is "
        "left, or if another tool has filled the zone, `cdc-bridge adopt CONFIG`; to start over, choose an "
        "empty landing zone and state storage that were no bridge's before"
    )


def test_a_zone_without_numbered_files_may_be_begun() -> None:
    zone = MemoryStorage()
    for path in (
        "_partnerEvents.json",
        "_scratchPad/00000000000000000001/public.schema__orders-1-x.parquet",
        "_old/00000000000000000001.parquet",
        "readme.txt",
        "public.schema/readme.txt",
        "public.schema/orders/_metadata.json",
        "public.schema/orders/_00000000000000000001.parquet",
    ):
        zone.put(path, b"{}")

    ensure_no_foreign_files(zone)
