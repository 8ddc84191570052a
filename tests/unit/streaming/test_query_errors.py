"""What a failed query says of Spark's report: the one line that names the cause."""

from __future__ import annotations

import pytest

from streaming.driver.spark_errors import LONGEST_CAUSE, cause_of

FROM_A_WORKER = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/app/streaming/task/decode.py", line 67, in decode_and_land
    yield from partition.add(records)
TypeError: first_stop() takes 5 positional arguments but 6 were given

	at org.apache.spark.api.python.BasePythonRunner
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
