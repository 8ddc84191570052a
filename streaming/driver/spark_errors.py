"""What Spark says when a query or a job of it fails, as an error of ours that names the cause.

Of Kafka, Spark only asks for topics and offsets, to plan micro-batches; what workers meet while they read records comes
as a task's result (:mod:`streaming.task.results`).
"""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from connectors.command_lines import argument
from connectors.errors import Terminal, Transient
from connectors.kafka.clients import CHECK_ACCESS
from connectors.kafka.errors import BrokerUnavailableError, KafkaAccessError
from connectors.kafka.jars import JarSet, jars_folder
from connectors.kafka.loopback import accepts
from streaming.driver.checkpoint_disk import TOLD, disk_fault

ENDING_SECONDS = 10.0
"""How long a Java that nobody can reach any more is waited for to end."""
LONGEST_CAUSE = 500
"""Characters of Spark's report that an error repeats."""

# SaslAuthenticationException, TopicAuthorizationException, GroupAuthorizationException, ...
_REFUSED = re.compile(r"org\.apache\.kafka\.common\.errors\.\w*Auth\w*Exception: (.+)")
_AWAY = re.compile(
    r"org\.apache\.kafka\.common\.errors\.(?:Timeout|Disconnect|Network|BrokerNotAvailable)\w*Exception: (.+)"
)
# How the query ended, or why it did not start, in the system's words; both take one line.
_DISK_FAULT = re.compile(rf"(?:terminated with exception|^): .*?({'|'.join(TOLD)})", re.M)
# Where the query runs, its plan names the folder; while it starts, only Java's frames tell what was being written.
_CHECKPOINT = re.compile(r"\[checkpointLocation=file://(.+?)\], |\.CheckpointFileManager\b")

# What py4j puts before what Java has thrown.
_CALLING = re.compile(r"\AAn error occurred while calling \S+\n: ")
_NO_KAFKA_SOURCE = "Failed to find data source: kafka."


class QueryFailedError(Transient):
    """Spark's query ended with an error of its own."""


class SparkStartError(Terminal):
    """Java or Spark did not come up: options it does not take, no jars, a silent master, or ended from outside."""


@contextlib.contextmanager
def spark_errors() -> Iterator[None]:
    """What Spark says itself, when a query or job starts or ends or its JVM is gone, as an error of ours.

    Raises:
        QueryFailedError: Spark failed, for a reason of its own or a worker's.
        KafkaAccessError: Kafka refuses the client with which Spark plans.
        BrokerUnavailableError: no broker answers it.
        SparkStartError: Spark's Java has no Kafka source.
        StorageError: the disk of Spark's checkpoint is full.
        StorageDeniedError: it can only be read.
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


def query_failed(error: Exception) -> Transient | Terminal:
    """The error of ours for one of Spark's; which there are, :func:`spark_errors` says.

    A refusal by Kafka is one for good, which no new start would pass, as are a Java without the jars of Kafka's source
    and a disk that can only be read.
    """
    refused = _REFUSED.search(str(error))
    if refused is not None:
        return KafkaAccessError(f"Kafka refuses Spark access: {refused[1][:LONGEST_CAUSE]}", remedy=CHECK_ACCESS)
    away = _AWAY.search(str(error))
    if away is not None:
        return BrokerUnavailableError(
            f"no Kafka broker answers Spark's query: {away[1][:LONGEST_CAUSE]}",
            remedy="nothing: the job starts again by itself, as soon as a broker answers, and goes on where the ledger "
            "ends; check the brokers and the network if this goes on",
        )
    if _NO_KAFKA_SOURCE in str(error):
        folder = jars_folder(JarSet.SPARK_KAFKA)
        return SparkStartError(
            "Spark's Java lacks the jars of Kafka's source: spark-submit has started it without them",
            remedy="start the bridge with `cdc-bridge run`, which gives Java what it needs, or let spark-submit do so: "
            f"SPARK_DIST_CLASSPATH={argument(folder)}/*",
        )
    fault, checkpoint = _DISK_FAULT.search(str(error)), _CHECKPOINT.search(str(error))
    if fault is not None and checkpoint is not None:
        return disk_fault(TOLD[fault[1]], fault[1], checkpoint[1])
    return QueryFailedError(
        f"Spark's query ended: {cause_of(str(error)) or type(error).__name__}",
        remedy="look at the lines above for Spark's own report; the job starts again by itself and goes on where the "
        "ledger ends",
    )


def java_has_ended() -> bool:
    """Whether the Java that this process has started for Spark is gone. It is started once, and never comes back."""
    gateway = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if gateway is None or process is None:
        return False
    if process.poll() is None and not accepts(gateway.gateway_parameters.port):
        # The system closes what a process has open, and so its connections, before it says that it has ended.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(ENDING_SECONDS)
    return process.poll() is not None


def java_gone() -> QueryFailedError:
    """The error of a job whose Java was ended from outside: no attempt of this process can succeed any more."""
    return QueryFailedError(
        "Spark's Java has ended, and with it every further attempt of this process",
        remedy="start the job again, as Kubernetes does by itself: it goes on where the ledger ends. If it happens "
        "again, Java may have been killed for want of memory: give the process more than spark.driver_memory and its "
        "Python workers need together",
    )


def cause_of(said: str) -> str:
    """The line of Spark's report that names the cause: how a worker's traceback ends, else the report's first line."""
    lines = _CALLING.sub("", said.strip()).splitlines()
    # Of a job without Spark SQL, Java's own words are in front of it on its line.
    started = [number for number, line in enumerate(lines) if line.endswith("Traceback (most recent call last):")]
    if started:
        # The traceback's own lines are indented; what was raised follows them.
        raised = (line for line in lines[started[-1] + 1 :] if line and not line[0].isspace())
        return next(raised, "")[:LONGEST_CAUSE]
    return lines[0].strip()[:LONGEST_CAUSE] if lines else ""
