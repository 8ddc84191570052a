"""Looking at mirroring beside the job: what is told, counted and logged, and that nothing can end it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from connectors.fabric.errors import FabricDeniedError, FabricUnavailableError
from connectors.fabric.status import MirroringStatus
from connectors.landing_zone.ledger.state import LedgerState
from streaming.mirroring.poller import LONGEST_PATIENCE, MirroringWatch
from streaming.mirroring.view import MirroringView
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import ledger, table
from tests.unit.mirroring.worlds import MINUTE, Fabric, Zone, source, status, told

SECONDS = 120


class Watched:
    """A watch whose looks are a minute apart, and what it told."""

    def __init__(self, folder: Path, *answers: MirroringStatus | Exception | None) -> None:
        self.zone = Zone(folder)
        self.fabric = Fabric(*answers)
        self.views: list[MirroringView] = []
        self.failures: list[str] = []
        self.state: LedgerState | None = ledger(table(sequence=2))
        self.now_ms = NOON_MS - MINUTE
        self.seen = threading.Event()
        self.failed = threading.Event()
        self.watch = MirroringWatch(
            source(self.zone.storage, self.fabric),
            lambda: self.state,
            self._see,
            self._fail,
            interval=60.0,
            now_ms=self._clock,
        )

    def _clock(self) -> int:
        self.now_ms += MINUTE
        return self.now_ms

    def _see(self, view: MirroringView) -> None:
        self.views.append(view)
        self.seen.set()

    def _fail(self, reason: str) -> None:
        self.failures.append(reason)
        self.failed.set()


def unavailable(retry_after: float | None = None) -> FabricUnavailableError:
    error = FabricUnavailableError("no answer", remedy="wait")
    error.retry_after = retry_after
    return error


def test_nothing_is_asked_before_the_zone_is_claimed(tmp_path: Path) -> None:
    watched = Watched(tmp_path, status(told()))
    watched.state = None
    assert (watched.watch.look_once(), watched.fabric.asked, watched.views) == (1.0, 0, [])


def test_each_look_is_told(tmp_path: Path) -> None:
    watched = Watched(tmp_path, status(told()))
    assert watched.watch.look_once() == 60.0
    [view] = watched.views
    assert (view.looked_ms, view.database is not None and view.database.state) == (NOON_MS, "Running")


def test_failures_are_counted_each_time_and_said_once_until_they_pass(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    denied = FabricDeniedError("you may not", remedy="ask for it")
    watched = Watched(tmp_path, denied, denied, unavailable(), status(), denied)
    caplog.set_level("INFO")
    for _ in range(5):
        watched.watch.look_once()
    assert watched.failures == ["denied", "denied", "unavailable", "denied"]
    assert [record.getMessage() for record in caplog.records] == [
        "how mirroring goes is not known; files land all the same: you may not. Remedy: ask for it",
        "how mirroring goes is not known; files land all the same: no answer. Remedy: wait",
        "Fabric tells again how mirroring goes",
        "how mirroring goes is not known; files land all the same: you may not. Remedy: ask for it",
    ]


def test_it_is_as_patient_as_fabric_asks_within_bounds(tmp_path: Path) -> None:
    watched = Watched(tmp_path, unavailable(90), unavailable(7), unavailable(86_400))
    assert [watched.watch.look_once() for _ in range(3)] == [90.0, 60.0, LONGEST_PATIENCE]


def test_a_table_that_comes_to_be_blocked_is_said_once_and_when_it_is_not_any_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Watched(tmp_path, status(told()))
    watched.zone.lay(1, 2, minutes=29)
    caplog.set_level("INFO")
    for _ in range(4):
        watched.watch.look_once()
    watched.zone.take(1)
    watched.watch.look_once()
    assert [view.tables["public.orders"].blocked for view in watched.views] == [False, True, True, True, False]
    [blocked, passed] = [record.getMessage() for record in caplog.records]
    assert blocked.startswith(
        "table public.orders is blocked in the mirrored database: public.schema/orders/00000000000000000002.parquet "
        "has waited for 30 min 0 s to be taken in; 1 file waits, the last one that was taken in is 1; "
    )
    assert "What to do: so far no table was seen to move" in blocked
    assert passed == "table public.orders is not blocked in the mirrored database any more"


def test_it_looks_on_a_thread_until_it_is_stopped(tmp_path: Path) -> None:
    watched = Watched(tmp_path, status(told()))
    watched.watch.start()
    assert watched.seen.wait(SECONDS)
    watched.watch.stop()


def test_what_is_not_foreseen_is_counted_and_does_not_end_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched(tmp_path, ValueError("defect"))
    watched.watch.start()
    assert watched.failed.wait(SECONDS)
    watched.watch.stop()
    assert watched.failures == ["other"]
    assert "looking at mirroring failed in a way that is not foreseen" in caplog.text
