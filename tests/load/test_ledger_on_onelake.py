"""What opening a ledger of many versions asks of OneLake: one listing, by pages, and what came since a whole state."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.version_file import path_of
from tests.emulators.dfs_requests import Operation
from tests.emulators.dfs_server import DfsServer
from tests.integration.onelake_job import in_tree
from tests.load.long_ledger import written
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage

MOST_READ = 1 + 32 + 108
"""Versions that an opening reads, however many there are: the newest one, then 32 at a time back to the last whole
state, which is at most 99 below it; where that is fewer than 8 below it, the 108 further down, too, which tell whether
it is of the same ledger."""
COUNTS = {1_000: "a whole state is the newest", 1_007: "as much as can be", 1_008: "as little", 1_099: "the farthest"}


@pytest.fixture(scope="module")
def versions() -> dict[str, bytes]:
    memory = MemoryStorage()
    written(memory, max(COUNTS))
    return dict(memory.files)


@pytest.fixture
def server() -> Iterator[DfsServer]:
    with DfsServer() as running:
        yield running


@pytest.mark.parametrize("page_size", [100, 5_000])
@pytest.mark.parametrize("count", COUNTS, ids=COUNTS.get)
def test_opening_asks_for_the_pages_once_and_for_what_has_come_since_the_whole_state(
    server: DfsServer, tmp_path: Path, versions: dict[str, bytes], count: int, page_size: int
) -> None:
    location = emulated_location(server, tmp_path / "work")
    for number in range(1, count + 1):
        server.tree.put(f"{in_tree(location)}/{path_of(number)}", versions[path_of(number)], if_absent=True)
    server.page_size = page_size
    state = emulated_storage(location, Timeline())

    head = Ledger.open(state, now_ms=lambda: 0).state

    asked = Counter(server.operations())
    assert head.version == count
    assert asked[Operation.LIST] == math.ceil(count / page_size)
    assert asked[Operation.PROPERTIES] == 1, "a listing may lag: is there a next one?"
    assert asked[Operation.READ] <= MOST_READ
    assert asked.total() == asked[Operation.LIST] + 1 + asked[Operation.READ]
