"""Spark's classes as Java keeps them after a first start: read, verified, linked.

Dozens of tests start a Java of their own with Spark in it, and of its processor time two fifths go into classes that
are the same each time. Java keeps them in an archive (class data sharing) and passes over one that does not fit it or
its class path, so nothing depends on it but time. The first tests on a machine that need Spark make it, by a run of the
job (``class_training``).
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
import warnings
from pathlib import Path

import pyspark

from connectors.java import find_java, java_home

ROOT = Path(__file__).parents[2]
ARCHIVE = ROOT / ".pytest_cache" / "java" / "spark.jsa"
# Java's own log would say on standard output that an archive is missing or does not fit.
USE_ARCHIVE = f'"-XX:SharedArchiveFile={ARCHIVE}" -Xlog:disable'
_SECONDS = 300.0
_TAIL = 2_000


def keep_classes() -> None:
    """Make the archive, unless there is one of this Java and this Spark; a second process waits for the first."""
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    made_of = ARCHIVE.with_suffix(".of")
    release = java_home(find_java()) / "release"
    wanted = (
        f"{release}\n{release.read_text()}\npyspark {pyspark.__version__} {pyspark.__file__}\nof a run of the job\n"
    )
    with ARCHIVE.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if made_of.exists() and made_of.read_text() == wanted:
            return
        made = ARCHIVE.with_suffix(".new")
        if problem := _train(made):
            warnings.warn(f"Java keeps no classes, so tests take longer: {problem}", stacklevel=2)
        else:
            made.replace(ARCHIVE)
        made_of.write_text(wanted)


def _train(made: Path) -> str | None:
    """Run the job once, and let Java write what it has read; why there is nothing, where there is not."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.class_training", str(made)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as problem:
        return str(problem)
    return None if done.returncode == 0 and made.exists() else done.stderr[-_TAIL:] or "it says nothing"
