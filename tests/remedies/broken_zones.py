"""Orders that stream in a zone that a test breaks, and the way back that a remedy names."""

from __future__ import annotations

import re

from connectors.errors import BridgeError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.verify import Finding, verify_zone
from tests.remedies.lost_files import TRUTH, goes_on, healthy, landed_twice
from tests.remedies.shell import Printed
from tests.remedies.site import Site
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, World

FIRST = f"public.schema/orders/{1:020d}.parquet"


LAST = f"public.schema/orders/{2:020d}.parquet"


METADATA = "public.schema/orders/_metadata.json"


NEXT = f"public.schema/orders/{3:020d}.parquet"


_ALONE = ("resolve", "ledger rebuild", "adopt")
"""Commands before which every bridge of the zone is stopped."""


def streaming_orders(site: Site) -> Site:
    """Orders with two files that are known to be published, and what a resync of them brings."""
    landed_twice(site)
    site.live()
    site.driver().ledger.commit(Draft())
    site.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    return site


def stands(site: Site, why: type[BridgeError] | str) -> str:
    """What ``status`` tells to do about the orders, which stand still for this reason, or because of this error."""
    said = site.shell.type("cdc-bridge status CONFIG")
    reason = why if isinstance(why, str) else f"zone:{_words(why.__name__.removesuffix('Error'))}"
    assert (said.code, f"{NAME} is parked ({reason})" in said.out) == (0, True), said.out
    return said.remedy


def _words(name: str) -> str:
    """``lost_file`` of ``LostFile``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def carry_out(site: Site, remedy: str, command: str, **places: object) -> Printed:
    """Type the command that the remedy names, beside a bridge that runs where the command needs one."""
    beside = None if command in _ALONE else site.live
    done = site.shell.follow(remedy, command, beside=beside, **places)
    assert done.code == 0, done
    return done


def require_health(world: World) -> None:
    """The table streams with the right rows, and lands one more; what the commands show where they can be typed."""
    healthy(world)
    goes_on(world)
    assert (world.table.status, world.rows()) == (TableStatus.STREAMING, TRUTH)
    if isinstance(world, Site):
        world.require_shown_health()


def problems(world: World) -> list[Finding]:
    found = verify_zone(open_zone(MemoryStorage(world.zone)), ledger=world.ledger, landed=())
    return [one for one in found if one.severity.value == "problem" and one.table == NAME]
