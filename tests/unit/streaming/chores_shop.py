"""A shop of two tables that catch up, and chores whose step is the test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from connectors.errors import Terminal, Transient
from connectors.landing_zone.requests import Action
from streaming.driver.query import Retries
from streaming.lifecycle.chores import Chores, Pace
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.resumable import NAME, OTHER, Shop

USERS = "public.users"


class Down(Transient):
    """It passes."""


class Broken(Terminal):
    """It does not."""


def paused(folder: Path) -> Shop:
    """Two tables that catch up."""
    shop = Shop(folder)
    shop.receive(ORDERS.read(row(1), 10), OTHER.read(row(1), 10))
    for name in (NAME, USERS):
        shop.chores_of_request(Action.PAUSE, name)
    shop.receive(ORDERS.create(row(2), 11), OTHER.create(row(2), 11))
    for name in (NAME, USERS):
        shop.chores_of_request(Action.RESUME, name)
    return shop


def chores(shop: Shop, step: Callable[[str], bool], *, gives_up: bool = False) -> Chores:
    return Chores(
        shop.plain.opened(),
        {},
        (step,),
        Pace(interval=0.0, retries=Retries(1, 2.0, 60.0), gives_up=gives_up),
        on_failure=lambda error, pause: shop.failures.append(error),
        clock=lambda: shop.clock,
        now_ms=lambda: 5,
    )
