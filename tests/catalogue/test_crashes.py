"""A process that dies, one that lost an answer, one that slept: whoever comes next, the zone comes out the same."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from connectors.landing_zone.errors import FencedError
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver import startup
from streaming.driver.batch import DecodeAndLand
from streaming.plan import BatchPlan
from streaming.policies import MetadataColumn
from streaming.task.results import Results
from tests.catalogue.deaths import DiedError, FailingStorage, answer_is_lost, dies
from tests.catalogue.place import FOLDER, LANDED, LANDED_OTHER, ORDERS, OTHER, Place, row, waiting


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return waiting(Place(tmp_path / "place"))


@pytest.fixture
def calm(tmp_path: Path) -> dict[str, bytes]:
    """The files of a place that nothing has disturbed."""
    undisturbed = waiting(Place(tmp_path / "calm"))
    undisturbed.land()
    return undisturbed.files()


def fails(place: Place, method: str, part: str, what: Callable[[], None], *, after: bool) -> None:
    """Let something happen in a request of the next driver, to the state for ``put_if_absent``, else to the zone."""
    where = "state" if method == "put_if_absent" else "zone"
    setattr(place, where, FailingStorage(place.folder / where, method, part, what, after=after))


def heal(place: Place) -> None:
    place.zone, place.state = LocalStorage(place.folder / "zone"), LocalStorage(place.folder / "state")


def die(place: Place, method: str, part: str, *, after: bool) -> None:
    """A driver starts, and dies at this request."""
    fails(place, method, part, dies, after=after)
    with pytest.raises(DiedError):
        place.land()
    heal(place)


def batch_of(place: Place) -> str:
    """The version that the next driver's first batch becomes: its claim comes before."""
    return f"ledger/{place.ledger.version + 2:020d}.json"


def test_a_crash_after_the_rename_and_before_the_ledger_hears_of_it_is_rolled_forward(
    place: Place, calm: dict[str, bytes]
) -> None:
    die(place, "rename_if_absent", f"{FOLDER}/", after=True)
    assert set(place.ledger.pending) == {"public.orders", "public.lines"}, "one of them has its number already"
    place.land()
    assert place.files() == calm
    assert (place.rows(), place.rows(OTHER), place.staged()) == (LANDED, LANDED_OTHER, [])


def test_a_crash_after_the_ledgers_version_and_before_sparks_commit_repeats_the_batch_for_nothing(
    place: Place, calm: dict[str, bytes]
) -> None:
    start = {topic: dict(each.partitions) for topic, each in place.ledger.topics.items()}
    die(place, "put_if_absent", batch_of(place), after=True)
    driver = place.start()
    assert place.files() == calm, "published by the start, without Kafka"
    assert driver.land(since=start).version is None, "Spark runs its batch once more"
    assert (place.files(), place.staged()) == (calm, [])


def test_a_rename_whose_answer_is_lost_is_done(place: Place, calm: dict[str, bytes]) -> None:
    fails(place, "rename_if_absent", f"{FOLDER}/", answer_is_lost, after=True)
    place.land()
    assert (place.files(), place.staged()) == (calm, [])
    assert place.ledger.tables["public.orders"].parked is None


def test_a_rename_that_meets_the_same_content_is_done(place: Place, calm: dict[str, bytes]) -> None:
    die(place, "rename_if_absent", f"{FOLDER}/", after=False)
    pending = place.ledger.pending["public.orders"]
    # A copy that somebody else has put there, as a repeated request would.
    (place.folder / "zone" / pending.target).write_bytes((place.folder / "zone" / pending.staged).read_bytes())
    place.land()
    assert (place.files(), place.staged(), place.rows()) == (calm, [], LANDED)


def test_a_rename_that_meets_other_content_stops_the_table_and_no_other(place: Place, calm: dict[str, bytes]) -> None:
    die(place, "rename_if_absent", f"{FOLDER}/", after=False)
    target = place.ledger.pending["public.orders"].target
    (place.folder / "zone" / target).write_bytes(b"somebody else's")
    place.land()
    assert place.parked() == "zone:sequence_conflict"
    assert place.files() == calm | {target: b"somebody else's"}, "not overwritten"
    assert place.rows(OTHER) == LANDED_OTHER


def test_a_crash_leaves_no_gap_in_the_numbers(place: Place, calm: dict[str, bytes]) -> None:
    die(place, "upload", "_scratchPad/", after=True)
    assert len(place.staged()) == 1
    for after in (False, False, True):
        die(place, "put_if_absent", batch_of(place), after=after)
    place.land()
    assert (place.files(), place.staged()) == (calm, [])
    assert [place.ledger.tables[name].sequence for name in ("public.orders", "public.lines")] == [2, 2]


