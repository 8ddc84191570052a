"""Spark writes the files of a query's checkpoint without asking a program about each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

_QUERY = """
import sys
from streaming.driver.session import spark_session
from tests.unit.streaming.settings_builder import settings

spark = spark_session(settings(spark__master="local[1]", spark__driver_memory="512MiB"), [])
rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
writer = rows.writeStream.foreachBatch(lambda frame, number: None).option("checkpointLocation", sys.argv[1])
query = writer.trigger(processingTime="0 seconds").start()
while query.lastProgress is None or query.lastProgress.batchId < 3:
    query.awaitTermination(0.1)
query.stop()
spark.stop()
"""


def test_a_micro_batch_asks_no_program_about_its_checkpoint(tmp_path: Path) -> None:
    asked, programs, checkpoint = (tmp_path / name for name in ("asked", "programs", "checkpoint"))
    programs.mkdir()
    for name in ("chmod", "ls", "readlink", "stat"):
        program = programs / name
        program.write_text(f'#!/bin/sh\necho "{name} $@" >> {asked}\nPATH={os.environ["PATH"]} exec {name} "$@"\n')
        program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([sys.executable, "-c", _QUERY, str(checkpoint)], env={**os.environ, "PATH": path}, check=True)
    assert {file.name for file in (checkpoint / "commits").iterdir()} >= {"0", "1", "2"}
    lines = [line.split()[0] for line in asked.read_text().splitlines() if str(checkpoint) in line]
    assert set(lines) == {"chmod"}, "others were asked, or none: then the programs here were not found"
