"""The Spark session that the query runs in, with the properties that order and speed rest on.

The Java process is started with the properties that it needs at its start, and these are visible in its command line.
So whatever could be a secret is handed over afterwards, through the gateway (architecture, "Parts").
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from connectors.java import find_java, java_home
from streaming.driver.spark_errors import spark_start_errors
from streaming.settings import BridgeSettings
from streaming.settings.runtime import LogFormat, LogLevel
from streaming.settings.secrets import SECRET

_DRIVER_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_EXECUTOR_JAVA_OPTIONS = "spark.executor.extraJavaOptions"
# The driver's Java plans and hands tasks out; the work is the Python workers'. What its second compiler would gain it
# never pays back: a micro-batch of 200 small tables took 40 % less of Java's time without it.
_ONE_COMPILER = "-XX:TieredStopAtLevel=1"
_PYTHON = "spark.pyspark.python"
# All of its processes are on this machine.
_LOCAL = re.compile(r"local(-cluster)?(\[.*\])?")
_SPARK_LOG_LEVELS = {
    LogLevel.DEBUG: "INFO",
    LogLevel.INFO: "WARN",
    LogLevel.WARNING: "WARN",
    LogLevel.ERROR: "ERROR",
}


def spark_session(settings: BridgeSettings, jars: Sequence[Path]) -> SparkSession:
    """The session of this process: started on the first call, the running one afterwards.

    Java is started once in a process; its jars and memory stay those of the first session.

    Args:
        jars: the Kafka source and what it needs, see :mod:`connectors.kafka.jars`.

    Raises:
        JavaError: no Java that Spark can use.
        SparkStartError: Java or Spark does not come up with these properties.
    """
    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    os.environ["JAVA_HOME"] = str(java_home(find_java()))
    if is_local(settings.spark.master):
        # Spark's web interface asks no property for its address, and has no login.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    properties = spark_properties(settings, jars)
    # Workers must run an interpreter that has the bridge and its dependencies, not the first python3 on the path: this
    # one, unless the settings name another for the executors' machines. Spark itself reads it from here alone.
    os.environ["PYSPARK_PYTHON"] = properties.get(_PYTHON, sys.executable)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    launch = SparkConf(loadDefaults=False).setAll(list(visible(properties, settings).items()))
    conf = SparkConf(loadDefaults=False).setAll(list(properties.items()))
    with spark_start_errors(settings.spark.master):
        # Starts Java unless an earlier session has; left to the context, all properties would be in the command line.
        SparkContext._ensure_initialized(conf=launch)
        return SparkSession(SparkContext(conf=conf))


def is_local(master: str) -> bool:
    """Whether all of Spark is on this machine."""
    return _LOCAL.fullmatch(master) is not None


def spark_properties(settings: BridgeSettings, jars: Sequence[Path]) -> dict[str, str]:
    """All properties of the session: the bridge's own, and over them the settings' ``spark.conf``.

    Java options of ``spark.conf`` are added to the bridge's own instead of replacing them.
    """
    spark = settings.spark
    properties = {
        "spark.app.name": f"cdc-bridge {settings.name}",
        "spark.master": spark.master,
        "spark.driver.memory": f"{spark.driver_memory >> 20}m",
        "spark.ui.enabled": str(spark.ui).lower(),
        _DRIVER_JAVA_OPTIONS: _driver_java_options(settings),
        _EXECUTOR_JAVA_OPTIONS: f"-Xss16m {_log_options(settings)}",
        **_FIXED,
        **_by_version(pyspark.__version__),
    }
    if jars:
        properties["spark.jars"] = ",".join(str(jar) for jar in jars)
    if is_local(spark.master):
        # Driver and executors are on this machine: nothing else needs to reach them.
        properties |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    for key, value in spark.conf.items():
        if key in (_DRIVER_JAVA_OPTIONS, _EXECUTOR_JAVA_OPTIONS):
            properties[key] = f"{properties[key]} {value}"
        else:
            properties[key] = value
    return properties


def visible(properties: dict[str, str], settings: BridgeSettings) -> dict[str, str]:
    """The properties that may appear in a command line: no key names a secret, nor does a value that a user wrote."""
    return {
        key: value
        for key, value in properties.items()
        if not SECRET.search(key) and not (key in settings.spark.conf and SECRET.search(value))
    }


def _driver_java_options(settings: BridgeSettings) -> str:
    configuration = (Path(__file__).parent / "log4j2.xml").as_uri()
    # 16 MB stacks: plans of wide schemas recurse deeply, and so does stopping a query inside a batch.
    return f"-Xss16m {_ONE_COMPILER} -Dlog4j2.configurationFile={configuration} {_log_options(settings)}"


def _log_options(settings: BridgeSettings) -> str:
    """What the log's configuration asks for; the image's executors have the same one."""
    layout = {LogFormat.TEXT: "text", LogFormat.JSON: "json"}[settings.log.format]
    options = f"-Dcdc.bridge.log.format={layout} -Dcdc.bridge.log.level={_SPARK_LOG_LEVELS[settings.log.level]}"
    if settings.log.level is LogLevel.DEBUG:
        options += " -Dcdc.bridge.log.trace=full -Dcdc.bridge.log.traces=true"
    return options


def _by_version(version: str) -> dict[str, str]:
    major, minor = (int(part) for part in version.split(".")[:2])
    if (major, minor) >= (4, 1):
        # Over TCP a Python task waits 40 ms for a delayed acknowledgement.
        return {"spark.python.unix.domain.socket.enabled": "true"}
    # Spark's own choice asks the program readlink eight times about each file of the checkpoint: 16 processes a batch.
    package = "org.apache.spark.sql.execution.streaming"
    return {"spark.sql.streaming.checkpointFileManagerClass": f"{package}.FileSystemBasedCheckpointFileManager"}


_FIXED = {
    # A tiny task must not wait three seconds for the node that has its data, nor run twice.
    "spark.locality.wait": "0s",
    "spark.speculation": "false",
    # One job per micro-batch: adaptive execution would split it at every shuffle and merge the partitions.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "8",
    # With trigger.interval 0s Kafka is asked for new records this often while there are none. Spark's own 10 ms take
    # 0.4 of a core for 200 idle tables and 0.3 of the broker's, this half of both, for 20 ms more from event to file.
    "spark.sql.streaming.pollingDelay": "50ms",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    # A soft limit of open consumers: below the number of partitions each batch connects anew.
    "spark.kafka.consumer.cache.capacity": "1024",
    "spark.ui.showConsoleProgress": "false",
    # Who sees Spark's web interface does not end stages there.
    "spark.ui.killEnabled": "false",
    "spark.redaction.regex": SECRET.pattern,
    "spark.sql.redaction.options.regex": f"{SECRET.pattern}|url",
    "spark.python.worker.faulthandler.enabled": "true",
    # As in the workers of Spark SQL: only with the same environment are they those of the other tasks, too.
    "spark.executorEnv.SPARK_SIMPLIFIED_TRACEBACK": "1",
    # Spark already keeps every core busy with a task of its own.
    "spark.executorEnv.OMP_NUM_THREADS": "1",
    "spark.executorEnv.ARROW_IO_THREADS": "1",
    "spark.executorEnv.POLARS_MAX_THREADS": "1",
}
