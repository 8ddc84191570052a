"""The source database read as it is: real PostgreSQL and MariaDB, nothing between them and the code."""

from __future__ import annotations

import pytest

from connectors.source_database.altered_columns import TextColumn, text_columns
from connectors.source_database.catalog import DatabaseTable, SourceColumn, columns_of
from connectors.source_database.column_types import ColumnType, SourceType
from connectors.source_database.database import SourceDatabase
from connectors.source_database.errors import (
    DatabaseAccessError,
    DatabaseRequestError,
    DatabaseUnreachableError,
    SourceTableError,
)
from connectors.source_database.location import location_of_url
from connectors.source_database.mysql import TableKey, UnreadableColumns, binary_log, table_keys, unreadable_columns
from connectors.source_database.postgresql import ReplicaIdentity, publications, replicated_tables, setting
from connectors.source_database.replication import BinlogReach, SlotReach, replication_slots
from connectors.source_database.snapshot import snapshot
from tests.rig import Database, Rig

pytestmark = [pytest.mark.rig, pytest.mark.kafka]

HOSTILE = 'we%ird:"`t'


@pytest.fixture(params=["postgresql", "mariadb"])
def db(request: pytest.FixtureRequest, rig: Rig) -> Database:
    return rig.postgres() if request.param == "postgresql" else rig.mariadb()


def opened(db: Database, **changes: str) -> SourceDatabase:
    kind = "postgresql" if db.schema == "public" else "mariadb"
    place = {"user": db.user, "host": db.host, "port": db.port, "name": db.name, **changes}
    url = "{kind}://{user}@{host}:{port}/{name}".format(kind=kind, **place)
    return SourceDatabase(location_of_url(url, password=db.password))


def quoted(db: Database, name: str) -> str:
    return f'"{name.replace(chr(34), chr(34) * 2)}"' if db.schema == "public" else f"`{name.replace('`', '``')}`"


def numbers(db: Database, count: int) -> DatabaseTable:
    """A table of so many rows under a name that only quoting makes harmless."""
    table, column = quoted(db, HOSTILE), quoted(db, HOSTILE)
    db.execute(f"CREATE TABLE {table} ({column} int PRIMARY KEY, note varchar(20))")
    insert = f"INSERT INTO {table.replace('%', '%%')} VALUES (%s, %s)"
    db.execute_many(insert, [(number, f"n%{number}") for number in range(count)])
    return DatabaseTable(db.schema, HOSTILE)


def test_any_name_is_quoted_and_rows_come_in_ranges_of_the_key(db: Database) -> None:
    table = numbers(db, 25)
    database = opened(db)
    columns = columns_of(database, table)
    assert [(column.name, column.type.family) for column in columns] == [
        (HOSTILE, SourceType.INTEGER),
        ("note", SourceType.TEXT),
    ]
    with snapshot(database) as seen:
        ranges = list(seen.rows(table, columns, [HOSTILE], 10))
        assert [len(keys) for keys, _ in ranges] == [10, 10, 5]
        assert [key for keys, _ in ranges for key in keys] == [str(number) for number in range(25)]
        [found] = seen.rows_with(table, columns, [HOSTILE], [["3"], ["24"], ["99"]])
        assert sorted(zip(*found, strict=True)) == [("24", "n%24"), ("3", "n%3")]
        assert list(seen.rows_with(table, columns, [HOSTILE], [["99"]])) == []


def test_a_snapshot_sees_one_moment_and_its_position_lies_at_or_behind_it(db: Database) -> None:
    table = numbers(db, 3)
    database = opened(db)
    columns = columns_of(database, table)
    with snapshot(database) as seen:
        first = seen.position
        db.execute(f"DELETE FROM {quoted(db, HOSTILE)}")
        [(keys, _)] = seen.rows(table, columns, [HOSTILE])
        assert len(keys) == 3
    with snapshot(database) as seen:
        assert list(seen.rows(table, columns, [HOSTILE])) == []
        assert first is not None
        assert seen.position is not None
        assert seen.position > first


def test_nothing_can_be_written(db: Database) -> None:
    db.execute("CREATE TABLE t (id int)")
    with pytest.raises(DatabaseRequestError, match=r"(?i)read[- ]only"), opened(db).connection() as connection:
        connection.exec_driver_sql("INSERT INTO t VALUES (1)")
    assert db.execute("SELECT * FROM t") == []
    assert opened(db).query("SELECT 1 AS one") == [{"one": 1}], "what it is for, it may"


def test_a_table_that_is_not_there_is_an_error_with_a_remedy(db: Database) -> None:
    with pytest.raises(SourceTableError) as caught:
        columns_of(opened(db), DatabaseTable(db.schema, "none"))
    assert caught.value.message == "the source database has no such table, or this user may not see it"
    assert caught.value.remedy.startswith("check source.database.url (is it the database that the connector reads?)")
    db.execute("CREATE TABLE none (id int)")
    assert [column.name for column in columns_of(opened(db), DatabaseTable(db.schema, "none"))] == ["id"]


