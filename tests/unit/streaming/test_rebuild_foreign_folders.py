"""A folder that somebody else made in the table's place while it is rebuilt is never removed."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from connectors.errors import Terminal
from connectors.landing_zone.errors import FencedError
from connectors.landing_zone.ledger.state import RebuildKind, TableStatus
from connectors.landing_zone.requests import Action, Answer, new_request
from streaming.lifecycle.stopping import stop_table
from streaming.policies import OnTruncate
from tests.unit.landing_zone.memory_storage import Crash, Disk
from tests.unit.landing_zone.memory_storage import Request as StorageRequest
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, Driver, World, dies_at, shop

FOLDER = "public.schema/orders"


class Broken(Terminal):
    """An error of one table."""


class TestForeignFolders:
    def test_a_folder_that_appears_while_the_table_has_none_stops_it(self, world: World) -> None:
        shop(world)
        world.release_wait = 120.0
        world.ask()
        world.driver().drain()
        place(world.zone, "public.schema/orders/00000000000000000001.parquet")

        world.now_ms += 120_000
        world.driver().drain()

        parked = world.table.parked
        assert parked is not None
        assert (world.table.status, parked.reason) == (TableStatus.PARKED, "zone:foreign_folder")
        assert parked.message.startswith(
            "The bridge has removed the table's folder for a rebuild, and something else has made it anew"
        )
        assert parked.remedy == (
            f"find out who writes there and stop it; take its folder away and `cdc-bridge resume CONFIG {NAME}`, or, "
            f"if the folder may go, `cdc-bridge resync CONFIG {NAME}`"
        )
        assert "public.schema/orders/00000000000000000001.parquet" in world.zone.files
        assert world.rows(OTHER_NAME) == [row(1), row(2)]
        world.release_wait = 0.0
        world.ask(new_request(Action.RESYNC, now_ms=2, by="ann@home", table=NAME))
        world.live()
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_a_folder_that_takes_the_tables_place_at_the_last_moment_is_not_removed(self, world: World) -> None:
        shop(world)
        world.ask()

        def replaced(request: StorageRequest) -> None:
            if request.method == "delete_folder":
                for path in [path for path in world.zone.files if path.startswith("public.schema/orders/")]:
                    del world.zone.files[path]
                place(world.zone, "public.schema/orders/00000000000000000009.parquet")

        world.driver(replaced).drain()
        assert world.table.parked is not None
        assert world.table.parked.reason == "zone:foreign_folder"
        assert "public.schema/orders/00000000000000000009.parquet" in world.zone.files

    def test_a_driver_that_slept_removes_nothing_of_the_next_ones(self, world: World) -> None:
        shop(world)
        world.ask()
        nested: list[StorageRequest] = []

        def overtaken(request: StorageRequest) -> None:
            if request.method == "delete_folder" and not nested:
                nested.append(request)
                world.live()

        with pytest.raises(Exception, match="Another driver owns this landing zone"):
            world.driver(overtaken).drain()
        assert world.rows() == [row(1, "uno"), row(3, "three")]


class TestRebuildsThatAFaultHasStopped:
    """Where Debezium takes no signals, no other rebuild could take its place."""

    def removing(self, folder: Path, wait: float) -> tuple[World, Driver]:
        """The orders' truncate has had their folder removed, which the replicator has not noticed yet."""
        world = shop(World(folder, policies={"on_truncate": OnTruncate.REBUILD}, takes_signals=False))
        world.once, world.release_wait = False, wait
        world.send(ORDERS.truncate(50), ORDERS.create(row(9, "nine"), 51))
        driver = world.driver()
        driver.drain()
        assert world.table.status is TableStatus.DELETING
        return world, driver

    def resumed(self, world: World) -> Answer:
        request = new_request(Action.RESUME, now_ms=1, by="ann@home", table=NAME)
        world.ask(request)
        world.driver().drain()
        return world.answered(request)

    def test_one_goes_on_once_the_foreign_folder_is_gone(self, tmp_path: Path) -> None:
        world, driver = self.removing(tmp_path, wait=60.0)
        stranger = f"{FOLDER}/00000000000000000001.parquet"
        place(world.zone, stranger)
        driver.do_chores()
        assert world.table.parked is not None
        assert world.table.parked.reason == "zone:foreign_folder"
        refusal = self.resumed(world)
        assert (refusal.accepted, stranger in world.zone.files) == (False, True)
        assert refusal.message.startswith("the folder is still there that something else has made: The bridge has")

        del world.zone.files[stranger]
        world.release_wait = 0.0
        assert self.resumed(world).message == f"{NAME} goes on being rebuilt"
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(9, "nine")])

    def test_one_goes_on_once_what_failed_is_mended(self, tmp_path: Path) -> None:
        world, driver = self.removing(tmp_path, wait=60.0)
        stop_table(driver.ledger, NAME, Broken("the folder may not be listed", remedy="grant it"))
        world.send(ORDERS.create(row(10, "ten"), 52))
        driver.drain()
        world.release_wait = 0.0
        assert self.resumed(world).accepted
        world.live()
        assert (world.table.status, world.rows()) == (TableStatus.STREAMING, [row(9, "nine"), row(10, "ten")])


