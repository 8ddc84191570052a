"""The source database's password stays where it was put, where it lets `reconcile` in and where it does not.

As :mod:`tests.integration.test_canaries`, on a real PostgreSQL, without Spark.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from connectors.kafka.config import KafkaConfig
from tests.catalogue.place import Place, row
from tests.integration.canary_commands import DATABASE, Way, said, start
from tests.rig import PostgresDatabase, RigServers, until
from tests.support.canaries import Evidence, canary, searched_folders
from tests.support.cluster import Cluster
from tests.support.records import Table
from tests.support.started import StartedPrograms
from tests.unit.streaming.settings_builder import settings_text

pytestmark = [pytest.mark.rig, pytest.mark.kafka]

PASSWORD, WRONG = "database password", "wrong database password"
READER = "reader_with_a_password"
FAR = 1 << 60
"""A position that the database's log does not reach."""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory, bootstrap_servers: str, rig_servers: RigServers) -> Evidence:
    folder = tmp_path_factory.mktemp("work")
    found, cluster, server = Evidence(), Cluster(bootstrap_servers), rig_servers.postgres
    database = server.database()
    database.execute("CREATE TABLE orders (id bigint PRIMARY KEY, name text)")
    database.execute("INSERT INTO orders VALUES (1, 'new')")
    let_in(database, READER, canary(PASSWORD))
    orders = Table(cluster.topic(), database=database.name)
    record = orders.create(row(1), FAR)
    cluster.send(record)
    Place(folder).land(record)
    settings = {"settings": settings_of(folder, database, orders, cluster, PASSWORD)}
    settings["wrong"] = settings_of(folder, database, orders, cluster, WRONG)
    programs = StartedPrograms(tmp_path_factory.mktemp("programs"))
    environment = {**searched_folders(folder), **programs.environment, "CDC_BRIDGE_DEBUG": "1"}
    start(found, DATABASE, settings, folder, environment)
    server.drop(database)
    for path in settings.values():
        path.unlink()
    found.add_folder(folder)
    found.add("started programs", programs.lines())
    found.add_records(KafkaConfig(bootstrap_servers))
    return found


def let_in(database: PostgresDatabase, user: str, password: str) -> None:
    """Make a user who has to say a password, which the others of the rig need not."""
    for statement in ("CREATE ROLE {user} LOGIN PASSWORD {password}", "GRANT SELECT ON orders TO {user}"):
        query = sql.SQL(statement).format(user=sql.Identifier(user), password=sql.Literal(password))
        database.execute(query.as_string())
    [(path, rules)] = database.execute("SELECT s, pg_read_file(s) FROM current_setting('hba_file') s")
    ours = f"host all {user} all scram-sha-256\n{rules}"
    [(written,)] = database.execute("SELECT lo_from_bytea(0, %s)", ours.encode())
    database.execute("SELECT lo_export(%s, %s)", written, path)
    database.execute("SELECT pg_reload_conf()")

    def asked() -> bool:
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(host=database.host, port=database.port, dbname=database.name, user=user).close()
            return False
        return True

    until(asked, "PostgreSQL asks for the password")


def settings_of(folder: Path, database: PostgresDatabase, orders: Table, cluster: Cluster, password: str) -> Path:
    path = folder / f"{password}.yaml"
    place = f"postgresql://{READER}@{database.host}:{database.port}/{database.name}"
    path.write_text(
        settings_text(
            kafka={"bootstrap_servers": cluster.bootstrap_servers, "topics": [orders.topic]},
            landing_zone__url=f"file://{folder}/zone",
            state={"url": f"file://{folder}/state"},
            source={"database": {"url": place, "password": canary(password), "unverified": True}},
        )
    )
    return path


@pytest.mark.parametrize("name", [PASSWORD, WRONG])
def test_it_is_seen_nowhere(evidence: Evidence, name: str) -> None:
    assert evidence.finds(name) == []


@pytest.mark.parametrize("way", DATABASE, ids=lambda way: way.typed)
def test_it_was_used(evidence: Evidence, way: Way) -> None:
    assert (evidence.codes[way.typed], way.says in said(evidence, way)) == (way.code, True), said(evidence, way)
