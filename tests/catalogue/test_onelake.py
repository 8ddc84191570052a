"""What OneLake may do in the middle of a batch: the real clients of ADLS on the emulator, under a driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.errors import BridgeError, Transient
from tests.catalogue.place import LANDED, LANDED_OTHER, OTHER, Driver, Place, waiting
from tests.emulators.dfs_requests import Operation, Request
from tests.emulators.dfs_server import Answered, DfsServer, FaultsInTurn, Lost
from tests.emulators.faults import TokenExpired
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage


@pytest.fixture(scope="module")
def dfs_server() -> Iterator[DfsServer]:
    with DfsServer() as server:
        yield server


@pytest.fixture
def server(dfs_server: DfsServer) -> DfsServer:
    dfs_server.calm()
    return dfs_server


@pytest.fixture
def timeline() -> Timeline:
    """The clock by which the zone's storage waits."""
    return Timeline()


@pytest.fixture
def place(server: DfsServer, timeline: Timeline, tmp_path: Path) -> Place:
    """A place whose zone is in OneLake."""
    place = Place(tmp_path / "place")
    place.zone = emulated_storage(emulated_location(server, tmp_path / "work"), timeline)
    return waiting(place)


@pytest.fixture
def calm(tmp_path: Path) -> dict[str, bytes]:
    """The files of a place that nothing has disturbed."""
    undisturbed = waiting(Place(tmp_path / "calm"))
    undisturbed.land()
    return undisturbed.files()


def files(place: Place) -> dict[str, bytes]:
    """Everything that the mirrored database reads, by path."""
    found: dict[str, bytes] = {}
    folders = [""]
    while folders:
        for entry in place.zone.list(folders.pop()):
            if entry.name.startswith("_") and entry.name != "_metadata.json":
                continue
            if entry.is_folder:
                folders.append(entry.path)
            else:
                found[entry.path] = place.zone.read(entry.path)
    return found


def test_a_rename_whose_answer_is_lost_is_done_once(server: DfsServer, place: Place, calm: dict[str, bytes]) -> None:
    server.fault = FaultsInTurn(Operation.RENAME, Lost.AFTER, Lost.BEFORE, Lost.AFTER)
    place.land()
    assert (files(place), place.parked()) == (calm, None)


def test_a_token_that_ends_in_the_middle_of_an_upload_is_replaced(
    server: DfsServer, place: Place, calm: dict[str, bytes]
) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, TokenExpired(challenged=False), path="/_scratchPad/")
    place.land()
    assert (files(place), place.parked()) == (calm, None)
    assert [met.operation for met in server.met] == [Operation.PUT_BLOB]


def test_a_wait_that_onelake_asks_for_is_kept(
    server: DfsServer, place: Place, timeline: Timeline, calm: dict[str, bytes]
) -> None:
    timeline.sleeps.clear()
    server.fault = FaultsInTurn(
        Operation.PUT_BLOB, Answered(429, "TooManyRequests", {"Retry-After": "17"}), path="/_scratchPad/"
    )
    place.land()
    assert (files(place), place.parked()) == (calm, None)
    assert 17.0 in timeline.sleeps


class TestCapacityPaused:
    """Which answer a paused capacity gives is not documented, only that every request is refused."""

    @staticmethod
    def pause(server: DfsServer, driver: Driver, answer: Answered) -> None:
        """Refuse everything from the first rename of the driver's batch on."""
        paused: list[Request] = []

        def refuse(request: Request) -> Answered | None:
            if paused or request.operation is Operation.RENAME:
                paused.append(request)
                return answer
            return None

        server.fault = refuse
        with pytest.raises(BridgeError) as raised:
            driver.land()
        assert isinstance(raised.value, Transient) is (answer.status == 503)
        server.calm()

    def test_one_that_is_told_as_unavailable_is_waited_for_by_the_same_driver(
        self, server: DfsServer, place: Place, calm: dict[str, bytes]
    ) -> None:
        driver = place.start()
        self.pause(server, driver, Answered(503, "ServerBusy"))
        assert set(place.ledger.pending) == {"public.orders", "public.lines"}, "committed, and not to be seen yet"
        driver.land()
        assert (files(place), place.parked()) == (calm, None)

    def test_one_that_is_told_as_forbidden_ends_the_driver_and_the_next_one_goes_on(
        self, server: DfsServer, place: Place, calm: dict[str, bytes]
    ) -> None:
        self.pause(server, place.start(), Answered(403, "CapacityNotActive"))
        place.land()
        assert (files(place), place.parked()) == (calm, None)
        assert (place.rows(), place.rows(OTHER)) == (LANDED, LANDED_OTHER)


def test_a_folder_deleted_under_a_running_job_is_not_made_anew_with_one_file_in_it(place: Place) -> None:
    driver = place.start()
    place.zone.delete("public.schema/orders")
    driver.land()
    assert (place.parked(), place.zone.stat("public.schema/orders")) == ("zone:table_reset", None)
    assert place.rows(OTHER) == LANDED_OTHER
