"""What is wrong with a table's folder, from the error through its remedy to a table that streams."""

from __future__ import annotations

import msgspec
import pytest

from connectors.landing_zone import redo
from connectors.landing_zone.errors import (
    ForeignFolderError,
    InvalidZoneError,
    LedgerBehindError,
    LostFileError,
    MetadataConflictError,
    SequenceConflictError,
    TableResetError,
)
from connectors.landing_zone.ledger.owner import OWNER_FILE, read_owner
from streaming.resolving.decision import Decision
from tests.remedies.broken_zones import FIRST, LAST, METADATA, NEXT, carry_out, require_health, stands
from tests.remedies.lost_files import landed_twice, lose, pending, started, take
from tests.remedies.site import Site
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka

VERIFY = "cdc-bridge verify ZONE --state STATE"


def test_lost_file(site: Site) -> None:
    landed_twice(site)
    lose(site)
    started(site)
    carry_out(site, stands(site, LostFileError), "resolve")
    require_health(site)


def test_sequence_conflict(site: Site) -> None:
    landed_twice(site)
    take(site, b"not ours")
    started(site)
    remedy = stands(site, SequenceConflictError)
    undecided = site.shell.follow(remedy, "resolve")
    assert undecided.code == 1
    decision = f"--decide {Decision.SET_ASIDE.value}"
    assert f"  {decision}: you vouch that" in undecided.out
    assert site.shell.type(f"cdc-bridge resolve CONFIG {NAME} {decision}").code == 0
    require_health(site)


def test_table_reset(world: Site) -> None:
    for path in (FIRST, LAST, METADATA):
        world.zone.files.pop(path)
    started(world)
    carry_out(world, stands(world, TableResetError), "resync")
    require_health(world)


def test_table_reset_that_is_undone(world: Site) -> None:
    gone = {path: world.zone.files.pop(path) for path in (FIRST, LAST, METADATA)}
    started(world)
    remedy = stands(world, TableResetError)
    for path, content in gone.items():
        world.zone.write(path, content)
    carry_out(world, remedy, "resume")
    require_health(world)


@pytest.mark.parametrize("command", ["resume", "resync"])
def test_table_reset_of_which_only_the_metadata_is_gone(world: Site, command: str) -> None:
    """Without a copy the table is filled anew; with one, the file is put back."""
    kept = world.zone.files.pop(METADATA)
    started(world)
    remedy = stands(world, TableResetError)
    assert "; or, if only this file was deleted, put it back and `cdc-bridge resume" in remedy
    if command == "resume":
        world.zone.write(METADATA, kept)
    carry_out(world, remedy, command)
    require_health(world)


def test_ledger_behind_because_of_another_writer(world: Site) -> None:
    world.zone.write(NEXT, b"another's")
    started(world)
    carry_out(world, stands(world, LedgerBehindError), "resync")
    require_health(world)


def test_ledger_behind_because_an_older_one_was_restored(site: Site) -> None:
    site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
    site.live()
    old = dict(site.state.files)
    site.send(ORDERS.update(row(3, "three"), 12))
    site.live()
    newest = dict(site.state.files)
    site.state.files.clear()
    site.state.files.update(old)
    started(site)
    assert "set state.url to the newest one" in stands(site, LedgerBehindError)
    site.state.files.clear()
    site.state.files.update(newest)
    require_health(site)


def test_metadata_conflict(site: Site) -> None:
    site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
    site.driver().land()
    expected = site.zone.files[METADATA]
    file = pending(site)
    site.zone.write(file.staged, site.zone.files.pop(file.target))
    site.zone.write(METADATA, b'{"keyColumns": ["name"]}')
    started(site)
    remedy = stands(site, MetadataConflictError)
    assert remedy.startswith("put the expected content back")
    site.zone.write(METADATA, expected)
    carry_out(site, remedy, "resume")
    require_health(site)


def test_foreign_folder(world: Site) -> None:
    world.release_wait = 120.0
    world.ask()
    world.driver().drain()
    world.zone.write(NEXT, b"another's")
    world.now_ms += 120_000
    world.driver().drain()
    remedy = stands(world, ForeignFolderError)
    del world.zone.files[NEXT]
    world.release_wait = 0.0
    carry_out(world, remedy, "resync")
    require_health(world)


def test_invalid_file_name(world: Site) -> None:
    """InvalidFileNameError is what `verify` says of the file."""
    stray = "public.schema/orders/notes.txt"
    world.zone.write(stray, b"mine")
    found = world.shell.type(VERIFY)
    assert (found.code, f"problem {stray} " in found.out) == (1, True)
    assert found.remedy == "move it out of the table's folder; only the bridge writes there"
    del world.zone.files[stray]
    require_health(world)


def test_invalid_zone(world: Site) -> None:
    started(world)
    whole = world.zone.files[OWNER_FILE]
    world.zone.write(OWNER_FILE, b"{")
    refused = world.shell.type("cdc-bridge run CONFIG --once")
    assert (refused.code, refused.error) == (1, InvalidZoneError.__name__)
    assert refused.remedy.startswith("restore it from the ledger's id in the state storage")
    world.zone.write(OWNER_FILE, msgspec.json.encode({"ledger_id": world.ledger.ledger_id, "source": "shop"}))
    owner = read_owner(MemoryStorage(world.zone))
    assert owner == msgspec.json.decode(whole, type=type(owner))
    assert world.shell.type("cdc-bridge run CONFIG --once").code == 0
    require_health(world)


def test_every_error_that_stops_one_table_is_among_them() -> None:
    assert set(redo.TABLE_ERRORS) == {
        SequenceConflictError,
        LedgerBehindError,
        TableResetError,
        LostFileError,
        MetadataConflictError,
        ForeignFolderError,
    }
