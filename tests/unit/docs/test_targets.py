"""What make targets of their own run is imported by every run of the tests, and run before a release."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
C_SOURCES = (
    "connectors/debezium/avro_kernel/kernel.c",
    "connectors/debezium/avro_kernel/kernel.h",
    "connectors/debezium/json_kernel/kernel.c",
    "connectors/debezium/json_kernel/kernel.h",
    "connectors/kafka/reading/messages.c",
    "connectors/kafka/reading/messages.h",
)
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


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """As much of this clone as the extension modules are built of, with this environment."""
    for name in (
        "Makefile",
        "README.md",
        "kernel_build.py",
        "pyproject.toml",
        "requirements.lock",
        "setup.py",
        "LICENSE",
    ):
        shutil.copy(ROOT / name, tmp_path)
    for source in C_SOURCES:
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, tmp_path / source)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


@pytest.mark.parametrize("target", ["install", "check", "test", "test-unit", "fuzz", "extensions"])
def test_a_change_of_an_extension_is_built_before_anything_is_run_with_it(target: str, clone: Path) -> None:
    def would_do(*options: str) -> str:
        dry = ["make", "--dry-run", "--assume-old=.venv/.installed", *options, target]
        return subprocess.run(dry, cwd=clone, capture_output=True, text=True, check=True).stdout

    for name in _built():
        (clone / name).touch()
    assert "build_ext" not in would_do()
    for source in (*C_SOURCES, "kernel_build.py", "setup.py"):
        assert would_do(f"--what-if={source}").count("setup.py --quiet build_ext --inplace") == 1, source


def test_all_extensions_are_built_by_one_run_and_none_is_left_of_what_cannot_be_built(clone: Path) -> None:
    def make() -> str:
        command = ["make", "--no-print-directory", "--assume-old=.venv/.installed", "extensions"]
        return subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True).stdout

    *kernels, messages = _built()
    assert make() == ""
    assert _extensions(clone) == [*kernels, messages]
    assert "Nothing to be done" in make()

    (clone / messages).unlink()
    assert make() == ""
    assert _extensions(clone) == [*kernels, messages]

    (clone / "connectors/kafka/reading/messages.c").write_text("no C")
    assert "Not all extension modules can be built" in make()
    assert _extensions(clone) == kernels


def _built() -> list[str]:
    """Where the extension modules are built."""
    sources = [Path(source) for source in C_SOURCES if source.endswith(".c")]
    return [str(source.parent / f"_{source.stem}.abi3.so") for source in sources]


def _extensions(clone: Path) -> list[str]:
    return sorted(str(path.relative_to(clone)) for path in (clone / "connectors").rglob("*.so"))


def test_clean_takes_the_extensions_away() -> None:
    done = subprocess.run(["make", "--dry-run", "clean"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "avro_kernel/_kernel.abi3.so" in done.stdout
    assert "json_kernel/_kernel.abi3.so" in done.stdout
    assert "reading/_messages.abi3.so" in done.stdout