def test_a_database_that_refuses_is_told_from_one_that_is_away(db: Database) -> None:
    with pytest.raises(DatabaseAccessError, match="the source database refuses a connection"):
        opened(db, user="nobody_at_all").query("SELECT 1 AS one")
    with pytest.raises(DatabaseAccessError, match="the source database refuses a connection"):
        opened(db, name="no_such_database").query("SELECT 1 AS one")
    with pytest.raises(DatabaseUnreachableError, match="cannot be asked now") as caught:
        opened(db, port="1").query("SELECT 1 AS one")
    assert "source.database.url" in caught.value.remedy
    assert opened(db).query("SELECT 1 AS one") == [{"one": 1}]


def test_a_user_that_is_refused_reads_once_it_has_what_the_remedy_asks_for(db: Database) -> None:
    user = f"reader_of_{db.name}"
    if db.schema == "public":
        make, let_in = f"CREATE ROLE {user} NOLOGIN", f"ALTER ROLE {user} LOGIN PASSWORD '{db.password}'"
        drop = f"DROP OWNED BY {user}; DROP ROLE {user}"
    else:
        make, let_in = f"CREATE USER {user} IDENTIFIED BY 'other'", f"ALTER USER {user} IDENTIFIED BY '{db.password}'"
        drop = f"DROP USER {user}"
    db.execute("CREATE TABLE t (id int)")
    db.execute("INSERT INTO t VALUES (7)")
    db.execute(make)
    reader = opened(db, user=user)
    try:
        for asked_for, given in (("password", let_in), ("needs SELECT on the tables", f"GRANT SELECT ON t TO {user}")):
            with pytest.raises(DatabaseAccessError) as caught:
                reader.query("SELECT id FROM t")
            assert asked_for in caught.value.remedy
            db.execute(given)
        assert reader.query("SELECT id FROM t") == [{"id": 7}]
    finally:
        db.execute(drop)


def test_postgresql_tells_of_domains_enums_and_generated_columns(rig: Rig) -> None:
    db = rig.postgres()
    db.execute("CREATE DOMAIN price AS numeric(10, 2)")
    db.execute("CREATE DOMAIN dear AS price")
    db.execute("CREATE TYPE mood AS ENUM ('sad')")
    db.execute("CREATE TABLE t (id int PRIMARY KEY, p dear, m mood, g int GENERATED ALWAYS AS (id * 2) STORED)")
    assert columns_of(opened(db), DatabaseTable("public", "t")) == (
        SourceColumn("id", ColumnType(SourceType.INTEGER, "integer"), nullable=False),
        SourceColumn("p", ColumnType(SourceType.NUMERIC, "numeric(10,2)")),
        SourceColumn("m", ColumnType(SourceType.TEXT, "mood")),
        SourceColumn("g", ColumnType(SourceType.INTEGER, "integer"), generated=True),
    )


def test_postgresql_tells_of_its_replication(rig: Rig) -> None:
    db = rig.postgres()
    database = opened(db)
    db.execute("CREATE TABLE t (id int PRIMARY KEY, doc text, short varchar(20), n numeric)")
    db.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    db.execute("CREATE PUBLICATION part FOR TABLE t (id, doc) WHERE (id > 5) WITH (publish = 'insert, update')")
    db.execute("SELECT pg_create_logical_replication_slot('of_' || current_database(), 'pgoutput')")
    assert setting(database, "wal_level") == "logical"
    assert setting(database, "no.such") == ""
    table = DatabaseTable("public", "t")
    [known] = replicated_tables(database, [table, DatabaseTable("public", "none")])
    assert (known.table, known.identity, known.toastable, known.primary_key) == (
        table,
        ReplicaIdentity.FULL,
        ("doc",),
        ("id",),
    )
    [publication] = publications(database)
    assert (publication.name, publication.inserts, publication.deletes, publication.truncates) == (
        "part",
        True,
        False,
        False,
    )
    [published] = publication.tables
    assert (published.table, published.columns, published.row_filter) == (table, ("id", "doc"), "(id > 5)")
    [slot] = replication_slots(database)
    assert (slot.name, slot.plugin, slot.active, slot.wal_status) == (f"of_{db.name}", "pgoutput", False, "reserved")
    reach = SlotReach(database, slot.name)
    assert reach.acknowledged() == slot.confirmed
    assert reach.transmitted(slot.flushed) is False
    assert SlotReach(database, "other").transmitted(slot.flushed) is None
    assert SlotReach(database, "other").acknowledged() is None
    db.execute(f"SELECT pg_drop_replication_slot('{slot.name}')")


