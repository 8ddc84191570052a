"""A rebuild whose driver is killed, or whose storage fails, at any request: the table comes out the same."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.errors import Transient
from connectors.landing_zone.backoff import ATTEMPTS
from connectors.landing_zone.ledger.state import TableStatus
from streaming.policies import OnTruncate
from tests.support.records import Table
from tests.unit.landing_zone.memory_storage import Crash, Fault
from tests.unit.landing_zone.memory_storage import Request as StorageRequest
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, USERS, Hook, World

FAULTS = (Fault.CRASH_BEFORE, Fault.CRASH_AFTER, Fault.LOSE_ANSWER, Fault.FAIL)


def resynced(folder: Path) -> World:
    """A table that streams beside another one, a request to rebuild it, and what Kafka brings meanwhile."""
    world = World(folder)
    world.send(ORDERS.read(row(1, "one"), 10), ORDERS.read(row(2, "stale"), 10), USERS.read(row(1), 10))
    world.live()
    world.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    world.ask()
    world.send(ORDERS.create(row(3, "three"), 31), USERS.create(row(3), 32))
    return world


def truncated(folder: Path) -> World:
    """A table of two partitions that a truncate has emptied, to be rebuilt from Kafka."""
    world = World(folder, policies={"on_truncate": OnTruncate.REBUILD})
    world.send(ORDERS.at(0).read(row(1), 10), ORDERS.at(1).read(row(2), 10), USERS.read(row(1), 10))
    world.live()
    world.send(ORDERS.at(0).truncate(20), ORDERS.at(1).create(row(4), 25), USERS.create(row(3), 26))
    return world


def snapshotted(folder: Path) -> World:
    """A table whose connector has made a second snapshot."""
    world = World(folder)
    again = Table(TOPIC, run="run-2")
    world.send(ORDERS.at(0).read(row(1), 10), ORDERS.at(1).read(row(2), 10), ORDERS.at(0).create(row(3), 20))
    world.send(USERS.read(row(1), 10))
    world.live()
    world.send(again.at(0).read(row(1), 90), again.at(1).create(row(5), 91), USERS.create(row(3), 92))
    return world


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
@pytest.mark.parametrize("begin", [resynced, truncated, snapshotted])
def test_whatever_request_fails_or_kills_the_driver_a_rebuilt_table_comes_out_the_same(
    tmp_path: Path, begin: Callable[[Path], World], fault: Fault
) -> None:
    counted: list[StorageRequest] = []
    calm = begin(tmp_path)
    calm.driver(counted.append).drain()
    calm.live()
    for number in [number for number, request in enumerate(counted) if request.writes or fault is Fault.FAIL]:
        disturbed = begin(tmp_path)
        with contextlib.suppress(Crash, Transient):
            disturbed.driver(at(number, fault)).drain()
        disturbed.live()
        assert outcome(disturbed) == outcome(calm), f"{fault} at {counted[number]}"


def test_a_write_whose_answer_is_lost_in_a_long_outage_ends_no_driver(tmp_path: Path) -> None:
    counted: list[StorageRequest] = []
    calm = resynced(tmp_path)
    calm.driver(counted.append).drain()
    calm.live()
    for request in [request for request in counted if request.writes]:
        disturbed = resynced(tmp_path)
        with contextlib.suppress(Transient):  # where it is met by the claim
            driver = disturbed.driver(outage_from(request.number))
            for _ in range(3):
                with contextlib.suppress(Transient):  # of a micro-batch, which is tried again
                    driver.drain()
        disturbed.live()
        assert outcome(disturbed) == outcome(calm), f"an outage from {request} on"


def outcome(world: World) -> dict[str, object]:
    """What has to come out whatever is disturbed."""
    assert world.table.status is TableStatus.STREAMING
    return {
        "rows": {name: world.rows(name) for name in (NAME, OTHER_NAME)},
        "files": list(world.files()),
        "generation": world.table.generation,
        "signals": len(world.signals),
        "counters": {name: count for name, count in world.ledger.counters.items() if name != "bytes"},
    }


def outage_from(number: int) -> Hook:
    """A write takes effect, and no request is answered for longer than any of them is repeated."""

    def hook(request: StorageRequest) -> Fault | None:
        if request.number == number:
            return Fault.LOSE_ANSWER
        return Fault.FAIL if number < request.number <= number + ATTEMPTS else None

    return hook


def at(number: int, fault: Fault) -> Hook:
    return lambda request: fault if request.number == number else None
