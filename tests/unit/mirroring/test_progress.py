"""What a table's folder proves of how far mirroring has come."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.published import lying_files
from streaming.mirroring.progress import Progress, Published, WaitingFile, progressed
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.mirroring.worlds import FOLDER, MINUTE, Zone


def path(number: int, ending: str = "parquet") -> str:
    return f"{FOLDER}/{number:020d}.{ending}"


class Looked:
    """Looks at a table's folder, each one minute after the one before, the first one at noon."""

    def __init__(self, folder: Path) -> None:
        self.zone = Zone(folder)
        self.now_ms = NOON_MS
        self.found: Progress | None = None

    def look(self, published: int, synced_ms: int | None = None, generation: int = 1) -> Progress:
        lying = lying_files(self.zone.storage, FOLDER)
        assert lying is not None
        wanted = Published(FOLDER, "parquet", generation, published)
        self.found = progressed(self.found, wanted, lying, synced_ms, self.now_ms)
        self.now_ms += MINUTE
        return self.found


@pytest.fixture
def looked(tmp_path: Path) -> Looked:
    return Looked(tmp_path)


def test_the_last_file_stays_in_place_when_it_has_been_taken_in(looked: Looked) -> None:
    looked.zone.lay(16)
    assert looked.look(16) == Progress(1, 16, 16, NOON_MS, 0, None, None, NOON_MS, assumed=True)
    assert looked.look(16).stands_since_ms is None


def test_files_behind_the_lowest_one_wait(looked: Looked) -> None:
    looked.zone.lay(16, minutes=50)
    looked.zone.lay(17, 18, minutes=40)
    first = WaitingFile(17, path(17), NOON_MS - 40 * MINUTE)
    assert looked.look(18) == Progress(1, 18, 16, NOON_MS - 40 * MINUTE, 2, first, None, NOON_MS, assumed=True)


def test_a_number_that_is_not_in_the_folder_any_more_has_been_taken_in(looked: Looked) -> None:
    looked.zone.lay(1, 2, 3, 4)
    assert looked.look(4).number == 1
    looked.zone.take(1, 2)
    assert looked.look(4).number == 3
    looked.zone.take(3, 4)
    assert looked.look(4).number == 4


def test_nothing_is_known_of_a_folder_that_is_not_there(looked: Looked) -> None:
    assert lying_files(looked.zone.storage, FOLDER) is None


class TestFabricsWord:
    def test_decides_about_the_lowest_file_of_the_folder(self, looked: Looked) -> None:
        looked.zone.lay(16, minutes=40)
        published_ms = NOON_MS - 40 * MINUTE
        assert looked.look(16, synced_ms=published_ms - 1).number == 15
        assert looked.look(16, synced_ms=published_ms).number == 16

    def test_that_it_never_worked_on_the_table_counts(self, looked: Looked) -> None:
        looked.zone.lay(1, minutes=40)
        found = looked.look(1, synced_ms=0)
        assert (found.number, found.waiting, found.stands_since_ms) == (0, 1, NOON_MS - 40 * MINUTE)

    def test_does_not_count_for_the_files_behind_it(self, looked: Looked) -> None:
        looked.zone.lay(16, 17, minutes=40)
        found = looked.look(17, synced_ms=NOON_MS)
        assert (found.number, found.stands_since_ms) == (16, NOON_MS - 40 * MINUTE)


class TestAssumed:
    def test_it_is_taken_back_by_fabrics_word_and_has_waited_since_it_was_published(self, looked: Looked) -> None:
        looked.zone.lay(1, minutes=40)
        found = looked.look(1)
        assert (found.number, found.seen, found.assumed, found.stands_since_ms) == (1, 0, True, None)
        found = looked.look(1, synced_ms=0)
        assert (found.number, found.seen, found.assumed) == (0, 0, False)
        assert (found.stands_since_ms, found.rose_ms) == (NOON_MS - 40 * MINUTE, 0)

    def test_it_is_confirmed_by_fabrics_word_without_a_rise(self, looked: Looked) -> None:
        looked.zone.lay(1, minutes=40)
        looked.look(1)
        found = looked.look(1, synced_ms=NOON_MS)
        assert (found.number, found.seen, found.rose_ms) == (1, 1, 0)

    def test_what_was_seen_before_it_stays(self, looked: Looked) -> None:
        looked.zone.lay(1, 2, 3, minutes=40)
        looked.look(3)
        looked.zone.take(1, 2)
        found = looked.look(3)
        assert (found.number, found.seen, found.assumed, found.rose_ms) == (3, 2, True, NOON_MS + MINUTE)
        found = looked.look(3, synced_ms=0)
        assert (found.number, found.seen, found.stands_since_ms) == (2, 2, NOON_MS + MINUTE)


