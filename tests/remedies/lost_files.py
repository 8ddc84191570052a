"""A zone in which a committed file has not got its number, and the command that brings it there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from connectors.debezium.events import RawRecords
from connectors.landing_zone import replay
from connectors.landing_zone.ledger.history import read_version
from connectors.landing_zone.ledger.state import LandedFile
from connectors.landing_zone.partner import partner_events
from connectors.landing_zone.verify import verify_zone
from streaming.driver.startup import open_zone
from streaming.lifecycle.outside import Ranges
from streaming.resolving.decision import Decision
from streaming.resolving.remaking import Kafka
from streaming.resolving.resolve import Place, Resolved, resolve
from streaming.zones.reading import ledger_of_zone
from tests.support.partition_runs import partition_runs
from tests.support.records import raw_batch
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, USERS, Hook, Scratch, World

PARTNER = partner_events("PostgreSQL")


def no_sleep(seconds: float) -> None:
    """Outages pass at once."""


def started(world: World) -> None:
    """A start of the bridge as far as the zone goes: roll forward, look at every folder, park what does not fit."""
    open_zone(
        Scratch(world.zone, None, world.work),
        Scratch(world.state, None, world.work),
        world.job,
        source="shop",
        writer=f"start-{next(world.starts)}",
        host="host",
        partner=PARTNER,
        threads=1,
        sleep=no_sleep,
    )


def healthy(world: World) -> None:
    """Start the bridge, as the remedy's last step has it, until nothing moves any more."""
    started(world)
    world.live()


@dataclass
class Resolving:
    """``cdc-bridge resolve`` over a world.

    Attributes:
        hook: decides the fault of each of its requests to zone and state.
    """

    world: World
    hook: Hook | None = None
    read: list[Ranges] = field(default_factory=list)

    def __call__(self, decision: Decision | None = None, *, look_only: bool = False, name: str = NAME) -> Resolved:
        world = self.world
        place = Place(
            zone=Scratch(world.zone, self.hook, world.work),
            state=Scratch(world.state, self.hook, world.work),
            job=world.job,
            kafka=Kafka(topics=world.log.describe, read=self._records, schemas=lambda: None),
            source="shop",
            by="ann@home",
            host="home",
            now_ms=lambda: world.now_ms,
        )
        return resolve(place, name, world.ledger.tables[name], decision, look_only=look_only)

    def _records(self, ranges: Ranges) -> Iterator[RawRecords]:
        self.read.append(ranges)
        for topic, planned in ranges.items():
            for number, (start, end) in planned.partitions.items():
                records = self.world.log.partitions[topic][number]
                yield from partition_runs([raw_batch((records[offset], offset) for offset in range(start, end))])


def pending(world: World, name: str = NAME) -> LandedFile:
    """The file that the ledger does not know to be published."""
    return world.ledger.pending[name]


def landed_twice(world: World) -> World:
    """Orders of which file 1 is known to be published, and file 2 is committed; users beside them."""
    world.send(ORDERS.read(row(1, "one"), 10), ORDERS.read(row(2, "two"), 10), USERS.read(row(1), 10))
    world.driver().land()
    world.send(ORDERS.update(row(1, "uno"), 20), ORDERS.delete(row(2), 21), ORDERS.create(row(3, "three"), 22))
    world.send(USERS.create(row(2), 23))
    world.driver().land()
    return world


TRUTH: list[dict[str, Any]] = [
    {"id": 1, "name": "uno"},
    {"id": 3, "name": "three"},
    {"id": 4, "name": "four"},
]
"""What the orders hold in the end, whatever happened to file 2."""


def goes_on(world: World) -> None:
    """One more event comes, which a healthy table lands."""
    world.send(ORDERS.create(row(4, "four"), 30))
    world.live()


def lose(world: World) -> LandedFile:
    """Somebody cleans up: the committed file 2 is neither staged nor published."""
    file = pending(world)
    del world.zone.files[file.target]
    return file


def take(world: World, body: bytes, *, read: bool = False) -> LandedFile:
    """Somebody else writes number 2 before the bridge does; ``read`` by the replicator already or not."""
    file = pending(world)
    world.zone.write(file.staged, world.zone.files.pop(file.target))
    folder, _, name = file.target.rpartition("/")
    world.zone.write(f"{folder}/_ProcessedFiles/{name}" if read else file.target, body)
    return file


FOREIGN = b"not ours"
"""What somebody else writes under a number."""


def reason(world: World) -> str:
    """Why the orders stand still; empty where they do not."""
    parked = world.table.parked
    return "" if parked is None else parked.reason


def problems(world: World) -> list[str]:
    """What ``cdc-bridge verify`` finds wrong, with the ledger at hand."""
    zone, state = MemoryStorage(world.zone), MemoryStorage(world.state)
    ledger = ledger_of_zone(zone, state, required=True)
    assert ledger is not None
    found = verify_zone(replay.open_zone(zone), ledger=ledger.state, landed=ledger.landed)
    return [f"{one.file}: {one.message}" for one in found if one.severity.value == "problem"]


def decided(world: World) -> list[str]:
    """What the ledger remembers of people's decisions, oldest first."""
    state, head = MemoryStorage(world.state), world.ledger.version
    return [words for number in range(1, head + 1) for words in read_version(state, number).decided.values()]
