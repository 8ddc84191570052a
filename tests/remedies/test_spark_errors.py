"""A Spark that does not start, from the error through its remedy to one that does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

_SETTINGS = """\
name: shop
kafka: {bootstrap_servers: "localhost:9092", topics: [a]}
landing_zone: {url: "file:///zones/shop"}
spark:
  master: local[1]
  driver_memory: 600MiB
  conf: {spark.driver.extraJavaOptions: "-XX:TieredStopAtLevel=1"%s}
"""

# In a process of its own: Java starts once in a process, and other tests have started theirs with other properties.
_PROGRAM = """
import sys
from pathlib import Path
from streaming.driver.session import spark_session
from streaming.driver.spark_errors import SparkStartError
from streaming.settings import settings_of

try:
    spark_session(settings_of(sys.argv[1], "bridge.yaml"), [])
except SparkStartError as error:
    print(error.remedy)
session = spark_session(settings_of(sys.argv[2], "bridge.yaml"), [])
print(session.conf.get("spark.memory.fraction"))
session.stop()
"""


def test_spark_start() -> None:
    wrong, right = (_SETTINGS % f", spark.memory.fraction: '{fraction}'" for fraction in ("9", "0.5"))
    done = subprocess.run([sys.executable, "-c", _PROGRAM, wrong, right], capture_output=True, text=True, check=True)
    remedy, fraction = done.stdout.splitlines()
    assert "the settings spark.master, spark.driver_memory and spark.conf say how it is started" in remedy
    assert fraction == "0.5"


_WITHOUT_JARS = """
import sys
from pathlib import Path
from streaming.driver.session import spark_session
from streaming.driver.spark_errors import SparkStartError, spark_errors
from streaming.settings import settings_of

session = spark_session(settings_of(sys.argv[1], "bridge.yaml"), [])
source = session.readStream.format("kafka").option("kafka.bootstrap.servers", "127.0.0.1:1").option("subscribe", "a")
try:
    with spark_errors():
        print(source.load().columns)
except SparkStartError as error:
    print(error.remedy)
session.stop()
"""


def test_java_of_spark_submit_without_the_jars(spark_jars: list[Path]) -> None:
    def said(**environment: str) -> str:
        command = [sys.executable, "-c", _WITHOUT_JARS, _SETTINGS % ""]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, env=os.environ | environment
        ).stdout.strip()

    remedy = said()
    name, _, path = remedy.rpartition(" ")[2].partition("=")
    assert Path(path).parent == spark_jars[0].parent
    assert "'value'" in said(**{name: path})
