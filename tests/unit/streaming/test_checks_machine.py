"""What `check` says of this machine: Java and the checkpoint folder."""

from __future__ import annotations

from pathlib import Path

from streaming.checks.check import Verdict
from streaming.checks.machine import check_checkpoint_folder, check_java
from tests.unit.streaming.checked import said


class TestMachine:
    def test_a_java_that_spark_can_run_on(self) -> None:
        [check] = check_java()
        assert (check.subject, check.verdict) == ("java", Verdict.OK)
        assert check.detail.startswith("Java ")

    def test_no_java_is_a_problem_with_the_remedy(self) -> None:
        [check] = check_java({"PATH": "/nowhere"}, ())
        assert check.verdict is Verdict.PROBLEM
        assert check.detail.startswith("no Java that Spark 4.0 can run on was found")
        assert "apt-get install" in check.remedy

    def test_a_checkpoint_folder_is_tried_and_not_made(self, tmp_path: Path) -> None:
        folder = tmp_path / "not" / "there"
        assert said(check_checkpoint_folder(folder)) == [
            ("checkpoint folder", "ok", f"{folder} can be written; it is made at the first start")
        ]
        assert list(tmp_path.iterdir()) == []
        assert said(check_checkpoint_folder(tmp_path))[0][2] == f"{tmp_path} can be written"

    def test_a_checkpoint_folder_that_is_a_file_is_a_problem(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        [check] = check_checkpoint_folder(tmp_path / "file" / "checkpoint")
        assert (check.verdict, check.remedy) == (
            Verdict.PROBLEM,
            "let state.checkpoint name a local folder that this user may write",
        )
