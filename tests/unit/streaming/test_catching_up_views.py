"""What a person sees of a table on its way back: in ``status``, ``ledger log``, ``check`` and a run's lines."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from connectors.landing_zone.ledger.state import TableStatus
from streaming.checks.check import Check, Verdict
from streaming.checks.ledger import check_ledger
from streaming.policies import OnTruncate
from streaming.reporting.history import HistoryEntry, history
from streaming.reporting.history_view import show_log
from streaming.reporting.status import status_of
from streaming.reporting.status_view import Status, show_status
from streaming.run_summary import RunSummary, summary_text
from streaming.running import batch_text, batch_values
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import World, shop
from tests.unit.streaming.resumable import NAME, Shop


def half_way(folder: Path) -> Shop:
    """Two of three events that were passed over have landed."""
    shop = Shop(folder, chunk=2)
    shop.receive(ORDERS.read(row(1), 10))
    shop.pause()
    shop.receive(*(ORDERS.create(row(key), 10 + key) for key in range(2, 5)))
    shop.resume()
    shop.catch_up(NAME)
    return shop


def log_of(shop: Shop) -> list[HistoryEntry]:
    return history(shop.plain.state, 20)


def plain(text: io.StringIO) -> list[str]:
    return [line.rstrip() for line in text.getvalue().splitlines()]


def test_status_says_how_far_behind_it_is_and_not_that_it_is_parked(tmp_path: Path) -> None:
    shop, out = half_way(tmp_path), io.StringIO()
    report = status_of(shop.plain.ledger.state, shop.log.describe([TOPIC]), 0)
    show_status(Status(report, None), Console(file=out, width=120))
    assert plain(out)[1].startswith("public.orders  catching up  behind: 1 offset")
    assert not any("parked" in line for line in plain(out))
    assert report.tables[0].values()["status"] == "catching_up"


def test_the_log_tells_the_way_from_standing_still_to_going_on(tmp_path: Path) -> None:
    shop = half_way(tmp_path)
    shop.catch_up_wholly()
    newest = log_of(shop)
    assert [(entry.beside, dict(entry.under_way), entry.resumed, tuple(entry.parked)) for entry in newest[:5]] == [
        ((NAME,), {}, (NAME,), ()),
        ((NAME,), {}, (), ()),
        ((), {NAME: TableStatus.CATCHING_UP}, (), ()),
        ((), {}, (), ()),
        ((), {}, (), (NAME,)),
    ]
    assert len(newest[2].requests) == 1
    out = io.StringIO()
    show_log(newest[:3], Console(file=out, width=120))
    lines = plain(out)
    assert lines[1].startswith("  public.orders: file 3, 1 ups, ")
    assert lines[1].endswith(" (beside the stream)")
    assert lines[2] == "  goes on: public.orders"
    assert lines[-1] == "  catching up: public.orders"


def test_the_log_tells_that_a_table_is_parked_again(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.receive(ORDERS.read(row(1), 10), ORDERS.truncate(11))
    shop.resume()
    shop.catch_up_wholly()
    [entry] = log_of(shop)[:1]
    assert entry.parked[NAME].message.startswith("the cause is not mended: ")
    assert entry.values()["under_way"] == {}


def test_the_check_does_not_warn_of_a_table_that_comes_back(tmp_path: Path) -> None:
    shop = half_way(tmp_path / "shop")
    found = list(check_ledger(shop.plain.ledger.state, None, None))
    assert Check("table public.orders", Verdict.OK, "catching up, after it was parked (paused)", "") in found


def test_a_chunk_is_a_line_and_counts_no_offset_of_the_stream(tmp_path: Path) -> None:
    shop = half_way(tmp_path)
    [report] = shop.reports
    assert batch_text(report).startswith("version 6: public.orders catches up, 2 offsets -> 2 rows in 1 file, ")
    assert batch_values(report)["catching_up"] == NAME
    summary = RunSummary()
    summary.add(report)
    summary.end(shop.plain.ledger.state)
    assert (summary.offsets, summary.files, summary.rows) == (0, 1, {"4": 2})
    assert summary.values()["under_way"] == {NAME: "catching_up"}
    assert summary_text(summary).endswith("; still under way: public.orders (catching up)")


def test_a_table_that_came_back_in_the_run_that_parked_it_is_not_told_as_parked(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    summary = RunSummary()
    summary.add(shop.receive(ORDERS.read(row(1), 10), ORDERS.truncate(11)))
    summary.end(shop.plain.ledger.state)
    assert tuple(summary.parked) == (NAME,)
    shop.pause()
    shop.restart(on_truncate=OnTruncate.IGNORE)
    shop.resume()
    shop.catch_up_wholly()
    summary.end(shop.plain.ledger.state)
    assert summary.parked == {}


def test_the_log_tells_of_a_rebuild_from_the_folder_that_goes_to_the_last_row(tmp_path: Path) -> None:
    world = shop(World(tmp_path))
    world.ask()
    world.live()
    entries = history(MemoryStorage(world.state), 100)
    assert [status for entry in entries for status in entry.under_way.values()] == [
        TableStatus.FILLING,
        TableStatus.CLEARED,
        TableStatus.DELETING,
    ]
    assert [entry.new_columns for entry in entries if entry.new_columns] == []
