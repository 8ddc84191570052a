"""What a Dockerfile takes from the project is in the repository: an ignored folder is there on one machine only."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCKERFILES = ["Dockerfile", "tests/rig/images/Dockerfile"]
_BOUND = re.compile(r"type=bind,source=([^,\s]+)")
_COPIED = re.compile(r"^COPY (?!--from)(.+)$")


def taken(dockerfile: Path) -> set[str]:
    """Files and folders of the project that the build binds or copies."""
    text = dockerfile.read_text().replace("\\\n", " ")
    copied = [match[1].split() for line in text.splitlines() if (match := _COPIED.match(line.strip()))]
    sources = {word for words in copied for word in words[:-1] if not word.startswith("--")}
    return sources | set(_BOUND.findall(text))


@pytest.mark.parametrize("dockerfile", DOCKERFILES)
def test_all_that_the_image_is_built_from_is_committed(dockerfile: str) -> None:
    wanted = taken(ROOT / dockerfile)
    listed = subprocess.run(
        ["git", "ls-files", "--", *sorted(wanted)], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert wanted
    assert {one for one in wanted if not any(f"{file}/".startswith(f"{one.rstrip('/')}/") for file in listed)} == set()
