"""What `check` finds out about the source database: every verdict with its remedy."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.mysql import BinaryLog, UnreadableColumns
from connectors.source_database.position import LogPosition
from connectors.source_database.postgresql import Publication, PublishedTable, ReplicaIdentity, ReplicatedTable
from connectors.source_database.replication import ReplicationSlot
from streaming.checks.captured import Captured
from streaming.checks.check import Verdict
from streaming.checks.connector_config import Expectations
from streaming.checks.publication import check_publication
from streaming.checks.source import check_source, expectations
from streaming.checks.source_mysql import check_binary_log, check_columns
from streaming.checks.source_postgresql import (
    check_dropped,
    check_identities,
    check_slots,
    check_wal_level,
    without_key,
)
from tests.unit.source_database.connect_server import ConnectServer
from tests.unit.streaming.checked import found
from tests.unit.streaming.landed_shop import job, two_batches
from tests.unit.streaming.settings_builder import settings

ORDERS = DatabaseTable("public", "orders")
PART = DatabaseTable("public", "orders_1")
LINES = DatabaseTable("public", "lines")
CAPTURED = Captured("public.orders", ORDERS)


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
    def test_whether_dropped_tables_are_seen(self) -> None:
        assert found([check_dropped(standby=False), check_dropped(standby=True)]) == [
            ("dropped and renamed tables", "ok"),
            ("dropped and renamed tables", "warning"),
        ]

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
        primary_key = ("id",) if key else ()
        [check] = check_identities([ReplicatedTable(ORDERS, identity, toastable, primary_key)], [CAPTURED])
        assert (check.verdict.value, check.detail.startswith(detail)) == (verdict, True)
        if verdict != "ok":
            assert 'ALTER TABLE "public"."orders" REPLICA IDENTITY FULL' in check.remedy

    @pytest.mark.parametrize(
        ("identity", "verdict", "detail"),
        [
            (ReplicaIdentity.FULL, "ok", "is enough for 1 table"),
            (
                ReplicaIdentity.DEFAULT,
                "warning",
                "has columns whose unchanged large values are not sent (doc): an update of such a row parks the table "
                "(so its parts public.orders_2, public.orders_3, public.orders_4 and 1 more)",
            ),
            (ReplicaIdentity.NOTHING, "problem", "has REPLICA IDENTITY NOTHING: the database refuses its updates and"),
        ],
    )
    def test_of_a_partitioned_table_the_replica_identities_of_its_parts_count(
        self, identity: ReplicaIdentity, verdict: str, detail: str
    ) -> None:
        parts = {PART: ReplicaIdentity.FULL}
        parts |= {DatabaseTable("public", f"orders_{number}"): identity for number in range(2, 6)}
        known = ReplicatedTable(ORDERS, ReplicaIdentity.FULL, ("doc",), ("id",), parts=parts)
        [check] = check_identities([known], [CAPTURED])
        assert (check.verdict.value, check.detail[: len(detail)]) == (verdict, detail)
        if verdict != "ok":
            assert "ALTER TABLE ... REPLICA IDENTITY FULL for each part, also for new ones" in check.remedy

    def test_large_values_are_no_matter_where_the_policy_has_another_answer(self) -> None:
        known = [ReplicatedTable(ORDERS, ReplicaIdentity.DEFAULT, ("doc",), ("id",))]
        tolerant = Captured("public.orders", ORDERS, parks_unavailable=False)
        assert found(check_identities(known, [tolerant])) == [("replica identity", "ok")]

    @pytest.mark.parametrize(
        ("known", "unkeyed"),
        [
            (ReplicatedTable(ORDERS, ReplicaIdentity.FULL), True),
            (ReplicatedTable(ORDERS, ReplicaIdentity.FULL, primary_key=("id",)), False),
            # The connector takes a UNIQUE index for the key then.
            (ReplicatedTable(ORDERS, ReplicaIdentity.FULL, unique=True), False),
            (ReplicatedTable(ORDERS, ReplicaIdentity.DEFAULT, parts={PART: ReplicaIdentity.FULL}), True),
            (ReplicatedTable(ORDERS, ReplicaIdentity.FULL, parts={PART: ReplicaIdentity.DEFAULT}), False),
            # Of these, another line says what is wrong.
            (ReplicatedTable(ORDERS, ReplicaIdentity.DEFAULT), False),
            (ReplicatedTable(ORDERS, ReplicaIdentity.NOTHING), False),
        ],
    )
    def test_tables_whose_changes_come_without_a_key(self, known: ReplicatedTable, unkeyed: bool) -> None:
        assert (ORDERS in without_key([known])) is unkeyed

    def test_a_table_that_is_not_in_the_database(self) -> None:
        assert found(check_identities([], [CAPTURED])) == [("table public.orders", "warning")]

    def published(self, publication: Publication, *columns: str) -> list[tuple[str, str]]:
        known = ReplicatedTable(ORDERS, ReplicaIdentity.DEFAULT, columns=columns or ("id", "name"))
        return found(check_publication([publication], "dbz", [CAPTURED], [known]))

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

    @pytest.mark.parametrize(
        ("table", "published", "detail"),
        [
            (ORDERS, ORDERS, "sends every change of 1 table"),
            (PART, PART, "sends every change of 1 table"),
            (
                ORDERS,
                PART,
                "is partitioned, and the publication dbz sends its changes under the names of its parts "
                "(public.orders_1): what a snapshot lands under its own name never changes",
            ),
            (
                PART,
                ORDERS,
                "is a part of public.orders, under whose name the publication dbz sends its changes: what a snapshot "
                "lands under its own name never changes",
            ),
            (ORDERS, LINES, "is not in the publication dbz: its changes are not sent"),
            (PART, LINES, "is not in the publication dbz: its changes are not sent"),
        ],
    )
    def test_a_partitioned_table_is_published_under_its_own_name_or_under_those_of_its_parts(
        self, table: DatabaseTable, published: DatabaseTable, detail: str
    ) -> None:
        known = [
            ReplicatedTable(ORDERS, ReplicaIdentity.DEFAULT, parts={PART: ReplicaIdentity.DEFAULT}),
            ReplicatedTable(PART, ReplicaIdentity.DEFAULT, wholes=(ORDERS,)),
        ]
        publication = Publication("dbz", True, True, True, True, (PublishedTable(published, (), ""),))
        [check] = check_publication([publication], "dbz", [Captured(str(table), table)], known)
        assert check.detail == detail
        assert check.verdict.value == ("ok" if table == published else "problem")

    def test_a_table_that_is_gone_is_not_missed_in_the_publication(self) -> None:
        publication = Publication("dbz", True, True, True, True, ())
        assert found(check_publication([publication], "dbz", [CAPTURED], [])) == [("publication dbz", "ok")]

    def test_a_publication_s_name_is_one_word_of_every_statement(self) -> None:
        name = 'my"pub'
        known = [
            ReplicatedTable(ORDERS, ReplicaIdentity.DEFAULT, columns=("id",), parts={PART: ReplicaIdentity.DEFAULT}),
            ReplicatedTable(LINES, ReplicaIdentity.DEFAULT, columns=("id", "name")),
        ]
        tables = [Captured(str(table), table) for table in (ORDERS, LINES)]
        missing = check_publication([], name, tables, known)
        nothing = check_publication([Publication(name, True, True, False, False, ())], name, tables, known)
        sent = (PublishedTable(PART, ("id",), ""), PublishedTable(LINES, ("id",), ""))
        parts = check_publication([Publication(name, True, True, True, True, sent)], name, tables, known)
        told = [check.remedy for check in (*missing, *nothing, *parts)]
        said = [re.findall(r'PUBLICATION ((?:[^" ]|"(?:[^"]|"")*")+) (?:FOR|SET|ADD) ', one) for one in told]
        assert said == [['"my""pub"']] * 7

    def test_which_publication(self) -> None:
        one = Publication("mine", True, True, True, True, ())
        assert found(check_publication([one], None, [], [])) == [("publication mine", "ok")]
        assert found(check_publication([one, one], None, [], [])) == [("publication", "ok")]
        assert found(check_publication([one], "dbz", [], [])) == [("publication dbz", "problem")]


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
            (BinaryLog(True, "ROW", "FULL", "", 7, 0, True), "problem", "log_bin_compress is ON: the connector passes"),
        ],
    )
    def test_the_binary_log(self, log: BinaryLog, verdict: str, detail: str) -> None:
        checks = list(check_binary_log(log))
        assert found(checks) == [("binary log", verdict)]
        assert checks[0].detail.startswith(detail)

    def test_columns_that_end_the_connector(self) -> None:
        assert list(check_columns(UnreadableColumns())) == []
        checks = list(check_columns(UnreadableColumns(("shop.hosts.ip", "shop.hosts.v6"), ("crm.notes.body",))))
        assert found(checks) == [("source columns", "problem")] * 2
        assert [check.detail.partition(" ends the")[0] for check in checks] == [
            "shop.hosts.ip, shop.hosts.v6: a column of type inet4 or inet6 anywhere on the server",
            "crm.notes.body: the first change of a table with a COMPRESSED column",
        ]


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
        chosen = settings(source__database={"url": "postgresql://u@localhost/shop", "password_file": str(secret)})
        assert found(check_source(chosen, job(tmp_path), {}, state)) == [("source", "problem")]

    @pytest.mark.parametrize(
        ("connector", "config", "verdict"),
        [
            ("auto", {}, "ok"),
            ("mariadb", {"connector.class": "io.debezium.connector.mariadb.MariaDbConnector"}, "ok"),
            ("postgresql", {}, "warning"),
            ("auto", {"connector.class": "io.debezium.connector.postgresql.PostgresConnector"}, "warning"),
        ],
    )
    def test_without_the_database_nobody_hears_of_drops_in_postgresql(
        self, tmp_path: Path, connector: str, config: dict[str, str], verdict: str
    ) -> None:
        state = two_batches(tmp_path).ledger.state
        with ConnectServer() as server:
            server.answers["/connectors/shop/config"] = (200, config)
            server.answers["/connectors/shop/status"] = (200, {"connector": {"state": "RUNNING"}, "tasks": []})
            chosen = settings(connector=connector, source__connect={"url": server.url, "connector": "shop"})
            checks = dict(found(check_source(chosen, job(tmp_path), {}, state)))
        assert checks["source database"] == verdict

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
