"""Spark's classes as Java keeps them after a first start: read, verified, linked.

Dozens of tests start a Java of their own with Spark in it, and of its processor time two fifths go into classes that
are the same each time. Java keeps them in an archive (class data sharing) and passes over one that does not fit it or
its class path, so nothing depends on it but time. It is made by the first tests on a machine that need Spark.
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyspark
from pyspark import SparkContext
from pyspark.sql import DataFrame

from connectors.java import find_java, java_home
from streaming.driver.session import spark_session
from tests.unit.streaming.settings_builder import settings

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
    wanted = f"{release}\n{release.read_text()}\npyspark {pyspark.__version__} {pyspark.__file__}\n"
    with ARCHIVE.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if made_of.exists() and made_of.read_text() == wanted:
            return
        made = ARCHIVE.with_suffix(".new")
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.class_archive", str(made)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode == 0 and made.exists():
            made.replace(ARCHIVE)
        else:
            warnings.warn(f"Java keeps no classes, so tests take longer: {done.stderr[-_TAIL:]}", stacklevel=2)
        made_of.write_text(wanted)


def _same(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _batch(rows: DataFrame, _: int) -> None:
    rows.coalesce(2).mapInArrow(_same, "value long").repartition(2).collect()


def main(archive: Path) -> None:
    """Use Spark as the bridge does, and let Java keep what it has read."""
    java = f'-XX:TieredStopAtLevel=1 "-XX:ArchiveClassesAtExit={archive}" -Xlog:disable'
    conf = {"spark.driver.extraJavaOptions": java}
    session = spark_session(settings(spark__master="local[2]", spark__conf=conf), [])
    rows = session.readStream.format("rate").option("rowsPerSecond", 5).load().select("value")
    query = rows.writeStream.foreachBatch(_batch).start()
    while (progress := query.lastProgress) is None or progress["batchId"] < 1:
        assert query.isActive, query.exception()
        time.sleep(0.1)
    query.stop()
    session.stop()
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    # Java ends, and writes the archive, when nobody holds its standard input.
    gateway.proc.stdin.close()
    gateway.proc.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
