"""What makes a table read Kafka again, over a :class:`~tests.unit.streaming.replayable.Shop`: a pause, a rebuild."""

from __future__ import annotations

import itertools
from typing import Any, Protocol

from connectors.landing_zone.requests import Action, Answer, new_request
from streaming.driver.batch import BatchReport
from streaming.lifecycle.asked_rebuilds import AskedRebuilds
from streaming.lifecycle.catching_up import CatchUp
from streaming.lifecycle.connector_runs import ToldSnapshots
from streaming.lifecycle.debezium import Debezium
from streaming.lifecycle.folder_removal import FolderRemoval
from streaming.lifecycle.pausing import Pause, Resume
from streaming.lifecycle.rebuilding import Rebuilding
from streaming.lifecycle.resyncing import Resync
from streaming.settings.format import Connector
from tests.support.plain_job import Log, PlainJob
from tests.unit.streaming.replayable import NAME, Shop


class HasChores(Protocol):
    """A shop whose tables can be rebuilt."""

    @property
    def plain(self) -> PlainJob: ...
    @property
    def log(self) -> Log: ...
    @property
    def reports(self) -> list[BatchReport]: ...


def do_chores(shop: HasChores, name: str, *, chunk: int = 1000, turns: int | None = None) -> None:
    """Rebuild the table if that was asked for, and let it catch up, until there is nothing left to do.

    Args:
        chunk: offsets of a chunk of a catch-up.
        turns: steps after which the driver has other things to do, if it has not come to the end by then.
    """
    steps = _steps(shop, chunk)
    for _ in itertools.count() if turns is None else range(turns):
        if not any(step(name) for step in steps):
            return


def pause(shop: Shop) -> None:
    assert ask(shop, Action.PAUSE).accepted


def resume(shop: Shop) -> None:
    """Let the table land what came while it was paused."""
    assert ask(shop, Action.RESUME).accepted
    do_chores(shop, NAME)


def ask(shop: Shop, action: Action) -> Answer:
    """What a driver answers to somebody who asks for a pause, a resume or a resync of the table."""
    request = new_request(action, now_ms=1, by="ann@home", table=NAME)
    if action is Action.PAUSE:
        return Pause(shop.plain.ledger)(request)
    opened, outside, job = shop.plain.opened(), shop.plain.outside(), shop.plain.job
    if action is Action.RESYNC:
        return Resync(opened, job, _steps(shop)[1], outside)(request)
    return Resume(opened, job, outside, sleep=lambda seconds: None)(request)


def _steps(shop: HasChores, chunk: int = 1000) -> tuple[AskedRebuilds, Rebuilding, CatchUp]:
    opened, outside, job = shop.plain.opened(), shop.plain.outside(), shop.plain.job

    def ends(topics: Any) -> dict[str, dict[int, int]]:
        return {topic: shop.log.ends()[topic] for topic in topics}

    debezium = Debezium(Connector.AUTO, None, None, ends, None, None, shop.log.read)
    told = ToldSnapshots(debezium)
    rebuilding = Rebuilding(opened, job, debezium, FolderRemoval(opened, 0.0, once=True), told=told)
    asked = AskedRebuilds(opened, job, debezium, told, rebuilding, outside)
    return asked, rebuilding, CatchUp(opened, job, outside, chunk, shop.reports.append)
