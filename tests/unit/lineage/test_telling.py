"""When a run tells what: a start, one event per interval in which something landed, one end."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from openlineage.client.event_v2 import RunState

from connectors.errors import Terminal
from streaming.driver.batch import BatchReport
from streaming.lineage.sender import Sender
from streaming.lineage.telling import Telling, Told, lineage_told
from streaming.lineage.windows import TABLES_IN_AN_EVENT
from streaming.listener import Listener
from tests.unit.metrics.worlds import file, ledger, table
from tests.unit.streaming.settings_builder import settings

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECONDS = 120


class Run:
    """A run whose clock a test moves, and what was told of it."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        self.seconds = 0.0
        self._sender = Sender(self.told.append)
        self.telling = Telling(self._sender, 60, clock=lambda: self.seconds, now=lambda: NOW)

    def batch(self, version: int, at: float, *tables: str) -> None:
        self.seconds = at
        self.telling.listener.on_state(ledger(table("orders"), version=version))
        self.telling.listener.on_batch(
            BatchReport(version, files={name: file() for name in tables or ("public.orders",)})
        )

    def end(self, error: BaseException | None = None) -> list[tuple[RunState, tuple[int, int] | None, int]]:
        """End the run; states, versions and numbers of tables of its events."""
        self.telling.end(error)
        assert self._sender.close(SECONDS)
        assert {one.at for one in self.told} == {NOW}
        return [(one.state, one.window.versions, len(one.window.tables)) for one in self.told]


@pytest.fixture
def run() -> Run:
    started = Run()
    started.telling.start()
    return started


def test_batches_of_one_interval_are_one_event_and_the_rest_comes_with_the_end(run: Run) -> None:
    for version, at in ((2, 0), (3, 30), (4, 61), (5, 62), (6, 130), (7, 131)):
        run.batch(version, at)
    assert run.end() == [
        (RunState.START, None, 0),
        (RunState.RUNNING, (2, 4), 1),
        (RunState.RUNNING, (5, 6), 1),
        (RunState.COMPLETE, (7, 7), 1),
    ]
    assert [one.window.state.version for one in run.told] == [0, 4, 6, 7]


def test_the_end_of_many_tables_is_several_events_of_which_the_last_one_ends_the_run(run: Run) -> None:
    run.batch(2, 0, *(f"public.t{number}" for number in range(TABLES_IN_AN_EVENT + 1)))
    assert run.end() == [
        (RunState.START, None, 0),
        (RunState.RUNNING, (2, 2), TABLES_IN_AN_EVENT),
        (RunState.COMPLETE, (2, 2), 1),
    ]


@pytest.mark.parametrize(
    ("error", "state"),
    [(None, RunState.COMPLETE), (Terminal("a", remedy="b"), RunState.FAIL), (KeyboardInterrupt(), RunState.ABORT)],
)
def test_how_a_run_ends_is_told_with_what_ended_it(run: Run, error: BaseException | None, state: RunState) -> None:
    run.end(error)
    assert [(one.state, one.error) for one in run.told] == [(RunState.START, None), (state, error)]


def test_without_settings_for_it_the_listener_is_the_same_one() -> None:
    listener = Listener()
    with lineage_told(settings(), listener, once=True) as told:
        assert told is listener
