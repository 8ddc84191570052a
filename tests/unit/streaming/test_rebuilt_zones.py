"""A zone whose tables are rebuilt, as verify and replay see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.verify import verify_zone
from streaming.zones.replaying import RebuiltSinceError, ReplayRequest, replay_zone
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.rebuild_world import NAME, OTHER_NAME, World, shop


def findings(world: World) -> list[str]:
    found = verify_zone(open_zone(MemoryStorage(world.zone)), ledger=world.ledger, landed=())
    return [one.message for one in found]


def test_a_zone_is_sound_at_every_step_of_a_rebuild(world: World) -> None:
    shop(world)
    world.release_wait = 120.0
    world.ask()
    world.driver().drain()
    assert (world.table.status, findings(world)) == (TableStatus.DELETING, [])
    world.now_ms += 120_000
    world.driver().drain()
    assert (world.table.status, findings(world)) == (TableStatus.FILLING, [])
    world.live()
    assert (world.table.status, findings(world)) == (TableStatus.STREAMING, [])


def test_a_version_from_before_the_rebuild_cannot_be_replayed_and_later_ones_can(tmp_path: Path) -> None:
    zone, state = tmp_path / "zone", tmp_path / "zone-state"
    world = shop(World(tmp_path))
    before = world.ledger.version
    world.ask()
    world.live()
    after = world.ledger.version
    for disk, folder in ((world.zone, zone), (world.state, state)):
        for path, body in disk.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(body)

    def replayed(version: int, table: str | None = None) -> list[str]:
        return [one.content.name for one in replay_zone(ReplayRequest(str(zone), table=table, version=version))]

    with pytest.raises(RebuiltSinceError) as raised:
        replayed(before)
    assert raised.value.message == (
        f"{NAME} was rebuilt since version {before}, and the files of that time were removed with the folder"
    )
    assert raised.value.remedy.startswith(
        "name a later version (`cdc-bridge ledger log CONFIG` shows when it was rebuilt)"
    )
    assert replayed(before, OTHER_NAME) == [OTHER_NAME]
    assert replayed(after) == [NAME, OTHER_NAME]
