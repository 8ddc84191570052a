"""A zone of the bridge's own was adopted, and its ledger is lost again while records are still read once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from connectors.landing_zone.ledger.lost_table import FoundTable, Proof
from connectors.landing_zone.replay import open_zone, replay
from streaming.driver.checkpoint import Offsets
from streaming.zones.rebuilding_ledger import make_ledger_again
from tests.remedies.adopted_zones import adopt, forget
from tests.remedies.lost_files import healthy, problems
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, World


@dataclass
class Slow(World):
    """A world whose bridge has not read further than so many offsets of each partition yet."""

    most: int = 1_000

    def to_read(self) -> Offsets:
        ends = super().to_read()
        return {topic: {n: min(end, self.most) for n, end in numbers.items()} for topic, numbers in ends.items()}


def rebuilt(world: World) -> Sequence[FoundTable]:
    """The ledger is lost, the copy is left: ``cdc-bridge ledger rebuild``."""
    world.state.files.clear()
    zone, state = MemoryStorage(world.zone), MemoryStorage(world.state)
    return make_ledger_again(zone, state, look_only=False, now_ms=lambda: world.now_ms, threads=1).rebuilt.tables


def adopted(world: World) -> Sequence[FoundTable]:
    """The copy is gone, too, so that the zone is adopted once more."""
    forget(world)
    return adopt(world).tables


@pytest.mark.parametrize("again", [rebuilt, adopted])
def test_no_row_lands_twice_when_the_ledger_is_lost_after_the_zone_was_adopted(
    tmp_path: Path, again: Callable[[World], Sequence[FoundTable]]
) -> None:
    world = Slow(tmp_path)
    world.send(ORDERS.at(0).create(row(1), 10), ORDERS.at(1).create(row(2), 11))
    world.live()
    world.send(*(ORDERS.at(0).create(row(key), 20 + key) for key in (3, 4, 5)))
    world.live()
    adopted(world)
    assert world.table.landed_to == {TOPIC: {0: 4, 1: 1}}

    world.most = 2
    world.send(ORDERS.at(1).create(row(6), 30))
    healthy(world)
    assert world.ledger.topics[TOPIC].partitions == {0: 2, 1: 2}
    assert [one.proof for one in again(world)] == [Proof.FOOTER]
    assert world.table.landed_to == {TOPIC: {0: 4, 1: 2}}

    world.most = 1_000
    healthy(world)
    counted = replay(open_zone(MemoryStorage(world.zone)).table(NAME)).rows_per_marker
    assert (sum(counted.values()), [one["id"] for one in world.rows()]) == (6, [1, 2, 3, 4, 5, 6])
    assert problems(world) == []
