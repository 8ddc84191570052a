"""Starts that meet another driver, or a zone whose ledger is lost, before they claim anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.errors import (
    FencedError,
    ForeignLedgerError,
    LedgerCorruptError,
    LedgerWholeError,
    ZoneOwnedError,
)
from connectors.landing_zone.ledger.owner import Owner, ensure_owner, read_owner
from connectors.landing_zone.ledger.version_file import path_of, read_version, version_numbers
from connectors.landing_zone.publisher import Publisher
from connectors.landing_zone.storage.protocol import Storage
from streaming.driver.startup import OpenZone, open_zone
from streaming.zones.rebuilding_ledger import make_ledger_again
from tests.unit.landing_zone.ledger_builders import (
    METADATA,
    NOON_MS,
    ORDERS,
    batch,
    claimed,
    fill,
    no_wait,
    offsets_only,
)
from tests.unit.landing_zone.memory_storage import MemoryStorage, Request
from tests.unit.streaming.landed_shop import job, two_batches

STAGED = "_scratchPad/00000000000000000001/file"


def start(folder: Path, zone: Storage, state: Storage, source: str = "shop") -> OpenZone:
    return open_zone(
        zone,
        state,
        job(folder),
        source=source,
        writer="run-2",
        host="here",
        partner=b"{}",
        threads=1,
        sleep=no_wait,
    )


def test_files_of_a_rival_that_began_the_ledger_meanwhile_are_not_taken_for_foreign_ones(tmp_path: Path) -> None:
    zone, state = MemoryStorage(), MemoryStorage()

    def a_rival_lands_first(request: Request) -> None:
        zone.hook = None
        rival = claimed(MemoryStorage(state.disk), "run-1")
        other = MemoryStorage(zone.disk)
        draft = batch(1, 0, 3)
        other.put(draft.files[ORDERS].staged, b"rows")
        state_after = rival.commit(draft)
        Publisher(other, threads=1, sleep=no_wait).publish(state_after.pending, {ORDERS: METADATA})

    zone.hook = a_rival_lands_first
    with pytest.raises(FencedError, match="Another driver owns this landing zone: run-1 on host-of-run-1"):
        start(tmp_path, zone, state)

    assert version_numbers(state) == [1, 2]


def test_a_ledger_that_was_begun_for_a_zone_which_another_has_taken_meanwhile_does_not_stay(tmp_path: Path) -> None:
    zone, state = MemoryStorage(), MemoryStorage()

    def taken(request: Request) -> None:
        if request.method == "put_if_absent":
            ensure_owner(MemoryStorage(zone.disk), "L1", "shop")

    state.hook = taken
    with pytest.raises(ZoneOwnedError, match="belongs to the ledger L1 of source shop, not to this one"):
        start(tmp_path, zone, state)

    assert state.files == {}


def test_a_start_that_slept_while_its_ledger_was_lost_removes_no_version_of_the_one_begun_since(tmp_path: Path) -> None:
    zone, state = MemoryStorage(), MemoryStorage()

    def others_begin_anew(request: Request) -> None:
        if request.method == "put_if_absent":
            zone.hook = None
            state.files.clear()
            begun = claimed(MemoryStorage(state.disk), "run-1")
            ensure_owner(MemoryStorage(zone.disk), begun.state.ledger_id, "shop")

    zone.hook = others_begin_anew
    with pytest.raises(ZoneOwnedError, match="The landing zone belongs to the ledger"):
        start(tmp_path, zone, state)

    assert read_version(state, 1).writer == "run-1"


def test_a_zone_whose_ledger_is_lost_gets_no_other_one_even_if_it_has_no_file_yet(tmp_path: Path) -> None:
    """Claimed, the state storage would hold the ledger of another zone, and the lost one could not be made again."""
    zone, state = MemoryStorage(), MemoryStorage()
    ensure_owner(zone, "L1", "shop")

    with pytest.raises(ZoneOwnedError) as caught:
        start(tmp_path, zone, state)

    assert str(caught.value) == (
        "The landing zone belongs to the ledger L1 of source shop, and there is none in the state storage "
        "[zone=memory:///zone, file=_cdc_bridge_owner.json]. Remedy: set state.url to where that ledger is, or put it "
        "back there from a backup; if it is lost, stop every bridge of this zone, then "
        "`cdc-bridge ledger rebuild CONFIG`; if no copy of it is left, or if another tool has filled the zone, "
        "`cdc-bridge adopt CONFIG`; to start over, choose an empty landing zone and state "
        "storage that were no bridge's before"
    )
    assert state.files == {}
    make_ledger_again(zone, state, look_only=False, now_ms=lambda: NOON_MS, threads=1)
    assert start(tmp_path, zone, state).ledger.state.ledger_id == "L1"


def test_a_damaged_version_below_the_newest_state_is_a_loss_that_can_be_mended(tmp_path: Path) -> None:
    """A start that reads so far back stops at it and names the command, which has to do something about it then."""
    zone, state = MemoryStorage(), MemoryStorage()
    start(tmp_path, zone, state)
    start(tmp_path, zone, state)
    state.files[path_of(1)] = state.files[path_of(1)][:100]
    zone.put(STAGED, b"left behind")
    with pytest.raises(LedgerCorruptError, match="Version 1 of the ledger cannot be read"):
        start(tmp_path, zone, state)

    made = make_ledger_again(zone, state, look_only=False, now_ms=lambda: NOON_MS, threads=1)

    assert path_of(1) in {path.replace(f"ledger-set-aside/{NOON_MS}", "ledger") for path in made.aside}
    start(tmp_path, zone, state)
    with pytest.raises(LedgerWholeError):
        make_ledger_again(zone, state, look_only=False, now_ms=lambda: NOON_MS, threads=1)


def test_files_that_a_sleeping_driver_was_about_to_publish_are_gone_with_the_lost_ledger() -> None:
    zone, state = MemoryStorage(), MemoryStorage()
    sleeper = claimed(state)
    ensure_owner(zone, sleeper.state.ledger_id, "shop")
    draft = batch(1, 0, 3)
    zone.put(draft.files[ORDERS].staged, b"rows")
    pending = sleeper.commit(draft).pending
    state.files.clear()

    make_ledger_again(zone, state, look_only=False, now_ms=lambda: NOON_MS, threads=1)
    published = Publisher(zone, threads=1, sleep=no_wait).publish(pending, {ORDERS: METADATA})

    assert not published.confirmed
    assert not [path for path in zone.files if path.endswith(".parquet")]


class TestALedgerOfSomebodyElse:
    """``state.url`` is that of another bridge: nothing is written, so its driver is not fenced."""

    def test_of_another_source_although_it_has_landed_nothing_yet(self, tmp_path: Path) -> None:
        state = MemoryStorage()
        shop = start(tmp_path, MemoryStorage(), state)
        before = dict(state.files)

        with pytest.raises(ForeignLedgerError) as caught:
            start(tmp_path, MemoryStorage(), state, "store")

        assert str(caught.value) == (
            "The ledger is that of source shop, not of store; version 1 was written by run-2 [state=memory:///zone]. "
            "Remedy: another source needs a state.url, and a landing_zone.url, of its own; if it is the same source "
            "under another name, set name back to shop"
        )
        assert state.files == before
        shop.ledger.commit(batch(1, 0, 3))

    def test_of_the_same_name_that_lands_in_another_zone(self, tmp_path: Path) -> None:
        state, copied = MemoryStorage(), MemoryStorage()
        shop = start(tmp_path, MemoryStorage(), state)
        shop.ledger.commit(batch(1, 0, 3))
        before = dict(state.files)

        with pytest.raises(ForeignLedgerError) as caught:
            start(tmp_path, copied, state)

        assert str(caught.value) == (
            "The ledger knows 1 table(s), but this landing zone has no owner and none of their last files: they were "
            "landed in another one, or it was emptied [zone=memory:///zone, state=memory:///zone, "
            "file=_cdc_bridge_owner.json]. Remedy: set landing_zone.url to the zone of this ledger; a landing zone "
            "that begins, or begins anew, needs a state.url of its own, in which there is no ledger"
        )
        assert (state.files, copied.files) == (before, {})
        shop.ledger.confirm([ORDERS])
        shop.ledger.commit(offsets_only(3, 6))

    def test_not_one_whose_zone_has_lost_its_owner_file_alone(self, tmp_path: Path) -> None:
        shop = two_batches(tmp_path)
        ledger_id = shop.ledger.state.ledger_id
        assert read_owner(shop.zone) is None

        start(tmp_path, shop.zone, shop.state)

        assert read_owner(shop.zone) == Owner(ledger_id, "shop")

    def test_of_a_zone_that_has_another_one(self, tmp_path: Path) -> None:
        zone, state = MemoryStorage(), MemoryStorage()
        ensure_owner(zone, "L1", "shop")
        claimed(state)
        before = dict(state.files)

        with pytest.raises(ZoneOwnedError, match="The landing zone belongs to the ledger L1 of source shop"):
            start(tmp_path, zone, state)

        assert state.files == before

    def test_that_another_source_begins_at_the_same_moment(self, tmp_path: Path) -> None:
        zone, state = MemoryStorage(), MemoryStorage()

        def a_rival_begins(request: Request) -> None:
            state.hook = None
            start(tmp_path, MemoryStorage(), MemoryStorage(state.disk), "store")

        def before_the_claim(request: Request) -> None:
            if request.path == path_of(1) and request.writes:
                a_rival_begins(request)

        state.hook = before_the_claim
        with pytest.raises(ForeignLedgerError, match="The ledger is that of source store, not of shop"):
            start(tmp_path, zone, state)

        assert version_numbers(state) == [1]

    def test_that_a_release_without_names_has_left_is_taken_and_named(self, tmp_path: Path) -> None:
        zone, state = MemoryStorage(), MemoryStorage()
        ensure_owner(zone, claimed(state).state.ledger_id, "shop")

        with pytest.raises(ForeignLedgerError, match="The ledger is that of source shop, not of store; version 1 was"):
            start(tmp_path, zone, state, "store")

        assert version_numbers(state) == [1]
        assert start(tmp_path, zone, state).ledger.state.source == "shop"

    def test_that_no_release_has_named_is_taken_and_named(self, tmp_path: Path) -> None:
        zone, state = MemoryStorage(), MemoryStorage()
        ensure_owner(zone, claimed(state).state.ledger_id, "")

        assert start(tmp_path, zone, state, "store").ledger.state.source == "store"

    def test_a_start_that_ended_before_it_took_the_zone_goes_on(self, tmp_path: Path) -> None:
        zone, state = MemoryStorage(), MemoryStorage()
        ledger = claimed(state)

        assert start(tmp_path, zone, state).ledger.state.ledger_id == ledger.state.ledger_id


def test_a_claim_of_a_lost_ledger_that_comes_late_is_told_and_never_counted(tmp_path: Path) -> None:
    lost = MemoryStorage()
    fill(claimed(lost, "run-old"), 5)
    claimed(lost, "run-late")
    late = lost.files[path_of(6)]
    zone, state = MemoryStorage(), MemoryStorage()
    driver = claimed(state, "run-new")
    ensure_owner(zone, driver.state.ledger_id, "shop")
    fill(driver, 5)

    state.put(path_of(6), late)

    with pytest.raises(FencedError):
        driver.commit(offsets_only(5, 6))
    with pytest.raises(LedgerCorruptError, match="Version 6 of the ledger, by run-late") as told:
        start(tmp_path, zone, state)
    assert "move this file" in told.value.remedy
    state.delete(path_of(6))
    assert start(tmp_path, zone, state).ledger.state.ledger_id == driver.state.ledger_id


def test_a_claim_of_a_lost_ledger_that_comes_late_as_version_2_is_told_and_nothing_is_changed(tmp_path: Path) -> None:
    lost = MemoryStorage()
    claimed(lost, "run-old")
    claimed(lost, "run-late")
    zone, state = MemoryStorage(), MemoryStorage()
    driver = claimed(state, "run-new")
    ensure_owner(zone, driver.state.ledger_id, "shop")

    state.put(path_of(2), lost.read(path_of(2)))

    with pytest.raises(LedgerCorruptError, match="Version 2 of the ledger, by run-late") as told:
        start(tmp_path, zone, state)
    assert told.value.facts["file"] == path_of(2)
    made = make_ledger_again(zone, state, look_only=True, now_ms=lambda: NOON_MS, threads=1)
    assert (made.rebuilt.copied, made.rebuilt.state.ledger_id) == (1, driver.state.ledger_id)
    assert version_numbers(state) == [1, 2]
    state.delete(path_of(2))
    assert start(tmp_path, zone, state).ledger.state.ledger_id == driver.state.ledger_id
