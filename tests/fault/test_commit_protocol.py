"""The commit protocol under every crash, lost answer, late request and interleaving of a small world.

What must hold whatever happens (architecture, "The promise"): numbers are contiguous, a number has one content and
appears once, every row lands exactly once and in order, and of two drivers the loser stops with ``FencedError``.
:class:`tests.fault.commit_world.WatchedDisk` checks the first two at every write.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.landing_zone.errors import FencedError
from connectors.landing_zone.storage.local import LocalStorage
from tests.fault.commit_world import CUT, END, TOPICS, Cut, Driver, World
from tests.unit.landing_zone.memory_storage import Crash, Fault, Hook, Request

CRASHES = (Fault.CRASH_BEFORE, Fault.CRASH_AFTER)
CUTS: tuple[Cut, ...] = (CUT, (END,), ({"a": 1, "b": 0}, {"a": 3, "b": 4}, END))


def undisturbed() -> tuple[World, list[Request]]:
    world = World()
    driver = Driver(world, "only")
    driver.run()
    return world, driver.requests


REQUESTS = undisturbed()[1]
WRITES = [request.number for request in REQUESTS if request.writes]
CONTENT = undisturbed()[0].content()


def fault_at(number: int, fault: Fault, *, then_fail: int = 0) -> Hook:
    """``fault`` at request ``number``, and errors without effect for the ``then_fail`` requests after it."""

    def hook(request: Request) -> Fault | None:
        if request.number == number:
            return fault
        return Fault.FAIL if number < request.number <= number + then_fail else None

    return hook


def crash(world: World, name: str, hook: Hook, *, cut: Cut = CUT) -> bool:
    """Run a driver until it dies; False if it got through, because the fault came after its last request."""
    try:
        Driver(world, name, cut=cut, hook=hook).run()
    except Crash:
        return True
    return False


def test_an_undisturbed_run_lands_every_row_once() -> None:
    world, _ = undisturbed()

    world.check_complete()
    assert sorted(world.content()) == [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3)]


@pytest.mark.parametrize("consumed", [False, True], ids=["", "consumed meanwhile"])
@pytest.mark.parametrize("fault", CRASHES, ids=lambda fault: fault.name)
def test_after_a_crash_at_any_request_the_zone_is_that_of_an_undisturbed_run(fault: Fault, consumed: bool) -> None:
    for number in range(len(REQUESTS)):
        world = World()
        assert crash(world, "first", fault_at(number, fault))
        if consumed:
            world.zone.consume()

        Driver(world, "second").run()

        world.check_complete()
        assert world.content() == CONTENT
        assert not [path for path in world.zone.files if path.startswith("_scratchPad")]


@pytest.mark.parametrize("cut", CUTS[1:], ids=["all at once", "cut differently"])
def test_after_a_crash_batches_that_are_cut_differently_lose_and_repeat_nothing(cut: Cut) -> None:
    for number in WRITES:
        world = World()
        assert crash(world, "first", fault_at(number, Fault.CRASH_AFTER))

        Driver(world, "second", cut=cut).run()

        world.check_complete()


def test_a_crash_of_the_recovery_from_a_crash_changes_nothing() -> None:
    for first in WRITES:
        for second in range(len(REQUESTS)):
            world = World()
            assert crash(world, "first", fault_at(first, Fault.CRASH_AFTER))
            if not crash(world, "second", fault_at(second, Fault.CRASH_AFTER)):
                break

            Driver(world, "third").run()

            world.check_complete()
            assert world.content() == CONTENT


@pytest.mark.parametrize("late_after", range(0, 60))
def test_a_request_that_takes_effect_after_its_driver_died_does_no_harm(late_after: int) -> None:
    for number in WRITES:
        world = World()
        world.state.late_after = world.zone.late_after = late_after
        assert crash(world, "first", fault_at(number, Fault.CRASH_LATE))

        Driver(world, "second").run()
        Driver(world, "third").run()

        world.check_complete()
        assert world.content() == CONTENT


@pytest.mark.parametrize("then_fail", [0, 4, 5, 12], ids=lambda count: f"then {count} errors")
@pytest.mark.parametrize("fault", [Fault.FAIL, Fault.LOSE_ANSWER, Fault.LATE], ids=lambda fault: fault.name)
def test_an_outage_at_any_request_loses_and_repeats_nothing(fault: Fault, then_fail: int) -> None:
    for number in range(len(REQUESTS)):
        world = World()

        Driver(world, "only", hook=fault_at(number, fault, then_fail=then_fail)).run()

        world.check_complete()


Life = tuple[Cut, dict[int, Fault], bool]
"""A process: how its source cuts the batches, the faults of its requests, and whether files are read after it."""

LIVES = st.tuples(
    st.sampled_from(CUTS), st.dictionaries(st.integers(0, 60), st.sampled_from(Fault), max_size=8), st.booleans()
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(lives=st.lists(LIVES, min_size=1, max_size=5), late_after=st.integers(0, 40))
def test_outages_and_crashes_in_any_mixture_lose_and_repeat_nothing(lives: list[Life], late_after: int) -> None:
    world = World()
    world.state.late_after = world.zone.late_after = late_after
    for process, (cut, faults, consumed) in enumerate(lives):

        def hook(request: Request, faults: dict[int, Fault] = faults) -> Fault | None:
            return faults.get(request.number)

        crash(world, f"process-{process}", hook, cut=cut)
        if consumed:
            world.zone.consume()
    Driver(world, "last").run()

    world.check_complete()


class Mortal:
    """A real storage, used by a process that may die before or after any request."""

    def __init__(self, storage: LocalStorage, hook: Hook) -> None:
        self._storage = storage
        self._hook = hook

    def __getattr__(self, method: str) -> Any:
        request = getattr(self._storage, method)
        if not callable(request):
            return request

        def send(*arguments: Any, **options: Any) -> Any:
            fault = self._hook(Request(0, method, str(arguments[-1])))
            if fault is Fault.CRASH_BEFORE:
                raise Crash(method)
            answer = request(*arguments, **options)
            if fault is Fault.CRASH_AFTER:
                raise Crash(method)
            return answer

        return send


@pytest.mark.parametrize("fault", CRASHES, ids=lambda fault: fault.name)
def test_after_a_crash_on_a_real_file_system_the_zone_is_that_of_an_undisturbed_run(
    tmp_path: Path, fault: Fault
) -> None:
    for number in WRITES:
        root = tmp_path / str(number)
        for part in ("state", "zone"):
            (root / part).mkdir(parents=True)

        def views(hook: Hook, root: Path = root) -> tuple[Any, Any]:
            return Mortal(LocalStorage(root / "state"), hook), Mortal(LocalStorage(root / "zone"), hook)

        with pytest.raises(Crash):
            Driver(World(), "first", hook=fault_at(number, fault), storages=views).run()
        Driver(World(), "second", storages=views).run()

        files = {
            (table, int(path.stem)): path.read_bytes()
            for table in TOPICS
            for path in (root / "zone/public.schema" / table).glob("*.parquet")
        }
        assert files == CONTENT
        assert not [path for path in (root / "zone/_scratchPad").rglob("*") if path.is_file()]


Turn = tuple[str, int | None]


class Turns:
    """Lets drivers make their requests in a given order: so many requests of one, then so many of the other.

    A turn of None lasts until its driver has ended.
    """

    def __init__(self, turns: list[Turn]) -> None:
        self._turns = turns
        self._ended: set[str] = set()
        self._change = threading.Condition()

    def hook(self, name: str) -> Hook:
        def wait_for_turn(request: Request) -> None:
            with self._change:
                assert self._change.wait_for(lambda: self._turns[0][0] == name, timeout=60)
                left = self._turns[0][1]
                if left is not None:
                    self._turns[0] = (name, left - 1)
                    self._skip()

        return wait_for_turn

    def end(self, name: str) -> None:
        with self._change:
            self._ended.add(name)
            self._skip()

    def _skip(self) -> None:
        while self._turns and (self._turns[0][1] == 0 or self._turns[0][0] in self._ended):
            self._turns.pop(0)
        self._change.notify_all()


def race(world: World, turns: list[Turn], *, consumed: bool = False) -> dict[str, FencedError | None]:
    """Two drivers, ``a`` and ``b``, on one zone in the given order; how each ended: fenced, or all rows landed.

    With ``consumed`` the replicator reads the zone before every request.
    """
    order = Turns([turn for turn in turns if turn[1] != 0])
    ended: dict[str, FencedError | None] = {}
    failed: list[BaseException] = []

    def run(name: str) -> None:
        wait_for_turn = order.hook(name)

        def hook(request: Request) -> None:
            wait_for_turn(request)
            if consumed:
                world.zone.consume()

        try:
            Driver(world, name, hook=hook).run()
            ended[name] = None
        except FencedError as error:
            ended[name] = error
        except BaseException as error:
            failed.append(error)
        finally:
            order.end(name)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return ended


def check_race(world: World, ended: dict[str, FencedError | None]) -> None:
    world.check_complete()
    assert world.content() == CONTENT
    assert None in ended.values()
    for name, error in ended.items():
        if error is not None:
            winner = "b" if name == "a" else "a"
            assert f"Another driver owns this landing zone: {winner}/1 on host" in str(error)


def one_sleeps() -> Iterator[list[Turn]]:
    """Driver ``a`` stands still before any of its requests while ``b`` makes any number of its own."""
    for before in range(len(REQUESTS)):
        for meanwhile in range(1, len(REQUESTS) + 1):
            yield [("a", before), ("b", meanwhile), ("a", None), ("b", None)]


@pytest.mark.parametrize("consumed", [False, True], ids=["", "consumed meanwhile"])
def test_of_two_drivers_one_lands_everything_and_the_other_is_fenced(consumed: bool) -> None:
    fenced = set()
    for turns in one_sleeps():
        world = World()
        ended = race(world, turns, consumed=consumed)
        check_race(world, ended)
        fenced |= {name for name, error in ended.items() if error}
    assert fenced == {"a", "b"}


def test_a_driver_that_slept_while_another_one_finished_is_fenced_before_it_commits() -> None:
    for before in range(len(REQUESTS)):
        world = World()
        ended = race(world, [("a", before), ("b", None), ("a", None)])
        check_race(world, ended)
        commits_to_come = any(request.path.startswith("ledger/") for request in REQUESTS[before:] if request.writes)
        claimed = before > next(request.number for request in REQUESTS if request.writes)
        assert (ended["a"] is not None) == (commits_to_come and claimed)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(turns=st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(1, 12)), max_size=40))
def test_two_drivers_that_take_turns_in_any_order_land_every_row_once(turns: list[Turn]) -> None:
    world = World()

    ended = race(world, [*turns, ("a", None), ("b", None)])

    check_race(world, ended)
