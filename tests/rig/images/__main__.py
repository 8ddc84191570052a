"""Runs the tests that have real databases with the servers in containers; the arguments are pytest's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.image.build import ROOT
from tests.image.daemon import build_client, docker_host
from tests.rig.images import images

_TESTS = ("test_rig.py", "test_types_postgres.py", "test_types_mariadb.py", "test_types_keys.py", "test_equivalence.py")


def main(arguments: list[str]) -> int:
    """Pytest's exit code, or 1 where there is no Docker or an image cannot be made."""
    tests = arguments or [f"tests/integration/{name}" for name in _TESTS]
    with _folder() as folder, docker_host(folder):
        environment = {
            **os.environ,
            **images(build_client(), os.environ),
            "CDC_BRIDGE_TEST_RIG": "container",
            # What would clear up after a killed run is an image of its own, from a registry.
            "TESTCONTAINERS_RYUK_DISABLED": "true",
        }
        return subprocess.run(
            [sys.executable, "-m", "pytest", *tests], env=environment, cwd=ROOT, check=False
        ).returncode


@contextmanager
def _folder() -> Iterator[Path]:
    """A new folder that is gone afterwards, with what a daemon has mounted in it and left behind."""
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-rig-"))
    try:
        yield folder
    finally:
        for place in reversed(_mounted_under(folder)):
            subprocess.run(["umount", place], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _mounted_under(folder: Path) -> list[str]:
    mounts = Path("/proc/mounts")
    lines = mounts.read_text().splitlines() if mounts.exists() else []
    return [place for place in (line.split()[1] for line in lines) if Path(place).is_relative_to(folder)]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (pytest.fail.Exception, subprocess.CalledProcessError) as problem:
        sys.exit(str(problem))