@pytest.mark.parametrize(
    ("index", "unique"),
    [
        ("CREATE UNIQUE INDEX one ON t (b, a)", True),
        ("CREATE UNIQUE INDEX one ON t (a) WHERE b > 5", True),
        ("CREATE UNIQUE INDEX one ON t (a, (b + 1))", False),
        ("CREATE INDEX one ON t (a)", False),
    ],
)
def test_postgresql_tells_of_unique_indexes_over_columns(rig: Rig, index: str, unique: bool) -> None:
    db = rig.postgres()
    db.execute("CREATE TABLE t (a int, b int, gone int, c int GENERATED ALWAYS AS (a * 2) STORED)")
    db.execute("ALTER TABLE t DROP COLUMN gone")
    db.execute(index)
    [known] = replicated_tables(opened(db), [DatabaseTable("public", "t")])
    assert (known.primary_key, known.columns, known.unique) == ((), ("a", "b"), unique)


def test_mariadb_tells_of_its_tables_keys(rig: Rig) -> None:
    db = rig.mariadb()
    db.execute("CREATE TABLE orders (id int, line int, note varchar(9), PRIMARY KEY (line, id), UNIQUE (note))")
    db.execute("CREATE TABLE named (a int NOT NULL, b int NOT NULL, UNIQUE (b, a))")
    db.execute("CREATE TABLE nullable (a int NOT NULL, b int, UNIQUE (a, b))")
    db.execute("CREATE TABLE indexed (a int NOT NULL, KEY (a))")
    db.execute("CREATE VIEW seen AS SELECT a FROM named")
    names = ("orders", "named", "nullable", "indexed", "seen", "none")
    tables = [DatabaseTable(db.name, name) for name in names] + [DatabaseTable("nowhere", "orders")]
    assert table_keys(opened(db), tables) == (
        TableKey(DatabaseTable(db.name, "indexed")),
        TableKey(DatabaseTable(db.name, "named"), unique=True),
        TableKey(DatabaseTable(db.name, "nullable")),
        TableKey(DatabaseTable(db.name, "orders"), ("line", "id"), unique=True),
    )


def test_mariadb_tells_what_the_connector_cannot_read(rig: Rig) -> None:
    db = rig.mariadb()
    db.execute("CREATE TABLE hosts (id int, v4 inet4, v6 inet6, note enum('COMPRESSED*/'))")
    db.execute("CREATE TABLE notes (id int, body text COMPRESSED, code varchar(90) COMPRESSED, plain text)")
    db.execute("SET GLOBAL log_bin_compress = ON")
    try:
        assert binary_log(opened(db)).compressed
    finally:
        db.execute("SET GLOBAL log_bin_compress = OFF")
    assert unreadable_columns(opened(db)) == UnreadableColumns(
        (f"{db.name}.hosts.v4", f"{db.name}.hosts.v6"), (f"{db.name}.notes.body", f"{db.name}.notes.code")
    )


def test_mariadb_tells_of_its_binary_log(rig: Rig) -> None:
    db = rig.mariadb()
    database = opened(db)
    log = binary_log(database)
    assert (log.on, log.format, log.row_image, log.value_options) == (True, "ROW", "FULL", "")
    assert log.server_id > 0
    assert (log.compressed, unreadable_columns(database)) == (False, UnreadableColumns())
    assert BinlogReach(database).acknowledged() is None


def test_enums_and_sets_are_text_to_debezium(rig: Rig) -> None:
    postgres, mariadb = rig.postgres(), rig.mariadb()
    postgres.execute("CREATE TYPE size AS ENUM ('small', 'large')")
    postgres.execute("CREATE TABLE shirts (id int, size size)")
    table = DatabaseTable(postgres.schema, "shirts")
    assert text_columns(opened(postgres), [table])[table] == [TextColumn(table, "size", None)]
    mariadb.execute(
        "CREATE TABLE shirts (id int, size enum('small', 'large'), dyes set('red', 'blue'), one set('red'))"
    )
    table = DatabaseTable(mariadb.schema, "shirts")
    found = text_columns(opened(mariadb), [table])[table]
    assert [(column.name, column.longest) for column in found] == [("size", 1), ("dyes", 3), ("one", 1)]


def test_columns_of_text_are_known_with_their_length(rig: Rig) -> None:
    for db in (rig.postgres(), rig.mariadb()):
        db.execute(
            "CREATE TABLE texts (id int, free text, short varchar(9), fixed char(4), number numeric(9), day date)"
        )
        table = DatabaseTable(db.schema, "texts")
        found = text_columns(opened(db), [table, DatabaseTable(db.schema, "none")])
        assert [column.name for column in found[table]] == ["free", "short", "fixed"]
        assert [column.longest for column in found[table]][1:] == [9, 4]
        assert list(found) == [table]
        longest = found[table][0].longest
        assert longest is None or longest == 65_535, "MariaDB gives bytes"
