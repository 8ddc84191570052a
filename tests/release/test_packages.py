"""Sdist and wheel: what is in them, the same bytes each time, and the wheel's commands where no clone is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.release.packages import EXTENSIONS, ROOT, Packages, build, main, wheel_of

VERSION = "9.8.7.dev6+g0123abcd"
EPOCH = 1_767_323_044
BESIDE_MODULES = {
    "connectors/debezium/avro_kernel/kernel.c",
    "connectors/debezium/avro_kernel/kernel.h",
    "connectors/debezium/json_kernel/kernel.c",
    "connectors/debezium/json_kernel/kernel.h",
    "connectors/kafka/jars.json",
    "connectors/kafka/reading/messages.c",
    "connectors/kafka/reading/messages.h",
    "connectors/py.typed",
    "streaming/lineage/ledger_run_facet.json",
    "streaming/driver/log4j2.xml",
    "streaming/py.typed",
}
"""What the bridge reads at run time, and what says that its types count."""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    return build(tmp_path_factory.mktemp("dist"), version=VERSION, epoch=EPOCH)


@pytest.fixture(scope="module")
def installed(packages: Packages, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the wheel."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([*pip, str(folder), str(packages.wheel)], check=True)
    return folder


def sources() -> set[str]:
    """Every module of the bridge in this clone."""
    return {
        str(path.relative_to(ROOT)) for folder in ("connectors", "streaming") for path in (ROOT / folder).rglob("*.py")
    }


def run(installed: Path, tmp_path: Path, *arguments: str) -> str:
    """What a command of the installed wheel prints, started in an empty folder."""
    done = subprocess.run(
        [sys.executable, "-m", "streaming", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_the_bridge_with_its_files_and_nothing_else(packages: Packages) -> None:
    about = f"cdc_bridge-{VERSION}.dist-info"
    with zipfile.ZipFile(packages.wheel) as wheel:
        assert set(wheel.namelist()) == sources() | {
            *BESIDE_MODULES,
            *EXTENSIONS,
            f"{about}/METADATA",
            f"{about}/RECORD",
            f"{about}/WHEEL",
            f"{about}/entry_points.txt",
            f"{about}/licenses/LICENSE",
            f"{about}/top_level.txt",
        }


def test_the_sdist_holds_what_the_wheel_is_made_of_and_nothing_else(packages: Packages) -> None:
    with tarfile.open(packages.sdist) as sdist:
        members = sdist.getmembers()
    root = f"cdc_bridge-{VERSION}"
    files = {member.name.removeprefix(f"{root}/") for member in members if member.isfile()}
    assert files == sources() | {
        "CHANGELOG.md",
        "LICENSE",
        "MANIFEST.in",
        "PKG-INFO",
        "README.md",
        "cdc_bridge.egg-info/SOURCES.txt",
        "kernel_build.py",
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        *BESIDE_MODULES,
    }
    assert {(member.mtime, member.uid, member.uname) for member in members} == {(EPOCH, 0, "")}


def test_another_build_makes_the_same_bytes_and_so_does_the_sdist(packages: Packages, tmp_path: Path) -> None:
    again = build(tmp_path / "again", version=VERSION, epoch=EPOCH)
    assert again.sdist.read_bytes() == packages.sdist.read_bytes()
    assert again.wheel.read_bytes() == packages.wheel.read_bytes()
    (tmp_path / "from-sdist").mkdir()
    rebuilt = wheel_of(packages.sdist, tmp_path / "from-sdist", epoch=EPOCH)
    assert (rebuilt.name, rebuilt.read_bytes()) == (packages.wheel.name, packages.wheel.read_bytes())


def test_a_wheel_with_the_extensions_is_of_this_platform_and_every_python(packages: Packages) -> None:
    assert re.search(r"-cp311-abi3-(?!any)\w+\.whl$", packages.wheel.name)


def test_a_release_is_not_made_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", str(tmp_path / "no-compiler"))
    monkeypatch.setattr(sys, "argv", ["packages", str(tmp_path / "dist")])
    with pytest.raises(SystemExit, match="apt-get install gcc"):
        main()
    assert [path.suffix for path in (tmp_path / "dist").iterdir()] == [".gz"]


@pytest.fixture
def compiler_of_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that makes the kernels, and not what copies Kafka's messages."""
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\ncase "$*" in *_messages*) exit 1;; esac\nexec cc "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))


@pytest.mark.usefixtures("compiler_of_some")
def test_a_release_is_not_made_with_some_of_the_extensions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["packages", str(tmp_path / "dist")])
    with pytest.raises(SystemExit, match=f"lacks {EXTENSIONS[-1]}: make extensions says why"):
        main()
    assert [path.suffix for path in (tmp_path / "dist").iterdir()] == [".gz"]


@pytest.mark.usefixtures("compiler_of_some")
def test_a_wheel_with_some_of_the_extensions_is_of_this_platform(packages: Packages, tmp_path: Path) -> None:
    (tmp_path / "from-sdist").mkdir()
    wheel = wheel_of(packages.sdist, tmp_path / "from-sdist", epoch=EPOCH)
    with zipfile.ZipFile(wheel) as opened:
        assert set(EXTENSIONS) & set(opened.namelist()) == set(EXTENSIONS[:-1])
    assert wheel.name == packages.wheel.name


def test_without_a_compiler_the_wheel_is_built_all_the_same_and_is_of_any_platform(
    packages: Packages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", str(tmp_path / "no-compiler"))
    (tmp_path / "from-sdist").mkdir()
    wheel = wheel_of(packages.sdist, tmp_path / "from-sdist", epoch=EPOCH)
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    assert sources() <= names
    assert names.isdisjoint(EXTENSIONS)
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_wheel_s_commands_run_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    told = json.loads(run(installed, tmp_path, "version", "--json"))
    assert (told["cdc-bridge"], told["commit"]) == (VERSION, "0123abcd")
    assert {told["avro-reader"], told["json-reader"], told["kafka-reader"]} == {"built"}
    assert yaml.safe_load(run(installed, tmp_path, "config", "example"))["name"]
    assert "Example: cdc-bridge check" in run(installed, tmp_path, "check", "--help")
    assert list(tmp_path.iterdir()) == []


def test_what_runs_is_the_wheel_not_the_clone(installed: Path, tmp_path: Path) -> None:
    code = (
        "import streaming, connectors, importlib.resources as r; "
        "print(streaming.__file__, connectors.__file__, r.files('connectors.kafka').joinpath('jars.json').is_file())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [
        str(installed / "streaming/__init__.py"),
        str(installed / "connectors/__init__.py"),
        "True",
    ]
