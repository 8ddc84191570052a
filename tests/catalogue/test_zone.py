"""What others do to the landing zone: replicator, people, programs. A table goes on correctly, or stops."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.requests import Action, new_request
from connectors.landing_zone.verify import verify_zone
from connectors.landing_zone.verify.findings import Rule
from streaming.driver.batch import DecodeAndLand
from streaming.plan import BatchPlan
from streaming.task.results import Results
from tests.catalogue.place import FOLDER, LANDED_OTHER, LINES, ORDERS, OTHER, TABLE, Place, row, waiting

RESUME = new_request(Action.RESUME, now_ms=1, by="ann@home", table=TABLE)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return waiting(Place(tmp_path))


def folder(place: Place) -> Path:
    return place.folder / "zone" / FOLDER


def numbers(place: Place) -> list[int]:
    """The numbers that lie in the table's own folder."""
    return sorted(int(path.stem) for path in folder(place).glob("[0-9]*.parquet"))


def found(place: Place) -> set[Rule]:
    """What `verify` finds wrong or strange."""
    return {finding.rule for finding in verify_zone(open_zone(place.zone), ledger=place.ledger, landed=())}


def resume(place: Place) -> str:
    """A person lets the table go on; what the driver answers."""
    driver = place.start()
    answer = driver.resume(RESUME)
    driver.catch_up()
    return answer.message


def test_numbers_go_on_although_the_cleanup_has_left_only_the_last_file(place: Place) -> None:
    place.land()
    place.land(ORDERS.create(row(3), 7))
    for number in (1, 2):  # read by the replicator, set aside, and removed for good seven days later
        (folder(place) / f"{number:020d}.parquet").unlink()
    place.land(ORDERS.create(row(4), 8))
    assert (numbers(place), place.parked()) == ([3, 4], None)


def test_numbers_go_on_although_every_file_was_moved_to_the_cleanup_folder(place: Place) -> None:
    place.land()
    (folder(place) / "_ProcessedFiles").mkdir()
    for path in folder(place).glob("[0-9]*.parquet"):
        path.rename(path.parent / "_ProcessedFiles" / path.name)
    place.land(ORDERS.create(row(3), 7))
    assert (numbers(place), place.parked()) == ([3], None)
    assert place.rows() == [row(1, "uno"), row(3)]


def test_a_listing_that_is_empty_stops_the_table_instead_of_beginning_with_1(place: Place) -> None:
    place.land()
    for path in folder(place).glob("[0-9]*.parquet"):
        path.unlink()
    place.land(ORDERS.create(row(3), 7), LINES.create(row(3), 8))
    assert (numbers(place), place.parked()) == ([], "zone:table_reset")
    assert place.rows(OTHER) == [*LANDED_OTHER, row(3)]


class TestForeignFile:
    def test_one_that_is_no_landing_file_is_left_alone_and_told_of(self, place: Place) -> None:
        (folder(place) / "notes.txt").write_text("mine")
        place.land()
        assert (numbers(place), place.parked()) == ([1, 2], None)
        assert (folder(place) / "notes.txt").read_text() == "mine"
        assert found(place) == {Rule.FOREIGN_FILE}

    def test_one_with_a_higher_number_stops_the_table_before_its_number_is_used(self, place: Place) -> None:
        (folder(place) / f"{9:020d}.parquet").write_bytes(b"theirs")
        place.land()
        assert (numbers(place), place.parked()) == ([1, 9], "zone:ledger_behind")
        assert place.rows(OTHER) == LANDED_OTHER

    def test_one_with_the_next_number_that_comes_while_the_batch_runs_is_not_overwritten(self, place: Place) -> None:
        driver = place.start()
        theirs = folder(place) / f"{2:020d}.parquet"

        def meanwhile(action: DecodeAndLand) -> DecodeAndLand:
            def acted(plan: BatchPlan) -> Results:
                theirs.write_bytes(b"theirs")
                return action(plan)

            return acted

        driver.land(around=meanwhile)
        assert (theirs.read_bytes(), place.parked()) == (b"theirs", "zone:sequence_conflict")
        assert place.rows(OTHER) == LANDED_OTHER
        theirs.unlink()
        assert resume(place).startswith("public.orders catches up")
        assert place.rows() == [row(1, "uno")]


