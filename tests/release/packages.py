"""The packages of a release: ``python -m tests.release.packages dist`` makes sdist and wheel, the same bytes each time.

The sdist is built from a copy of the files that it may hold, so that nothing else in the clone counts. Its members then
get the commit's time, no owner and plain modes, which setuptools leaves as the disk has them. The wheel is built from
that sdist: what people build themselves is what they could have downloaded.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tests.support.archive import unpack

ROOT = Path(__file__).parents[2]
EXTENSIONS = (
    "connectors/debezium/avro_kernel/_kernel.abi3.so",
    "connectors/debezium/json_kernel/_kernel.abi3.so",
    "connectors/kafka/reading/_messages.abi3.so",
)
VERSION_VARIABLE = "SETUPTOOLS_SCM_PRETEND_VERSION_FOR_CDC_BRIDGE"
_FILES = ("CHANGELOG.md", "LICENSE", "MANIFEST.in", "README.md", "kernel_build.py", "pyproject.toml", "setup.py")
_FOLDERS = ("connectors", "streaming")


@dataclass(frozen=True)
class Packages:
    """A source distribution and the wheel that was built from it."""

    sdist: Path
    wheel: Path


def build(out: Path, *, version: str, epoch: int) -> Packages:
    """Build both packages into ``out``.

    Args:
        version: what the packages are called.
        epoch: time of every member, seconds since 1970.

    Raises:
        subprocess.CalledProcessError: the build failed; it has said why on standard error.
    """
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-build-") as name:
        work = Path(name)
        source = work / "source"
        source.mkdir()
        for file in _FILES:
            shutil.copy(ROOT / file, source)
        for folder in _FOLDERS:
            shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        _run_build("--sdist", source, work / "made", {VERSION_VARIABLE: version, "SOURCE_DATE_EPOCH": str(epoch)})
        [made] = (work / "made").iterdir()
        sdist = out / made.name
        settle(made, sdist, epoch)
        return Packages(sdist, wheel_of(sdist, out, epoch=epoch))


def wheel_of(sdist: Path, out: Path, *, epoch: int) -> Path:
    """The wheel that an sdist makes, in ``out``; git and the clone have no part in it."""
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-build-") as name:
        work = Path(name)
        unpack(sdist, work)
        [source] = work.iterdir()
        made = work / "made"
        _run_build("--wheel", source, made, {"SOURCE_DATE_EPOCH": str(epoch)})
        [wheel] = made.iterdir()
        return Path(shutil.copy(wheel, out))


def settle(made: Path, settled: Path, epoch: int) -> None:
    """Copy a ``tar.gz`` whose members differ in nothing but names and content: one time, one mode, no owner."""
    with (
        tarfile.open(made) as before,
        settled.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as after,
    ):
        for member in sorted(before.getmembers(), key=lambda each: each.name):
            member.mtime = epoch
            member.mode = 0o755 if member.isdir() else 0o644
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.pax_headers = {}
            after.addfile(member, before.extractfile(member))


def _run_build(kind: str, source: Path, out: Path, environment: dict[str, str]) -> None:
    kept = {name: value for name, value in os.environ.items() if name != VERSION_VARIABLE}
    done = subprocess.run(
        [sys.executable, "-m", "build", kind, "--no-isolation", "--outdir", str(out), str(source)],
        cwd=source,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        done.check_returncode()


def version_of_clone() -> str:
    """The version that the clone's tags make."""
    return _said(sys.executable, "-m", "setuptools_scm")


def time_of_commit() -> int:
    """When the commit was made that the clone stands at, seconds since 1970."""
    return int(_said("git", "log", "-1", "--format=%ct"))


def _said(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Build into the folder that the command line names, and print what is there."""
    [out] = sys.argv[1:]
    built = build(Path(out), version=version_of_clone(), epoch=time_of_commit())
    with zipfile.ZipFile(built.wheel) as wheel:
        names = wheel.namelist()
    if lacking := [name for name in EXTENSIONS if name not in names]:
        built.wheel.unlink()
        raise SystemExit(
            f"a released wheel holds all extension modules, and this one lacks {', '.join(lacking)}: make extensions "
            "says why; on Debian or Ubuntu: apt-get install gcc libc6-dev python3-dev"
        )
    for package in (built.sdist, built.wheel):
        print(f"{package}: {package.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
