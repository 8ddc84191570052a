"""What Spark's log passes on of text from outside: nothing that would steer the terminal of whoever reads it."""

from __future__ import annotations

import subprocess
import sys

import pytest

_LOG = """
import os
import sys
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway
from connectors.java import find_java, java_home
from streaming.driver.session import spark_properties
from tests.unit.streaming.settings_builder import settings

os.environ["JAVA_HOME"] = str(java_home(find_java()))
properties = spark_properties(settings(spark__driver_memory="512MiB"), [])
jvm = launch_gateway(SparkConf(loadDefaults=False).setAll(properties.items())).jvm
text = "one \\x1b[2J\\u202etwo\\ttab\\x07 \\x9b31m ü"
logger = jvm.org.slf4j.LoggerFactory.getLogger(sys.argv[1])
logger.error(text, jvm.java.lang.IllegalStateException("because \\x1b]0;title\\x07"))
"""
SHOWN = "one ?[2J?two\ttab? ?31m ü"
BECAUSE = "java.lang.IllegalStateException: because ?]0;title?"


@pytest.mark.parametrize(
    ("logger", "lines"),
    [
        ("org.apache.spark.Any", [f"Any: {SHOWN}: {BECAUSE}"]),
        # How a query ended is told with its trace.
        (
            "org.apache.spark.sql.execution.streaming.MicroBatchExecution",
            [f"MicroBatchExecution: {SHOWN}", BECAUSE],
        ),
    ],
)
def test_what_would_steer_a_terminal_is_a_question_mark(logger: str, lines: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOG, logger], capture_output=True, check=True, encoding="utf-8", timeout=300
    )
    said = done.stderr.splitlines()
    [first] = [place for place, line in enumerate(said) if " ERROR " in line]
    assert [said[first].partition(" ERROR ")[2], *said[first + 1 : first + len(lines)]] == lines
    assert not set(done.stderr) & set("\x1b\x07\x9b\u202e")
