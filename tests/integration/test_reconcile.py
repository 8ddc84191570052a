"""`reconcile` on real databases, Debezium and Kafka: equal while all moves, every planted difference found."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from connectors.source_database.catalog import DatabaseTable, columns_of
from connectors.source_database.database import SourceDatabase
from connectors.source_database.errors import DatabaseAccessError, SourceTableError
from connectors.source_database.location import location_of_url
from connectors.source_database.replication import reach_of
from connectors.source_database.signal_table import insert_signal
from connectors.source_database.snapshot import snapshot
from streaming import cli
from streaming.driver.query import StopSignal
from tests.rig import SIGNAL_TABLE, Connector, Converter, Database, Rig
from tests.rig.reconciling import source_section
from tests.rig.rights import Reader
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]
Reconcile = Callable[..., tuple[int, list[dict[str, Any]]]]


@pytest.fixture
def reconcile(capsys: pytest.CaptureFixture[str]) -> Reconcile:
    """The command's exit code and its result."""

    def run(config: Path, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
        capsys.readouterr()
        code = cli.main(["reconcile", str(config), "--json", "--wait", "120", "--settle", "1", *arguments])
        said = json.loads(capsys.readouterr().out)
        assert isinstance(said, list), said
        return code, said

    return run


def orders(db: Database) -> str:
    """A table of a few types and 500 rows; returns its name in the landing zone."""
    db.execute("CREATE TABLE orders (id int PRIMARY KEY, name varchar(20), price decimal(10,2), at timestamp NULL)")
    rows = [(key, f"name {key}", f"{key}.50", "2026-03-01 08:00:00") for key in range(1, 501)]
    db.execute_many("INSERT INTO orders VALUES (%s, %s, %s, %s)", rows)
    return f"{db.schema}.orders"


@pytest.fixture(params=["postgresql", "mariadb"])
def db(request: pytest.FixtureRequest, rig: Rig) -> Database:
    return rig.postgres() if request.param == "postgresql" else rig.mariadb()


@pytest.fixture
def reader(db: Database) -> Iterator[Reader]:
    """Makes a user with no rights but those of the page, once its tables are there."""
    reader = Reader(db)
    yield reader
    if reader.made:
        reader.drop()


def landed(rig: Rig, bridge: MakeBridge, db: Database, connector: Connector, user: str | None = None) -> Bridge:
    connector.wait_caught_up()
    made = bridge(**rig.bridge(Converter.JSON_SCHEMA), source=source_section(rig, db, connector, user))
    made.run()
    return made


def first_file(made: Bridge) -> Path:
    [table] = [state for name, state in made.ledger.tables.items() if name.endswith("orders")]
    return made.zone / table.folder / "00000000000000000001.parquet"


def rewrite(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change a landing file as nobody may."""
    pq.write_table(change(pq.read_table(path)), path)


def test_a_database_at_rest_is_equal_and_planted_differences_are_found(
    db: Database, reader: Reader, rig: Rig, bridge: MakeBridge, reconcile: Reconcile
) -> None:
    table = orders(db)
    reader.make()
    unique = "gen_random_uuid()" if db.schema == "public" else "UUID()"
    query = f"INSERT INTO {db.schema}.{SIGNAL_TABLE} (id, type) VALUES ({unique}, 'rig')"
    # MariaDB's connector beats at rest when the server does: after 0.8 of this interval.
    beats = {"heartbeat_interval_ms": 500, "heartbeat_action_query": query, "connect_keep_alive_interval_ms": 1000}
    connector = rig.connect(db, **beats)
    connector.wait_streaming()
    db.execute("UPDATE orders SET name = NULL WHERE id = 7")
    made = landed(rig, bridge, db, connector, reader.name)
    config = made.write_settings()

    code, [outcome] = reconcile(config, "--table", table)
    assert (code, outcome["verdict"], outcome["source_rows"], outcome["mirrored_rows"]) == (0, "equal", 500, 500)
    assert (outcome["ranges"], outcome["ranges_differing"], outcome["undecided_keys"]) == (1, 0, 0)
    assert outcome["not_compared_columns"] == {}

    def damaged(rows: pa.Table) -> pa.Table:
        names = pc.if_else(pc.equal(rows["id"], 5), "forged", rows["name"])
        rows = rows.set_column(rows.column_names.index("name"), rows.schema.field("name"), names)
        ids = pc.if_else(pc.equal(rows["id"], 9), pa.scalar(900, rows["id"].type), rows["id"])
        return rows.set_column(rows.column_names.index("id"), rows.schema.field("id"), ids).filter(
            pc.not_equal(rows["id"], 3)
        )

    rewrite(first_file(made), damaged)
    code, [outcome] = reconcile(config, "--table", table)
    assert (code, outcome["verdict"]) == (1, "different"), outcome
    assert outcome["differences"] == {"changed": 1, "missing in the mirror": 2, "extra in the mirror": 1}
    assert sorted((one["key"]["id"], one["kind"]) for one in outcome["shown"]) == [
        ("3", "missing in the mirror"),
        ("5", "changed"),
        ("9", "missing in the mirror"),
        ("900", "extra in the mirror"),
    ]
    [changed] = [one for one in outcome["shown"] if one["kind"] == "changed"]
    assert changed["cells"] == [{"column": "name", "source": "name 5", "mirrored": "forged"}]
    assert outcome["evidence"] in ("acknowledged", "events")

    db.execute("DROP TABLE orders")
    code, [outcome] = reconcile(config, "--table", table)
    assert (code, outcome["verdict"]) == (2, "undecided")
    assert outcome["reason"].startswith("the source database has no such table, or this user may not see it; ")


def test_equal_while_a_writer_and_the_bridge_run(
    db: Database, rig: Rig, bridge: MakeBridge, reconcile: Reconcile
) -> None:
    table = orders(db)
    connector = rig.connect(db, heartbeat_interval_ms=500)
    connector.wait_streaming()
    made = bridge(
        **rig.bridge(Converter.JSON_SCHEMA), source=source_section(rig, db, connector), trigger={"interval": "0s"}
    )
    config = made.write_settings()
    stop, writing = StopSignal(), threading.Event()
    first = threading.Event()

    def write() -> None:
        for step in range(100_000):
            if writing.is_set():
                return
            key = step % 500 + 1
            db.execute("UPDATE orders SET name = %s WHERE id = %s", f"step {step}", key)
            if step % 10 == 0:
                db.transaction(f"DELETE FROM orders WHERE id = {key}", f"INSERT INTO orders (id) VALUES ({key})")

    def run() -> None:
        made.run_until(stop, on_batch=lambda report: first.set())

    threads = [threading.Thread(target=write), threading.Thread(target=run)]
    for thread in threads:
        thread.start()
    try:
        assert first.wait(240)
        code, [outcome] = reconcile(config, "--table", table, "--rounds", "50")
    finally:
        writing.set()
        stop.set()
        for thread in threads:
            thread.join(60)
    assert (code, outcome["verdict"], outcome["differences"]) == (0, "equal", {}), outcome
    assert outcome["ranges_differing"] == 1


def test_a_mirror_that_is_behind_is_undecided_and_never_different(
    rig: Rig, bridge: MakeBridge, reconcile: Reconcile
) -> None:
    db = rig.postgres()
    table = orders(db)
    connector = rig.connect(db)
    connector.wait_streaming()
    made = landed(rig, bridge, db, connector)
    db.execute("UPDATE orders SET name = 'later' WHERE id <= 3")
    connector.wait_caught_up()
    code, [outcome] = reconcile(made.write_settings(), "--table", table, "--wait", "1")
    assert (code, outcome["verdict"], outcome["undecided_keys"], outcome["differences"]) == (2, "undecided", 3, {})
    assert outcome["reason"].endswith("offsets of its topics have not landed: is the bridge running?")


def test_a_database_that_cannot_be_read_is_an_error_with_exit_code_2(
    tmp_path: Path, bridge: MakeBridge, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["reconcile", str(bridge().write_settings()), "--json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert said["error"]["message"] == "the settings do not say where the source database is"


def test_check_looks_at_the_connector_and_the_database(
    db: Database, reader: Reader, rig: Rig, bridge: MakeBridge, capsys: pytest.CaptureFixture[str]
) -> None:
    orders(db)
    reader.make()
    postgres = db.schema == "public"
    if postgres:
        db.execute("ALTER TABLE orders ADD COLUMN doc text")
    connector = rig.connect(db)
    connector.wait_streaming()
    made = landed(rig, bridge, db, connector, reader.name)
    capsys.readouterr()
    cli.main(["check", str(made.write_settings()), "--json"])
    said = capsys.readouterr().out
    found = {check["subject"]: check for check in json.loads(said)}
    assert found[f"connector {connector.name}"]["verdict"] == "ok"
    assert found["source database"]["verdict"] == "ok"
    assert found["connector heartbeat.interval.ms"]["verdict"] == "warning"
    if not postgres:
        assert found["binary log"]["detail"].startswith("holds whole rows")
        return
    assert found["wal_level"]["verdict"] == "ok"
    [slot] = [check for subject, check in found.items() if subject.startswith("replication slot")]
    assert (slot["verdict"], slot["detail"].split(";")[0]) == ("ok", "is read")
    table = found["table public.orders"]
    assert table["detail"].startswith("has columns whose unchanged large values are not sent (doc)")
    db.execute("ALTER TABLE orders REPLICA IDENTITY FULL")
    connector.pause()
    cli.main(["check", str(made.write_settings()), "--json"])
    found = {check["subject"]: check for check in json.loads(capsys.readouterr().out)}
    assert found["replica identity"]["detail"] == "is enough for 1 table"
    assert found[f"connector {connector.name}"]["detail"] == (
        "the connector is stopped: no change is read from the database"
    )


def test_each_right_that_the_page_lists_is_needed_and_no_other_one(db: Database, reader: Reader, rig: Rig) -> None:
    orders(db)
    reader.make()
    connector = rig.connect(db)
    connector.wait_streaming()
    connector.wait_caught_up()
    kind = "postgresql" if db.schema == "public" else "mariadb"
    where = f"{kind}://{reader.name}@{db.host}:{db.port}/{db.name}"
    database = SourceDatabase(location_of_url(where, password=db.password))
    table, signals = DatabaseTable(db.schema, "orders"), f"{db.schema}.{SIGNAL_TABLE}"
    reach = reach_of(database, None, None)

    def compares() -> bool:
        columns = columns_of(database, table)
        with snapshot(database) as seen:
            [(keys, *_)] = seen.rows(table, columns, ["id"])
        assert seen.position is not None
        return len(keys) == 500

    def sees_the_replication() -> bool:
        with snapshot(database) as seen:
            assert seen.position is not None
        return reach.transmitted(seen.position) is not None

    def signals_once() -> bool:
        return insert_signal(database, signals, uuid.uuid4().hex, "rig", {})

    uses = (compares, sees_the_replication, signals_once)
    for grant, use in zip(reader.grants, uses, strict=True):
        assert [works(each) for each in uses] == [True, True, True]
        reader.revoke(grant)
        assert [each for each in uses if not works(each)] == [use], grant
        db.execute(grant)
    for forbidden in ("DELETE FROM orders", "CREATE TABLE mine (id int)", f"DELETE FROM {signals}"):
        with pytest.raises(DatabaseAccessError), database.signalling() as connection:
            connection.exec_driver_sql(forbidden)


def works(use: Callable[[], bool]) -> bool:
    """Whether the database lets the user do it."""
    try:
        return use()
    except (DatabaseAccessError, SourceTableError):
        return False


POSTGRES_TYPES = """
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN small AS numeric(6, 2);
CREATE TABLE types (
    id bigint PRIMARY KEY, flag boolean, i2 smallint, o oid, r real, d double precision,
    n numeric(38, 10), anyn numeric,
    dom small, m money, c character(5), v varchar(20), t text, u uuid, j json, jb jsonb, b bytea,
    b1 bit(1), b12 bit(12), vb bit varying(12), da date, ti time, tz time with time zone, ts timestamp,
    ts3 timestamp(3), tstz timestamptz,
    iv interval, ints int[], texts text[], reals real[], flags boolean[], mo mood, ip inet, p point, x xml,
    ra int4range, "1st" text
);
INSERT INTO types (id) VALUES (1);
INSERT INTO types VALUES (2, true, -32768, 4000000000, 1.1, 1e300, 1234567890.0123456789, 12.500, 1.5, 12.50, 'ab',
    'ü€😀', '', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"b": 1.50, "a": [null]}', '{"b": 1.50, "a": "x"}',
    '\\x00ff10', B'1',
    B'000000000101', B'101', '2024-02-29', '04:05:06.7', '13:51:30+02', '2024-01-01 08:00:00.123456',
    '2024-01-01 08:00:00.5', '2024-01-01 08:00:00.1+05', '1 year -2 mons 3 days 04:05:06.5', '{1,NULL}',
    '{a,"b ,\\"c",NULL}', '{1.1,NaN}', '{t,f}', 'happy', '10.0.0.0/8', '(1,2.5)', '<a>b</a>', '[1,5)', 'one');
INSERT INTO types (id, r, d, da, ts, tstz, n, ti, iv) VALUES (3,
    'NaN', '-Infinity', '0001-01-01', '9999-12-31 23:59:59.999999',
    '0001-01-01 00:00:00+00', -0.0000000001, '24:00:00', '-1 mon')
"""
MARIADB_TYPES = """
CREATE TABLE types (
    id bigint PRIMARY KEY, t1 tinyint(1), t tinyint unsigned, i int unsigned, b bigint, f float, d double,
    n decimal(30, 5),
    c char(5), v varchar(20), tx longtext, bi varbinary(10), bl blob, b1 bit(1), b12 bit(12), da date, ti time(3),
    dt datetime(6), dt0 datetime, ts timestamp(6) NULL, y year, e enum('a', 'ü'), s set('x', 'y'),
    j json, u uuid, p point, `1st` text
);
INSERT INTO types (id) VALUES (1);
INSERT INTO types VALUES (2, 1, 255, 4294967295, -5, 1.1, 1e300, 1234567890.01234, 'ab', 'ü€😀', '', x'00ff',
    x'00ff10', b'1',
    b'000000000101', '2024-02-29', '-838:59:59.000', '2024-01-01 08:00:00.123456', '9999-12-31 23:59:59',
    '2024-01-01 08:00:00.5', 2024, 'ü', 'x,y', '{"b": 1.50, "a": [null]}',
    'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', POINT(1, 2.5), 'one')
"""


@pytest.mark.parametrize("converter", [Converter.JSON_SCHEMA, Converter.AVRO])
def test_every_type_is_compared_by_meaning(
    db: Database, rig: Rig, bridge: MakeBridge, reconcile: Reconcile, converter: Converter
) -> None:
    postgres = db.schema == "public"
    for statement in (POSTGRES_TYPES if postgres else MARIADB_TYPES).split(";\n"):
        db.execute(statement)
    adjusted = {"field_name_adjustment_mode": "avro"} if converter is Converter.AVRO else {}
    connector = rig.connect(db, converter=converter, decimal_handling_mode="precise", **adjusted)
    connector.wait_streaming()
    # The same rows again, as the stream has them.
    db.execute("UPDATE types SET id = id + 10 WHERE id = 2")
    connector.wait_caught_up()
    made = bridge(**rig.bridge(converter), source=source_section(rig, db, connector))
    made.run()
    code, [outcome] = reconcile(made.write_settings(), "--table", f"{db.schema}.types", "--wait", "5")
    assert outcome["shown"] == []
    assert (code, outcome["verdict"], outcome["not_compared_columns"]) == (0, "equal", {})
