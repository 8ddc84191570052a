"""A disk that is full and one that can only be read: an error that says so, nothing half done, and on it goes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.errors import BridgeError, Transient
from connectors.landing_zone.errors import StorageDeniedError, StorageError
from tests.catalogue.disks import Disk, disk
from tests.catalogue.place import LANDED, LANDED_OTHER, ORDERS, OTHER, Place, row, waiting


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Disk]:
    with disk(tmp_path / "place" / "zone") as mounted:
        yield mounted


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Disk]:
    with disk(tmp_path / "place" / "state") as mounted:
        yield mounted


@pytest.fixture
def calm(tmp_path: Path) -> dict[str, bytes]:
    """The files of a place that nothing has disturbed."""
    undisturbed = waiting(Place(tmp_path / "calm"))
    undisturbed.land()
    return undisturbed.files()


def place_at(tmp_path: Path) -> Place:
    return waiting(Place(tmp_path / "place"))


class TestDiskOfTheZoneFull:
    @pytest.mark.parametrize("left", [0, 1])
    def test_in_the_middle_of_a_batch_nothing_is_committed_and_it_lands_once_there_is_room(
        self, zone: Disk, tmp_path: Path, calm: dict[str, bytes], left: int
    ) -> None:
        place = place_at(tmp_path)
        before, version = place.files(), place.ledger.version
        driver = place.start()
        zone.fill(left)
        with pytest.raises(Transient, match=r"No space left on device.*Remedy: free space"):
            driver.land()
        assert (place.files(), place.ledger.version) == (before, version + 1), "only the claim"
        zone.free()
        assert driver.land().version == version + 2, "the same driver, as its retries do"
        place.start()
        assert (place.files(), place.staged()) == (calm, [])

    def test_at_a_start_it_says_so_and_the_next_one_goes_on(
        self, zone: Disk, tmp_path: Path, calm: dict[str, bytes]
    ) -> None:
        place = place_at(tmp_path)
        zone.fill()
        with pytest.raises(StorageError, match="No space left on device"):
            place.land()
        zone.free()
        place.land()
        assert (place.rows(), place.rows(OTHER)) == (LANDED, LANDED_OTHER)
        place.start()
        assert (place.files(), place.staged()) == (calm, [])

    def test_what_was_begun_takes_no_room(self, zone: Disk, tmp_path: Path) -> None:
        place = place_at(tmp_path)
        driver = place.start()
        texts = (hashlib.sha512(str(key).encode()).hexdigest() for key in range(1_000))
        place.send(*(ORDERS.create(row(10 + key, text), 10 + key) for key, text in enumerate(texts)))
        zone.fill(left=8)
        for _ in range(3):
            with pytest.raises(Transient, match="No space left on device"):
                driver.land()
        work = zone.folder / "_scratchPad" / ".work"
        assert list(work.iterdir()) == []
        zone.free()
        place.land()
        assert (len(place.rows()), place.staged()) == (1_001, [])


class TestDiskOfTheStateFull:
    def test_the_batch_is_not_committed_and_lands_once_there_is_room(
        self, state: Disk, tmp_path: Path, calm: dict[str, bytes]
    ) -> None:
        place = place_at(tmp_path)
        before, version = place.files(), place.ledger.version
        driver = place.start()
        state.fill()
        with pytest.raises(StorageError, match=r"The disk is full: No space left on device .*Remedy: free space"):
            driver.land()
        assert (place.files(), place.ledger.version) == (before, version + 1)
        assert list((state.folder / "_scratchPad" / ".work").iterdir()) == [], "half a version takes no room"
        state.free()
        assert driver.land().version == version + 2
        place.start()
        assert (place.files(), place.staged()) == (calm, [])

    def test_a_start_that_cannot_claim_changes_nothing(self, state: Disk, tmp_path: Path) -> None:
        place = place_at(tmp_path)
        before, version = place.files(), place.ledger.version
        state.fill()
        with pytest.raises(StorageError, match="The disk is full: No space left on device"):
            place.start()
        assert (place.files(), place.ledger.version) == (before, version)
        state.free()
        place.land()
        assert (place.rows(), place.rows(OTHER)) == (LANDED, LANDED_OTHER)


class TestReadOnlyState:
    def test_a_start_is_refused_with_what_to_do_and_changes_nothing(self, state: Disk, tmp_path: Path) -> None:
        place = place_at(tmp_path)
        before = place.files()
        state.allow_writing(False)
        with pytest.raises(StorageDeniedError, match="cannot be written: Read-only file system") as raised:
            place.start()
        assert raised.value.remedy == (
            "mount the volume writable, or point the landing zone and the state to one that is"
        )
        assert place.files() == before
        state.allow_writing(True)
        place.land()
        assert (place.rows(), place.rows(OTHER)) == (LANDED, LANDED_OTHER)

    def test_one_that_becomes_so_while_a_batch_runs_ends_the_driver_before_anything_is_seen(
        self, state: Disk, tmp_path: Path, calm: dict[str, bytes]
    ) -> None:
        place = place_at(tmp_path)
        before = place.files()
        driver = place.start()
        state.allow_writing(False)
        with pytest.raises(StorageDeniedError, match="Read-only file system"):
            driver.land()
        assert place.files() == before
        state.allow_writing(True)
        place.land()
        assert (place.files(), place.staged()) == (calm, [])


def test_a_read_only_zone_ends_the_driver_and_what_was_committed_is_published_later(
    zone: Disk, tmp_path: Path, calm: dict[str, bytes]
) -> None:
    place = place_at(tmp_path)
    before = place.files()
    driver = place.start()
    zone.allow_writing(False)
    with pytest.raises(BridgeError, match=r"Read-only file system.*Remedy: let the bridge's user write there"):
        driver.land()
    assert place.files() == before
    zone.allow_writing(True)
    place.land()
    assert (place.files(), place.staged()) == (calm, [])
