"""What `check` finds out about the connector: every verdict with its remedy."""

from __future__ import annotations

import pytest

from connectors.source_database.kafka_connect import ConnectApi, ConnectLocation, TaskState
from streaming.checks.check import Verdict
from streaming.checks.connector import check_connector, check_states
from streaming.checks.connector_config import Expectations, connector_of
from streaming.checks.connector_rules import check_configuration
from streaming.settings.format import Connector
from tests.golden.evidence import Capability
from tests.golden.matrix import Mark, matrix
from tests.unit.source_database.connect_server import ConnectServer
from tests.unit.streaming.checked import found

GOOD = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "topic.prefix": "shop",
    "heartbeat.interval.ms": "10000",
    "heartbeat.action.query": "UPDATE beats SET at = now()",
    "skipped.operations": "none",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.replace.null.with.default": "false",
}
CLASSES = {
    Connector.POSTGRESQL: "io.debezium.connector.postgresql.PostgresConnector",
    Connector.MYSQL: "io.debezium.connector.mysql.MySqlConnector",
    Connector.MARIADB: "io.debezium.connector.mariadb.MariaDbConnector",
    Connector.SQLSERVER: "io.debezium.connector.sqlserver.SqlServerConnector",
    Connector.ORACLE: "io.debezium.connector.oracle.OracleConnector",
    Connector.DB2: "io.debezium.connector.db2.Db2Connector",
    Connector.MONGODB: "io.debezium.connector.mongodb.MongoDbConnector",
    Connector.INFORMIX: "io.debezium.connector.informix.InformixConnector",
    Connector.VITESS: "io.debezium.connector.vitess.VitessConnector",
    Connector.SPANNER: "io.debezium.connector.spanner.SpannerConnector",
}
MARIADB = {name: value for name, value in GOOD.items() if name != "heartbeat.action.query"} | {
    "connector.class": CLASSES[Connector.MARIADB],
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
            ({"heartbeat.action.query": " "}, "heartbeat.action.query", "warning", "is not set: while nothing writes"),
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

    def test_every_connector_is_known_by_its_class(self) -> None:
        assert {connector_of({"connector.class": name}) for name in CLASSES.values()} == {*Connector} - {Connector.AUTO}
        assert connector_of({"connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector"}) is None
        assert connector_of({"connector.class": "com.example.oracle.OracleConnector"}) is None
        assert connector_of({}) is None

    @pytest.mark.parametrize("connector", CLASSES)
    def test_unsigned_numbers_are_a_matter_of_mysql_and_mariadb(self, connector: Connector) -> None:
        config = GOOD | {"connector.class": CLASSES[connector], "bigint.unsigned.handling.mode": "long"}
        asked = ("connector bigint.unsigned.handling.mode", "warning") in found(check_configuration(config, EXPECTED))
        assert asked is (connector in (Connector.MYSQL, Connector.MARIADB))

    @pytest.mark.parametrize(
        ("connector", "lost"),
        [
            (Connector.POSTGRESQL, "so the replication slot keeps the log of everything that other tables"),
            (Connector.MYSQL, "so the stored position grows old, and the binary log behind it may be removed"),
            (Connector.MARIADB, "so the stored position grows old, and the binary log behind it may be removed"),
            (Connector.ORACLE, "so the stored position grows old, and the archived redo log behind it may be removed"),
            (Connector.MONGODB, "so the stored position grows old, and the oplog behind it may be overwritten"),
            (Connector.SQLSERVER, None),
            (Connector.DB2, None),
            (Connector.INFORMIX, None),
            (Connector.VITESS, None),
            (Connector.SPANNER, None),
        ],
    )
    def test_what_a_source_at_rest_loses_without_heartbeats(self, connector: Connector, lost: str | None) -> None:
        config = MARIADB | {"connector.class": CLASSES[connector], "heartbeat.interval.ms": "0"}
        checks = list(check_configuration(config, EXPECTED))
        if lost is None:
            assert found(checks) == [("connector configuration", "ok")]
        else:
            [check] = checks
            assert (check.subject, lost in check.detail) == ("connector heartbeat.interval.ms", True)

    @pytest.mark.parametrize("connector", CLASSES)
    def test_only_postgresqls_heartbeats_have_to_write(self, connector: Connector) -> None:
        config = MARIADB | {"connector.class": CLASSES[connector]}
        asked = ("connector heartbeat.action.query", "warning") in found(check_configuration(config, EXPECTED))
        assert asked is (connector is Connector.POSTGRESQL)

    @pytest.mark.parametrize("connector", CLASSES)
    def test_truncates_are_asked_for_of_connectors_that_send_them(self, connector: Connector) -> None:
        """By the matrix of docs/connectors.md."""
        sends = matrix()[connector.value, Capability.TRUNCATE].mark is not Mark.ABSENT
        config = MARIADB | {"connector.class": CLASSES[connector], "skipped.operations": "t"}
        asked = ("connector skipped.operations", "warning") in found(check_configuration(config, EXPECTED))
        assert asked is sends

    @pytest.mark.parametrize("connector", CLASSES)
    def test_left_out_deletes_are_a_problem_of_every_connector(self, connector: Connector) -> None:
        config = MARIADB | {"connector.class": CLASSES[connector], "skipped.operations": "d"}
        assert ("connector skipped.operations", "problem") in found(check_configuration(config, EXPECTED))

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
            ({"signal.data.collection": "public.signals"}, "ok"),
            ({"signal.data.collection": "shop.mypublic.signals"}, "problem"),
            ({"signal.data.collection": "mypublic.signals"}, "problem"),
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