class TestStanding:
    def test_counts_from_the_last_rise_that_was_seen(self, looked: Looked) -> None:
        looked.zone.lay(1, 2, 3, 4, minutes=40)
        assert looked.look(4).stands_since_ms == NOON_MS - 40 * MINUTE
        looked.zone.take(1)
        assert looked.look(4).stands_since_ms == NOON_MS + MINUTE
        assert looked.look(4).stands_since_ms == NOON_MS + MINUTE

    def test_counts_from_the_first_file_after_a_time_without_any(self, looked: Looked) -> None:
        looked.zone.lay(1, minutes=600)
        assert looked.look(1).stands_since_ms is None
        looked.zone.lay(2, minutes=-1)
        assert looked.look(2).stands_since_ms == NOON_MS + MINUTE

    def test_what_was_taken_in_is_not_taken_back(self, looked: Looked) -> None:
        looked.zone.lay(4)
        looked.look(4, synced_ms=NOON_MS)
        looked.zone.lay(2, 3)
        found = looked.look(4)
        assert (found.number, found.assumed) == (4, False)

    def test_a_rise_is_remembered_and_a_first_look_sees_none(self, looked: Looked) -> None:
        looked.zone.lay(1, 2, 3, 4, minutes=40)
        assert looked.look(4).rose_ms == 0
        looked.zone.take(1)
        assert [looked.look(4).rose_ms, looked.look(4).rose_ms] == [NOON_MS + MINUTE] * 2

    def test_another_generation_begins_anew(self, looked: Looked) -> None:
        looked.zone.lay(9)
        looked.look(9)
        looked.zone.take(9)
        looked.zone.lay(1, 2, minutes=2)
        found = looked.look(2, generation=2)
        assert (found.generation, found.number, found.stands_since_ms) == (2, 1, NOON_MS - 2 * MINUTE)


class TestFaults:
    def test_a_number_that_lies_nowhere_is_missed(self, looked: Looked) -> None:
        looked.zone.lay(16, 18, 20)
        found = looked.look(20)
        assert (found.missing, found.waiting, found.first) == (17, 2, WaitingFile(18, path(18), NOON_MS))

    def test_the_last_ones_may_be_missing_too(self, looked: Looked) -> None:
        looked.zone.lay(16)
        found = looked.look(18)
        assert (found.number, found.missing, found.waiting, found.first) == (16, 17, 0, None)
        assert found.stands_since_ms == NOON_MS

    def test_files_with_numbers_above_the_ledgers_are_not_counted(self, looked: Looked) -> None:
        looked.zone.lay(16, 99)
        found = looked.look(16)
        assert (found.number, found.waiting) == (16, 0)

    def test_an_empty_file_a_strange_one_and_two_of_a_number(self, looked: Looked) -> None:
        looked.zone.lay(1)
        looked.zone.lay(2, size=0)
        first = looked.look(2).first
        assert first is not None
        assert first.fault == "00000000000000000002.parquet is empty"
        looked.zone.lay(2)
        looked.zone.lay(2, ending="csv")
        first = looked.look(2).first
        assert first is not None
        assert first.fault == ("several files have this number: 00000000000000000002.csv, 00000000000000000002.parquet")
        looked.zone.take(2)
        first = looked.look(2).first
        assert first is not None
        assert first.fault == ("00000000000000000002.csv is not one of the table's files, which end in .parquet")
