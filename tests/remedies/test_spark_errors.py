"""A Spark that does not start, from the error through its remedy to one that does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from streaming.driver.spark_errors import SparkStartError
from tests.remedies.conftest import QUICK_CONF
from tests.remedies.shell import Shell
from tests.support.bridge import Bridge
from tests.unit.streaming.landed_shop import row

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

_SETTINGS = """\
name: shop
kafka: {bootstrap_servers: "localhost:9092", topics: [a]}
landing_zone: {url: "file:///zones/shop"}
spark:
  master: local[1]
  driver_memory: 600MiB
  conf: {spark.driver.extraJavaOptions: "-XX:TieredStopAtLevel=1"}
"""

RUN = "cdc-bridge run CONFIG --once"


def require_landed(bridge: Bridge, shell: Shell) -> None:
    """The command that is told lands what waits."""
    assert shell.type_apart(RUN).code == 0
    assert bridge.rows() == [row(1, "uno")]


def test_spark_start(unstarted: Bridge, shell: Shell) -> None:
    unstarted.write_settings(spark__conf={**QUICK_CONF, "spark.memory.fraction": "9"})
    refused = shell.type_apart(RUN)
    assert (refused.code, refused.error) == (1, SparkStartError.__name__)
    assert "the settings spark.master, spark.driver_memory and spark.conf say how it is started" in refused.remedy
    unstarted.write_settings(spark__conf={**QUICK_CONF, "spark.memory.fraction": "0.5"})
    require_landed(unstarted, shell)


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


def test_java_of_spark_submit_without_the_jars(spark_jars: list[Path], unstarted: Bridge, shell: Shell) -> None:
    def said(**environment: str) -> str:
        command = [sys.executable, "-c", _WITHOUT_JARS, _SETTINGS]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, env=os.environ | environment
        ).stdout.strip()

    remedy = said()
    name, _, path = remedy.rpartition(" ")[2].partition("=")
    assert Path(path).parent == spark_jars[0].parent
    assert "'value'" in said(**{name: path})
    assert remedy.startswith("start the bridge with `cdc-bridge run`, which gives Java what it needs")
    require_landed(unstarted, shell)
