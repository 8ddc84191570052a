"""Orders that stream in a zone that a test breaks, and the way back that a remedy names."""

from __future__ import annotations

import re
from pathlib import Path

from connectors.errors import BridgeError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.requests import Action, new_request
from connectors.landing_zone.verify import Finding, verify_zone
from tests.remedies.lost_files import TRUTH, Resolving, goes_on, healthy, landed_twice
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, World

FIRST = f"public.schema/orders/{1:020d}.parquet"


LAST = f"public.schema/orders/{2:020d}.parquet"


METADATA = "public.schema/orders/_metadata.json"


NEXT = f"public.schema/orders/{3:020d}.parquet"


def streaming_orders(tmp_path: Path) -> World:
    """Orders with two files that are known to be published, and what a resync of them brings."""
    made = landed_twice(World(tmp_path))
    made.live()
    made.driver().ledger.commit(Draft())
    made.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    return made


def stands(world: World, error: type[BridgeError]) -> str:
    """The table's remedy, after a start has let it stand still because of ``error``."""
    parked = world.table.parked
    assert parked is not None
    kind = re.sub(r"(?<!^)(?=[A-Z])", "_", error.__name__.removesuffix("Error")).lower()
    assert parked.reason == f"zone:{kind}"
    return parked.remedy


def carry_out(world: World, remedy: str, command: str) -> None:
    """Type the command that the remedy names."""
    assert f"`cdc-bridge {command} CONFIG {NAME}`" in remedy
    match command:
        case "resync":
            world.ask()
        case "resume":
            world.ask(new_request(Action.RESUME, now_ms=1, by="ann@home", table=NAME))
        case "resolve":
            Resolving(world)()
        case _:
            raise ValueError(command)


def require_health(world: World) -> None:
    """The table streams with the right rows, and lands one more."""
    healthy(world)
    goes_on(world)
    assert (world.table.status, world.rows()) == (TableStatus.STREAMING, TRUTH)


def problems(world: World) -> list[Finding]:
    found = verify_zone(open_zone(MemoryStorage(world.zone)), ledger=world.ledger, landed=())
    return [one for one in found if one.severity.value == "problem" and one.table == NAME]
