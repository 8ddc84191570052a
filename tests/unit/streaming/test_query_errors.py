"""What a failed query says of Spark's report: the one line that names the cause."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from connectors.errors import BridgeError
from connectors.kafka.errors import BrokerUnavailableError, KafkaAccessError
from streaming.driver import session
from streaming.driver.spark_errors import LONGEST_CAUSE, QueryFailedError, SparkStartError, cause_of, query_failed

FROM_A_WORKER = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/app/streaming/task/decode.py", line 67, in decode_and_land
    yield from partition.add(records)
TypeError: first_stop() takes 5 positional arguments but 6 were given

	at org.apache.spark.api.python.BasePythonRunner
"""
FROM_A_JOB_WITHOUT_SQL = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent \
failure: Lost task 0.0 in stage 3.0 (TID 3) (localhost executor driver): \
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/app/streaming/task/decode.py", line 67, in decode_and_land
    yield from partition.add(records)
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
ModuleNotFoundError: No module named 'polars'

	at org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:581)
	at org.apache.spark.api.python.PythonRunner$$anon$3.read(PythonRunner.scala:962)
"""
CHAINED = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/app/a.py", line 1, in a
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/b.py", line 2, in b
ValueError: no x
"""


@pytest.mark.parametrize(
    ("report", "cause"),
    [
        (FROM_A_WORKER, "TypeError: first_stop() takes 5 positional arguments but 6 were given"),
        (FROM_A_JOB_WITHOUT_SQL, "ModuleNotFoundError: No module named 'polars'"),
        (CHAINED, "ValueError: no x"),
        (
            "Job aborted due to stage failure: Task 0 failed\n\tat a.b.C",
            "Job aborted due to stage failure: Task 0 failed",
        ),
        ("x" * 2 * LONGEST_CAUSE, "x" * LONGEST_CAUSE),
        ("Traceback (most recent call last):\n  File", ""),
        ("", ""),
    ],
)
def test_the_cause_is_the_line_that_names_it(report: str, cause: str) -> None:
    assert cause_of(report) == cause


@pytest.mark.parametrize(
    ("exception", "kind"),
    [
        ("TimeoutException: Timed out waiting for a node assignment. Call: listTopics", BrokerUnavailableError),
        ("DisconnectException: Cancelled fetchMetadata request with correlation id 3", BrokerUnavailableError),
        ("TopicAuthorizationException: Not authorized to access topics: [shop]", KafkaAccessError),
        ("UnknownServerException: The server experienced an unexpected error", QueryFailedError),
    ],
)
def test_what_kafkas_client_has_met_is_an_error_of_its_own(exception: str, kind: type[BridgeError]) -> None:
    said = f"[STREAM_FAILED] Query [id = 1] terminated with exception: org.apache.kafka.common.errors.{exception}"
    error = query_failed(PySparkException(said))
    assert type(error) is kind
    assert exception.partition(": ")[2] in error.message


def test_a_java_without_kafkas_source_is_no_failure_that_passes() -> None:
    said = "Failed to find data source: kafka. Please deploy the application as per the deployment section"
    assert type(query_failed(PySparkException(said))) is SparkStartError
    assert type(query_failed(PySparkException("Failed to find data source: kafkaesque"))) is QueryFailedError


@pytest.mark.parametrize("appender", ["text-query", "json-query"])
@pytest.mark.parametrize(
    ("report", "told_by_spark"),
    [
        ("[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred", False),
        ("org.apache.kafka.common.errors.TimeoutException: Timed out", False),
        ("org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed", False),
        ("org.apache.kafka.common.errors.UnknownServerException: The server met an unexpected error", True),
        ("java.lang.AssertionError: assertion failed", True),
    ],
)
def test_spark_tells_how_a_query_ended_unless_the_bridge_does(appender: str, report: str, told_by_spark: bool) -> None:
    """What the log leaves out is an error of its own here; of anything else it has the lines that the remedy names."""
    text = (Path(session.__file__).parent / "log4j2.xml").read_text(encoding="utf-8")
    [left_out] = re.findall(rf'<Console name="{appender}".*?\n.*?\}}\{{(\(\?s\)[^}}]*)\}}\{{\}}', text)
    said = f"ERROR MicroBatchExecution: Query terminated with error\n{report}\n\tat a.b.C"
    assert (re.fullmatch(left_out, said) is None) is told_by_spark
    foreseen = type(query_failed(PySparkException(report))) is not QueryFailedError
    assert foreseen is (not told_by_spark and "FOREACH" not in report)
