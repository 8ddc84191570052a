"""What counts as lost, as doubled, and as another difference between two zones."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from tests.crash.commit_path import Start, carry
from tests.crash.comparing import Differences, Outcome, differences, unfinished, visible_files
from tests.crash.places import Place, local_place
from tests.crash.shop_log import shop_log
from tests.crash.steps import StepBoard
from tests.crash.tally import Tally, show

FIRST = "public.schema/order_lines/00000000000000000001.parquet"
SECOND = "public.schema/order_lines/00000000000000000002.parquet"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A zone and its ledger, filled by one start that nothing disturbs."""
    folder = tmp_path_factory.mktemp("filled")
    place = local_place(folder)
    carry(Start(place.zone_location, place.state_location, folder / "checkpoint"), shop_log(7), StepBoard())
    return folder


@pytest.fixture
def calm(filled: Path) -> Outcome:
    return _outcome(local_place(filled))


@pytest.fixture
def place(filled: Path, tmp_path: Path) -> Place:
    """The same once more, to be spoiled."""
    shutil.copytree(filled, tmp_path / "copy")
    return local_place(tmp_path / "copy")


def test_every_landed_row_is_compared(calm: Outcome) -> None:
    assert calm.rows.total() == sum(count for name, count in calm.ledger.counters.items() if name.startswith("rows."))
    assert set(calm.rows.values()) == {1}


def test_two_zones_of_the_same_files_do_not_differ(calm: Outcome, place: Place) -> None:
    assert differences(calm, _outcome(place)) == Differences()
    place.consume()
    assert differences(calm, _outcome(place)) == Differences(), "it does not matter what the replicator has read"


def test_a_row_that_is_missing_is_lost(calm: Outcome, place: Place) -> None:
    _rewrite(place, FIRST, lambda table: table.slice(1))
    found = differences(calm, _outcome(place))
    assert (found.lost, found.doubled) == (1, 0)
    assert found.other == (f"{FIRST} has other bytes", f"version 2 binds {FIRST} to other content than is there")


def test_a_row_that_is_there_twice_is_doubled(calm: Outcome, place: Place) -> None:
    _rewrite(place, FIRST, lambda table: pa.concat_tables([table, table.slice(0, 2)]))
    found = differences(calm, _outcome(place))
    assert (found.lost, found.doubled) == (0, 2)


def test_a_file_that_is_missing_loses_its_rows(calm: Outcome, place: Place) -> None:
    rows = pq.read_table(pa.BufferReader(place.zone.read(SECOND))).num_rows
    place.zone.delete(SECOND)
    found = differences(calm, _outcome(place))
    assert (found.lost, found.doubled) == (rows, 0)
    assert f"{SECOND} is missing" in found.other


def test_a_file_that_landed_once_more_doubles_its_rows(calm: Outcome, place: Place) -> None:
    body = place.zone.read(FIRST)
    place.zone.put("public.schema/order_lines/00000000000000000009.parquet", body)
    found = differences(calm, _outcome(place))
    assert (found.lost, found.doubled) == (0, pq.read_table(pa.BufferReader(body)).num_rows)
    assert found.other == (
        "public.schema/order_lines/00000000000000000009.parquet is too many",
        f"{_numbered(calm) + 1} number(s) are there, {_numbered(calm)} are bound",
    )


def test_a_row_with_other_values_is_another_difference(calm: Outcome, place: Place) -> None:
    def changed(table: pa.Table) -> pa.Table:
        index = table.column_names.index("quantity")
        return table.set_column(index, table.schema.field(index), pa.array([99] * len(table), pa.int32()))

    rows = _rewrite(place, FIRST, changed)
    found = differences(calm, _outcome(place))
    assert (found.lost, found.doubled) == (0, 0)
    assert f"{rows} row(s) have other values" in found.other


def test_what_is_left_behind_and_what_the_ledger_says_otherwise_are_differences(calm: Outcome, place: Place) -> None:
    place.zone.put("_scratchPad/00000000000000000001/left", b"")
    ledger = Ledger.open(place.state, now_ms=lambda: 0)
    ledger.claim("somebody", "here")
    ledger.commit(Draft(counters={"files": 1}))
    found = differences(calm, _outcome(place))
    assert found.other[:2] == (
        "_scratchPad/00000000000000000001/left was left behind",
        "the ledger has other counters",
    )


def test_a_file_that_can_be_seen_too_early_with_other_bytes_is_a_difference(calm: Outcome, place: Place) -> None:
    place.zone.delete(SECOND)
    assert unfinished(calm, visible_files(place.zone)) == (), "what is not there yet is none"
    place.zone.put(SECOND, b"")
    assert unfinished(calm, visible_files(place.zone)) == (f"{SECOND} is not the file that it has to be",)


def test_the_table_says_which_run_was_wrong_and_the_verdict_is_no() -> None:
    fine, wrong = Tally(runs=3), Tally(runs=2)
    fine.kills.update({"claim": 4})
    wrong.add("run 2", Differences(lost=1, other=("a is missing",)))
    console = Console(file=io.StringIO(), record=True, width=120)
    assert show({"at a failpoint": fine}, console)
    assert not show({"at a failpoint": fine, "at a random moment": wrong}, console)
    assert "DIFFERENT run 2: 1 lost, 0 doubled, a is missing" in console.export_text()


def _outcome(place: Place) -> Outcome:
    return Outcome.of(place.zone, place.state)


def _numbered(outcome: Outcome) -> int:
    return sum(path.endswith(".parquet") for path in outcome.files)


def _rewrite(place: Place, path: str, change: Callable[[pa.Table], pa.Table]) -> int:
    """The file with other rows; returns how many it had."""
    table = pq.read_table(pa.BufferReader(place.zone.read(path)))
    body = io.BytesIO()
    pq.write_table(change(table), body)
    place.zone.put(path, body.getvalue())
    return len(table)