class TestFilesThatWereNotPublished:
    """A table whose folder does not allow its committed file, and is rebuilt for it."""

    def stands_still(self, world: World) -> None:
        """Its first file has gone from the folder, and its second one is committed and not published."""
        shop(world)
        world.send(ORDERS.create(row(4), 30))
        with contextlib.suppress(Crash):
            world.driver(dies_at("rename_if_absent", FOLDER)).drain()
        self.loses_its_first_file(world)

    def loses_its_first_file(self, world: World) -> None:
        del world.zone.files[f"{FOLDER}/00000000000000000001.parquet"]
        world.driver()
        assert world.table.parked is not None
        assert (world.table.parked.reason, world.table.sequence) == ("zone:table_reset", 2)
        world.ask()

    def test_the_tables_own_folder_is_not_taken_for_a_foreign_one_because_its_etag_has_changed(
        self, world: World
    ) -> None:
        self.stands_still(world)
        world.zone.folders[FOLDER] = "before"

        def moved(request: StorageRequest) -> None:
            if request.method == "delete_folder" and world.zone.folders[FOLDER] == "before":
                world.zone.folders[FOLDER] = "after"

        world.driver(moved).drain()
        world.live()
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_a_driver_that_slept_gives_it_no_number_of_the_next_generation(self, world: World) -> None:
        shop(world)
        world.send(ORDERS.create(row(4), 30))
        slept: list[StorageRequest] = []

        def overtaken(request: StorageRequest) -> None:
            if request.method == "rename_if_absent" and request.path.startswith(FOLDER) and not slept:
                slept.append(request)
                self.loses_its_first_file(world)
                world.live()

        with pytest.raises(FencedError):
            world.driver(overtaken).drain()
        assert slept
        assert [path for path in world.files() if path.startswith(FOLDER)] == [
            f"{FOLDER}/00000000000000000001.parquet",
            f"{FOLDER}/_metadata.json",
        ]
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    @pytest.mark.parametrize("method", ["delete", "delete_folder"])
    def test_it_goes_although_the_driver_dies(self, world: World, method: str) -> None:
        self.stands_still(world)
        [pending] = world.ledger.pending.values()
        with contextlib.suppress(Crash):
            world.driver(dies_at(method, "orders")).drain()
        world.live()
        assert pending.staged not in world.zone.files
        assert world.rows() == [row(1, "uno"), row(3, "three")]

    def test_it_goes_although_the_rebuild_begins_anew_before_it_could_be_deleted(self, world: World) -> None:
        self.stands_still(world)
        [pending] = world.ledger.pending.values()
        with contextlib.suppress(Crash):
            world.driver(dies_at("delete", "orders")).drain()
        assert (world.table.status, pending.staged in world.zone.files) == (TableStatus.DELETING, True)
        world.driver().rebuilding.begin(NAME, RebuildKind.SNAPSHOT, "asked for again")
        world.live()
        assert pending.staged not in world.zone.files


def place(disk: Disk, path: str) -> None:
    """Somebody else's file."""
    disk.write(path, b"somebody else's")
    disk.modified[path] = 0.0
