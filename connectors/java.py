"""Finding a Java that Spark 4.0 and the embedded broker run on.

Spark 4.0 needs Java 17 or 21 and the module ``jdk.incubator.vector``, with which its launcher starts every JVM; some
trimmed runtimes lack it. Every candidate is run, because a folder's name proves nothing.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from connectors.errors import Terminal

SUPPORTED = (17, 21)
VECTOR_MODULE = "jdk.incubator.vector"
USUAL_FOLDERS = (
    "/usr/lib/jvm/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk@*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk@*/libexec/openjdk.jdk/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)
REMEDY = (
    "install Java 17 or 21: `apt-get install openjdk-17-jre-headless` on Debian and Ubuntu, `brew install openjdk@17` "
    "on macOS; or point JAVA_HOME at one that is installed elsewhere"
)
_log = logging.getLogger(__name__)

_ANSWER_SECONDS = 30.0
_VERSION = re.compile(r"^\s*java\.specification\.version = (?:1\.)?(?P<major>\d+)\s*$", re.MULTILINE)
_HOME = re.compile(r"^\s*java\.home = (?P<home>.+?)\s*$", re.MULTILINE)
_MODULE = re.compile(rf"^{re.escape(VECTOR_MODULE)}(@|\s*$)", re.MULTILINE)


class JavaError(Terminal):
    """No Java that Spark can use was found."""


@dataclass(frozen=True)
class Java:
    """A Java runtime that has answered.

    Attributes:
        executable: the launcher, ``<home>/bin/java``.
        home: what ``JAVA_HOME`` has to be so that Spark starts this one.
        version: the feature release, 17 for ``17.0.15``.
        vector: whether the module ``jdk.incubator.vector`` is there.
    """

    executable: Path
    home: Path
    version: int
    vector: bool

    @property
    def fault(self) -> str | None:
        """Why Spark cannot use it; ``None`` when it can."""
        if self.version not in SUPPORTED:
            return f"is Java {self.version}"
        return None if self.vector else f"is Java {self.version} without the module {VECTOR_MODULE}"


def find_java(environ: Mapping[str, str] = os.environ, folders: tuple[str, ...] = USUAL_FOLDERS) -> Path:
    """The ``java`` executable to run Spark and the broker with; its home is :func:`java_home`.

    Looked for in ``JAVA_HOME``, on ``PATH``, then in the usual folders; the first usable one wins. A warning is logged
    if that is not the one that ``JAVA_HOME`` names.

    Raises:
        JavaError: none was found, or none of those found is usable; the message lists each and what is wrong with it.
    """
    java = select_java(environ, folders)
    fault = java_home_fault(java, environ)
    if fault is not None:
        _log.warning("%s; Java %d at %s is used instead", fault, java.version, java.home)
    return java.executable


def java_home_fault(used: Java, environ: Mapping[str, str] = os.environ) -> str | None:
    """Why the Java that ``JAVA_HOME`` names was not taken; None where it was, or where none is named."""
    home = environ.get("JAVA_HOME")
    if not home:
        return None
    executable = Path(home) / "bin" / "java"
    if executable.resolve() == used.executable.resolve():
        return None
    return f"JAVA_HOME is {home}, but {_fault_of(inspect_java(executable), executable)}"


def java_home(executable: Path) -> Path:
    """What ``JAVA_HOME`` has to be for this executable: the folder above its ``bin``, links followed."""
    return executable.resolve().parent.parent


def select_java(environ: Mapping[str, str] = os.environ, folders: tuple[str, ...] = USUAL_FOLDERS) -> Java:
    """As :func:`find_java`, with what is known about it."""
    faults: list[str] = []
    seen: set[Path] = set()
    for executable in _candidates(environ, folders):
        real = executable.resolve()
        if real in seen:
            continue
        seen.add(real)
        found = inspect_java(executable)
        if isinstance(found, Java) and found.fault is None:
            return found
        faults.append(_fault_of(found, executable))
    named = f"JAVA_HOME is {environ['JAVA_HOME']}, " if environ.get("JAVA_HOME") else ""
    looked = (
        f"{named}looked at: {'; '.join(faults)}" if faults else "looked in JAVA_HOME, on PATH and in the usual folders"
    )
    raise JavaError(
        f"no Java that Spark 4.0 can run on was found on this {sys.platform} machine; {looked}",
        remedy=REMEDY,
        java_home=environ.get("JAVA_HOME"),
    )


def inspect_java(executable: Path) -> Java | str:
    """What this executable says of itself, or in words why it said nothing of use."""
    try:
        answer = run_java(executable, ["-XshowSettings:properties", "--list-modules"], timeout=_ANSWER_SECONDS)
    except FileNotFoundError:
        return "does not exist"
    except OSError as problem:
        return f"does not run ({problem.strerror or problem})"
    text = answer.stdout + answer.stderr
    version, home = _VERSION.search(text), _HOME.search(text)
    if version is None or home is None:
        return "is not a Java runtime of version 9 or later"
    return Java(executable, Path(home["home"]), int(version["major"]), _MODULE.search(text) is not None)


def _fault_of(found: Java | str, executable: Path) -> str:
    return f"{executable} {found.fault if isinstance(found, Java) else found}"


def run_java(executable: Path, arguments: list[str], *, timeout: float) -> subprocess.CompletedProcess[str]:
    """Run a Java program to its end, its output captured as text.

    Raises:
        TimeoutError: it took more than ``timeout`` seconds and was killed.
        OSError: it could not be started.
    """
    command = [str(executable), *arguments]
    try:
        # No shell, and the program is a Java that was found and tried: nothing here is a stranger's text.
        return subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as problem:
        raise TimeoutError(f"no end within {timeout:.0f} s") from problem


def _candidates(environ: Mapping[str, str], folders: tuple[str, ...]) -> Iterator[Path]:
    if home := environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java", path=environ.get("PATH", "")):
        yield Path(on_path)
    for pattern in folders:
        root = Path(pattern).expanduser()
        anchor = Path(root.anchor)
        for folder in sorted(anchor.glob(str(root.relative_to(anchor)))):
            if (folder / "bin" / "java").is_file():
                yield folder / "bin" / "java"
