"""What the image installs is what the tests ran with: the same versions, the same files."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.unit.image.scripts import ROOT

PINNED = re.compile(
    r"^(?P<name>[a-z0-9._-]+)==(?P<version>\S+)(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.M
)


def pins(lock: Path) -> dict[str, tuple[str, frozenset[str]]]:
    """Version and hashes of every package that a lock file names."""
    text = lock.read_text()
    found = {
        match["name"]: (match["version"], frozenset(re.findall(r"sha256:(\w+)", match["hashes"])))
        for match in PINNED.finditer(text)
    }
    assert len(found) == len(re.findall(r"^[a-z0-9].*==", text, re.M))
    return found


def normalised(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None
    return re.sub(r"[._]+", "-", name[0]).lower()


def test_the_image_installs_a_part_of_what_the_tests_run_with() -> None:
    whole, runtime = pins(ROOT / "requirements.lock"), pins(ROOT / "requirements-runtime.lock")
    assert {name: pin for name, pin in runtime.items() if whole.get(name) != pin} == {}
    assert set(runtime) < set(whole)


def test_the_image_gets_every_dependency_and_none_of_the_development_tools() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    runtime = set(pins(ROOT / "requirements-runtime.lock"))
    assert {normalised(one) for one in project["dependencies"]} - runtime == set()
    development = {normalised(one) for one in project["optional-dependencies"]["dev"]}
    assert development & runtime == set()


def test_every_locked_version_installs_on_the_python_of_debian_12() -> None:
    # pip-compile asks the Python that runs it, which is newer than that of the machine the tutorial promises.
    locked = {name: version for name, (version, _) in pins(ROOT / "requirements.lock").items()}
    refused = {
        one.name: needed
        for one in distributions()
        if locked.get(normalised(one.name)) == one.version
        for needed in one.metadata.get_all("Requires-Python") or ()
        if "3.11.2" not in SpecifierSet(needed)
    }
    assert refused == {}


@pytest.mark.parametrize("file", ["Makefile", "Dockerfile"])
def test_nothing_is_installed_from_a_lock_but_what_it_pins(file: str) -> None:
    # An older pip, told to resolve, takes a newer release of what is pinned where another package asks for its extra.
    calls = re.findall(r"pip (?:install|wheel)\b(?:.|\\\n)*", (ROOT / file).read_text())
    locked = [call for call in calls if "--require-hashes" in call]
    assert locked
    assert [call for call in locked if "--no-deps" not in call] == []
