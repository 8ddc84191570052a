"""All that can be known before running, and how it is shown."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from streaming import cli
from streaming.checks.check import Check, Verdict
from streaming.checks.every import check_all
from streaming.checks.view import show_checks
from tests.unit.streaming.landed_shop import landed, two_batches
from tests.unit.streaming.settings_builder import settings_text


class TestEverything:
    def test_a_settings_file_with_problems_is_all_that_can_be_told(self, tmp_path: Path) -> None:
        config = tmp_path / "bridge.yaml"
        config.write_text(settings_text(markers="saf", kafka__topic=["a"]))
        checks = list(check_all(config))
        assert [check.verdict for check in checks] == [Verdict.PROBLEM, Verdict.PROBLEM]
        assert {check.detail.split(" ")[0] for check in checks} == {"markers", "kafka.topic"}

    def test_a_missing_settings_file(self, tmp_path: Path) -> None:
        [check] = check_all(tmp_path / "none.yaml")
        assert check.detail.startswith("There is no such settings file")

    def test_without_kafka_everything_else_is_still_looked_at(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("streaming.checks.kafka.KAFKA_SECONDS", 0.2)
        landed(tmp_path)
        config = tmp_path / "bridge.yaml"
        changes = {"kafka__bootstrap_servers": "127.0.0.1:1", "state": {"url": f"file://{tmp_path}/state"}}
        config.write_text(settings_text(landing_zone__url=f"file://{tmp_path}/zone", **changes))
        assert cli.main(["check", str(config), "--json"]) == 1
        found = {check["subject"]: check["verdict"] for check in json.loads(capsys.readouterr().out)}
        assert found == {
            "settings": "ok",
            "java": "ok",
            "checkpoint folder": "ok",
            "registry": "ok",
            "kafka": "problem",
            "landing zone": "ok",
            "landing zone clock": "ok",
            "state": "ok",
            "state clock": "ok",
            "owner": "ok",
            "ledger": "ok",
            "source": "ok",
        }

    def test_a_secret_s_file_that_cannot_be_used_is_a_problem(self, tmp_path: Path) -> None:
        secret = tmp_path / "password"
        secret.write_bytes(b"\xff\xfe")
        config = tmp_path / "bridge.yaml"
        registry = {"url": "http://127.0.0.1:1", "username": "u", "password_file": str(secret)}
        config.write_text(settings_text(registry=registry))
        [check] = check_all(config)
        assert (check.subject, check.verdict) == ("settings", Verdict.PROBLEM)

    def test_a_broken_ledger_is_a_problem(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("streaming.checks.kafka.KAFKA_SECONDS", 0.2)
        two_batches(tmp_path)
        (tmp_path / "state/ledger/00000000000000000002.json").unlink()
        config = tmp_path / "bridge.yaml"
        changes = {"kafka__bootstrap_servers": "127.0.0.1:1", "state": {"url": f"file://{tmp_path}/state"}}
        config.write_text(settings_text(landing_zone__url=f"file://{tmp_path}/zone", **changes))
        *_, ledger, _ = check_all(config)
        assert (ledger.subject, ledger.verdict) == ("ledger", Verdict.PROBLEM)
        assert ledger.detail.startswith("Version 2 of the ledger is missing between 1 and 3")


def test_problems_in_a_row_share_what_to_do() -> None:
    console = Console(file=io.StringIO(), width=200)
    bad = [Check("settings", Verdict.PROBLEM, detail, "mend what is listed") for detail in ("a is missing", "b is 0")]
    show_checks([*bad, Check("java", Verdict.OK, "Java 17")], console)
    assert isinstance(console.file, io.StringIO)
    assert [line.rstrip() for line in console.file.getvalue().splitlines()] == [
        "problem settings: a is missing",
        "problem settings: b is 0",
        "        What to do: mend what is listed",
        "ok      java: Java 17",
        "1 ok, 0 warnings, 2 problems",
    ]


def test_for_a_person_each_line_with_its_remedy_and_a_sum() -> None:
    console = Console(file=io.StringIO(), width=200)
    checks = [
        Check("java", Verdict.OK, "Java 17"),
        Check("kafka", Verdict.PROBLEM, "no answer [x]", "start it"),
        Check("topic", Verdict.WARNING, "compact", "set delete"),
    ]
    assert show_checks(checks, console) == checks
    assert isinstance(console.file, io.StringIO)
    assert [line.rstrip() for line in console.file.getvalue().splitlines()] == [
        "ok      java: Java 17",
        "problem kafka: no answer [x]",
        "        What to do: start it",
        "warning topic: compact",
        "        What to do: set delete",
        "1 ok, 1 warning, 1 problem",
    ]
