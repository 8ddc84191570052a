"""`check` on real databases before anything has landed: what is wrong with a table is told before it parks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from connectors.debezium.options import DecodeOptions, TableRules
from streaming import cli
from streaming.checks.check import Check
from streaming.checks.source import check_source
from tests.rig import Converter, Database, Rig
from tests.rig.reconciling import source_section
from tests.support.bridge import Bridge
from tests.unit.source_database.connect_server import ConnectServer
from tests.unit.streaming.checked import EMPTY
from tests.unit.streaming.landed_shop import job
from tests.unit.streaming.settings_builder import settings

pytestmark = [pytest.mark.rig, pytest.mark.kafka]

UNKEYED = "has no primary key, and no UNIQUE index that the connector takes for one"
POSTGRESQL = {"connector.class": "io.debezium.connector.postgresql.PostgresConnector"}
MARIADB = {"connector.class": "io.debezium.connector.mariadb.MariaDbConnector"}


@pytest.fixture
def connect() -> Iterator[ConnectServer]:
    with ConnectServer() as server:
        yield server


def told(folder: Path, rig: Rig, db: Database, connect: ConnectServer | None, config: Mapping[str, str]) -> list[Check]:
    """What is said with a fresh ledger of a connector with this configuration; None for one that is not known."""
    source: dict[str, Any] = source_section(rig, db)
    if connect is not None:
        connect.answers["/connectors/shop/config"] = (200, dict(config))
        connect.answers["/connectors/shop/status"] = (200, {"connector": {"state": "RUNNING"}, "tasks": []})
        source["connect"] = {"url": connect.url, "connector": "shop"}
    rules = TableRules(exclude=("*.left_out",))
    return list(check_source(settings(source=source), job(folder, decode=DecodeOptions(rules=rules)), {}, EMPTY))


def of_tables(checks: list[Check]) -> dict[str, str]:
    """What is said of each table of which anything is, which is one thing."""
    said = [
        (check.subject.removeprefix("table "), check.detail) for check in checks if check.subject.startswith("table ")
    ]
    assert len(said) == len(dict(said)), said
    return dict(said)


def beginnings(found: Mapping[str, str], expected: Mapping[str, str]) -> dict[str, str]:
    """What was found, cut to the length of what is expected."""
    return {name: detail[: len(expected.get(name, detail))] for name, detail in found.items()}


def test_postgresqls_tables_are_looked_at_before_they_land(tmp_path: Path, rig: Rig, connect: ConnectServer) -> None:
    db = rig.postgres()
    for statement in (
        "CREATE TABLE silent (id int PRIMARY KEY)",
        "ALTER TABLE silent REPLICA IDENTITY NOTHING",
        "CREATE TABLE left_out (id int PRIMARY KEY)",
        "ALTER TABLE left_out REPLICA IDENTITY NOTHING",
        "CREATE TABLE keyless (id int)",
        "CREATE TABLE bag (id int)",
        "ALTER TABLE bag REPLICA IDENTITY FULL",
        "CREATE TABLE given (id int)",
        "ALTER TABLE given REPLICA IDENTITY FULL",
        "CREATE TABLE named (id int UNIQUE)",
        "ALTER TABLE named REPLICA IDENTITY FULL",
        "CREATE TABLE computed (id int)",
        "CREATE UNIQUE INDEX ON computed ((id + 1))",
        "ALTER TABLE computed REPLICA IDENTITY FULL",
        "CREATE TABLE docs (id int PRIMARY KEY, doc text)",
        "CREATE TABLE apart (id int PRIMARY KEY)",
        "CREATE TABLE whole (id int PRIMARY KEY) PARTITION BY RANGE (id)",
        "CREATE TABLE part PARTITION OF whole FOR VALUES FROM (1) TO (9)",
        "CREATE PUBLICATION sent FOR TABLE silent, left_out, keyless, bag, given, named, computed, docs, whole "
        "WITH (publish_via_partition_root = true)",
    ):
        db.execute(statement)
    config = POSTGRESQL | {"publication.name": "sent", "message.key.columns": "public.given:id"}
    checks = told(tmp_path, rig, db, connect, config)
    expected = {
        "public.silent": "has REPLICA IDENTITY NOTHING",
        "public.keyless": "has no primary key, and REPLICA IDENTITY DEFAULT",
        "public.bag": UNKEYED,
        "public.computed": UNKEYED,
        "public.docs": "has columns whose unchanged large values are not sent (doc)",
        "public.apart": "is not in the publication sent: its changes are not sent",
        "public.part": "is a part of public.whole, under whose name the publication sent sends its changes",
    }
    assert beginnings(of_tables(checks), expected) == expected
    lines = {check.subject: check.detail for check in checks}
    assert lines["replica identity"] == "is enough for 7 tables"


def test_a_publication_that_is_the_only_one_tells_of_postgresqls_tables(tmp_path: Path, rig: Rig) -> None:
    db = rig.postgres()
    db.execute("CREATE TABLE docs (id int PRIMARY KEY, doc text)")
    assert of_tables(told(tmp_path, rig, db, None, {})) == {}, "nothing tells which tables are captured"
    db.execute("CREATE PUBLICATION sent FOR TABLE docs")
    checks = told(tmp_path, rig, db, None, {})
    assert list(of_tables(checks)) == ["public.docs"]
    lines = {check.subject: check.detail for check in checks}
    assert lines["publication sent"] == "sends every change of 1 table"


def test_another_tools_configuration_tells_of_no_tables(tmp_path: Path, rig: Rig, connect: ConnectServer) -> None:
    db = rig.postgres()
    db.execute("CREATE TABLE docs (id int PRIMARY KEY, doc text)")
    config = {"connector.class": "org.apache.kafka.connect.file.FileStreamSource"}
    assert of_tables(told(tmp_path, rig, db, connect, config)) == {}


def test_mariadbs_tables_are_looked_at_before_they_land(tmp_path: Path, rig: Rig, connect: ConnectServer) -> None:
    db = rig.mariadb()
    for statement in (
        "CREATE TABLE orders (id int PRIMARY KEY)",
        "CREATE TABLE bag (id int)",
        "CREATE TABLE left_out (id int)",
        "CREATE TABLE given (id int)",
        "CREATE TABLE named (a int NOT NULL, b int NOT NULL, UNIQUE (a, b))",
        "CREATE TABLE nullable (a int NOT NULL, b int, UNIQUE (a, b))",
        "CREATE TABLE indexed (id int NOT NULL, KEY (id))",
    ):
        db.execute(statement)
    given = {"database.include.list": db.name, "message.key.columns": f"{db.name}.given:id"}
    checks = told(tmp_path, rig, db, connect, MARIADB | given)
    expected = {f"{db.name}.{table}": UNKEYED for table in ("bag", "nullable", "indexed")}
    assert beginnings(of_tables(checks), expected) == expected
    assert of_tables(told(tmp_path, rig, db, None, {})) == {}, "nothing tells which tables are captured"


@pytest.mark.spark
@pytest.mark.parametrize(
    ("postgresql", "unkeyed"), [(True, {"bag"}), (False, {"bag", "nullable"})], ids=["postgresql", "mariadb"]
)
def test_the_tables_that_check_names_are_those_that_park_for_want_of_a_key(
    rig: Rig,
    bridge: Callable[..., Bridge],
    capsys: pytest.CaptureFixture[str],
    postgresql: bool,
    unkeyed: set[str],
) -> None:
    """PostgreSQL's connector takes a UNIQUE index over columns that may be NULL for the key, MariaDB's does not."""
    db: Database = rig.postgres() if postgresql else rig.mariadb()
    for table, column in {"bag": "id int", "named": "id int NOT NULL UNIQUE", "nullable": "id int UNIQUE"}.items():
        db.execute(f"CREATE TABLE {table} ({column})")
        db.execute(f"INSERT INTO {table} VALUES (1)")
        if postgresql:
            db.execute(f"ALTER TABLE {table} REPLICA IDENTITY FULL")
    connector = rig.connect(db)
    connector.wait_streaming()
    for table in ("bag", "named", "nullable"):
        db.execute(f"INSERT INTO {table} VALUES (2)")
    connector.wait_caught_up()
    made = bridge(**rig.bridge(Converter.JSON_SCHEMA), source=source_section(rig, db, connector))
    capsys.readouterr()
    cli.main(["check", str(made.write_settings()), "--json"])
    said = json.loads(capsys.readouterr().out)
    named = {check["subject"] for check in said if check["detail"].startswith(UNKEYED)}
    assert named == {f"table {db.schema}.{table}" for table in unkeyed}
    made.run()
    parked = {table.source[2]: table.parked.reason for table in made.ledger.tables.values() if table.parked}
    assert parked == dict.fromkeys(unkeyed, "missing_key")
