"""Classes of Spark, Kafka's broker and Kafka Connect as Java keeps them after a first start: read, verified, linked.

Dozens of tests start a Java of their own with one of them in it, and of its processor time two fifths go into classes
that are the same each time. Java keeps them in an archive (class data sharing) and passes over one that does not fit it
or its class path, so nothing depends on it but time. The first tests on a machine that need Spark make those of Spark
and the broker, by a run of the job (``class_training``), and the first that need Kafka Connect that of Kafka Connect,
by a start of it (``tests.rig.class_training``).
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import pyspark

from connectors.java import find_java, java_home
from connectors.kafka.jars import JarSet, resolve_jars

ROOT = Path(__file__).parents[2]
ARCHIVE = ROOT / ".pytest_cache" / "java" / "spark.jsa"
BROKER_ARCHIVE = ARCHIVE.with_name("broker.jsa")
CONNECT_ARCHIVE = ARCHIVE.with_name("connect.jsa")
# Java's own log would say on standard output that an archive is missing or does not fit.
_QUIET = "-Xlog:disable"
USE_ARCHIVE = f'"-XX:SharedArchiveFile={ARCHIVE}" {_QUIET}'
USE_BROKER_ARCHIVE = (f"-XX:SharedArchiveFile={BROKER_ARCHIVE}", _QUIET)
USE_CONNECT_ARCHIVE = (f"-XX:SharedArchiveFile={CONNECT_ARCHIVE}", _QUIET)
_SECONDS = 300.0
_TAIL = 2_000


def keep_classes() -> None:
    """Make the archives of Spark and of the broker, unless they are of this Java, this Spark and this Kafka."""
    spark = f"pyspark {pyspark.__version__} {pyspark.__file__}"
    made_of = f"{spark}\n{_names(JarSet.BROKER)}\nof a run of the job and its broker"
    _keep((ARCHIVE, BROKER_ARCHIVE), made_of, "tests.support.class_training")


def keep_connect_classes() -> None:
    """Make the archive of Kafka Connect, unless it is of this Java and this Kafka Connect."""
    _keep((CONNECT_ARCHIVE,), f"{_names(JarSet.CONNECT)}\nof a worker's start", "tests.rig.class_training")


def keeping(archive: Path) -> tuple[str, ...]:
    """Options of a Java that writes the archive at its end."""
    return f"-XX:ArchiveClassesAtExit={archive}", _QUIET


def _names(jars: JarSet) -> str:
    return " ".join(jar.name for jar in resolve_jars(jars))


def _keep(archives: Sequence[Path], made_of: str, module: str) -> None:
    """Let ``module`` make the archives, unless they are made of this; a second process waits for the first."""
    first = archives[0]
    first.parent.mkdir(parents=True, exist_ok=True)
    known = first.with_suffix(".of")
    release = java_home(find_java()) / "release"
    wanted = f"{release}\n{release.read_text()}\n{made_of}\n"
    with first.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if known.exists() and known.read_text() == wanted:
            return
        made = {archive.with_suffix(".new"): archive for archive in archives}
        if problem := _train(module, *made):
            warnings.warn(f"Java keeps no classes, so tests take longer: {problem}", stacklevel=3)
        else:
            for new, archive in made.items():
                new.replace(archive)
        known.write_text(wanted)


def _train(module: str, *made: Path) -> str | None:
    """Let Java start, end, and write what it has read; why there is nothing, where there is not."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, made)],
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
