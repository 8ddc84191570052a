"""The properties of the Spark session, without starting one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from streaming.driver import session
from streaming.driver.session import spark_properties, visible
from tests.unit.streaming.settings_builder import settings

_JARS = [Path("/jars/spark-sql-kafka.jar"), Path("/jars/spark-token-provider-kafka.jar")]


def test_order_and_speed_rest_on_these_properties() -> None:
    properties = spark_properties(settings(), _JARS)
    assert {
        "spark.app.name": "cdc-bridge shop",
        "spark.master": "local[*]",
        "spark.driver.memory": "1024m",
        "spark.jars": "/jars/spark-sql-kafka.jar,/jars/spark-token-provider-kafka.jar",
        "spark.ui.enabled": "false",
        "spark.ui.killEnabled": "false",
        "spark.locality.wait": "0s",
        "spark.speculation": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
        "spark.kafka.consumer.cache.capacity": "1024",
        "spark.executorEnv.POLARS_MAX_THREADS": "1",
        "spark.executor.extraJavaOptions": "-Xss16m -Dcdc.bridge.log.format=text -Dcdc.bridge.log.level=WARN",
    }.items() <= properties.items()
    assert properties["spark.driver.extraJavaOptions"].startswith(
        "-Xss16m -XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile=file:///"
    )


def test_a_local_master_listens_on_the_loopback_only() -> None:
    hosts = {"spark.driver.host", "spark.driver.bindAddress"}
    for master in ("local", "local[2]", "local[*]", "local-cluster[2,1,1024]"):
        properties = spark_properties(settings(spark__master=master), [])
        assert {properties[host] for host in hosts} == {"127.0.0.1"}
    assert not hosts & spark_properties(settings(spark__master="spark://host:7077"), []).keys()


def test_without_jars_there_is_no_property_for_them() -> None:
    assert "spark.jars" not in spark_properties(settings(), [])


def test_properties_of_the_settings_win_and_java_options_are_added() -> None:
    conf = {"spark.sql.shuffle.partitions": 3, "spark.driver.extraJavaOptions": "-Dx=1"}
    properties = spark_properties(settings(spark__conf=conf), [])
    assert properties["spark.sql.shuffle.partitions"] == "3"
    assert properties["spark.driver.extraJavaOptions"].startswith("-Xss16m ")
    assert properties["spark.driver.extraJavaOptions"].endswith(" -Dx=1")


@pytest.mark.parametrize(
    ("level", "spark_level"), [("debug", "INFO"), ("info", "WARN"), ("warning", "WARN"), ("error", "ERROR")]
)
def test_spark_logs_less_than_the_bridge_in_the_same_format(level: str, spark_level: str) -> None:
    options = spark_properties(settings(log={"format": "json", "level": level}), [])["spark.driver.extraJavaOptions"]
    assert "-Dcdc.bridge.log.format=json" in options.split()
    assert f"-Dcdc.bridge.log.level={spark_level}" in options.split()


@pytest.mark.parametrize("side", ["driver", "executor"])
def test_stack_traces_are_for_who_debugs(side: str) -> None:
    traces = {"-Dcdc.bridge.log.trace=full", "-Dcdc.bridge.log.traces=true"}
    for level, wanted in (("debug", traces), ("info", set[str]())):
        options = spark_properties(settings(log={"level": level}), [])[f"spark.{side}.extraJavaOptions"]
        assert traces & set(options.split()) == wanted


def test_the_log_configuration_has_an_appender_per_format_and_keeps_standard_output_free() -> None:
    text = (Path(session.__file__).parent / "log4j2.xml").read_text(encoding="utf-8")
    assert re.findall(r'<Console name="(\w+)" target="(\w+)">', text) == [
        ("text", "SYSTEM_ERR"),
        ("json", "SYSTEM_ERR"),
    ]


def test_what_could_be_a_secret_stays_out_of_the_command_line() -> None:
    loaded = settings(
        spark__conf={
            "spark.hadoop.fs.azure.account.key.x": "hunter2",
            "spark.hadoop.fs.azure.sas.fixed.x": "sv=hunter2",
            "spark.app.note": "password=hunter2",
            "spark.executor.memory": "2g",
        }
    )
    properties = spark_properties(loaded, _JARS)
    shown = visible(properties, loaded)
    assert "hunter2" not in str(shown)
    assert properties.keys() - shown.keys() == {
        "spark.hadoop.fs.azure.account.key.x",
        "spark.hadoop.fs.azure.sas.fixed.x",
        "spark.app.note",
    }


@pytest.mark.parametrize(("version", "has_it"), [("4.0.5", False), ("4.1.0", True), ("4.10.1", True), ("5.0.0", True)])
def test_workers_talk_over_a_domain_socket_where_spark_can(
    version: str, has_it: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyspark.__version__", version)
    properties = spark_properties(settings(), [])
    assert (properties.get("spark.python.unix.domain.socket.enabled") == "true") is has_it


@pytest.mark.parametrize(("version", "has_it"), [("4.0.5", True), ("4.1.0", False)])
def test_files_of_the_checkpoint_need_no_program_where_the_class_is_known(
    version: str, has_it: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyspark.__version__", version)
    assert ("spark.sql.streaming.checkpointFileManagerClass" in spark_properties(settings(), [])) is has_it
