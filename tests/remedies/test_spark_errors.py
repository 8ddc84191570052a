"""A Spark that does not start, from the error through its remedy to one that does."""

from __future__ import annotations

import subprocess
import sys

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
