"""What a real PostgreSQL's catalog shows of tables that come and go, nothing between it and the code."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from connectors.landing_zone.ledger.state import Relation
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.database import SourceDatabase
from connectors.source_database.errors import DatabaseRequestError, DatabaseUnreachableError
from connectors.source_database.location import DatabaseKind, DatabaseLocation
from connectors.source_database.relations import Catalog, DatabaseIdentity, open_catalog
from streaming.lifecycle.catalog_look import Gone, Mirrored, Renamed, Replaced, Seen, look
from tests.rig import PostgresDatabase, Rig

pytestmark = [pytest.mark.rig, pytest.mark.kafka]


def location(db: PostgresDatabase, user: str, request_timeout: float = 60.0) -> DatabaseLocation:
    return DatabaseLocation(
        DatabaseKind.POSTGRESQL, db.host, db.port, db.name, user, db.password, request_timeout=request_timeout
    )


@pytest.fixture
def db(rig: Rig) -> PostgresDatabase:
    return rig.postgres()


@pytest.fixture
def catalog(db: PostgresDatabase) -> Iterator[Catalog]:
    """As a user sees it who may do nothing but connect, and whose transactions see one moment by default."""
    user = f"reader_{db.name}"
    db.execute(f"CREATE ROLE {user} LOGIN")
    db.execute(f"ALTER ROLE {user} SET default_transaction_isolation = 'repeatable read'")
    with open_catalog(SourceDatabase(location(db, user))) as opened:
        yield opened


def mirrored(db: PostgresDatabase, table: str, relation: Relation | None = None, schema: str = "public") -> Mirrored:
    return Mirrored(f"{schema}.{table}", 1, db.name, DatabaseTable(schema, table), relation)


def seen(catalog: Catalog, db: PostgresDatabase, table: str, schema: str = "public") -> Mirrored:
    """The table as it is known after a first look."""
    [finding] = look(catalog, [mirrored(db, table, schema=schema)], {}).findings
    assert isinstance(finding, Seen)
    return mirrored(db, table, finding.relation, schema)


def test_a_database_is_known_by_its_storage_its_oid_and_the_logs_timeline(
    catalog: Catalog, db: PostgresDatabase
) -> None:
    [row] = db.execute(
        "SELECT (SELECT system_identifier FROM pg_control_system()), (SELECT oid::bigint FROM pg_database WHERE "
        "datname = current_database()), (SELECT lpad(to_hex(timeline_id), 8, '0') FROM pg_control_checkpoint())"
    )
    assert catalog.identity() == DatabaseIdentity(db.name, "/".join(str(word) for word in row))


def test_a_table_is_the_same_whatever_is_done_to_it_but_a_drop(catalog: Catalog, db: PostgresDatabase) -> None:
    db.execute("CREATE TABLE t (id int PRIMARY KEY, name text)")
    db.execute("CREATE TABLE whole (id int) PARTITION BY RANGE (id)")
    db.execute("CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (9)")
    known = [seen(catalog, db, table) for table in ("t", "whole", "part")]
    for statement in (
        "TRUNCATE t",
        "ALTER TABLE t ALTER COLUMN name TYPE varchar(9)",
        "ALTER TABLE t DROP COLUMN name",
        "CLUSTER t USING t_pkey",
        "VACUUM FULL t",
        "ALTER TABLE t SET UNLOGGED",
        "ALTER TABLE whole DETACH PARTITION part",
    ):
        db.execute(statement)
    assert look(catalog, known, {}).findings == ()


def test_a_hostile_name_is_a_name(catalog: Catalog, db: PostgresDatabase) -> None:
    name = 'we%ird:"`t'
    db.execute('CREATE TABLE "we%ird:""`t" (id int)')
    assert seen(catalog, db, name).relation is not None


def test_a_new_name_and_a_new_schema_are_seen(catalog: Catalog, db: PostgresDatabase) -> None:
    db.execute("CREATE SCHEMA s")
    for table in ("t", "s.moved", "u"):
        db.execute(f"CREATE TABLE {table} (id int)")
    one, two, three = seen(catalog, db, "t"), seen(catalog, db, "moved", "s"), seen(catalog, db, "u")
    db.execute("ALTER TABLE t RENAME TO t2")
    db.execute("ALTER SCHEMA s RENAME TO s2")
    db.execute("ALTER TABLE u SET SCHEMA s2")
    findings = look(catalog, [one, two, three], {}).findings
    assert [type(each) for each in findings] == [Renamed] * 3
    names = [each.relation.renamed for each in findings if isinstance(each, Renamed)]
    assert names == ["public.t2", "s2.moved", "s2.u"]


def test_a_view_in_its_place_is_no_table(catalog: Catalog, db: PostgresDatabase) -> None:
    db.execute("CREATE TABLE t (id int)")
    one = seen(catalog, db, "t")
    db.transaction("DROP TABLE t", "CREATE VIEW t AS SELECT 1 AS id")
    [finding] = look(catalog, [one], {}).findings
    assert isinstance(finding, Gone)


def test_the_place_of_a_drop_lies_behind_what_was_written_and_before_what_comes(
    catalog: Catalog, db: PostgresDatabase
) -> None:
    db.execute("CREATE TABLE t (id int)")
    one = seen(catalog, db, "t")
    db.transaction("INSERT INTO t VALUES (1)", "DROP TABLE t")
    moment = "SELECT pg_current_wal_insert_lsn() - '0/0', (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    [before] = db.execute(moment)
    [finding] = look(catalog, [one], {}).findings
    [behind] = db.execute(moment)
    assert isinstance(finding, Gone)
    assert before[0] <= finding.end.lsn <= behind[0]
    assert before[1] <= finding.end.at_ms <= behind[1]


def test_a_name_that_an_open_transaction_takes_is_waited_for(catalog: Catalog, db: PostgresDatabase) -> None:
    for table in ("t", "u", "other"):
        db.execute(f"CREATE TABLE {table} (id int)")
    one, two = seen(catalog, db, "t"), seen(catalog, db, "u")
    with db.connect(autocommit=False) as writer:
        writer.execute("INSERT INTO other VALUES (1)")
        db.transaction("DROP TABLE t", "DROP TABLE u")
        first = look(catalog, [one, two], {})
        assert (first.findings, sorted(first.missing or {})) == ((), ["public.t", "public.u"])
        writer.execute("CREATE TABLE t (id int)")
        second = look(catalog, [one, two], first.missing or {})
        assert (second.findings, second.missing) == ((), first.missing)
        writer.commit()
    third = look(catalog, [one, two], second.missing or {})
    assert [type(each) for each in third.findings] == [Replaced, Gone]
    assert first.missing is not None
    assert third.findings[1] == Gone(two, first.missing["public.u"].end)


def test_a_slow_answer_and_none_at_all_end_a_look(db: PostgresDatabase) -> None:
    bounded = SourceDatabase(location(db, db.user, request_timeout=0.2))
    with pytest.raises(DatabaseRequestError, match="statement timeout"), open_catalog(bounded) as opened:
        opened.connection.execute(sa.text("SELECT pg_sleep(20)"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = DatabaseLocation(
            DatabaseKind.POSTGRESQL, "127.0.0.1", silent.getsockname()[1], "shop", connect_timeout=2.0
        )
        with pytest.raises(DatabaseUnreachableError), open_catalog(SourceDatabase(place)):
            raise AssertionError("nobody answers")


def test_a_column_keeps_its_number_under_whatever_name(catalog: Catalog, db: PostgresDatabase) -> None:
    db.execute('CREATE TABLE numbered (id int PRIMARY KEY, "Näme" text, gone int)')
    [oid] = catalog.tables([DatabaseTable("public", "numbered")], [])
    assert catalog.columns([oid]) == {oid: {1: "id", 2: "Näme", 3: "gone"}}
    db.execute('ALTER TABLE numbered RENAME COLUMN "Näme" TO title')
    db.execute("ALTER TABLE numbered DROP COLUMN gone")
    db.execute("ALTER TABLE numbered ADD COLUMN gone int")
    assert catalog.columns([oid, 1]) == {oid: {1: "id", 2: "title", 4: "gone"}}
    db.execute("DROP TABLE numbered")
    assert catalog.columns([oid]) == {}