def test_a_second_driver_claims_and_goes_on_although_the_first_one_lands_what_comes_while_it_starts(
    place: Place,
) -> None:
    first = place.start()

    def lands() -> None:
        place.send(ORDERS.create(row(7, "while it started"), 7))
        first.land()

    fails(place, "put_if_absent", "ledger/", lands, after=False)
    second = place.start()
    place.send(ORDERS.create(row(8, "later"), 8))
    with pytest.raises(FencedError):
        first.land()
    second.land()
    assert place.rows() == [*LANDED, row(7, "while it started"), row(8, "later")]
    assert place.replayed().rows_per_marker == {"1": 1, "2": 1, "4": 4}, "nothing twice"


class TestAnotherConfigurationBetweenAttemptAndReplay:
    def test_what_was_not_committed_lands_by_the_new_one(self, place: Place) -> None:
        die(place, "put_if_absent", batch_of(place), after=False)
        die(place, "upload", "_scratchPad/", after=True)
        place.policies = {"metadata_columns": (MetadataColumn.KAFKA_OFFSET,)}
        place.land()
        assert place.rows() == [{"id": 1, "name": "uno", "_cdc_kafka_offset": 2}]
        assert (place.staged(), place.parked()) == ([], None)

    def test_what_was_committed_lands_as_it_was(self, place: Place, calm: dict[str, bytes]) -> None:
        die(place, "rename_if_absent", f"{FOLDER}/", after=False)
        place.policies = {"metadata_columns": (MetadataColumn.KAFKA_OFFSET,)}
        place.land()
        assert place.files() == calm
        place.land(ORDERS.create(row(9), 9))
        assert place.rows()[-1] == {"id": 9, "name": "new", "_cdc_kafka_offset": 4}


class NewerWriter(pq.ParquetWriter):
    """A writer of other pages, without dictionaries and with another version of the format in its files."""

    def __init__(self, *args: Any, **options: Any) -> None:
        other = {"version": "1.0", "data_page_version": "2.0", "use_dictionary": False}
        super().__init__(*args, **{**options, **other})


Upgrade = Callable[[Place], None]


class TestAnotherVersionOfALibraryBetweenAttemptAndReplay:
    """A library that writes the same rows as other bytes."""

    @pytest.fixture(params=["compressor", "writer"])
    def upgrade(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Upgrade:
        def upgraded(place: Place) -> None:
            if request.param == "compressor":
                # So few rows are compressed by the newer one alone, and otherwise than by default.
                monkeypatch.setattr("connectors.landing_zone.encoding.is_tiny", lambda rows: False)
                place.options = {"compression_level": 19}
            else:
                monkeypatch.setattr("connectors.landing_zone.parquet.pq.ParquetWriter", NewerWriter)

        return upgraded

    def test_what_was_not_committed_gets_its_number_once_and_by_the_new_one(
        self, place: Place, calm: dict[str, bytes], upgrade: Upgrade
    ) -> None:
        die(place, "upload", "_scratchPad/", after=True)
        upgrade(place)
        place.land()
        assert place.files().keys() == calm.keys()
        assert place.files() != calm
        assert (place.rows(), place.rows(OTHER), place.staged()) == (LANDED, LANDED_OTHER, [])

    def test_what_was_committed_keeps_the_bytes_that_it_was_bound_to(
        self, place: Place, calm: dict[str, bytes], upgrade: Upgrade
    ) -> None:
        start = {topic: dict(each.partitions) for topic, each in place.ledger.topics.items()}
        die(place, "rename_if_absent", f"{FOLDER}/", after=False)
        upgrade(place)
        assert place.start().land(since=start).version is None
        assert (place.files(), place.staged(), place.parked()) == (calm, [], None)


def wall_clock(monkeypatch: pytest.MonkeyPatch, behind: float = 0.0) -> None:
    """Let all drivers' clocks be so many seconds behind this machine's, by which files are stamped."""
    monkeypatch.setattr(startup, "_now_ms", lambda: time.time_ns() // 1_000_000 - int(behind * 1_000))


def grow_older(place: Place, seconds: float) -> None:
    """As if everything in zone and state had been written so much earlier."""
    for path in place.folder.rglob("*"):
        written = path.stat().st_mtime - seconds
        os.utime(path, (written, written))


@pytest.mark.parametrize("seconds", [600.0, 3 * 86_400.0], ids=["ten minutes", "three days"])
def test_a_zombie_that_wakes_up_after_ten_minutes_or_days_changes_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    wall_clock(monkeypatch, behind=seconds)
    zombie = place.start()

    def sleeping(action: DecodeAndLand) -> DecodeAndLand:
        def slept(plan: BatchPlan) -> Results:
            results = action(plan)
            # Its files are staged; long after, another driver lands the same batch, and the next one, and cleans up.
            wall_clock(monkeypatch)
            grow_older(place, seconds)
            place.land()
            place.land(ORDERS.create(row(3), 7))
            return results

        return slept

    with pytest.raises(FencedError, match="Another driver owns this landing zone: driver-3"):
        zombie.land(around=sleeping)
    before = place.files()
    assert place.rows() == [*LANDED, row(3)]
    assert place.replayed().rows_per_marker == {"1": 1, "2": 1, "4": 3}, "nothing twice"
    place.land()
    assert (place.files(), place.staged()) == (before, [])
