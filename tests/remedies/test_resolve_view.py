"""What a person reads of a file that is resolved, and what a program gets."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from streaming.resolving.decision import Decision
from streaming.resolving.resolve import Resolved
from streaming.resolving.view import needs_person, show, values
from tests.remedies.lost_files import Resolving, landed_twice, lose, pending, started, take
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
