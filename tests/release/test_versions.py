"""A version is what the git tags make of a commit, as the table of docs/how-to/release.md says: tried on real tags."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.release.packages import ROOT

_AUTHOR = {f"GIT_{who}_{what}": "release@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
_ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


class Clone:
    """A repository of the project's own settings for versions."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SETUPTOOLS_SCM_"))}
        self._environment = {**kept, **_AUTHOR, **_ALONE}
        shutil.copy(ROOT / "pyproject.toml", folder)
        self._said("git", "init", "--quiet")

    def commit(self) -> str:
        """Commit whatever has changed, if anything; the commit's id."""
        self._said("git", "add", "--all")
        self._said("git", "commit", "--quiet", "--allow-empty", "--message", "change")
        return self._said("git", "rev-parse", "HEAD")

    def tag(self, name: str) -> None:
        self._said("git", "tag", name)

    def change(self) -> None:
        """Change a file that is in the commit."""
        with (self._folder / "pyproject.toml").open("a", encoding="utf-8") as file:
            file.write("\n")

    @property
    def version(self) -> str:
        """What ``make dist`` and ``make image`` ask for."""
        return self._said(sys.executable, "-m", "setuptools_scm")

    def _said(self, *command: str) -> str:
        done = subprocess.run(
            command, cwd=self._folder, env=self._environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def test_the_tagged_commit_is_the_release_and_later_ones_lead_to_the_next_patch(clone: Clone) -> None:
    clone.commit()
    clone.tag("v0.2.0")
    assert clone.version == "0.2.0"
    _, _, latest = (clone.commit() for _ in range(3))
    version = clone.version
    assert re.fullmatch(r"0\.2\.1\.dev3\+g[0-9a-f]{7,}", version)
    assert latest.startswith(version.partition("+g")[2])
    clone.change()
    before = datetime.now(UTC)
    changed = clone.version
    days = {f"{version}.d{moment:%Y%m%d}" for moment in (before, datetime.now(UTC))}
    assert changed in days


def test_a_candidate_comes_before_its_release_and_other_tags_name_no_version(clone: Clone) -> None:
    clone.commit()
    clone.tag("v0.3.0rc1")
    clone.tag("deployed-to-production")
    assert clone.version == "0.3.0rc1"
    clone.commit()
    assert clone.version.startswith("0.3.0rc2.dev1+g")
    clone.tag("v0.3.0")
    assert clone.version == "0.3.0"


def test_without_tags_no_commit_passes_for_a_release(clone: Clone) -> None:
    clone.commit()
    fallback = re.search(r'^fallback_version = "(.*)\.dev0"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert fallback is not None
    assert re.fullmatch(rf"{re.escape(fallback[1])}\.dev\d+(\+g[0-9a-f]{{7,}})?", clone.version)
