"""What tests of different folders share: one Spark session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from connectors.kafka.jars import JarSet, resolve_jars
from streaming.session import spark_session
from tests.unit.streaming.settings_builder import settings


@pytest.fixture(scope="session")
def spark_jars() -> Iterator[list[Path]]:
    yield resolve_jars(JarSet.SPARK_KAFKA)
    if SparkContext._active_spark_context is not None:
        SparkContext._active_spark_context.stop()


@pytest.fixture
def spark(spark_jars: list[Path]) -> SparkSession:
    """The session of this process: a test that has stopped it leaves the next one a new one."""
    return spark_session(settings(spark__master="local[2]"), spark_jars)
