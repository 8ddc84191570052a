"""A table that stands still, the request that its remedy names, and the table that streams again."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.requests import Action, Request, new_request
from streaming.demo.workload import Record
from tests.remedies.lost_files import healthy
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.rebuild_world import NAME, World

_TIMES = itertools.count(2)


def require_parked(world: World, reason: str, name: str = NAME, *, beneath: str | None = None) -> str:
    """The table stands still for this reason, and for nothing else beneath it.

    Returns:
        What it says to do.
    """
    table = world.ledger.tables[name]
    assert table.parked is not None, table
    lower = None if table.parked.beneath is None else table.parked.beneath.reason
    assert (table.status, table.parked.reason, lower) == (TableStatus.PARKED, reason, beneath), table.parked
    return table.parked.remedy


def ask_for(world: World, remedy: str, action: Action, name: str = NAME, **arguments: str) -> Request:
    """Restart the bridge, and ask for what the remedy names."""
    assert f"cdc-bridge {action.value} CONFIG {name}" in remedy or f"`cdc-bridge {action.value}`" in remedy
    healthy(world)
    asked = _request(action, name, arguments)
    world.ask(asked)
    return asked


def carry_on(world: World, remedy: str, action: Action, name: str = NAME, **arguments: str) -> None:
    """Restart the bridge, ask for what the remedy names, and let the bridge run until nothing moves any more."""
    asked = ask_for(world, remedy, action, name, **arguments)
    world.live()
    answer = world.answered(asked)
    assert answer.accepted, (answer, world.ledger.tables[name].parked)


def require_refused(world: World, action: Action, name: str = NAME) -> str:
    """The bridge does not do this with the table, which goes on standing still.

    Returns:
        What it says instead.
    """
    asked = _request(action, name, {})
    world.ask(asked)
    world.live()
    answer = world.answered(asked)
    assert (answer.accepted, world.ledger.tables[name].status) == (False, TableStatus.PARKED)
    return answer.message


def require_streaming(world: World, rows: Sequence[dict[str, Any]], name: str = NAME) -> None:
    """The table streams and has these rows, by id, also over another start."""
    for _ in range(2):
        table = world.ledger.tables[name]
        assert (table.status, table.parked) == (TableStatus.STREAMING, None), table.parked
        assert world.rows(name) == list(rows)
        healthy(world)


def mirrored(world: World, name: str = NAME) -> list[dict[str, Any]]:
    """What the mirrored table contains, as landed; the table streams."""
    assert world.ledger.tables[name].status is TableStatus.STREAMING
    replayed = replay(open_zone(MemoryStorage(world.zone)).table(name))
    assert replayed.stopped is None
    rows: list[dict[str, Any]] = replayed.table.to_pylist()
    return rows


def land(world: World, *records: Record) -> None:
    """The records arrive, and the bridge runs until nothing moves any more."""
    world.send(*records)
    world.live()


def _request(action: Action, name: str, arguments: dict[str, str]) -> Request:
    return new_request(action, now_ms=next(_TIMES), by="ann@home", table=name, arguments=arguments or None)