class TestMetadataEditedByHand:
    def test_the_next_start_stops_the_table_and_says_what_it_has_to_be(self, place: Place) -> None:
        edit(place, keyColumns=["name"])
        place.land()
        table = place.ledger.tables[TABLE]
        assert table.parked is not None
        assert (table.parked.reason, table.sequence) == ("zone:metadata_conflict", 1)
        assert table.parked.message.startswith('The table\'s metadata is {"keyColumns": ["name"], ')
        assert 'not what its files were written for: {\n  "keyColumns": [\n    "id"\n  ]' in table.parked.message
        assert "`cdc-bridge resume CONFIG public.orders`" in table.parked.remedy
        assert place.rows(OTHER) == LANDED_OTHER

    def test_resume_is_refused_until_it_is_put_back_and_then_nothing_is_missing(self, place: Place) -> None:
        before = (folder(place) / "_metadata.json").read_bytes()
        edit(place, isUpsertDefaultRowMarker=False)
        place.land()
        assert resume(place).startswith("its folder is not as the ledger left it: The table's metadata is")
        (folder(place) / "_metadata.json").write_bytes(before)
        assert resume(place).startswith("public.orders catches up")
        assert (place.rows(), place.parked()) == ([row(1, "uno")], None)

    def test_another_layout_of_the_same_content_is_no_change(self, place: Place) -> None:
        edit(place)
        place.land()
        assert (place.rows(), place.parked()) == ([row(1, "uno")], None)

    def test_what_cannot_be_read_stops_the_table(self, place: Place) -> None:
        (folder(place) / "_metadata.json").write_text('{"keyColumns": ["id"')
        place.land()
        assert place.parked() == "zone:metadata_conflict"


class TestFolderDeletedUnderARunningJob:
    def test_the_table_stops_at_its_next_file_and_no_folder_is_made_anew(self, place: Place) -> None:
        driver = place.start()
        shutil.rmtree(folder(place))
        driver.land()
        assert place.parked() == "zone:table_reset"
        assert not folder(place).exists(), "one file in a folder without metadata would be another table"
        assert place.rows(OTHER) == LANDED_OTHER

    def test_so_it_does_if_that_happens_between_the_commit_and_the_rename(self, place: Place) -> None:
        driver = place.start()

        def meanwhile(action: DecodeAndLand) -> DecodeAndLand:
            def acted(plan: BatchPlan) -> Results:
                results = action(plan)
                shutil.rmtree(folder(place))
                return results

            return acted

        driver.land(around=meanwhile)
        assert (place.parked(), folder(place).exists()) == ("zone:table_reset", False)
        driver.land(until=place.log.ends())
        assert resume(place).startswith("its folder is not as the ledger left it: ")

    def test_one_that_is_emptied_and_left_takes_no_file_either(self, place: Place) -> None:
        driver = place.start()
        for each in folder(place).iterdir():
            each.unlink()
        driver.land()
        assert place.parked() == "zone:table_reset"
        assert list(folder(place).iterdir()) == [], "rows that nobody has read yet would be missing without a word"
        assert place.rows(OTHER) == LANDED_OTHER

    def test_nor_does_one_that_is_made_anew_with_its_metadata(self, place: Place) -> None:
        driver = place.start()
        metadata = (folder(place) / "_metadata.json").read_bytes()
        shutil.rmtree(folder(place))
        folder(place).mkdir()
        (folder(place) / "_metadata.json").write_bytes(metadata)
        driver.land()
        assert (place.parked(), numbers(place)) == ("zone:table_reset", [])

    def test_put_back_as_it_was_it_goes_on_and_nothing_is_missing(self, place: Place, tmp_path: Path) -> None:
        shutil.copytree(folder(place), tmp_path / "backup")
        driver = place.start()
        shutil.rmtree(folder(place))
        driver.land()
        shutil.copytree(tmp_path / "backup", folder(place))
        assert resume(place).startswith("public.orders catches up")
        assert (place.rows(), numbers(place)) == ([row(1, "uno")], [1, 2])


def edit(place: Place, **changes: object) -> None:
    """Somebody opens the table's metadata in an editor."""
    path = folder(place) / "_metadata.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
