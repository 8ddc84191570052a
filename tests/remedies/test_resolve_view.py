"""What a person reads of a file that is resolved, and what a program gets."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from connectors.landing_zone.requests import waiting
from streaming.resolving.decision import Decision, taken_for
from streaming.resolving.resolve import Outcome, Resolved
from streaming.resolving.view import needs_person, show, values
from tests.remedies.lost_files import Resolving, landed_twice, lose, pending, reason, started, take
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import row
from tests.unit.streaming.rebuild_world import NAME, USERS, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return landed_twice(World(tmp_path))


def shown(done: Resolved) -> str:
    console = Console(file=io.StringIO(), width=300)
    show(done, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_whole_staged_file_that_is_published(world: World) -> None:
    file = pending(world)
    world.zone.write(file.staged, world.zone.files.pop(file.target))
    done = Resolving(world)()
    assert "staged     whole: _scratchPad/" in shown(done)
    assert shown(done).endswith("file 2 has its number\n")
    assert not needs_person(done)


def test_a_published_file_is_shown_as_the_bridges(world: World) -> None:
    done = Resolving(world)(look_only=True)
    assert "numbered   the bridge's, " in shown(done)
    assert "without --dry-run: file 2 has its number" in shown(done)


def test_a_damaged_file_that_is_made_again(world: World) -> None:
    file = lose(world)
    world.zone.write(file.staged, b"half")
    started(world)
    done = Resolving(world)()
    assert "staged     damaged (sha256 " in shown(done)
    assert "file 2 is made again from Kafka with the same rows, and has its number" in shown(done)
    assert shown(done).endswith("the next start of the bridge lets the table go on: `cdc-bridge run CONFIG`\n")


def test_a_file_that_is_moved_aside(world: World) -> None:
    take(world, b"not ours")
    done = Resolving(world)(Decision.SET_ASIDE)
    assert f"moved aside to {done.aside[0]}" in shown(done)
    assert "the other file is moved aside, and the bridge's file 2 has its number" in shown(done)


def test_a_file_that_stays(world: World) -> None:
    take(world, world.zone.files[f"public.schema/orders/{1:020d}.parquet"], read=True)
    done = Resolving(world)(Decision.KEEP, look_only=True)
    assert "another's, " in shown(done)
    assert "read by the replicator, sha256" in shown(done)
    assert "without --dry-run: the other file 2 stays; the other file's rows stay in the mirror" in shown(done)


def test_a_table_that_stands_still_for_another_reason(world: World) -> None:
    world.live()
    world.send(USERS.create(row(3), 30))
    world.live()
    for path in [path for path in world.zone.files if path.startswith("public.schema/orders/")]:
        del world.zone.files[path]
    started(world)
    done = Resolving(world)(look_only=True)
    assert f"no file of {NAME} waits for its number; it is parked (zone:table_reset): `cdc-bridge resync" in shown(done)
    assert needs_person(done)
    told = values(done)
    assert (told["outcome"], told["file"], told["may_decide"], told["written"]) == ("nothing", None, [], False)
    again = Resolving(world)()
    assert (again.asked, needs_person(again), shown(again)) == (False, True, shown(done))
    assert waiting(MemoryStorage(world.state)).requests == ()


def test_a_file_that_is_published_does_not_make_a_table_healthy_that_stands_still_for_another_reason(
    world: World,
) -> None:
    lost = {path: body for path, body in world.zone.files.items() if path.startswith("public.schema/orders/")}
    file = pending(world)
    world.zone.write(file.staged, lost.pop(file.target))
    for path in (file.target, *lost):
        del world.zone.files[path]
    started(world)
    assert reason(world) == "zone:table_reset"
    for path, body in lost.items():
        world.zone.write(path, body)
    looked = Resolving(world)(look_only=True)
    done = Resolving(world)()
    for told, sentence in ((looked, "without --dry-run: file 2 has its number"), (done, "file 2 has its number")):
        assert (told.outcome, told.asked, needs_person(told)) == (Outcome.PUBLISHED, False, True)
        assert f"{sentence}\n{NAME} stands still (zone:table_reset): `cdc-bridge resync CONFIG" in shown(told)


def test_a_file_that_would_be_made_again_needs_nobody(world: World) -> None:
    lose(world)
    started(world)
    looked = Resolving(world)(look_only=True)
    assert not needs_person(looked)
    assert "stands still" not in shown(looked)
    done = Resolving(world)()
    assert (done.asked, needs_person(done), "stands still" in shown(done)) == (True, False, False)


def test_what_is_lost_where_a_file_was_not_read_after_all() -> None:
    assert taken_for(Decision.CONSUMED) == (
        "you vouch that the replicator has read the file: if it has not, it never gets past this number, and the "
        "file's rows and all later ones of the table are missing until `cdc-bridge resync CONFIG TABLE`"
    )
