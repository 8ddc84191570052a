"""What `check` finds out about the connector: every verdict with its remedy."""

from __future__ import annotations

import pytest

from connectors.source_database.kafka_connect import ConnectApi, ConnectLocation, TaskState
from streaming.checks import Verdict
from streaming.checks.connector import check_connector, check_states
from streaming.checks.connector_rules import Expectations, check_configuration
from tests.unit.source_database.connect_server import ConnectServer
from tests.unit.streaming.checked import found

GOOD = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "topic.prefix": "shop",
    "heartbeat.interval.ms": "10000",
    "skipped.operations": "none",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.replace.null.with.default": "false",
}
MARIADB = GOOD | {
    "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
    "bigint.unsigned.handling.mode": "precise",
}
EXPECTED = Expectations(topics=("shop.public.orders",))


class TestConnectorStates:
    def test_it_runs(self) -> None:
        [check] = check_states("http://c", "shop", (TaskState(None, "RUNNING"), TaskState(0, "RUNNING")))
        assert (check.verdict, check.detail) == (Verdict.OK, "runs with 1 task")

    def test_a_failed_task_says_why_and_how_to_restart_it(self) -> None:
        [check] = check_states("http://c", "shop", (TaskState(None, "RUNNING"), TaskState(0, "FAILED", "org.X: gone")))
        assert (check.verdict, check.detail) == (Verdict.PROBLEM, "task 0 has failed: org.X: gone")
        assert check.remedy == (
            "mend the cause, then restart it: POST http://c/connectors/shop/restart?includeTasks=true&onlyFailed=true"
        )

    @pytest.mark.parametrize("state", ["PAUSED", "STOPPED", "UNASSIGNED", "RESTARTING"])
    def test_a_connector_that_stands_still_is_a_warning(self, state: str) -> None:
        checks = list(check_states("http://c", "shop", (TaskState(None, state), TaskState(0, "RUNNING"))))
        assert found(checks) == [("connector shop", "warning")]
        assert checks[0].detail.startswith(f"the connector is {state.lower()}")

    def test_without_a_task_nothing_is_read(self) -> None:
        assert found(check_states("http://c", "shop", (TaskState(None, "STOPPED"),))) == [
            ("connector shop", "problem"),
            ("connector shop", "warning"),
        ]


