"""A shop whose drivers have looked which topics they read, and what its tables stand still for."""

from __future__ import annotations

from connectors.landing_zone.requests import Action, new_request
from streaming.lifecycle.unread_topics import park_unread
from tests.unit.streaming.rebuild_world import NAME, Driver, World

RESUME = new_request(Action.RESUME, now_ms=1, by="ann@home", table=NAME)


def start(world: World) -> Driver:
    """A driver that has looked which topics it reads, as each does before its query begins."""
    driver = world.driver()
    park_unread(driver.ledger, world.log.read(), world.log.subscribed)
    return driver


def reason(world: World, name: str = NAME) -> str:
    parked = world.ledger.tables[name].parked
    return "" if parked is None else parked.reason
