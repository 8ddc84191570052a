"""Classes of Spark and of Kafka's broker as Java keeps them after a first start: read, verified, linked.

Dozens of tests start a Java of their own with one of them in it, and of its processor time two fifths go into classes
that are the same each time. Java keeps them in an archive (class data sharing) and passes over one that does not fit it
or its class path, so nothing depends on it but time. The first tests on a machine that need Spark make both, by a run
of the job (``class_training``).
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
BROKER_ARCHIVE = ARCHIVE.with_name("broker.jsa")
# Java's own log would say on standard output that an archive is missing or does not fit.
_QUIET = "-Xlog:disable"
USE_ARCHIVE = f'"-XX:SharedArchiveFile={ARCHIVE}" {_QUIET}'
USE_BROKER_ARCHIVE = (f"-XX:SharedArchiveFile={BROKER_ARCHIVE}", _QUIET)
_SECONDS = 300.0
_TAIL = 2_000


def keep_classes() -> None:
    """Make the archives, unless they are of this Java and this Spark; a second process waits for the first."""
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    made_of = ARCHIVE.with_suffix(".of")
    release = java_home(find_java()) / "release"
    spark = f"pyspark {pyspark.__version__} {pyspark.__file__}"
    wanted = f"{release}\n{release.read_text()}\n{spark}\nof a run of the job and its broker\n"
    with ARCHIVE.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if made_of.exists() and made_of.read_text() == wanted:
            return
        made = {archive.with_suffix(".new"): archive for archive in (ARCHIVE, BROKER_ARCHIVE)}
        if problem := _train(*made):
            warnings.warn(f"Java keeps no classes, so tests take longer: {problem}", stacklevel=2)
        else:
            for new, archive in made.items():
                new.replace(archive)
        made_of.write_text(wanted)


def _train(*made: Path) -> str | None:
    """Run the job once, and let Spark's Java and the broker's write what they have read; why not, if they do not."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.class_training", *map(str, made)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as problem:
        return str(problem)
    if done.returncode == 0 and all(each.exists() for each in made):
        return None
    return done.stderr[-_TAIL:] or "it says nothing"