class TestConnectorConfiguration:
    @pytest.mark.parametrize("config", [GOOD, MARIADB])
    def test_all_is_well(self, config: dict[str, str]) -> None:
        assert found(check_configuration(config, EXPECTED)) == [("connector configuration", "ok")]

    @pytest.mark.parametrize(
        ("changes", "subject", "verdict", "detail"),
        [
            ({"decimal.handling.mode": "double"}, "decimal.handling.mode", "warning", "is double: decimals with more"),
            ({"decimal.handling.mode": "string"}, "decimal.handling.mode", "warning", "is string: decimals land as"),
            ({"time.precision.mode": "connect"}, "time.precision.mode", "warning", "is connect: times and timestamps"),
            ({"binary.handling.mode": "hex"}, "binary.handling.mode", "warning", "is hex: bytes arrive as text"),
            ({"heartbeat.interval.ms": "0"}, "heartbeat.interval.ms", "warning", "is 0: while the captured tables are"),
            ({"skipped.operations": "t"}, "skipped.operations", "warning", "leaves out truncates, which is Debezium's"),
            ({"skipped.operations": "u,d"}, "skipped.operations", "problem", "leaves out updates and deletes: the"),
            ({"snapshot.mode": "initial_only"}, "snapshot.mode", "warning", "is initial_only: changes after"),
            ({"snapshot.mode": "always"}, "snapshot.mode", "warning", "is always: each start of the connector"),
            ({"unavailable.value.placeholder": "?"}, "unavailable.value.placeholder", "problem", "is ?, but format."),
            (
                {"value.converter.replace.null.with.default": "true"},
                "value.converter.replace.null.with.default",
                "warning",
                "is true: NULL in a column that has a default arrives",
            ),
            (
                {"value.converter.schemas.enable": "false"},
                "value.converter.schemas.enable",
                "warning",
                "is false: records carry no types, and the settings declare no columns",
            ),
            (
                {"value.converter": "io.confluent.connect.avro.AvroConverter"},
                "value.converter.ignore.default.for.nullables",
                "warning",
                "is false: NULL in a column",
            ),
            ({"message.key.columns": "t:a"}, "message.key.columns", "warning", "gives tables other keys than their"),
            (
                {"event.processing.failure.handling.mode": "warn"},
                "event.processing.failure.handling.mode",
                "problem",
                "is warn: changes that the connector can't read are left out",
            ),
            ({"topic.prefix": "other"}, "topic.prefix", "warning", "is other, and no topic that the bridge reads"),
        ],
    )
    def test_what_is_remarkable(self, changes: dict[str, str], subject: str, verdict: str, detail: str) -> None:
        checks = list(check_configuration(GOOD | changes, EXPECTED))
        assert found(checks) == [(f"connector {subject}", verdict)]
        assert checks[0].detail.startswith(detail)

    def test_a_converter_that_is_the_worker_s_cannot_be_seen(self) -> None:
        config = {name: value for name, value in GOOD.items() if not name.startswith("value.converter")}
        assert found(check_configuration(config, EXPECTED)) == [("connector value.converter", "warning")]

    def test_unsigned_numbers_in_the_default_mode(self) -> None:
        config = MARIADB | {"bigint.unsigned.handling.mode": "long"}
        assert found(check_configuration(config, EXPECTED)) == [("connector bigint.unsigned.handling.mode", "warning")]

    def test_rules_that_depend_on_the_settings(self) -> None:
        ignoring = Expectations(topics=EXPECTED.topics, wants_truncates=False, typed=True)
        config = GOOD | {"skipped.operations": "t", "value.converter.schemas.enable": "false"}
        assert found(check_configuration(config, ignoring)) == [("connector configuration", "ok")]
        deleting = Expectations(topics=EXPECTED.topics, tombstones_delete=True)
        config = GOOD | {"tombstones.on.delete": "false"}
        assert found(check_configuration(config, deleting)) == [("connector tombstones.on.delete", "problem")]
        config = GOOD | {"snapshot.mode": "no_data"}
        assert found(check_configuration(config, EXPECTED)) == [("connector configuration", "ok")]
        new = Expectations(topics=EXPECTED.topics, new=True)
        assert found(check_configuration(config, new)) == [("connector snapshot.mode", "warning")]
        other = Expectations(topics=EXPECTED.topics, prefix="mine")
        assert found(check_configuration(GOOD, other)) == [("connector topic.prefix", "problem")]

    def test_topics_behind_a_transformation_say_nothing_about_the_prefix(self) -> None:
        config = GOOD | {
            "topic.prefix": "other",
            "transforms.route.type": "io.debezium.transforms.ByLogicalTableRouter",
        }
        assert found(check_configuration(config, EXPECTED)) == [("connector configuration", "ok")]

    @pytest.mark.parametrize(
        ("more", "verdicts"),
        [
            ({}, ["problem", "problem"]),
            ({"signal.enabled.channels": "kafka", "signal.kafka.topic": "other"}, ["problem", "problem"]),
            (
                {
                    "signal.enabled.channels": "source,kafka",
                    "signal.kafka.topic": "signals",
                    "notification.enabled.channels": "log,sink",
                    "notification.sink.topic.name": "told",
                },
                ["ok"],
            ),
        ],
    )
    def test_the_signal_topic_and_the_notifications(self, more: dict[str, str], verdicts: list[str]) -> None:
        wanted = Expectations(topics=EXPECTED.topics, signal_topic="signals", notifications_topic="told")
        assert [verdict for _, verdict in found(check_configuration(GOOD | more, wanted))] == verdicts

    @pytest.mark.parametrize(
        ("more", "verdict"),
        [
            ({}, "problem"),
            ({"signal.data.collection": "shop.public.signals"}, "ok"),
            ({"signal.data.collection": "public.signals", "signal.enabled.channels": "kafka"}, "problem"),
        ],
    )
    def test_the_signal_table(self, more: dict[str, str], verdict: str) -> None:
        wanted = Expectations(topics=EXPECTED.topics, signal_table="public.signals", notifications_topic="told")
        told = {"notification.enabled.channels": "sink", "notification.sink.topic.name": "told"}
        assert [one for _, one in found(check_configuration(GOOD | told | more, wanted))] == [verdict]

    @pytest.mark.parametrize("channel", [{"signal_topic": "signals"}, {"signal_table": "public.signals"}])
    def test_a_signal_channel_without_notifications(self, channel: dict[str, str]) -> None:
        wanted = Expectations(topics=EXPECTED.topics, **channel)
        checks = dict(found(check_configuration(GOOD, wanted)))
        assert checks["connector notification.sink.topic.name"] == "warning"

    def test_another_connector_is_not_looked_at(self) -> None:
        config = {"connector.class": "org.apache.kafka.connect.file.FileStreamSource"}
        assert found(check_configuration(config, EXPECTED)) == [("connector connector.class", "warning")]


class TestKafkaConnect:
    def test_state_and_configuration_are_asked_for(self) -> None:
        with ConnectServer() as server:
            server.answers["/connectors/shop/config"] = (200, GOOD | {"database.password": "hunter2"})
            status = {"connector": {"state": "RUNNING"}, "tasks": [{"id": 0, "state": "RUNNING"}]}
            server.answers["/connectors/shop/status"] = (200, status)
            checks = list(check_connector(ConnectApi(ConnectLocation(server.url, "shop")), EXPECTED))
        assert found(checks) == [("connector shop", "ok"), ("connector configuration", "ok")]
        assert "hunter2" not in repr(checks)

    def test_a_connector_that_is_not_there_is_a_problem(self) -> None:
        with ConnectServer() as server:
            assert found(check_connector(ConnectApi(ConnectLocation(server.url, "shop")), EXPECTED)) == [
                ("connector", "problem")
            ]
