"""What `check` finds out about the connector and the source database: every verdict with its remedy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.kafka_connect import ConnectApi, ConnectLocation, TaskState
from connectors.source_database.mysql import BinaryLog
from connectors.source_database.position import LogPosition
from connectors.source_database.postgresql import Publication, PublishedTable, ReplicaIdentity, ReplicatedTable
from connectors.source_database.replication import ReplicationSlot
from streaming.checks import Check, Verdict
from streaming.checks.connector import check_connector, check_states
from streaming.checks.connector_rules import Expectations, check_configuration
from streaming.checks.source import captured, check_source, expectations
from streaming.checks.source_mysql import check_binary_log, check_columns
from streaming.checks.source_postgresql import (
    Captured,
    check_identities,
    check_publication,
    check_slots,
    check_wal_level,
)
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn, OnTruncate, OnUnavailable
from tests.support.records import Table
from tests.unit.source_database.connect_server import ConnectServer
from tests.unit.streaming.landed_shop import TOPIC, job, landed, two_batches
from tests.unit.streaming.settings_builder import settings

ORDERS = DatabaseTable("public", "orders")
CAPTURED = Captured("public.orders", ORDERS)
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


def found(checks: Iterable[Check]) -> list[tuple[str, str]]:
    """(subject, verdict) of each; those that are not ok have a remedy."""
    checks = list(checks)
    assert all(bool(check.remedy) == (check.verdict is not Verdict.OK) for check in checks)
    return [(check.subject, check.verdict.value) for check in checks]


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
        wanted = Expectations(topics=EXPECTED.topics, signal_table="public.signals")
        assert [one for _, one in found(check_configuration(GOOD | more, wanted))] == [verdict]

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


def slot(**changes: Any) -> ReplicationSlot:
    good = ReplicationSlot(
        name="debezium",
        plugin="pgoutput",
        active=True,
        wal_status="reserved",
        confirmed=LogPosition(0, 90),
        sent=LogPosition(0, 100),
        flushed=LogPosition(0, 100),
        held_bytes=4_000,
    )
    return replace(good, **changes)


class TestPostgresql:
    def test_the_logs_level(self) -> None:
        assert found([check_wal_level("logical"), check_wal_level("replica")]) == [
            ("wal_level", "ok"),
            ("wal_level", "problem"),
        ]

    @pytest.mark.parametrize(
        ("changes", "verdict", "detail"),
        [
            ({}, "ok", "is read; it holds 4.0 kB of the log"),
            ({"held_bytes": None}, "ok", "is read"),
            ({"held_bytes": 2_000_000_000}, "warning", "is read, but far behind; it holds 2.0 GB of the log"),
            ({"active": False}, "warning", "is read by nobody; it holds 4.0 kB of the log, and the log grows"),
            ({"wal_status": "unreserved"}, "problem", "is about to be lost: the next checkpoint"),
            ({"wal_status": "lost"}, "problem", "is lost: the log that the connector still needs was removed"),
        ],
    )
    def test_the_replication_slot(self, changes: dict[str, object], verdict: str, detail: str) -> None:
        checks = list(check_slots([slot(**changes), slot(name="other", wal_status="lost")], "debezium"))
        assert found(checks) == [("replication slot debezium", verdict)]
        assert checks[0].detail.startswith(detail)

    def test_without_a_slot_nothing_keeps_the_log(self) -> None:
        assert found(check_slots([], "debezium")) == [("replication slot debezium", "problem")]
        assert found(check_slots([], None)) == [("replication slots", "problem")]

    @pytest.mark.parametrize(
        ("identity", "key", "toastable", "verdict", "detail"),
        [
            (ReplicaIdentity.FULL, False, ("doc",), "ok", "is enough for 1 table"),
            (ReplicaIdentity.DEFAULT, True, (), "ok", "is enough for 1 table"),
            (ReplicaIdentity.DEFAULT, True, ("doc",), "warning", "has columns whose unchanged large values are not"),
            (ReplicaIdentity.INDEX, False, ("doc",), "warning", "has columns whose unchanged large values are not"),
            (ReplicaIdentity.DEFAULT, False, (), "warning", "has no primary key, and REPLICA IDENTITY DEFAULT"),
            (ReplicaIdentity.NOTHING, True, (), "problem", "has REPLICA IDENTITY NOTHING"),
        ],
    )
    def test_replica_identity(
        self, identity: ReplicaIdentity, key: bool, toastable: tuple[str, ...], verdict: str, detail: str
    ) -> None:
        [check] = check_identities([ReplicatedTable(ORDERS, identity, key, toastable)], [CAPTURED])
        assert (check.verdict.value, check.detail.startswith(detail)) == (verdict, True)
        if verdict != "ok":
            assert 'ALTER TABLE "public"."orders" REPLICA IDENTITY FULL' in check.remedy

    def test_large_values_are_no_matter_where_the_policy_has_another_answer(self) -> None:
        known = [ReplicatedTable(ORDERS, ReplicaIdentity.DEFAULT, True, ("doc",))]
        tolerant = Captured("public.orders", ORDERS, parks_unavailable=False)
        assert found(check_identities(known, [tolerant])) == [("replica identity", "ok")]

    def test_a_table_that_is_not_in_the_database(self) -> None:
        assert found(check_identities([], [CAPTURED])) == [("table public.orders", "warning")]

    def published(self, publication: Publication, *columns: str) -> list[tuple[str, str]]:
        return found(check_publication([publication], "dbz", [CAPTURED], {ORDERS: columns or ("id", "name")}))

    def test_the_publication(self) -> None:
        whole = PublishedTable(ORDERS, ("id", "name"), "")
        assert self.published(Publication("dbz", True, True, True, True, (whole,))) == [("publication dbz", "ok")]
        old = PublishedTable(ORDERS, None, "")
        assert self.published(Publication("dbz", True, True, True, True, (old,))) == [("publication dbz", "ok")]
        assert self.published(Publication("dbz", True, True, True, True, ())) == [("table public.orders", "problem")]
        part = PublishedTable(ORDERS, ("id",), "(id > 5)")
        assert self.published(Publication("dbz", True, True, True, True, (part,))) == [
            ("table public.orders", "warning"),
            ("table public.orders", "warning"),
        ]
        assert self.published(Publication("dbz", True, True, False, False, (whole,))) == [
            ("publication dbz", "problem"),
            ("publication dbz", "warning"),
        ]

    def test_a_table_that_is_gone_is_not_missed_in_the_publication(self) -> None:
        publication = Publication("dbz", True, True, True, True, ())
        assert found(check_publication([publication], "dbz", [CAPTURED], {})) == [("publication dbz", "ok")]

    def test_which_publication(self) -> None:
        one = Publication("mine", True, True, True, True, ())
        assert found(check_publication([one], None, [], {})) == [("publication mine", "ok")]
        assert found(check_publication([one, one], None, [], {})) == [("publication", "ok")]
        assert found(check_publication([one], "dbz", [], {})) == [("publication dbz", "problem")]


class TestMysql:
    GOOD = BinaryLog(True, "ROW", "FULL", "", 7, 864_000)

    @pytest.mark.parametrize(
        ("log", "verdict", "detail"),
        [
            (GOOD, "ok", "holds whole rows; its files are kept for 10 d 0 h"),
            (BinaryLog(True, "ROW", "FULL", "", 7, 0), "ok", "holds whole rows; its files are kept for ever"),
            (BinaryLog(True, "ROW", "FULL", "", 7, None), "ok", "holds whole rows; how long its files are kept is not"),
            (BinaryLog(False, "ROW", "FULL", "", 7, 0), "problem", "is off: no change can be read"),
            (BinaryLog(True, "MIXED", "FULL", "", 7, 0), "problem", "binlog_format is MIXED: statements are logged"),
            (BinaryLog(True, "ROW", "MINIMAL", "", 7, 0), "problem", "binlog_row_image is MINIMAL: unchanged columns"),
            (BinaryLog(True, "ROW", "FULL", "PARTIAL_JSON", 7, 0), "problem", "binlog_row_value_options has PARTIAL"),
            (BinaryLog(True, "ROW", "FULL", "", 0, 0), "problem", "server_id is 0: nobody may read the log"),
            (BinaryLog(True, "ROW", "FULL", "", 7, 3_600), "warning", "its files are kept for 1 h 0 min only"),
        ],
    )
    def test_the_binary_log(self, log: BinaryLog, verdict: str, detail: str) -> None:
        checks = list(check_binary_log(log))
        assert found(checks) == [("binary log", verdict)]
        assert checks[0].detail.startswith(detail)

    def test_columns_that_end_the_connector(self) -> None:
        assert list(check_columns([])) == []
        assert found(check_columns(["shop.hosts.ip"])) == [("source columns", "problem")]


class TestSource:
    def test_without_settings_for_it_nothing_is_looked_at(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        [check] = check_source(settings(), job(tmp_path), {}, state)
        assert (check.subject, check.verdict) == ("source", Verdict.OK)

    def test_a_database_that_does_not_answer_is_a_problem(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        chosen = settings(source__database={"url": "postgresql://u@127.0.0.1:1/shop"})
        assert found(check_source(chosen, job(tmp_path), {}, state)) == [
            ("connector", "ok"),
            ("source database", "problem"),
        ]

    def test_a_secrets_file_that_cannot_be_used_is_a_problem(self, tmp_path: Path) -> None:
        secret = tmp_path / "password"
        secret.touch()
        state = two_batches(tmp_path).ledger.state
        chosen = settings(source__database={"url": "postgresql://u@h/shop", "password_file": str(secret)})
        assert found(check_source(chosen, job(tmp_path), {}, state)) == [("source", "problem")]

    def test_what_the_settings_take_for_granted(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        chosen = settings(
            source={"topic_prefix": "shop", "signals": {"topic": "s"}, "notifications_topic": "n"},
            format__placeholder="gone",
            tables__defaults={"declared": {"id": "int64"}, "policies": {"on_truncate": "ignore"}},
        )
        assert expectations(chosen, {}, state) == Expectations(
            prefix="shop",
            placeholder="gone",
            signal_topic="s",
            notifications_topic="n",
            wants_truncates=False,
            typed=True,
        )

    def test_the_tables_are_the_ledgers(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        options = TableOptions(on_unavailable=OnUnavailable.NULL, on_truncate=OnTruncate.IGNORE)
        assert captured(job(tmp_path, defaults=options), state) == (
            Captured("public.orders", ORDERS, parks_unavailable=False, wants_truncates=False),
        )
        assert TOPIC in state.topics

    def test_every_source_of_a_merged_table_is_looked_at(self, tmp_path: Path) -> None:
        east, west = (Table(f"{name}.orders", database=name, run=name) for name in ("east", "west"))
        options = TableOptions(merge_sources=True, metadata_columns=(MetadataColumn.SOURCE_DATABASE,))
        shards = landed(
            tmp_path,
            [east.create({"id": 1, "name": "a"}, lsn=1), west.create({"id": 1, "name": "a"}, lsn=1)],
            defaults=options,
        )
        ignoring = replace(options, on_truncate=OnTruncate.IGNORE)
        asked = job(tmp_path, defaults=options, tables=(("west.*", ignoring),))
        assert captured(asked, shards.ledger.state) == (
            Captured("public.orders", ORDERS),
            Captured("public.orders", ORDERS, wants_truncates=False),
        )
