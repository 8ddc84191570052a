"""A commit is tagged only when everything in it says the same release."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import pytest

from tests.release import check_release
from tests.release.check_release import Commit, missing, this_commit
from tests.security.audit import Audit

READY = Commit(
    changes="# Changes\n\n## Unreleased\n\n## 0.2.0 - 2026-03-01\n\n### Added\n\n- A thing.\n\n## 0.1.0 - 2026-01-01\n",
    chart={"version": "0.2.0", "appVersion": "0.2.0"},
    fallback="0.2.1.dev0",
    tags=("v0.1.0",),
    recorded=("v0.1.0",),
)
CLEAN = Audit(61)


def test_a_commit_in_which_everything_says_the_release_can_be_tagged() -> None:
    assert missing("0.2.0", READY, CLEAN) == []


@pytest.mark.parametrize(
    ("commit", "sentence"),
    [
        (replace(READY, uncommitted=("a.py", "b.py")), "commit or remove what is not in the commit: a.py, b.py"),
        (
            replace(READY, tags=("v0.1.0", "v0.2.0"), recorded=("v0.1.0", "v0.2.0")),
            "choose a higher release: there is v0.2.0",
        ),
        (replace(READY, tags=(), recorded=("v0.1.0", "v0.2.0")), "choose a higher release: there is v0.2.0"),
        (
            replace(READY, changes="## Unreleased\n\n## 0.1.0 - 2026-01-01\n\n- All.\n"),
            "give CHANGELOG.md a section '## 0.2.0 - YEAR-MONTH-DAY' made of what is under Unreleased",
        ),
        (
            replace(READY, changes=READY.changes.replace("## Unreleased\n", "## Unreleased\n\n- Another thing.\n")),
            "leave Unreleased empty in CHANGELOG.md: what is there belongs to this release",
        ),
        (
            replace(READY, chart={"version": "0.2.0", "appVersion": "0.1.0"}),
            "set appVersion of helm/cdc-bridge/Chart.yaml to 0.2.0 (is 0.1.0)",
        ),
        (replace(READY, fallback="0.1.1.dev0"), "set fallback_version in pyproject.toml to 0.2.1.dev0 (is 0.1.1.dev0)"),
        (
            replace(READY, extensions=False),
            "build the extension modules, which the wheel has to hold: make extensions says what is missing",
        ),
        (
            replace(READY, recorded=()),
            "record what v0.1.0 leaves behind: python -m tests.release.record_upgrade v0.1.0",
        ),
    ],
)
def test_what_is_missing_is_said_with_what_to_do(commit: Commit, sentence: str) -> None:
    assert missing("0.2.0", commit, CLEAN) == [sentence]


@pytest.mark.parametrize(
    ("dependencies", "sentence"),
    [
        (
            Audit(0, unaudited="the vulnerability service knows none of the 61 dependencies"),
            "audit the dependencies where the vulnerability service can be asked, or ask another one "
            "(AUDIT='--vulnerability-service osv'): 0 were audited, the vulnerability service knows none of the 61 "
            "dependencies",
        ),
        (
            Audit(60, unaudited="the vulnerability service does not know 1 of them: ours"),
            "audit the dependencies where the vulnerability service can be asked, or ask another one "
            "(AUDIT='--vulnerability-service osv'): 60 were audited, the vulnerability service does not know 1 of "
            "them: ours",
        ),
        (
            Audit(0),
            "audit the dependencies where the vulnerability service can be asked, or ask another one "
            "(AUDIT='--vulnerability-service osv'): 0 were audited, there is no dependency",
        ),
        (
            Audit(61, findings=("requests 2.2.1: CVE-2014-1829, fixed in 2.3.0",)),
            "upgrade what has a known vulnerability: requests 2.2.1: CVE-2014-1829, fixed in 2.3.0",
        ),
    ],
)
def test_nothing_is_released_unaudited_or_with_a_known_vulnerability(dependencies: Audit, sentence: str) -> None:
    assert missing("0.2.0", READY, dependencies) == [sentence]


def test_the_command_asks_about_the_locked_dependencies(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Nobody listens there: the audit is a real one, which is not answered.
    nowhere = ("--vulnerability-service", "osv", "--osv-url", "http://127.0.0.1:1/", "--timeout", "5")
    monkeypatch.setattr(sys, "argv", ["check_release", "999.0.0", *nowhere])

    with pytest.raises(SystemExit) as ended:
        check_release.main()

    assert ended.value.code == 1
    assert "0 were audited, the vulnerability service could not be asked (" in capsys.readouterr().out


def test_only_three_numbers_are_a_release() -> None:
    assert missing("v0.2", READY, CLEAN) == ["'v0.2' is not a release: write major.minor.patch, such as 0.2.0"]


def test_this_commit_is_read_from_its_files() -> None:
    commit = this_commit()
    assert commit.changes.startswith("# Changes\n")
    assert commit.chart["name"] == "cdc-bridge"
    assert re.fullmatch(r"\d+\.\d+\.\d+\.dev0", commit.fallback)
    assert commit.extensions


@pytest.mark.parametrize("lacking", ["KERNEL", "MESSAGES"])
def test_a_commit_lacks_its_extensions_where_one_is_missing(lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_release, lacking, None)
    assert not this_commit().extensions


def test_every_release_in_the_list_of_changes_has_left_something_that_is_gone_on_with() -> None:
    """Without an archive, the test of upgrades would have nothing to try and pass."""
    commit = this_commit()
    released = re.findall(r"^## (\d+\.\d+\.\d+) - ", commit.changes, re.MULTILINE)
    assert released[-1] == "0.1.0"
    # The newest one is recorded when its tag is there.
    assert {f"v{release}" for release in released[1:] or released} <= set(commit.recorded)
