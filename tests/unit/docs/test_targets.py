"""What make targets of their own run is imported by every run of the tests, and run before a release."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
RUN_BY_TARGETS = sorted(set(re.findall(r"pytest (tests/\S+\.py)", (ROOT / "Makefile").read_text(encoding="utf-8"))))


@pytest.mark.parametrize("path", RUN_BY_TARGETS)
def test_what_a_target_runs_can_be_imported_and_has_tests(path: str) -> None:
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    assert [name for name in vars(module) if name.startswith("test_")]


@pytest.mark.parametrize("path", [path for path in RUN_BY_TARGETS if not Path(path).name.startswith("test_")])
def test_a_release_runs_what_no_other_run_of_the_tests_does(path: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [target] = re.findall(
        rf"^([\w-]+):[^\n]*\n(?:\t[^\n]*\n)*?\t[^\n]*pytest {re.escape(path)}", makefile, re.MULTILINE
    )
    assert f"make {target} " in (ROOT / "docs/how-to/release.md").read_text(encoding="utf-8")
