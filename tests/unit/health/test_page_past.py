"""What the status page knows after a restart: what the ledger's latest versions brought."""

from __future__ import annotations

from connectors.landing_zone.ledger.version_file import path_of
from streaming.driver.batch import BatchReport
from streaming.service import tell_past
from tests.unit.health.test_page import Shown, batch
from tests.unit.landing_zone.ledger_builders import NOON_MS, ORDERS, claimed, offsets_only, opened
from tests.unit.landing_zone.ledger_builders import batch as draft
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.metrics.worlds import file

MINUTE = 60_000


def before() -> MemoryStorage:
    """A ledger that a process has left: a file a quarter of an hour ago, then records that land nothing."""
    state = MemoryStorage()
    times = iter(NOON_MS - ago * MINUTE for ago in (16, 15, 14))
    ledger = claimed(state, now_ms=lambda: next(times))
    ledger.commit(draft(1, 0, 3))
    ledger.confirm([ORDERS])
    ledger.commit(offsets_only(3, 5))
    return state


def restarted(state: MemoryStorage) -> Shown:
    shown = Shown().running(opened(state).state)
    tell_past(state, shown.listener)
    return shown


def test_versions_and_files_of_the_process_before_are_there() -> None:
    shown = restarted(before())
    assert [[row[0], row[1], row[2], row[4]] for row in shown.rows(1)] == [
        ["3", "14 min 0 s ago", "2 offsets, 0 rows in 0 files", ""],
        ["2", "15 min 0 s ago", "3 offsets, 1 row in 1 file", ""],
    ]
    assert "15 min 0 s ago" in shown.rows(0)[0]
    assert shown.cards()["Last micro-batch"] == ("14 min 0 s ago", "0 rows in 0 files, before this process started")


def test_what_this_process_does_comes_on_top_and_is_not_told_twice() -> None:
    state = before()
    shown = restarted(state)
    shown.listener.on_batch(batch(version=4, files={ORDERS: file(sequence=2)}))
    tell_past(state, shown.listener)
    assert [row[0] for row in shown.rows(1)] == ["4", "3", "2"]
    assert "0 s ago" in shown.rows(0)[0]


def test_a_ledger_that_cannot_be_read_so_far_back_holds_nothing_up() -> None:
    state = before()
    state.files[path_of(2)] = b"?"
    shown = Shown()
    tell_past(state, shown.listener)
    shown.listener.on_batch(BatchReport(version=None))
    assert shown.watcher.pages()["/"]("").status == 200
