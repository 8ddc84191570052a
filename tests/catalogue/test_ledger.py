"""What may happen to the ledger: a clock that goes back, a damaged file, a folder that is gone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from connectors.landing_zone.errors import LedgerBehindError, LedgerCorruptError
from connectors.landing_zone.ledger.copying import COPY_EVERY_MS, SNAPSHOT_COPY
from connectors.landing_zone.ledger.history import versions
from streaming.driver import startup
from streaming.zones.rebuilding_ledger import make_ledger_again
from tests.catalogue.deaths import DiedError, FailingStorage, dies
from tests.catalogue.place import FOLDER, LANDED, LANDED_OTHER, ORDERS, OTHER, TABLE, Place, row, waiting

DAY_MS = 24 * 3600 * 1000
NOW_MS = 1_790_000_000_000


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return waiting(Place(tmp_path))


class Clock:
    """The wall clock of every driver."""

    def __init__(self) -> None:
        self.ms = NOW_MS

    def __call__(self) -> int:
        self.ms += 1
        return self.ms


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(startup, "_now_ms", clock)
    return clock


def make_again(place: Place) -> set[str]:
    """``cdc-bridge ledger rebuild``; the tables that need a person afterwards."""
    made = make_ledger_again(place.zone, place.state, look_only=False, now_ms=lambda: NOW_MS)
    return {one.name for one in made.rebuilt.tables if one.state is None or one.state.parked is not None}


def version_file(place: Place, number: int) -> Path:
    return place.folder / "state" / "ledger" / f"{number:020d}.json"


class TestClockThatGoesBack:
    def test_changes_nothing_in_the_zone_whoever_writes_before_and_after(self, clock: Clock, tmp_path: Path) -> None:
        calm, place = Place(tmp_path / "calm"), Place(tmp_path / "place")
        for batch in range(4):
            record = ORDERS.create(row(batch), batch + 1)
            calm.land(record)
            # Back by a week between two starts, and once more in the middle of one.
            clock.ms -= 7 * DAY_MS
            place.send(record)
            driver = place.start()
            clock.ms -= 3 * DAY_MS
            driver.land()
        assert place.files() == calm.files()
        assert place.rows() == [row(number) for number in range(4)]
        assert [version.version for version in versions(place.state)] == [*range(8, 0, -1)]

    def test_keeps_what_is_pending_and_clears_what_is_not(self, clock: Clock, place: Place) -> None:
        place.zone = FailingStorage(place.folder / "zone", "rename_if_absent", FOLDER, dies, after=False)
        with pytest.raises(DiedError):
            place.land()
        staged = [file.staged for file in place.ledger.pending.values()]
        leftover = Path(staged[0]).parent / "public.schema__orders-9-x.parquet"
        (place.folder / "zone" / leftover).write_bytes(b"of an attempt that was never committed")
        clock.ms -= 30 * DAY_MS
        place.land()
        assert (place.rows(), place.rows(OTHER), place.staged()) == (LANDED, LANDED_OTHER, [])

    def test_does_not_stop_the_copies_of_the_ledger_until_it_has_caught_up(self, clock: Clock, place: Place) -> None:
        driver = place.start()
        driver.land()
        clock.ms -= 30 * DAY_MS
        place.send(ORDERS.create(row(3), 7))
        driver.land()
        copied = (place.folder / "zone" / SNAPSHOT_COPY).read_bytes()
        assert b'"version": 5' in copied, "nobody knows how old the copy is, so it is made anew"
        clock.ms += COPY_EVERY_MS // 2
        place.send(ORDERS.create(row(4), 8))
        driver.land()
        assert (place.folder / "zone" / SNAPSHOT_COPY).read_bytes() == copied, "and then once an hour again"


class TestVersionHalfWritten:
    def test_by_a_process_that_died_it_is_none(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        driver = place.start()
        half = place.folder / "state" / "_scratchPad" / ".work" / "half"
        with monkeypatch.context() as dying:

            def died(self: object, body: bytes) -> Path:
                half.write_bytes(body[: len(body) // 2])
                raise DiedError

            dying.setattr("connectors.landing_zone.storage.local.LocalStorage._write", died)
            with pytest.raises(DiedError):
                driver.land()
        assert half.exists()
        place.land()
        assert (place.rows(), place.rows(OTHER)) == (LANDED, LANDED_OTHER)

    @pytest.mark.parametrize("kept", [0, 200])
    def test_by_a_disk_that_lost_its_end_it_stops_the_start_until_the_ledger_is_made_again(
        self, place: Place, kept: int
    ) -> None:
        place.land()
        newest = version_file(place, place.ledger.version)
        newest.write_bytes(newest.read_bytes()[:kept])
        place.send(ORDERS.create(row(3), 7))
        before = place.files()
        with pytest.raises(LedgerCorruptError, match=r"Version 4 of the ledger cannot be read: .*`cdc-bridge ledger"):
            place.start()
        assert place.files() == before
        assert make_again(place) == set()
        place.land()
        assert (place.rows(), place.rows(OTHER)) == ([*LANDED, row(3)], LANDED_OTHER)
        assert place.replayed().rows_per_marker == {"1": 1, "2": 1, "4": 3}, "nothing twice"


def spoilt(content: bytes) -> bytes:
    """With one byte that is no UTF-8 in the middle of the id that the ledger has."""
    before, id_, after = content.partition(b'"ledger_id": "')
    assert id_, "no state of the ledger"
    return before + id_ + b"\xff" + after[1:]


NESTED = b'{"more": ' + b"[" * 100_000


class TestSnapshotCorrupt:
    @pytest.mark.parametrize("spoil", [spoilt, lambda _: NESTED], ids=["a byte that is no text", "nested without end"])
    def test_by_bytes_that_are_no_text_it_stops_the_start_until_the_ledger_is_made_again(
        self, place: Place, spoil: Callable[[bytes], bytes]
    ) -> None:
        place.land()
        claim = version_file(place, place.ledger.version - 1)
        claim.write_bytes(spoil(claim.read_bytes()))
        place.send(ORDERS.create(row(3), 7))
        before = place.files()
        with pytest.raises(LedgerCorruptError, match=r"Version 3 of the ledger cannot be read: .*`cdc-bridge ledger"):
            place.start()
        assert place.files() == before
        assert make_again(place) == set()
        place.land()
        assert (place.rows(), place.rows(OTHER)) == ([*LANDED, row(3)], LANDED_OTHER)
        assert place.replayed().rows_per_marker == {"1": 1, "2": 1, "4": 3}, "nothing twice"

    @pytest.mark.parametrize("spoil", [spoilt, lambda _: NESTED], ids=["a byte that is no text", "nested without end"])
    def test_a_copy_of_bytes_that_are_no_text_is_made_anew_by_the_next_start(
        self, place: Place, spoil: Callable[[bytes], bytes]
    ) -> None:
        copy = place.folder / "zone" / SNAPSHOT_COPY
        copy.write_bytes(spoil(copy.read_bytes()))
        place.land()
        assert (place.rows(), place.rows(OTHER)) == (LANDED, LANDED_OTHER)
        shutil.rmtree(place.folder / "state")
        assert make_again(place) == set(), "it can be read again"

    def test_that_of_a_claim_stops_the_start_until_the_ledger_is_made_again(self, place: Place) -> None:
        place.land()
        claim = version_file(place, place.ledger.version - 1)
        claim.write_bytes(claim.read_bytes().replace(b'"snapshot"', b'"snapshut"')[:-40])
        place.send(ORDERS.create(row(3), 7))
        with pytest.raises(LedgerCorruptError, match="Version 3 of the ledger cannot be read"):
            place.start()
        assert make_again(place) == set()
        place.land()
        assert (place.rows(), place.rows(OTHER)) == ([*LANDED, row(3)], LANDED_OTHER)
        assert place.replayed().rows_per_marker == {"1": 1, "2": 1, "4": 3}, "nothing twice"

    def test_the_copy_in_the_zone_is_made_anew_by_the_next_start(self, place: Place) -> None:
        copy = place.folder / "zone" / SNAPSHOT_COPY
        copy.write_bytes(copy.read_bytes()[:100])
        place.land()
        assert (place.rows(), place.rows(OTHER)) == (LANDED, LANDED_OTHER)
        shutil.rmtree(place.folder / "state")
        assert make_again(place) == set(), "it can be read again"

    def test_a_corrupt_copy_of_a_lost_ledger_proves_nothing_and_every_table_stops(self, place: Place) -> None:
        place.land()
        shutil.rmtree(place.folder / "state")
        copy = place.folder / "zone" / SNAPSHOT_COPY
        copy.write_bytes(copy.read_bytes()[:100])
        before = place.files()
        assert make_again(place) == {TABLE, OTHER}
        place.land(ORDERS.create(row(3), 7))
        assert (place.parked(), place.parked(OTHER)) == ("ledger_rebuilt", "ledger_rebuilt")
        assert place.files() == before


def test_a_deleted_ledger_stops_the_start_and_is_made_again_by_one_command(place: Place) -> None:
    place.land()
    ledger_id = place.ledger.ledger_id
    shutil.rmtree(place.folder / "state" / "ledger")
    before = place.files()
    with pytest.raises(LedgerBehindError, match="The ledger is empty, but the landing zone holds files"):
        place.start()
    assert place.files() == before
    assert make_again(place) == set()
    place.land(ORDERS.create(row(3), 7))
    assert (place.rows(), place.ledger.ledger_id) == ([*LANDED, row(3)], ledger_id)
    assert place.replayed().rows_per_marker == {"1": 1, "2": 1, "4": 3}, "nothing twice"


def put_back(place: Place, backup: Path) -> None:
    shutil.rmtree(place.folder / "state")
    shutil.copytree(backup, place.folder / "state")


def test_a_ledger_restored_from_a_backup_of_before_the_last_start_is_noticed_and_made_again(place: Place) -> None:
    backup = Path(shutil.copytree(place.folder / "state", place.folder / "backup"))
    place.land()
    ledger_id = place.ledger.ledger_id
    put_back(place, backup)
    before = place.files()
    with pytest.raises(LedgerBehindError, match=r"the copy of a newer one .*`cdc-bridge ledger rebuild CONFIG`"):
        place.start()
    assert place.files() == before
    assert make_again(place) == set()
    place.land(ORDERS.create(row(3), 7))
    assert (place.rows(), place.ledger.ledger_id) == ([*LANDED, row(3)], ledger_id)
    assert place.replayed().rows_per_marker == {"1": 1, "2": 1, "4": 3}, "nothing twice"


def test_a_ledger_restored_from_a_backup_stops_the_tables_that_have_gone_on_since(place: Place) -> None:
    driver = place.start()
    driver.land()
    backup = Path(shutil.copytree(place.folder / "state", place.folder / "backup"))
    place.send(ORDERS.create(row(3), 7))
    driver.land()
    put_back(place, backup)
    before = place.files()
    place.land()
    assert (place.parked(), place.parked(OTHER)) == ("zone:ledger_behind", None)
    assert place.files() == before
