"""The commands that read a landing zone and its ledger: replay, verify, ledger; what they print and how they end."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from connectors.landing_zone.ledger.owner import ensure_owner
from connectors.landing_zone.storage.local import LocalStorage
from streaming import cli
from streaming.wording import count_text
from streaming.zones.reading import existing_zone, location_of, unpublished
from streaming.zones.replay_view import FileProgress
from streaming.zones.replaying import ReplayRequest, replay_zone
from tests.support.plain_job import PlainJob
from tests.unit.streaming.landed_shop import two_batches
from tests.unit.streaming.settings_builder import settings_text

Json = Callable[..., tuple[int, Any]]
FILE = "zone/public.schema/orders/00000000000000000002.parquet"


@pytest.fixture
def shop(tmp_path: Path) -> PlainJob:
    return two_batches(tmp_path)


@pytest.fixture
def config(tmp_path: Path, shop: PlainJob) -> str:
    path = tmp_path / "bridge.yaml"
    state = {"url": f"file://{tmp_path}/state"}
    path.write_text(settings_text(landing_zone__url=f"file://{tmp_path}/zone", state=state))
    return str(path)


@pytest.fixture
def as_json(capsys: pytest.CaptureFixture[str]) -> Json:
    """A command's exit code and its result."""

    def run(*arguments: object) -> tuple[int, Any]:
        code = cli.main([*map(str, arguments), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def shown(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = cli.main([*map(str, arguments)])
    said = capsys.readouterr()
    assert said.err == ""
    return code, said.out


class TestReplay:
    def test_what_the_tables_contain(self, tmp_path: Path, shop: PlainJob, as_json: Json) -> None:
        code, [table] = as_json("replay", tmp_path / "zone")
        assert code == 0
        assert table == {
            "table": "public.orders",
            "rows": 2,
            "files": 2,
            "last_number": 2,
            "rows_per_marker": {"": 2, "1": 1, "2": 1, "4": 1},
            "columns": {"id": "int64", "name": "string", "note": "string"},
            "first_rows": [{"id": 1, "name": "uno", "note": None}, {"id": 3, "name": "three", "note": "n"}],
            "observations": [],
            "stopped": None,
            "written": None,
        }

    def test_after_a_file_or_as_of_a_version(self, tmp_path: Path, shop: PlainJob, as_json: Json) -> None:
        for arguments in (
            ["--table", "public.orders", "--as-of", 1],
            ["--version", 2, "--state", tmp_path / "state"],
        ):
            _, [table] = as_json("replay", tmp_path / "zone", *arguments)
            assert [row["name"] for row in table["first_rows"]] == ["one", "two"]

    def test_before_the_first_file_there_is_no_table(
        self, tmp_path: Path, shop: PlainJob, as_json: Json, capsys: pytest.CaptureFixture[str]
    ) -> None:
        arguments = ("replay", tmp_path / "zone", "--version", 1, "--state", tmp_path / "state")
        assert as_json(*arguments) == (0, [])
        assert shown(capsys, *arguments) == (0, "There is no table to replay.\n")

    def test_the_ledger_is_looked_for_beside_the_zone(self, tmp_path: Path, shop: PlainJob, as_json: Json) -> None:
        (tmp_path / "state").rename(tmp_path / "zone-state")
        _, [table] = as_json("replay", f"{tmp_path}/zone/", "--version", 2)
        assert table["last_number"] == 1

    def test_a_version_of_another_ledger_is_refused(self, tmp_path: Path, shop: PlainJob, as_json: Json) -> None:
        ensure_owner(shop.zone, "theirs", "other")
        code, said = as_json("replay", tmp_path / "zone", "--version", 2, "--state", tmp_path / "state")
        assert (code, said["error"]["kind"]) == (1, "ZoneOwnedError")
        assert said["error"]["message"].startswith("the landing zone belongs to the ledger theirs of source other")

    @pytest.mark.parametrize("form", ["parquet", "csv"])
    def test_tables_are_written_out(self, form: str, tmp_path: Path, shop: PlainJob, as_json: Json) -> None:
        target = tmp_path / "out" / f"public.orders.{form}"
        code, [table] = as_json("replay", tmp_path / "zone", "--to", form, tmp_path / "out")
        assert (code, table["written"]) == (0, str(target))
        if form == "parquet":
            assert pq.read_table(target).column("name").to_pylist() == ["uno", "three"]

    def test_a_table_that_cannot_be_applied_to_its_end_is_a_failure(
        self, tmp_path: Path, shop: PlainJob, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / FILE).write_bytes(b"no parquet")
        code, said = shown(capsys, "replay", tmp_path / "zone")
        assert code == 1
        assert "unreadable file (1)" in said

    def test_for_a_person_a_preview(self, tmp_path: Path, shop: PlainJob, capsys: pytest.CaptureFixture[str]) -> None:
        code, said = shown(capsys, "replay", tmp_path / "zone", "--rows", 1)
        assert code == 0
        assert "public.orders  2 rows after 2 files, the last one 2: 2 unmarked · 1 upd · 1 del · 1 ups" in said
        assert "uno" in said
        assert "three" not in said
        assert "1 more row" in said
        _, said = shown(capsys, "replay", tmp_path / "zone", "--to", "csv", tmp_path / "out")
        assert "written to" in said

    def test_an_empty_folder_is_no_zone(self, tmp_path: Path, as_json: Json) -> None:
        code, said = as_json("replay", tmp_path / "none")
        assert (code, said["error"]["kind"]) == (1, "InvalidZoneError")
        assert said["error"]["message"] == "there is no landing zone here: the folder is empty or missing"

    @pytest.mark.parametrize(
        ("arguments", "hint"),
        [
            (["--as-of", "1"], "file numbers are a table's own"),
            (["--table", "t", "--as-of", "1", "--version", "2"], "give one of --as-of and --version"),
            (["--to", "xml", "out"], "xml is not one of parquet, csv, delta"),
        ],
    )
    def test_wrong_usage_ends_with_2(
        self, arguments: list[str], hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["replay", str(tmp_path), *arguments]) == 2
        assert hint in " ".join(capsys.readouterr().err.replace("│", "").split())


@pytest.mark.parametrize("terminal", [True, False])
def test_a_result_is_shown_while_the_bar_is_away(
    terminal: bool, tmp_path: Path, shop: PlainJob, capsys: pytest.CaptureFixture[str]
) -> None:
    bar = io.StringIO()
    progress = FileProgress(Console(file=bar, force_terminal=terminal, width=80))
    request = ReplayRequest(zone=str(tmp_path / "zone"))
    with progress.bar:
        for result in progress.aside_for(replay_zone(request, progress.on_replay)):
            assert not progress.bar.live.is_started
            sys.stdout.write(f"{result.content.name}\n")
        assert not progress.bar.live.is_started
    assert capsys.readouterr().out == "public.orders\n"
    assert ("public.orders" in bar.getvalue()) is terminal


class TestVerify:
    def test_a_sound_zone_compared_with_its_ledger(self, tmp_path: Path, shop: PlainJob, as_json: Json) -> None:
        assert as_json("verify", tmp_path / "zone", "--state", tmp_path / "state") == (
            0,
            {"zone": (tmp_path / "zone").as_uri(), "tables": 1, "ledger_version": 3, "sound": True, "findings": []},
        )

    def test_without_a_ledger_the_format_s_rules_alone(
        self, tmp_path: Path, shop: PlainJob, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code, said = shown(capsys, "verify", (tmp_path / "zone").as_uri())
        assert code == 0
        assert " ".join(said.split()) == (
            "1 table: 0 problems, 0 warnings; no ledger found beside the zone (--state names it)"
        )

    def test_a_changed_file_is_a_problem_that_only_the_ledger_sees(
        self, tmp_path: Path, shop: PlainJob, capsys: pytest.CaptureFixture[str], as_json: Json
    ) -> None:
        pq.write_table(pq.read_table(tmp_path / FILE), tmp_path / FILE, compression="snappy")
        code, found = as_json("verify", tmp_path / "zone", "--state", tmp_path / "state")
        assert (code, found["sound"]) == (1, False)
        assert {one["rule"] for one in found["findings"]} == {"ledger-content"}
        code, said = shown(capsys, "verify", tmp_path / "zone", "--state", tmp_path / "state")
        assert code == 1
        assert "What to do: `cdc-bridge pause CONFIG TABLE`" in said

    def test_a_ledger_that_was_named_has_to_be_there(self, tmp_path: Path, shop: PlainJob, as_json: Json) -> None:
        code, said = as_json("verify", tmp_path / "zone", "--state", tmp_path / "nowhere")
        assert (code, said["error"]["message"]) == (1, "there is no ledger here")

    def test_reading_leaves_no_trace(self, tmp_path: Path, shop: PlainJob, as_json: Json) -> None:
        work = tmp_path / "zone/_scratchPad/.work"
        work.mkdir(parents=True, exist_ok=True)
        (work / "old").touch()
        os.utime(work / "old", (0, 0))
        before = sorted(tmp_path.rglob("*"))
        as_json("verify", tmp_path / "zone", "--state", tmp_path / "state")
        as_json("replay", tmp_path / "zone")
        assert sorted(tmp_path.rglob("*")) == before


class TestLedger:
    def test_the_log_is_newest_first(self, config: str, as_json: Json, capsys: pytest.CaptureFixture[str]) -> None:
        code, entries = as_json("ledger", "log", config, "--limit", 2)
        assert (code, [entry["version"] for entry in entries]) == (0, [3, 2])
        code, said = shown(capsys, "ledger", "log", config)
        assert code == 0
        assert said.index("version 3") < said.index("version 2") < said.index("version 1")

    def test_one_version_or_the_newest(self, config: str, as_json: Json, capsys: pytest.CaptureFixture[str]) -> None:
        assert as_json("ledger", "show", config)[1]["version"] == 3
        assert as_json("ledger", "show", config, "--version", 2)[1]["new_tables"] == ["public.orders"]
        assert shown(capsys, "ledger", "show", config)[0] == 0

    def test_a_version_that_is_not_there(self, config: str, as_json: Json) -> None:
        code, said = as_json("ledger", "show", config, "--version", 99)
        again = f"(to try again: `cdc-bridge ledger show {config} --version 99 --json`)"
        assert (code, said["error"]["remedy"]) == (1, f"ask for a version from 1 to 3 {again}")


def test_explaining_takes_one_of_offset_and_last(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", config, "--topic", "t", "--offset", "1", "--last", "2"]) == 2
    assert "give one of --offset and --last" in capsys.readouterr().err


def test_the_status_of_a_zone_whose_kafka_is_away(
    config: str, as_json: Json, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("streaming.reporting.status_view.KAFKA_SECONDS", 0.2)
    monkeypatch.setenv("CDC_BRIDGE_KAFKA__BOOTSTRAP_SERVERS", "127.0.0.1:1")
    code, status = as_json("status", config)
    assert (code, status["version"], status["kafka_error"]["transient"]) == (0, 3, True)
    code, said = shown(capsys, "status", config)
    assert code == 0
    assert "Ledger version 3" in said


def test_a_file_is_unpublished_until_it_is_under_one_of_its_names(tmp_path: Path, shop: PlainJob) -> None:
    state = shop.ledger.state
    pending = LocalStorage(tmp_path / "state").read("ledger/00000000000000000003.json")
    assert b'"pending"' in pending
    from connectors.landing_zone.ledger.history import state_at

    bound = state_at(LocalStorage(tmp_path / "state"), state.version)
    assert unpublished(shop.zone, bound) == frozenset()
    (tmp_path / "zone/public.schema/orders/_ProcessedFiles").mkdir()
    moved = tmp_path / "zone/public.schema/orders/_ProcessedFiles/00000000000000000002.parquet"
    (tmp_path / FILE).rename(moved)
    assert unpublished(shop.zone, bound) == frozenset()
    moved.unlink()
    assert unpublished(shop.zone, bound) == {"public.orders"}


def test_a_place_is_a_path_or_a_url(tmp_path: Path) -> None:
    assert location_of("file:///zones/shop/").url == "file:///zones/shop"
    assert location_of(str(tmp_path)).url == tmp_path.as_uri()
    (tmp_path / "_partnerEvents.json").touch()
    assert existing_zone(str(tmp_path)).url == tmp_path.as_uri()
    assert count_text(0, "file") == "0 files"
