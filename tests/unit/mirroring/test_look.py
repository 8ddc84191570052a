"""One look at mirroring: what is asked, what is listed, what is known afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connectors.errors import BridgeError
from connectors.fabric.errors import FabricDeniedError, FabricUnavailableError
from connectors.fabric.status import TableMirroring
from connectors.landing_zone.errors import StorageError
from connectors.landing_zone.ledger.state import LedgerState, TableStatus
from streaming.mirroring.look import KEPT_MS, LISTINGS_FAILED, look
from streaming.mirroring.trouble import CAPACITY, NOT_BEGUN, REBUILD, Cause
from streaming.mirroring.view import MirroringView, Via, tables_told, told_of
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import file, ledger, table
from tests.unit.mirroring.worlds import MINUTE, Fabric, Listed, Zone, source, status, told

NO_ANSWER = FabricUnavailableError("no answer", remedy="wait")
DENIED = FabricDeniedError("denied", remedy="grant")
SILENT_ZONE = StorageError("the storage did not answer", remedy="wait")


class World:
    """A zone, and looks at it one minute after the other, the first one at noon."""

    def __init__(self, folder: Path) -> None:
        self.zone = Zone(folder)
        self.storage = Listed(self.zone.path)
        self.now_ms = NOON_MS
        self.view: MirroringView | None = None

    def look(
        self, state: LedgerState, rest: Fabric | None = None, files: Fabric | None = None, **more: Any
    ) -> MirroringView:
        self.view = look(source(self.storage, rest, files, **more), state, self.view, self.now_ms)
        self.now_ms += MINUTE
        return self.view

    def numbers(self) -> dict[str, int]:
        """The last file that was taken in of each table of which that is known."""
        assert self.view is not None
        return {name: one.progress.number for name, one in self.view.tables.items() if one.progress is not None}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


class TestTables:
    def test_what_fabric_tells_and_what_the_folder_shows_come_together(self, world: World) -> None:
        world.zone.lay(3, minutes=1)
        orders = told(synced_ms=NOON_MS, rows=7)
        view = world.look(ledger(table(), table("users", sequence=0)), Fabric(status(orders, told("users", "Failed"))))
        assert (view.told.via, view.told_ms, view.folders_ms, view.seen_ms) == (Via.REST, NOON_MS, NOON_MS, NOON_MS)
        assert view.tables["public.orders"].told is orders
        assert world.numbers() == {"public.orders": 3}
        assert view.tables["public.users"].progress is None
        trouble = view.tables["public.users"].trouble
        assert trouble is not None
        assert (trouble.cause, view.tables["public.users"].blocked) == (Cause.STATE, False)
        assert view.trouble is None

    def test_a_table_is_blocked_when_its_files_have_waited_too_long(self, world: World) -> None:
        world.zone.lay(3, 4, minutes=30)
        view = world.look(ledger(table(sequence=4)), Fabric(status(told())))
        orders = view.tables["public.orders"]
        assert (orders.blocked, orders.trouble is not None and orders.trouble.cause) == (True, Cause.SILENT)

    def test_where_no_table_moves_the_capacity_comes_first(self, world: World) -> None:
        world.zone.lay(3, 4, minutes=40)
        world.zone.lay(3, 4, 5, table="users", minutes=40)
        state, fabric = ledger(table(sequence=4), table("users", sequence=5)), Fabric(status(told(), told("users")))
        before = world.look(state, fabric).tables["public.orders"].trouble
        world.zone.take(3, table="users")
        after = world.look(state, fabric).tables["public.orders"].trouble
        assert before is not None
        assert after is not None
        assert (before.remedy, after.remedy) == (CAPACITY, REBUILD)

    def test_a_file_that_is_not_published_yet_is_not_waited_for(self, world: World) -> None:
        world.zone.lay(3)
        state = ledger(table(sequence=4), pending={"public.orders": file(sequence=4)})
        assert world.look(state, Fabric(status(told()))).tables["public.orders"].blocked is False
        assert world.numbers() == {"public.orders": 3}

    def test_a_table_that_fabric_does_not_list_has_taken_nothing_in(self, world: World) -> None:
        world.zone.lay(1, minutes=31)
        view = world.look(ledger(table(sequence=1)), Fabric(status()))
        trouble = view.tables["public.orders"].trouble
        assert world.numbers() == {"public.orders": 0}
        assert trouble is not None
        assert trouble.cause is Cause.UNKNOWN_TABLE

    def test_while_nobody_tells_a_single_file_counts_as_taken_in(self, world: World) -> None:
        world.zone.lay(1, minutes=31)
        world.look(ledger(table(sequence=1)), Fabric(NO_ANSWER))
        assert world.numbers() == {"public.orders": 1}

    def test_names_are_matched_whatever_their_case(self) -> None:
        orders = told("Orders")
        assert told_of("PUBLIC.orders", tables_told(status(orders))) is orders
        assert told_of("sales.orders", tables_told(status(orders))) is None

    def test_a_table_without_a_schema_is_in_the_default_one_whatever_that_is(self) -> None:
        plain, dbo, other = (TableMirroring(schema, "Plain", "Replicating") for schema in ("", "dbo", "main"))
        assert told_of("plain", tables_told(status(plain, dbo, other))) is plain
        assert told_of("plain", tables_told(status(dbo, other))) is dbo
        assert told_of("plain", tables_told(status(other))) is other
        assert told_of("plain", tables_told(status(other, told("plain")))) is None


class TestRequests:
    def test_a_folder_of_which_everything_has_been_taken_in_is_not_listed_again(self, world: World) -> None:
        world.zone.lay(3)
        fabric = Fabric(status(told(synced_ms=NOON_MS + MINUTE)))
        state = ledger(table())
        world.look(state, fabric)
        world.look(state, fabric)
        world.look(state, fabric)
        assert (world.storage.listed, fabric.asked) == (["public.schema/orders"], 3)
        world.zone.lay(4)
        world.look(ledger(table(sequence=4)), fabric)
        assert len(world.storage.listed) == 2

    def test_no_more_folders_than_allowed_and_each_in_its_turn(self, world: World) -> None:
        names = [f"t{number}" for number in range(5)]
        for name in names:
            world.zone.lay(1, 2, 3, table=name)
        state = ledger(*(table(name) for name in names))
        for _ in range(4):
            world.look(state, Fabric(NO_ANSWER), listings=2)
        assert world.storage.listed == [f"public.schema/t{number}" for number in (0, 1, 2, 3, 4, 0, 1, 2)]

    def test_tables_without_a_file_or_a_folder_of_their_own_are_not_listed(self, world: World) -> None:
        state = ledger(
            table(sequence=0),
            table("a", status=TableStatus.DELETING),
            table("b", status=TableStatus.CLEARED),
        )
        world.look(state, Fabric(status()))
        assert world.storage.listed == []

    def test_a_storage_that_does_not_answer_is_not_asked_for_all_tables(self, world: World) -> None:
        world.zone.lay(2, 3)
        world.look(ledger(table(), table("users")), Fabric(status(told())))
        world.storage.listed.clear()
        world.storage.refuse = lambda folder: SILENT_ZONE
        names = ("a", "b", "users", "z")
        view = world.look(ledger(table(), *map(table, names)), Fabric(status(told())))
        assert (len(world.storage.listed), view.folder_failure) == (LISTINGS_FAILED, SILENT_ZONE)
        assert world.numbers() == {"public.orders": 2}
        assert (view.folders_ms, view.told_ms) == (NOON_MS, NOON_MS + MINUTE)

    def test_a_folder_that_cannot_be_listed_leaves_the_others_their_turn(self, world: World) -> None:
        for name in ("a", "b", "c"):
            world.zone.lay(1, 2, 3, table=name, minutes=60)
        world.storage.refuse = lambda folder: SILENT_ZONE if folder.endswith("/a") else None
        state = ledger(table("a"), table("b"), table("c"))
        for _ in range(3):
            view = world.look(state, Fabric(status(told("a"), told("b"), told("c"))), listings=1)
        assert [name[-1] for name in world.storage.listed] == ["a", "b", "c"]
        assert {name: one.blocked for name, one in view.tables.items()} == {
            "public.a": False,
            "public.b": True,
            "public.c": True,
        }
        assert world.look(state, Fabric(status()), listings=1).folder_failure is SILENT_ZONE

    def test_folders_of_which_many_cannot_be_listed_leave_the_others_their_turn(self, world: World) -> None:
        names = ("a", "b", "c", "d")
        world.zone.lay(1, 2, 3, table="d")
        world.storage.refuse = lambda folder: None if folder.endswith("/d") else SILENT_ZONE
        for _ in range(2):
            world.look(ledger(*map(table, names)), Fabric(NO_ANSWER))
        assert world.numbers() == {"public.d": 1}

    def test_a_table_whose_folder_is_gone_stays_blocked(self, world: World) -> None:
        world.zone.lay(2, 3, minutes=60)
        world.look(ledger(table()), Fabric(status(told())))
        world.storage.delete("public.schema/orders")
        orders = world.look(ledger(table()), Fabric(status(told()))).tables["public.orders"]
        assert (orders.blocked, orders.progress is not None and orders.progress.looked_ms) == (True, NOON_MS + MINUTE)

    def test_a_folder_that_is_gone_and_a_new_one_take_turns(self, world: World) -> None:
        world.zone.lay(1, 2, 3, table="b")
        for _ in range(2):
            world.look(ledger(table("a"), table("b")), Fabric(NO_ANSWER), listings=1)
        assert world.numbers() == {"public.b": 1}

    def test_a_file_that_is_only_assumed_to_be_in_is_looked_at_again_once_fabric_tells(self, world: World) -> None:
        world.zone.lay(1, minutes=24 * 60)
        state, fabric = ledger(table(sequence=1)), Fabric(NO_ANSWER, NO_ANSWER, status())
        world.look(state, fabric)
        view = world.look(state, fabric)
        assert (len(world.storage.listed), view.tables["public.orders"].blocked) == (1, False)
        view = world.look(state, fabric)
        assert (world.numbers(), view.tables["public.orders"].blocked) == ({"public.orders": 0}, True)

    def test_what_was_known_of_a_table_goes_with_it_and_with_its_generation(self, world: World) -> None:
        world.zone.lay(3)
        world.look(ledger(table()), Fabric(NO_ANSWER))
        assert (
            world.look(ledger(table(generation=2, sequence=0)), Fabric(NO_ANSWER)).tables["public.orders"].progress
            is None
        )
        assert world.look(ledger(), Fabric(NO_ANSWER)).tables == {}


class TestAnswers:
    def test_the_files_are_read_where_the_api_does_not_answer(self, world: World) -> None:
        view = world.look(ledger(), Fabric(DENIED), Fabric(status(state="Paused")))
        assert (view.told.via, view.told.failure, view.database is not None and view.database.state) == (
            Via.FILES,
            DENIED,
            "Paused",
        )
        assert view.trouble is not None

    def test_where_both_fail_the_first_failure_is_told(self, world: World) -> None:
        view = world.look(ledger(), Fabric(DENIED), Fabric(SILENT_ZONE))
        assert (view.told.via, view.told.failure, view.seen_ms) == (None, DENIED, 0)

    def test_before_mirroring_has_begun_nothing_is_taken_in(self, world: World) -> None:
        world.zone.lay(1, minutes=31)
        state, fabric = ledger(table(sequence=1)), Fabric(None, status(told(synced_ms=0)))
        view = world.look(state, None, fabric)
        trouble = view.tables["public.orders"].trouble
        assert (world.numbers(), view.trouble) == ({"public.orders": 0}, NOT_BEGUN)
        assert trouble is not None
        assert (trouble.cause, trouble.remedy) == (Cause.MIRROR, NOT_BEGUN.remedy)
        assert world.look(state, None, fabric).tables["public.orders"].blocked is True
        assert world.numbers() == {"public.orders": 0}

    def test_before_mirroring_has_begun_there_are_no_files(self, world: World) -> None:
        view = world.look(ledger(), None, Fabric(None))
        assert (view.not_begun, view.database, view.seen_ms) == (True, None, NOON_MS)

    def test_what_was_told_stays_known_for_a_while(self, world: World) -> None:
        fabric = Fabric(status(told("orders", "Failed")), NO_ANSWER)
        state = ledger(table(sequence=0))
        world.look(state, fabric)
        view = world.look(state, fabric)
        assert (view.told.failure, view.told_ms, view.database is not None) == (NO_ANSWER, NOON_MS, True)
        assert view.tables["public.orders"].trouble is not None
        world.now_ms = NOON_MS + KEPT_MS + 1
        view = world.look(state, fabric)
        assert (view.told.failure, view.told_ms, view.database) == (NO_ANSWER, NOON_MS, None)
        assert view.tables["public.orders"].told is None

    def test_no_error_of_the_bridge_leaves_a_look(self, world: World) -> None:
        world.storage.refuse = lambda folder: BridgeError("anything", remedy="none")
        view = world.look(ledger(table()), Fabric(BridgeError("anything", remedy="none")))
        assert view.seen_ms == 0
