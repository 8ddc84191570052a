"""What makes a table read Kafka again, over a :class:`~tests.unit.streaming.replayable.Shop`: a pause, a rebuild."""

from __future__ import annotations

from typing import Any

from connectors.landing_zone.requests import Action, Request, new_request
from streaming.lifecycle.asked_rebuilds import AskedRebuilds
from streaming.lifecycle.catching_up import CatchUp
from streaming.lifecycle.connector_runs import ToldSnapshots
from streaming.lifecycle.debezium import Debezium
from streaming.lifecycle.pausing import Pause, Resume
from streaming.lifecycle.rebuilding import Rebuilding
from streaming.settings.format import Connector
from tests.unit.streaming.replayable import NAME, Shop


def do_chores(shop: Shop, name: str) -> None:
    """Rebuild the table if that was asked for, and let it catch up, until there is nothing left to do."""
    opened, outside, job = shop.plain.opened(), shop.plain.outside(), shop.plain.job

    def ends(topics: Any) -> dict[str, dict[int, int]]:
        return {topic: shop.log.ends()[topic] for topic in topics}

    debezium = Debezium(Connector.AUTO, None, None, ends, None, None, shop.log.read)
    told = ToldSnapshots(debezium)
    rebuilding = Rebuilding(opened, job, debezium, 0.0, once=True, told=told)
    asked = AskedRebuilds(opened, job, debezium, told, rebuilding, outside)
    catch_up = CatchUp(opened, job, outside, 1000, shop.reports.append)
    while asked(name) or rebuilding(name) or catch_up(name):
        pass


def pause(shop: Shop) -> None:
    assert Pause(shop.plain.ledger)(_asking(Action.PAUSE)).accepted


def resume(shop: Shop) -> None:
    """Let the table land what came while it was paused."""
    handler = Resume(shop.plain.opened(), shop.plain.job, shop.plain.outside(), sleep=lambda seconds: None)
    assert handler(_asking(Action.RESUME)).accepted
    do_chores(shop, NAME)


def _asking(action: Action) -> Request:
    return new_request(action, now_ms=1, by="ann@home", table=NAME)
