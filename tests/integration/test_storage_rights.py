"""The bridge runs with exactly the rights on storage and Fabric that the page lists, and names what lacks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from connectors.landing_zone.errors import StorageDeniedError
from connectors.landing_zone.ledger.copying import SNAPSHOT_COPY
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.owner import OWNER_FILE, withdraw_first_claim
from tests.emulators.access import Access
from tests.emulators.dfs_server import TOKEN, DfsServer
from tests.emulators.fabric_server import FabricServer
from tests.emulators.identity_server import IdentityServer
from tests.integration.storage_rights import FABRIC, ROWS, RightsWorld, Row
from tests.support.cluster import Cluster
from tests.support.records import Table
from tests.unit.landing_zone.ledger_builders import noon
from tests.unit.landing_zone.storages import Timeline, emulated_storage

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

TABLE = "public.orders"
REBUILDS = {"tables__overrides": [{"match": TABLE, "policies": {"on_truncate": "rebuild"}}]}
Worlds = Callable[[], RightsWorld]


@pytest.fixture(scope="module")
def topic(bootstrap_servers: str) -> tuple[Cluster, Table]:
    cluster = Cluster(bootstrap_servers)
    table = Table(cluster.topic())
    cluster.send(table.create({"id": 1, "name": "a"}, lsn=1))
    return cluster, table


@pytest.fixture(scope="module")
def new_world(
    topic: tuple[Cluster, Table],
    bootstrap_servers: str,
    spark_jars: list[Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Worlds]:
    shared = {"kafka__bootstrap_servers": bootstrap_servers, "kafka__topics": [topic[1].topic]}
    with ExitStack() as stack:
        servers = [stack.enter_context(server) for server in (DfsServer(), FabricServer(TOKEN), IdentityServer(TOKEN))]
        yield lambda: RightsWorld(*servers, tmp_path_factory.mktemp("rights"), shared)


@dataclass(frozen=True)
class Carried:
    """What came of all that the page is about.

    Attributes:
        failed: commands that did not end well, with what they said; refused: requests that no right covered.
        used: rows that some request has needed.
    """

    world: RightsWorld
    failed: list[tuple[str, str]]
    refused: list[str]
    used: set[Row]


def newest(world: RightsWorld) -> str:
    """The last file of the table, within the zone."""
    return max(path for path in world.paths(world.zone, "public.schema/orders") if path.endswith(".parquet"))


def taken_back(world: RightsWorld, rows: Collection[Row]) -> Access:
    """A claim that has begun a ledger where it has no business, made and removed as a start does it."""
    with world.granted(rows) as access:
        storage = emulated_storage(world.state, Timeline())
        ledger = Ledger.open(storage, now_ms=noon)
        ledger.claim("run-1", "host")
        withdraw_first_claim(storage, ledger.state)
    return access


@pytest.fixture(scope="module")
def carried(new_world: Worlds, topic: tuple[Cluster, Table]) -> Carried:
    """A table from its first record to its rebuild, and a claim that is taken back."""
    world, other = new_world(), new_world()
    cluster, table = topic
    outcomes: list[tuple[str, int, str]] = []

    def did(*arguments: str, **changes: Any) -> None:
        outcomes.append((" ".join(arguments), *world.does(*arguments, **changes)))

    with world.granted(ROWS) as access:
        did("check")
        did("run", "--once")
        world.left_by_a_dead_driver()
        cluster.send(table.create({"id": 2, "name": "b"}, lsn=2))
        did("run", "--once")
        did("resync", TABLE, "--no-wait")
        cluster.send(table.truncate(lsn=3), table.create({"id": 3, "name": "c"}, lsn=4))
        did("run", "--once", **REBUILDS)
        did("status")
    beside = taken_back(other, ROWS)
    questions = {path.rpartition("/")[2] for _, path in world.fabric.asked()}
    return Carried(
        world,
        [(name, said) for name, code, said in outcomes if code != 0],
        [f"{request.operation} {request.path}" for request in (*access.refused, *beside.refused)],
        {
            *world.used(access),
            *other.used(beside),
            *(row for row in ROWS if row.storage == FABRIC and row.which in questions),
        },
    )


@pytest.fixture(scope="module")
def mended(new_world: Worlds, bootstrap_servers: str) -> Carried:
    """A lost file and one with another's in its place are made again, then the ledger; the zone is adopted."""
    world, cluster = new_world(), Cluster(bootstrap_servers)
    table = Table(cluster.topic())
    cluster.send(table.create({"id": 1, "name": "a"}, lsn=1))
    world.shared = {**world.shared, "kafka__topics": [table.topic]}
    outcomes: list[tuple[str, int, str]] = []

    def did(*arguments: str, **changes: Any) -> None:
        outcomes.append((" ".join(arguments), *world.does(*arguments, **changes)))

    with world.granted(ROWS) as access:
        did("run", "--once")
        lost = newest(world)
        world.remove(world.zone, lost)
        did("resolve", TABLE)
        assert newest(world) == lost
        did("run", "--once")
        cluster.send(table.create({"id": 4, "name": "d"}, lsn=5))
        did("run", "--once")
        world.replace(newest(world), b"somebody else's")
        did("resolve", TABLE, "--decide", "set-foreign-aside")
        did("run", "--once")
        world.remove(world.state, "ledger")
        did("ledger rebuild")
        did("run", "--once")
        world.remove(world.state, "ledger")
        for path in (OWNER_FILE, SNAPSHOT_COPY):
            world.remove(world.zone, path)
        did("adopt", kafka__starting="earliest")
        did("run", "--once")
        did("status")
    return Carried(
        world,
        [(name, said) for name, code, said in outcomes if code != 0],
        [f"{request.operation} {request.path}" for request in access.refused],
        world.used(access),
    )


