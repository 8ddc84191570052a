from __future__ import annotations

import threading

import pytest

from connectors.landing_zone.errors import LedgerBehindError, LostFileError, SequenceConflictError, StorageError
from connectors.landing_zone.publisher import Publisher
from connectors.landing_zone.redo import Published
from tests.unit.landing_zone.ledger_builders import METADATA, ORDERS, ORDERS_FOLDER, landed, no_wait
from tests.unit.landing_zone.memory_storage import Fault, MemoryStorage, Request

CONFIRMED = Published(frozenset({ORDERS}), {})


def staged(*numbers: int) -> MemoryStorage:
    zone = MemoryStorage()
    for number in numbers:
        zone.put(landed(number).staged, b"rows")
    return zone


def publish(zone: MemoryStorage, number: int) -> Published:
    return Publisher(zone, sleep=no_wait).publish({ORDERS: landed(number)}, {ORDERS: METADATA})


def test_a_first_file_becomes_visible_after_its_metadata() -> None:
    zone = staged(1)

    assert publish(zone, 1) == CONFIRMED

    assert zone.files == {f"{ORDERS_FOLDER}/_metadata.json": METADATA, landed(1).target: b"rows"}
    assert [(request.method, request.path) for request in zone.requests if request.writes][1:] == [
        ("put_if_absent", f"{ORDERS_FOLDER}/_metadata.json"),
        ("rename_if_absent", landed(1).target),
    ]


def test_a_later_file_takes_three_requests() -> None:
    zone = staged(1, 2)
    publish(zone, 1)
    view = MemoryStorage(zone.disk)

    assert publish(view, 2) == CONFIRMED

    assert [request.method for request in view.requests] == ["stat", "stat", "rename_if_absent"]
    assert zone.files[landed(2).target] == b"rows"


def test_publishing_again_changes_nothing() -> None:
    zone = staged(1)
    publish(zone, 1)
    files = dict(zone.files)

    assert publish(zone, 1) == CONFIRMED
    assert zone.files == files


def test_a_published_file_with_a_staged_twin_is_done_and_the_twin_is_dropped() -> None:
    zone = staged(1, 2)
    publish(zone, 1)
    zone.put(landed(2).target, b"rows")

    assert publish(zone, 2) == CONFIRMED
    assert landed(2).staged not in zone.files


def test_a_number_with_other_content_is_not_overwritten() -> None:
    zone = staged(1, 2)
    publish(zone, 1)
    zone.put(landed(2).target, b"foreign")

    published = publish(zone, 2)

    assert {table: type(error) for table, error in published.stopped.items()} == {ORDERS: SequenceConflictError}
    assert published.confirmed == frozenset()
    assert zone.files[landed(2).target] == b"foreign"
    assert zone.files[landed(2).staged] == b"rows"


def test_a_staged_file_that_was_cut_short_is_not_published() -> None:
    zone = staged(1, 2)
    publish(zone, 1)
    zone.put(landed(2).staged, b"")

    published = publish(zone, 2)

    assert {table: type(error) for table, error in published.stopped.items()} == {ORDERS: LostFileError}
    assert landed(2).target not in zone.files


def test_a_first_file_is_not_published_where_higher_numbers_are() -> None:
    zone = staged(1)
    zone.put(f"{ORDERS_FOLDER}/00000000000000000005.parquet", b"foreign")

    assert {table: type(error) for table, error in publish(zone, 1).stopped.items()} == {ORDERS: LedgerBehindError}
    assert landed(1).target not in zone.files


def test_a_rename_whose_answer_was_lost_is_done() -> None:
    zone = staged(1, 2)
    publish(zone, 1)

    def lose_the_answer(request: Request) -> Fault | None:
        return Fault.LOSE_ANSWER if request.number == 1 else None

    assert publish(MemoryStorage(zone.disk, lose_the_answer), 2) == CONFIRMED
    assert zone.files[landed(2).target] == b"rows"


def test_a_storage_that_is_down_for_long_is_a_transient_error_and_publishing_can_be_repeated() -> None:
    zone = staged(1)
    waits: list[float] = []
    down = MemoryStorage(zone.disk, lambda request: Fault.FAIL)

    with pytest.raises(StorageError):
        Publisher(down, sleep=waits.append).publish({ORDERS: landed(1)}, {ORDERS: METADATA})

    assert waits == [1, 2, 4, 8]
    assert publish(zone, 1) == CONFIRMED


def test_a_storage_that_says_when_to_come_back_is_taken_at_its_word() -> None:
    class Busy(MemoryStorage):
        def list(self, folder: str) -> list:
            if not waits:
                error = StorageError("Busy", remedy="wait")
                error.retry_after = 17.0
                raise error
            return super().list(folder)

    waits: list[float] = []

    published = Publisher(Busy(staged(1).disk), sleep=waits.append).publish({ORDERS: landed(1)}, {ORDERS: METADATA})

    assert published == CONFIRMED
    assert waits == [17.0]


def test_tables_are_published_side_by_side() -> None:
    zone = MemoryStorage()
    files = {f"public.t{i}": landed(2, name=f"t{i}") for i in range(4)}
    for i, file in enumerate(files.values()):
        zone.put(file.staged, b"rows")
        zone.put(f"public.schema/t{i}/{1:020d}.parquet", b"rows")
    together = threading.Barrier(4, timeout=120)

    def meet(request: Request) -> None:
        if request.method == "rename_if_absent":
            together.wait()

    published = Publisher(MemoryStorage(zone.disk, meet), threads=4).publish(files, {})

    assert published == Published(frozenset(files), {})


def test_nothing_to_publish_is_published() -> None:
    zone = MemoryStorage()
    assert Publisher(zone).publish({}, {}) == Published(frozenset(), {})
    assert zone.requests == []
