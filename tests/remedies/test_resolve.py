"""Resolving: what it leaves alone, who is fenced, and that it may be killed at any request."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.errors import FencedError, LedgerBehindError, TableResetError
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.requests import waiting
from streaming.resolving.decision import Decision
from streaming.resolving.resolve import Outcome
from tests.remedies.lost_files import (
    FOREIGN,
    TRUTH,
    Resolving,
    goes_on,
    healthy,
    landed_twice,
    lose,
    pending,
    problems,
    started,
    take,
)
from tests.unit.landing_zone.memory_storage import Crash, Disk, Fault, MemoryStorage, Request
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import USERS, Hook, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return landed_twice(World(tmp_path))


def test_a_file_that_was_put_back_is_published(world: World) -> None:
    file = pending(world)
    body = world.zone.files[file.target]
    lose(world)
    started(world)
    world.zone.write(file.staged, body)
    assert Resolving(world)().outcome is Outcome.PUBLISHED
    healthy(world)
    goes_on(world)
    assert world.rows() == TRUTH


def test_other_troubles_of_the_folder_keep_their_own_error(world: World) -> None:
    file = lose(world)
    world.zone.write(file.target.replace(f"{2:020d}", f"{3:020d}"), FOREIGN)
    with pytest.raises(LedgerBehindError):
        Resolving(world)()
    del world.zone.files[file.target.replace(f"{2:020d}", f"{3:020d}")]
    del world.zone.files[file.target.replace(f"{2:020d}", f"{1:020d}")]
    with pytest.raises(TableResetError):
        Resolving(world)()


def test_without_a_file_that_waits_nothing_is_done(world: World) -> None:
    world.live()
    world.send(USERS.create(row(3), 30))
    world.live()
    version = world.ledger.version
    done = Resolving(world)()
    assert (done.outcome, done.disputed, done.asked) == (Outcome.NOTHING, None, False)
    assert world.ledger.version == version


@pytest.mark.parametrize("decision", [None, Decision.CONSUMED])
def test_looking_writes_nothing(world: World, decision: Decision | None) -> None:
    lose(world)
    before = dict(world.zone.files), dict(world.state.files)
    done = Resolving(world)(decision, look_only=True)
    assert (done.outcome, done.written) == (Outcome.REMADE if decision is None else Outcome.CONSUMED, False)
    assert (world.zone.files, world.state.files) == before


def test_a_bridge_that_goes_on_meanwhile_wins(world: World) -> None:
    lose(world)
    seen: list[str] = []

    def bridge_starts(request: Request) -> Fault | None:
        if request.method == "put_if_absent" and request.path.startswith("ledger/") and not seen:
            seen.append(request.path)
            started(world)
        return None

    with pytest.raises(FencedError) as raised:
        Resolving(world, bridge_starts)()
    assert raised.value.remedy == "nothing was changed; stop every bridge of this zone and run the command again"
    assert Resolving(world)().outcome is Outcome.REMADE


def test_a_bridge_that_sleeps_meanwhile_is_fenced(world: World) -> None:
    driver = world.driver()
    lose(world)
    Resolving(world)()
    world.send(ORDERS.create(row(4, "four"), 30))
    with pytest.raises(FencedError):
        driver.land()
    healthy(world)
    assert world.rows() == TRUTH


SCENES = {
    "lost": (lose, None),
    "consumed": (lose, Decision.CONSUMED),
    "aside": (lambda world: take(world, FOREIGN), Decision.SET_ASIDE),
    "kept": (
        lambda world: take(world, world.zone.files[f"public.schema/orders/{1:020d}.parquet"]),
        Decision.KEEP,
    ),
}


@pytest.mark.parametrize("scene", sorted(SCENES))
def test_it_may_be_killed_at_any_request_and_run_again(scene: str, tmp_path: Path) -> None:
    break_it, decision = SCENES[scene]
    origin = landed_twice(World(tmp_path))
    break_it(origin)
    started(origin)
    zone, state = dict(origin.zone.files), dict(origin.state.files)
    killed = 0
    while True:
        world = World(tmp_path, log=origin.log)
        world.zone, world.state = copied(zone), copied(state)
        log = {topic: {n: list(all_) for n, all_ in parts.items()} for topic, parts in origin.log.partitions.items()}
        world.log = type(origin.log)(log)
        try:
            Resolving(world, dies_at(killed))(decision)
        except Crash:
            killed += 1
        else:
            break
        Resolving(world)(decision)
        healthy(world)
        goes_on(world)
        if decision is Decision.CONSUMED:
            assert world.table.sequence == 3
        else:
            assert world.rows() == TRUTH, f"killed before write {killed}"
        assert problems(world) == []
    assert killed >= 4


def dies_at(number: int) -> Hook:
    """The process dies before its write of this number."""
    left = [number]

    def hook(request: Request) -> Fault | None:
        if not request.writes:
            return None
        left[0] -= 1
        return Fault.CRASH_BEFORE if left[0] < 0 else None

    return hook


def copied(files: dict[str, bytes]) -> Disk:
    disk = Disk()
    for path, body in files.items():
        disk.write(path, body)
    return disk


def test_the_request_to_go_on_is_left_once(world: World) -> None:
    lose(world)
    started(world)
    Resolving(world)()
    Resolving(world)()
    assert len(waiting(MemoryStorage(world.state)).requests) == 1
    assert Ledger.open(MemoryStorage(world.state), now_ms=lambda: 0).state.pending == {}
