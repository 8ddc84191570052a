"""``make release-check RELEASE=0.2.0``: what is missing before a commit can be tagged and released.

The pinned dependencies are audited, too: nothing is released of which the vulnerability service has not told all.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import yaml

from connectors.debezium.json_kernel.native import KERNEL
from connectors.kafka.reading.library import MESSAGES
from tests.release.left_behind import tags as recorded_tags
from tests.security.audit import Audit, audit

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements-runtime.lock"
"""What is in the image, and what the wheel's dependencies come to."""
_RELEASE = re.compile(r"(?P<major>\d+)\.(?P<minor>\d+)\.(?P<patch>\d+)")


@dataclass(frozen=True)
class Commit:
    """What a commit says that is to be released.

    Attributes:
        changes: the text of CHANGELOG.md.
        chart: values of the chart's Chart.yaml.
        fallback: the version where there are no tags.
        uncommitted: files that differ from the commit, or that git does not know.
        tags: of all releases so far.
        recorded: of those that the test of upgrades knows.
        extensions: whether the extension modules could be built here, for the wheel to hold them.
    """

    changes: str
    chart: dict[str, object]
    fallback: str
    uncommitted: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    extensions: bool = True


def missing(release: str, commit: Commit, dependencies: Audit) -> list[str]:
    """What has to be done first, one sentence each; empty for a commit that can be tagged."""
    match = _RELEASE.fullmatch(release)
    if match is None:
        return [f"{release!r} is not a release: write major.minor.patch, such as 0.2.0"]
    found = []
    if commit.uncommitted:
        found.append(f"commit or remove what is not in the commit: {', '.join(commit.uncommitted)}")
    # A clone may lack tags that were published; what their releases left behind is here all the same.
    released = sorted({*commit.tags, *commit.recorded}, key=lambda tag: _numbers(tag.removeprefix("v")))
    if released and _numbers(released[-1].removeprefix("v")) >= _numbers(release):
        found.append(f"choose a higher release: there is {released[-1]}")
    if not _section(commit.changes, release):
        found.append(f"give CHANGELOG.md a section '## {release} - YEAR-MONTH-DAY' made of what is under Unreleased")
    if _section(commit.changes, "Unreleased"):
        found.append("leave Unreleased empty in CHANGELOG.md: what is there belongs to this release")
    for key in ("version", "appVersion"):
        if commit.chart.get(key) != release:
            found.append(f"set {key} of helm/cdc-bridge/Chart.yaml to {release} (is {commit.chart.get(key)})")
    following = f"{match['major']}.{match['minor']}.{int(match['patch']) + 1}.dev0"
    if commit.fallback != following:
        found.append(f"set fallback_version in pyproject.toml to {following} (is {commit.fallback})")
    if not commit.extensions:
        found.append("build the extension modules, which the wheel has to hold: make extensions says what is missing")
    unrecorded = [tag for tag in commit.tags if tag not in commit.recorded]
    found += [f"record what {tag} leaves behind: python -m tests.release.record_upgrade {tag}" for tag in unrecorded]
    return found + _unsafe(dependencies)


def _unsafe(dependencies: Audit) -> list[str]:
    found = [f"upgrade what has a known vulnerability: {finding}" for finding in dependencies.findings]
    if dependencies.unaudited or not dependencies.audited:
        reason = dependencies.unaudited or "there is no dependency"
        found.append(
            "audit the dependencies where the vulnerability service can be asked, or ask another one "
            f"(AUDIT='--vulnerability-service osv'): {dependencies.audited} were audited, {reason}"
        )
    return found


def this_commit() -> Commit:
    """The commit that the clone stands at."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return Commit(
        changes=(ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        chart=yaml.safe_load((ROOT / "helm" / "cdc-bridge" / "Chart.yaml").read_text(encoding="utf-8")),
        fallback=project["tool"]["setuptools_scm"]["fallback_version"],
        uncommitted=tuple(line[3:] for line in _git("status", "--porcelain").splitlines()),
        tags=tuple(sorted(_git("tag", "--list", "v[0-9]*").split(), key=lambda tag: _numbers(tag.removeprefix("v")))),
        recorded=tuple(recorded_tags()),
        extensions=KERNEL is not None and MESSAGES is not None,
    )


def _section(changes: str, name: str) -> str:
    """What is under a heading of CHANGELOG.md; empty where there is no such heading, or nothing under it."""
    found = re.search(rf"^## {re.escape(name)}(?: - \d{{4}}-\d\d-\d\d)?$(.*?)(?=^## |\Z)", changes, re.M | re.S)
    return found[1].strip() if found else ""


def _numbers(version: str) -> tuple[int, ...]:
    # A candidate (0.2.0rc1) counts as the release that it leads to; nobody goes back from one.
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Print what is missing; exit code 1 if anything is. Arguments behind the release are options of pip-audit."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        raise SystemExit("which release? make release-check RELEASE=0.2.0")
    found = missing(sys.argv[1], this_commit(), audit([str(LOCK), *sys.argv[2:]]))
    for sentence in found:
        print(f"- {sentence}")
    if found:
        raise SystemExit(1)
    print(f"{sys.argv[1]} can be tagged: git tag v{sys.argv[1]}")


if __name__ == "__main__":
    main()
