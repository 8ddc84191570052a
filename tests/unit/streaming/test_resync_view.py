"""What a person sees of a rebuild."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress, TaskID

from connectors.landing_zone.ledger.state import Rebuild, RebuildKind, TableState, TableStatus
from connectors.source_database.database import SourceDatabase
from streaming.lifecycle.asking import Asking, UnknownTableError
from streaming.lifecycle.resync_view import phase_text, resync_table
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, World
from tests.unit.streaming.settings_builder import settings

TOPIC = {"source__signals": {"topic": "signals"}}
TOLD = {**TOPIC, "source__notifications_topic": "notifications"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.send(ORDERS.read(row(1), 10))
    made.live()
    made.snapshot = (ORDERS.reread(row(2), 40),)
    return made


def asking(world: World) -> Asking:
    """Each wait of the command lets the driver and Debezium do something."""

    def pass_time(seconds: float) -> None:
        world.driver().drain()
        world.answer_signals()

    return Asking(MemoryStorage(world.state), sleep=pass_time, clock=lambda: 0.0, now_ms=lambda: 1)


def console() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=100)


def test_it_follows_the_rebuild_to_its_end(world: World) -> None:
    outcome = resync_table(asking(world), NAME, settings(**TOLD), console(), restart=False, wait=True)
    assert outcome.done
    assert outcome.table is not None
    assert (outcome.table.status, outcome.table.generation) == (TableStatus.STREAMING, 2)
    assert world.rows() == [row(2)]


def test_a_bar_shows_what_is_done_and_how_many_of_the_sources_rows_have_landed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def counted(database: SourceDatabase, schema: str, table: str) -> int:
        asked.append((schema, table))
        return 8

    def drawn_at_once(bar: Progress, task: TaskID, **changes: Any) -> None:
        update(bar, task, **changes, refresh=True)

    update = Progress.update
    monkeypatch.setattr(Progress, "update", drawn_at_once)
    monkeypatch.setattr("streaming.lifecycle.resync_view.count_rows", counted)
    world.release_wait = 60.0
    landing = iter(ORDERS.reread(row(key), 40) for key in range(2, 5))

    def pass_time(seconds: float) -> None:
        world.now_ms += 30_000
        if world.table.status is TableStatus.FILLING:
            record = next(landing, None)
            if record is None:
                world.snapshot = ()
                world.answer_signals()
            else:
                world.send(record)
        world.driver().drain()

    person = Asking(MemoryStorage(world.state), sleep=pass_time, clock=lambda: 0.0, now_ms=lambda: 1)
    out, source = console(), {"url": "postgresql://u@localhost/shop"}
    chosen = settings(**TOLD, source__database=source)
    assert resync_table(person, NAME, chosen, out, restart=False, wait=True).done

    assert asked == [("public", "orders")]
    assert isinstance(out.file, io.StringIO)
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.file.getvalue())
    lines = re.findall(r"public\.orders: (.*?) [\u2500-\u257f ]+(\d+/\S+)", said)
    assert list(dict.fromkeys(lines)) == [
        ("waiting until the replicator has dropped the table", "0/?"),
        ("rows of the snapshot are landing", "0/8"),
        ("rows of the snapshot are landing", "1/8"),
        ("rows of the snapshot are landing", "2/8"),
        ("rows of the snapshot are landing", "3/8"),
        ("done", "3/8"),
    ]


def test_a_restart_begins_anew(world: World) -> None:
    world.ask()
    world.driver().drain()
    outcome = resync_table(asking(world), NAME, settings(**TOLD), console(), restart=True, wait=True)
    assert outcome.table is not None
    assert (outcome.done, outcome.table.generation) == (True, 3)


def test_without_waiting_the_request_stays(world: World) -> None:
    outcome = resync_table(asking(world), NAME, settings(**TOLD), console(), restart=False, wait=False)
    assert (outcome.answer, outcome.done) == (None, False)
    world.live()
    assert world.table.generation == 2


def test_a_refusal_is_told(world: World) -> None:
    world.takes_signals = False
    outcome = resync_table(asking(world), NAME, settings(), console(), restart=False, wait=True)
    assert outcome.failed
    assert outcome.answer is not None
    assert outcome.answer.remedy.startswith("set source.signals.topic")


def test_where_the_end_could_not_be_seen_it_is_refused(world: World) -> None:
    world.notifies = False
    outcome = resync_table(asking(world), NAME, settings(**TOPIC), console(), restart=False, wait=True)
    assert outcome.failed
    assert outcome.answer is not None
    assert outcome.answer.remedy.startswith("set source.notifications_topic")


def test_an_unknown_table_is_named_with_the_nearest(world: World) -> None:
    with pytest.raises(UnknownTableError, match=r"the ledger knows no table public.order; the nearest: public.orders"):
        resync_table(asking(world), "public.order", settings(), console(), restart=False, wait=True)


@pytest.mark.parametrize(
    ("status", "deleted_ms", "text"),
    [
        (TableStatus.DELETING, 0, "removing the folder"),
        (TableStatus.DELETING, 5, "waiting until the replicator has dropped the table"),
        (TableStatus.CLEARED, 5, "asking Debezium for a snapshot"),
        (TableStatus.FILLING, 5, "rows of the snapshot are landing"),
        (TableStatus.CATCHING_UP, 5, "catching up from Kafka"),
        (TableStatus.PARKED, 5, "parked"),
        (TableStatus.STREAMING, 5, "done"),
        (TableStatus.LOADING, 5, "done"),
    ],
)
def test_every_phase_has_a_name(status: TableStatus, deleted_ms: int, text: str) -> None:
    rebuild = Rebuild(RebuildKind.SNAPSHOT, "resync", deleted_ms=deleted_ms)
    assert phase_text(TableState(("shop", "public", "orders"), "orders", status=status, rebuild=rebuild)) == text
