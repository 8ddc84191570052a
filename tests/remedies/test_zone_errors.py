"""What is wrong with a table's folder, from the error through its remedy to a table that streams."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from connectors.landing_zone import redo
from connectors.landing_zone.errors import (
    ForeignFolderError,
    InvalidFileNameError,
    InvalidZoneError,
    LedgerBehindError,
    LostFileError,
    MetadataConflictError,
    PathNotFoundError,
    SequenceConflictError,
    TableResetError,
)
from connectors.landing_zone.ledger.owner import OWNER_FILE, read_owner
from connectors.landing_zone.numbering import parse
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.replay.files import read_file
from connectors.landing_zone.requests import Action, new_request
from streaming.reconciling.mirror import UnreadableMirrorError, read_mirror
from streaming.resolving.decision import Decision
from tests.remedies.broken_zones import FIRST, LAST, METADATA, NEXT, carry_out, problems, require_health, stands
from tests.remedies.lost_files import Resolving, landed_twice, lose, pending, started, take
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, World


def test_lost_file(tmp_path: Path) -> None:
    world = landed_twice(World(tmp_path))
    lose(world)
    started(world)
    carry_out(world, stands(world, LostFileError), "resolve")
    require_health(world)


def test_sequence_conflict(tmp_path: Path) -> None:
    world = landed_twice(World(tmp_path))
    take(world, b"not ours")
    started(world)
    remedy = stands(world, SequenceConflictError)
    carry_out(world, remedy, "resolve")
    Resolving(world)(Decision.SET_ASIDE)
    require_health(world)


def test_table_reset(world: World) -> None:
    for path in (FIRST, LAST, METADATA):
        world.zone.files.pop(path)
    started(world)
    carry_out(world, stands(world, TableResetError), "resync")
    require_health(world)


def test_table_reset_that_is_undone(world: World) -> None:
    gone = {path: world.zone.files.pop(path) for path in (FIRST, LAST, METADATA)}
    started(world)
    remedy = stands(world, TableResetError)
    for path, content in gone.items():
        world.zone.write(path, content)
    carry_out(world, remedy, "resume")
    require_health(world)


def test_ledger_behind_because_of_another_writer(world: World) -> None:
    world.zone.write(NEXT, b"another's")
    started(world)
    carry_out(world, stands(world, LedgerBehindError), "resync")
    require_health(world)


def test_ledger_behind_because_an_older_one_was_restored(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
    world.live()
    old = dict(world.state.files)
    world.send(ORDERS.update(row(3, "three"), 12))
    world.live()
    newest = dict(world.state.files)
    world.state.files.clear()
    world.state.files.update(old)
    started(world)
    assert "set state.url to the newest one" in stands(world, LedgerBehindError)
    world.state.files.clear()
    world.state.files.update(newest)
    require_health(world)


def test_metadata_conflict(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
    world.driver().land()
    expected = world.zone.files[METADATA]
    file = pending(world)
    world.zone.write(file.staged, world.zone.files.pop(file.target))
    world.zone.write(METADATA, b'{"keyColumns": ["name"]}')
    started(world)
    remedy = stands(world, MetadataConflictError)
    assert remedy.startswith("put the expected content back")
    world.zone.write(METADATA, expected)
    carry_out(world, remedy, "resume")
    require_health(world)


def test_foreign_folder(world: World) -> None:
    world.release_wait = 120.0
    world.ask()
    world.driver().drain()
    world.zone.write(NEXT, b"another's")
    world.now_ms += 120_000
    world.driver().drain()
    remedy = stands(world, ForeignFolderError)
    del world.zone.files[NEXT]
    world.release_wait = 0.0
    assert "resync" in remedy
    world.ask(new_request(Action.RESYNC, now_ms=2, by="ann@home", table=NAME))
    require_health(world)


def test_invalid_file_name(world: World) -> None:
    stray = "public.schema/orders/notes.txt"
    world.zone.write(stray, b"mine")
    with pytest.raises(InvalidFileNameError) as raised:
        parse(stray.rpartition("/")[2])
    assert raised.value.remedy.startswith("move the file out of the table's folder")
    assert stray in [one.file for one in problems(world)]
    del world.zone.files[stray]
    assert problems(world) == []


def test_invalid_zone(world: World) -> None:
    started(world)
    whole = world.zone.files[OWNER_FILE]
    world.zone.write(OWNER_FILE, b"{")
    with pytest.raises(InvalidZoneError) as raised:
        started(world)
    assert raised.value.remedy.startswith("restore it from the ledger's id in the state storage")
    world.zone.write(OWNER_FILE, msgspec.json.encode({"ledger_id": world.ledger.ledger_id, "source": "shop"}))
    owner = read_owner(MemoryStorage(world.zone))
    assert owner == msgspec.json.decode(whole, type=type(owner))
    require_health(world)


def test_unreadable_file_and_mirror(world: World) -> None:
    zone = open_zone(MemoryStorage(world.zone))
    whole = world.zone.files[FIRST]
    world.zone.write(FIRST, b"none")
    with pytest.raises(UnreadableMirrorError) as raised:
        read_mirror(MemoryStorage(world.zone), NAME, world.table)
    assert "cdc-bridge verify" in raised.value.remedy
    (found,) = problems(world)
    assert "put the very bytes" in str(found) or "put the right content back under the same name" in str(found)
    world.zone.write(FIRST, whole)
    assert problems(world) == []
    assert replay(zone.table(NAME)).stopped is None


def test_path_not_found(world: World) -> None:
    table = open_zone(MemoryStorage(world.zone)).table(NAME)
    metadata = table.metadata()
    assert metadata is not None
    listing = table.listing(metadata)
    gone = world.zone.files.pop(FIRST)
    with pytest.raises(PathNotFoundError) as raised:
        read_file(table.storage, table.folder, listing.files[0])
    assert raised.value.remedy.startswith("read the zone again")
    again = table.listing(metadata)
    assert [read_file(table.storage, table.folder, file) for file in again.files] == [world.zone.files[LAST]]
    assert gone


def test_every_error_that_stops_one_table_is_among_them() -> None:
    assert set(redo.TABLE_ERRORS) == {
        SequenceConflictError,
        LedgerBehindError,
        TableResetError,
        LostFileError,
        MetadataConflictError,
        ForeignFolderError,
    }
