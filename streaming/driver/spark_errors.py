"""What Spark says when a query or a job of it fails, as an error of ours that names the cause."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from connectors.errors import Terminal, Transient

LONGEST_CAUSE = 500
"""Characters of Spark's report that an error repeats."""


class QueryFailedError(Transient):
    """Spark's query ended with an error of its own."""


class SparkStartError(Terminal):
    """Java or Spark did not come up: options it does not take, a master that does not answer, or ended from outside."""


@contextlib.contextmanager
def spark_errors() -> Iterator[None]:
    """What Spark says itself, when a query or job starts or ends or its JVM is gone, as an error of ours.

    Raises:
        QueryFailedError: Spark failed, for a reason of its own or a worker's.
    """
    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise query_failed(error) from error


@contextlib.contextmanager
def spark_start_errors(master: str) -> Iterator[None]:
    """What Java and Spark say while a session starts, as an error of ours.

    Raises:
        SparkStartError: it did not start.
    """
    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        said = error.java_exception.toString() if isinstance(error, Py4JJavaError) else str(error)
        raise SparkStartError(
            f"Spark did not start: {cause_of(said) or type(error).__name__}",
            remedy="look at the lines above for Java's own report; the settings spark.master, spark.driver_memory and "
            "spark.conf say how it is started. If somebody ended the process meanwhile, start it again",
            master=master,
        ) from error


def query_failed(error: Exception) -> QueryFailedError:
    """The error of ours for one of Spark's."""
    return QueryFailedError(
        f"Spark's query ended: {cause_of(str(error)) or type(error).__name__}",
        remedy="look at the lines above for Spark's own report; the job starts again by itself and goes on where the "
        "ledger ends",
    )


def cause_of(said: str) -> str:
    """The line of Spark's report that names the cause: how a worker's traceback ends, else the report's first line."""
    lines = said.strip().splitlines()
    started = [number for number, line in enumerate(lines) if line.startswith("Traceback ")]
    if started:
        # The traceback's own lines are indented; what was raised follows them.
        raised = (line for line in lines[started[-1] + 1 :] if line and not line[0].isspace())
        return next(raised, "")[:LONGEST_CAUSE]
    return lines[0].strip()[:LONGEST_CAUSE] if lines else ""