def test_the_job_and_its_commands_run_with_exactly_these_rights(carried: Carried) -> None:
    assert carried.failed == []
    assert carried.refused == []


def test_each_of_these_rights_is_used(carried: Carried, mended: Carried) -> None:
    assert [str(row) for row in ROWS if row not in carried.used | mended.used] == []


def refused_without(row: Row, new_world: Worlds, done: RightsWorld, spark: SparkSession) -> tuple[int, str]:
    """What is said where it is missed first, and the exit code."""
    rows = [other for other in ROWS if other != row]
    match row.storage, row.right, row.which:
        case (_, _, place) if "check" in place or row.storage == FABRIC:
            world = new_world()
            with world.granted(rows):
                return world.does("check")
        case (_, _, place) if "aside" in place:
            world = new_world()
            with world.granted(ROWS):
                assert world.drains(spark)[0] == 0
            world.replace(newest(world), b"somebody else's")
            with world.granted(rows):
                return world.does("resolve", TABLE, "--decide", "set-foreign-aside")
        case "state", "delete", "`ledger`":
            with pytest.raises(StorageDeniedError) as raised:
                taken_back(new_world(), rows)
            return 1, str(raised.value)
        case "zone", "delete", "`_scratchPad`":
            done.left_by_a_dead_driver()
            with done.granted(rows):
                return done.drains(spark)
        case "state", "write", "`requests`, `answers`":
            with done.granted(rows):
                return done.does("resync", TABLE, "--no-wait")
        case "state", "delete", "`requests`, `answers`":
            with done.granted(ROWS):
                assert done.does("resync", TABLE, "--no-wait")[0] == 0
            with done.granted(rows):
                return done.drains(spark)
        case _:
            world = new_world()
            with world.granted(rows):
                return world.drains(spark, **REBUILDS)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_without_one_of_them_the_error_names_it(
    row: Row, new_world: Worlds, carried: Carried, spark: SparkSession
) -> None:
    code, said = refused_without(row, new_world, carried.world, spark)
    assert row.is_of(said), said[-3_000:]
    assert code == (0 if row.storage == FABRIC else 1)


def test_what_a_person_mends_takes_no_other_rights(mended: Carried) -> None:
    assert mended.failed == []
    assert mended.refused == []
