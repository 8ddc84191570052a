"""The commit that figures are of."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.bench import machine

ROOT = Path(__file__).parents[3]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    git("config", "user.name", "a developer")
    git("config", "user.email", "developer@example.com")
    return tmp_path


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def committed(file: Path, content: str) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    git("add", ".")
    git("commit", "--quiet", "--message", content)
    return git("rev-parse", "--short=12", "HEAD")


def told() -> str:
    return machine.this_machine().commit


def test_figures_are_of_the_last_change_to_what_is_measured(repository: Path) -> None:
    measured = committed(repository / "streaming" / "plan.py", "one")
    assert told() == measured
    committed(repository / "docs" / "performance.md", "figures")
    assert told() == measured
    assert committed(repository / "tests" / "bench" / "traffic.py", "other rows") == told() != measured


def test_all_that_is_measured_is_there() -> None:
    assert [name for name in machine._MEASURED if not (ROOT / name).exists()] == []


def test_a_changed_work_tree_is_marked(repository: Path) -> None:
    measured = committed(repository / "connectors" / "java.py", "one")
    (repository / "README.md").write_text("words")
    assert told() == measured
    (repository / "connectors" / "new.py").write_text("two")
    assert told() == f"{measured}+"
