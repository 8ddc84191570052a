"""What is not in the pyspark package: Spark's Kafka source, a broker for demo and tests, Debezium for the tests.

Every jar and archive is named in ``jars.json`` with its coordinates and SHA-256, and nothing else is ever put on a
class path. They are fetched once with the Ivy that ships inside pyspark, into a folder per set whose name carries a
hash of the pins; a folder counts only when its marker file is there, which is written before the folder gets its final
name. Two starts at once wait for each other on a lock file.
"""

from __future__ import annotations

import enum
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from connectors.java import find_java
from connectors.kafka.errors import JarDigestError, JarsError
from connectors.kafka.ivy import Coordinates, IvyError, find_ivy, retrieve

FOLDER_VARIABLE = "CDC_BRIDGE_JARS"
_MARKER = "complete"

Progress = Callable[[str], None]
Fetch = Callable[[tuple[Coordinates, ...], Path], None]


class JarSet(enum.StrEnum):
    """Jars that are used together on one class path."""

    SPARK_KAFKA = "spark-kafka"
    """Spark's Kafka source and what it needs beyond pyspark's own jars."""
    BROKER = "broker"
    """A KRaft broker with everything that it needs."""
    CONNECT = "connect"
    """Kafka Connect's worker with everything that it needs."""
    DEBEZIUM = "debezium"
    """Debezium's connectors for PostgreSQL and MariaDB: archives of one folder of jars each."""
    AVRO_CONVERTER = "avro-converter"
    """Apicurio's Avro converter for Kafka Connect with everything that it needs."""
    REGISTRY = "registry"
    """Apicurio's schema registry: one archive of a Quarkus application, which runs on Java 17."""
    PROFILER = "profiler"
    """async-profiler, whose jar holds its native libraries: what Java does with its time (``make bench-profile``)."""


@dataclass(frozen=True)
class PinnedJar:
    """A jar that this release was tested with."""

    coordinates: Coordinates
    sha256: str

    @property
    def file_name(self) -> str:
        return self.coordinates.file_name


def pinned_jars(jar_set: JarSet) -> tuple[PinnedJar, ...]:
    """The jars of a set, as ``jars.json`` of this package names them."""
    return _pins()[jar_set]


def resolve_jars(
    jar_set: JarSet,
    *,
    environ: Mapping[str, str] = os.environ,
    progress: Progress = lambda _: None,
    fetch: Fetch | None = None,
) -> list[Path]:
    """Paths of a set's jars, fetched when they are not there yet; sorted by file name.

    The folder is ``$CDC_BRIDGE_JARS`` (which then has to hold the jars, or be writable), else
    ``$XDG_CACHE_HOME/cdc-bridge/jars`` or ``~/.cache/cdc-bridge/jars``; in it one folder per set and version of pins.

    Args:
        progress: is told in a few words what takes time.
        fetch: puts the jars of these coordinates into a folder, each under its file name; Ivy by default.

    Raises:
        JarsError: not cached, and fetching failed (no network, as a rule); or the folder cannot be written.
        JarDigestError: a jar has other bytes than its pin says.
        JavaError: a fetch is needed, and there is no Java to run Ivy with.
    """
    folder = jars_folder(jar_set, environ)
    pins = pinned_jars(jar_set)
    if not (folder / _MARKER).is_file():
        _fill(folder, jar_set, pins, progress, fetch or _fetch_with_ivy(environ))
    verify(folder, pins)
    return sorted(folder / pin.file_name for pin in pins)


def jars_folder(jar_set: JarSet, environ: Mapping[str, str] = os.environ) -> Path:
    """Where a set's jars are or will be."""
    root = environ.get(FOLDER_VARIABLE)
    if not root:
        cache_root = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        root = str(Path(cache_root) / "cdc-bridge" / "jars")
    names = "\n".join(f"{pin.coordinates} {pin.sha256}" for pin in pinned_jars(jar_set))
    return Path(root).absolute() / f"{jar_set}-{hashlib.sha256(names.encode()).hexdigest()[:12]}"


def verify(folder: Path, pins: tuple[PinnedJar, ...]) -> None:
    """Compare every jar's bytes with its pin.

    Raises:
        JarDigestError: a jar is missing or has other bytes.
    """
    for pin in pins:
        path = folder / pin.file_name
        found = _sha256(path) if path.is_file() else None
        if found != pin.sha256:
            raise JarDigestError(
                f"the jar {pin.file_name} {'is missing' if found is None else 'is not the one of this release'}",
                remedy="delete the folder so that it is fetched again; if it comes back the same, something between "
                "here and the package registry changes files",
                folder=folder,
                expected=pin.sha256,
                found=found,
            )


def _fill(folder: Path, jar_set: JarSet, pins: tuple[PinnedJar, ...], progress: Progress, fetch: Fetch) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.with_name(f"{folder.name}.lock"), progress):
            if (folder / _MARKER).is_file():
                return
            progress(f"fetching {len(pins)} jars ({jar_set})")
            building = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
            try:
                fetch(tuple(pin.coordinates for pin in pins), building)
                verify(building, pins)
                (building / _MARKER).touch()
                building.chmod(0o755)
                shutil.rmtree(folder, ignore_errors=True)  # without a marker: an unfinished one of somebody else
                building.rename(folder)
            finally:
                shutil.rmtree(building, ignore_errors=True)
            progress(f"fetched {len(pins)} jars ({jar_set})")
    except IvyError as problem:
        raise JarsError(
            f"the {len(pins)} jars of {jar_set} are not cached, and fetching them failed: {problem}",
            remedy=f"check the network; without one, copy the folder from a machine that has it and let "
            f"{FOLDER_VARIABLE} name the folder around it",
            folder=folder,
        ) from problem
    except OSError as problem:
        raise JarsError(
            f"the folder for jars cannot be written: {problem}",
            remedy=f"let {FOLDER_VARIABLE} name a folder that this user may write to",
            folder=folder,
        ) from problem


@contextmanager
def _locked(path: Path, progress: Progress) -> Iterator[None]:
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("another start is fetching the same jars; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch_with_ivy(environ: Mapping[str, str]) -> Fetch:
    def fetch(coordinates: tuple[Coordinates, ...], folder: Path) -> None:
        retrieve(coordinates, folder, java=find_java(environ), ivy=find_ivy(), transitive=False)

    return fetch


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def _pins() -> dict[JarSet, tuple[PinnedJar, ...]]:
    # A constant of the package, so one per worker is safe.
    content = json.loads(resources.files("connectors.kafka").joinpath("jars.json").read_text())
    return {
        JarSet(name): tuple(
            PinnedJar(Coordinates(**{k: v for k, v in jar.items() if k != "sha256"}), jar["sha256"]) for jar in jars
        )
        for name, jars in content.items()
    }
