"""The demo's parts: its settings file, its folder, and the judgement of the landing zone."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

from connectors.landing_zone.replay import Observation, ObservationKind, ReplayedTable
from streaming.demo.config import demo_settings
from streaming.demo.folder import MARK, DemoFolderError, demo_folder
from streaming.demo.judge import compare, judge
from streaming.demo.run import DemoOutcome
from streaming.demo.view import fewer_rows_text, show_outcome
from streaming.policies import OnMissingKey
from streaming.run_summary import RunSummary
from streaming.settings import settings_of
from tests.unit.streaming.landed_shop import row, two_batches


def replayed(*rows: dict[str, Any], observations: tuple[Observation, ...] = ()) -> ReplayedTable:
    return ReplayedTable("public.t", pa.Table.from_pylist(list(rows)), (), 2, {"4": len(rows)}, observations)


def test_its_settings_are_those_of_a_user(tmp_path: Path) -> None:
    settings = settings_of(demo_settings("127.0.0.1:9092", "http://127.0.0.1:8081", tmp_path, 500), "bridge.yaml")
    assert settings.kafka.pattern == r"shop\.public\..*"
    assert settings.landing_zone.url == f"{tmp_path.as_uri()}/LandingZone"
    assert settings.trigger.max_offsets == 500
    rules = settings.tables
    assert list(rules.settings_for("public.products").settings.declared) == [
        "sku",
        "title",
        "price",
        "stock",
        "attributes",
        "updated_at",
    ]
    assert rules.settings_for("public.page_views").settings.policies.on_missing_key is OnMissingKey.APPEND
    assert rules.settings_for("public.orders").match == "*"


class TestFolder:
    def test_a_temporary_one_goes_away(self) -> None:
        with demo_folder(None) as folder:
            (folder / "file").touch()
        assert not folder.exists()

    def test_a_kept_one_stays_and_the_next_demo_begins_anew(self, tmp_path: Path) -> None:
        for _ in range(2):
            with demo_folder(tmp_path / "demo") as folder:
                assert [path.name for path in folder.iterdir()] == [MARK]
                (folder / "bridge.yaml").touch()
        assert (tmp_path / "demo" / "bridge.yaml").exists()

    def test_somebody_else_s_folder_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.odt").touch()
        with pytest.raises(DemoFolderError) as caught, demo_folder(tmp_path):
            pass
        assert caught.value.message == "the folder holds something else than an earlier demo"
        assert caught.value.remedy.startswith("name a new or an empty folder")
        assert (tmp_path / "thesis.odt").exists()

    def test_a_place_that_cannot_be_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(DemoFolderError, match="the demo's folder cannot be used: "), demo_folder(tmp_path / "file"):
            pass


class TestJudgement:
    def test_the_same_rows_in_any_order_are_equal(self) -> None:
        verdict = compare("public.t", replayed(row(2), row(1)), [row(1), row(2)])
        assert (verdict.equal, verdict.replayed, verdict.expected, verdict.examples) == (True, 2, 2, ())

    def test_missing_and_extra_rows_are_counted_and_shown(self) -> None:
        verdict = compare("public.t", replayed(row(1), row(1), row(3)), [row(1), row(2)])
        assert (verdict.equal, verdict.missing, verdict.extra) == (False, 1, 2)
        assert "missing: id=2, name='new'" in verdict.examples

    @pytest.mark.parametrize(("landed", "truth"), [(1, True), (1.0, 1), (Decimal("1.0"), 1.0), (None, "")])
    def test_values_of_another_type_are_not_the_same(self, landed: Any, truth: Any) -> None:
        assert not compare("public.t", replayed({"id": landed}), [{"id": truth}]).equal

    def test_a_column_that_is_missing_is_a_difference(self) -> None:
        assert not compare("public.t", replayed({"id": 1}), [row(1)]).equal

    def test_a_replay_that_stopped_is_a_difference(self) -> None:
        stop = Observation(ObservationKind.GAP, 1, (), "file 2 is missing")
        verdict = compare("public.t", replayed(row(1), observations=(stop,)), [row(1)])
        assert (verdict.equal, verdict.stopped) == (False, "gap: file 2 is missing")

    def test_a_zone_against_the_truth(self, tmp_path: Path) -> None:
        zone = two_batches(tmp_path).zone
        truth = {"public.orders": [row(1, "uno", note=None), row(3, "three", note="n")], "public.gone": [row(1)]}
        gone, orders = judge(zone, truth)
        assert (orders.equal, orders.files, orders.last_number) == (True, 2, 2)
        assert (gone.equal, gone.missing, gone.files) == (False, 1, 0)


def outcome(folder: Path | None, *rows: dict[str, Any]) -> DemoOutcome:
    verdict = compare("public.t", replayed(*rows), [row(1)])
    return DemoOutcome(10, RunSummary(files=1, rows=Counter({"4": 1})), (verdict,), folder, 61.0)


def shown(result: DemoOutcome, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width)
    show_outcome(result, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_end_says_that_all_is_equal_and_what_to_look_at() -> None:
    said = shown(outcome(Path("/demo"), row(1)))
    header, table = (line.split() for line in said.splitlines()[1:3])
    assert header == ["table", "files", "last", "rows", "landed", "replayed", "verdict"]
    assert table == ["public.t", "0", "2", "1", "ups", "1", "equal"]
    assert "9 of the records are tombstones, which carry no row: one follows each delete event.\n" in said
    assert "Every row is as it should be: 10 records in Kafka, 1 row in 1 file, 1 row after replay, 1 min 1 s" in said
    assert "  cdc-bridge verify /demo/LandingZone\n" in said
    assert "  cdc-bridge replay /demo/LandingZone --table public.orders\n" in said
    assert "  cdc-bridge ledger log /demo/bridge.yaml\n" in said


def test_the_end_suggests_nothing_that_needs_the_broker_which_has_stopped() -> None:
    said = shown(outcome(Path("/demo"), row(1)))
    assert not [word for word in ("status", "explain", "run", "check") if f"cdc-bridge {word}" in said]


def test_the_closing_table_fits_80_columns_and_tears_no_count_from_its_name() -> None:
    rows = {"": 2_000, "1": 1_873, "2": 743, "4": 4_210}
    verdict = replace(compare("public.order_lines", replayed(row(1)), [row(1)]), rows_per_marker=rows)
    result = replace(outcome(None, row(1)), tables=(verdict,))
    lines = [" ".join(line.split()) for line in shown(result, width=80).splitlines()]
    assert lines[2:4] == [
        "public.order_lines 0 2 2,000 unmarked · 1,873 upd 1 equal",
        "743 del · 4,210 ups",
    ]
    assert "…" not in shown(result, width=80)


@pytest.mark.parametrize(("records", "text"), [(1, ""), (2, "1 of the records is a tombstone, which carries no row")])
def test_tombstones_are_told_where_there_are_any(records: int, text: str) -> None:
    assert fewer_rows_text(replace(outcome(None, row(1)), records=records)).startswith(text)
    assert fewer_rows_text(replace(outcome(None, row(2)), records=records)) == ""


def test_the_end_says_what_differs() -> None:
    result = outcome(None, row(2))
    said = shown(result)
    assert "1 missing, 1 extra of 1" in said
    assert "public.t missing: id=1, name='new'" in said
    assert "The landing zone is NOT what it should be" in said
    assert "Run it with --keep demo-output" in said
    assert result.values()["equal"] is False
