"""How many requests files, micro-batches and looks cost on OneLake: exactly so many, and told in the docs.

The product's own driver, tasks and storages, with Microsoft's clients; Spark and Kafka send OneLake nothing.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from streaming.driver.query import Retries
from streaming.lifecycle.chores import Chores, Pace
from tests.catalogue.place import LINES, ORDERS, Driver, Place, row
from tests.emulators.dfs_requests import Operation
from tests.emulators.dfs_server import DfsServer
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage, local_file

DOCS = Path(__file__).parents[2] / "docs" / "onelake.md"

KINDS = {
    Operation.PUT_BLOB: ("Put Blob", 0.1626),
    Operation.CREATE_FILE: ("create", 0.1626),
    Operation.APPEND: ("append", 0.1626),
    Operation.FLUSH: ("flush", 0.1626),
    Operation.PROPERTIES: ("HEAD", 0.0104),
    Operation.READ: ("GET", 0.0104),
    Operation.LIST: ("listing", 0.1626),
    Operation.RENAME: ("rename", 13.0),
}
"""How the documentation calls each kind, and its CU seconds: Microsoft's rates for OneLake, of at most 4 MB."""

FILE = {Operation.PUT_BLOB: 1, Operation.PROPERTIES: 3, Operation.RENAME: 1}
VERSION = {Operation.PUT_BLOB: 1, Operation.READ: 1}


@pytest.fixture
def place(server: DfsServer, tmp_path: Path) -> Place:
    """A place whose zone and state are on OneLake, before its first batch."""
    place = Place(tmp_path / "place")
    place.zone = emulated_storage(emulated_location(server, tmp_path / "work"), Timeline())
    place.state = emulated_storage(emulated_location(server, tmp_path / "work"), Timeline())
    return place


@pytest.fixture
def driver(server: DfsServer, place: Place) -> Driver:
    """A driver that has started, and landed the first files of two tables."""
    driver = place.start()
    place.send(ORDERS.create(row(1), 1), LINES.create(row(1), 2))
    driver.land()
    server.requests.clear()
    return driver


def sent(server: DfsServer) -> dict[Operation, int]:
    """The requests since this was asked last, by kind."""
    counted = Counter(server.operations())
    server.requests.clear()
    return dict(counted)


def plus(*counts: dict[Operation, int]) -> dict[Operation, int]:
    return dict(sum((Counter(each) for each in counts), Counter()))


def documented(what: str, counted: dict[Operation, int]) -> bool:
    """Whether the documentation's table has these requests and what they cost."""
    kinds = ", ".join(f"{counted[kind]} {name}" for kind, (name, _) in KINDS.items() if kind in counted)
    cost = sum(KINDS[kind][1] * number for kind, number in counted.items())
    line = f"| {what} | {kinds} | {sum(counted.values())} | {cost:.2f} |"
    return line in DOCS.read_text(encoding="utf-8").splitlines()


def test_a_later_batch_costs_its_files_and_its_version(server: DfsServer, place: Place, driver: Driver) -> None:
    place.send(ORDERS.update(row(1, "uno"), 3), LINES.create(row(2), 4))
    driver.land()
    assert sent(server) == plus(FILE, FILE, VERSION)
    assert documented("a file of up to 8 MiB", FILE)
    assert documented("a micro-batch, beside its files", VERSION)


def test_a_table_without_news_costs_nothing(server: DfsServer, place: Place, driver: Driver) -> None:
    place.send(ORDERS.update(row(1, "uno"), 3))
    driver.land()
    assert sent(server) == plus(FILE, VERSION)


def test_a_batch_without_rows_costs_its_version(server: DfsServer, place: Place, driver: Driver) -> None:
    place.send(ORDERS.tombstone(row(1)))
    report = driver.land()
    assert (report.version is not None, report.files) == (True, {})
    assert sent(server) == VERSION


def test_a_range_without_records_costs_nothing(server: DfsServer, driver: Driver) -> None:
    assert driver.land().version is None
    assert sent(server) == {}


def test_a_tables_first_file_costs_a_look_at_its_folder_and_its_metadata(server: DfsServer, place: Place) -> None:
    driver = place.start()
    server.requests.clear()
    place.send(ORDERS.create(row(1), 1))
    driver.land()
    first = sent(server)
    place.send(LINES.create(row(1), 2))
    driver.land()
    kinds = {Operation.PUT_BLOB: 2, Operation.PROPERTIES: 2, Operation.LIST: 1, Operation.READ: 1}
    new = kinds | {Operation.RENAME: 1}
    # The state's copy in the zone is compared and written with the version that tells of a new table.
    copy = {Operation.PUT_BLOB: 1, Operation.READ: 1}
    assert (first, sent(server)) == (plus(new, VERSION, copy),) * 2
    assert documented("a table's first file", new)
    assert documented("the state's copy, with a new table and once an hour", copy)


def test_a_large_file_costs_a_request_for_every_8_mib(server: DfsServer, place: Place) -> None:
    place.zone.upload(local_file(place.zone, bytes(20 << 20)), "_scratchPad/large")
    upload = {Operation.CREATE_FILE: 1, Operation.APPEND: 3, Operation.FLUSH: 1, Operation.PROPERTIES: 1}
    assert sent(server) == upload


def test_a_look_for_what_people_ask_costs_three_requests(server: DfsServer, driver: Driver) -> None:
    pace = Pace(interval=0.0, retries=Retries(1, 1.0, 1.0), gives_up=False)
    Chores(driver.opened, {}, (), pace, on_failure=lambda error, pause: None).run()
    look = {Operation.PROPERTIES: 2, Operation.LIST: 1}
    assert sent(server) == look
    assert documented("a look for what people ask, every `requests.interval`", look)
