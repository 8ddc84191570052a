"""What runs here: the bridge's version and commit, and those of Spark and Python."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

COMMIT_VARIABLE = "CDC_BRIDGE_COMMIT"
"""Names the git commit where there is no repository beside the code, as in an image."""

UNKNOWN = "unknown"
_SHORT = 12
# Between releases, setuptools-scm adds the commit to the version: 0.2.1.dev3+g0123abc.
_IN_VERSION = re.compile(r"\+g(?P<commit>[0-9a-f]{7,40})\b")


@dataclass(frozen=True)
class Build:
    """Versions; ``commit`` is ``unknown`` where nothing tells it."""

    version: str
    commit: str
    spark: str
    python: str


def this_build() -> Build:
    """The build of this process."""
    own = version("cdc-bridge")
    return Build(own, this_commit(own)[:_SHORT], version("pyspark"), platform.python_version())


def this_commit(own_version: str) -> str:
    """The commit that runs here: by the environment, else by the working tree, else by the version of a package.

    ``unknown`` for the package of a release: its version is a tag, which names the commit.
    """
    said = os.environ.get(COMMIT_VARIABLE, "").strip() or commit_of(Path(__file__).parents[2])
    packaged = _IN_VERSION.search(own_version)
    return packaged["commit"] if said == UNKNOWN and packaged is not None else said


def commit_of(repository: Path) -> str:
    """The commit that a git working tree stands at; ``unknown`` for a folder that is none."""
    git = repository / ".git"
    try:
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref: "):
            return head or UNKNOWN
        name = head.removeprefix("ref: ")
        reference = git / name
        if reference.is_file():
            return reference.read_text(encoding="utf-8").strip() or UNKNOWN
        packed = (git / "packed-refs").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return UNKNOWN
    return next((line.split(" ", 1)[0] for line in packed if line.endswith(f" {name}")), UNKNOWN)
