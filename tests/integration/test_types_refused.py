"""Types that end the connector, and the changes that it passes over: what docs/types.md says of them.

What ends every connector of a MariaDB server is gone with the test's database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.rig import Connector, Database, Rig, until
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]


@dataclass(frozen=True)
class Refused:
    """A value of a column that is NOT NULL.

    Attributes:
        kind, value: as SQL.
        options: of the connector.
        streamed: it comes from the stream, not from a snapshot.
        why: part of the error.
    """

    kind: str
    value: str
    options: Mapping[str, Any] = field(default_factory=dict)
    streamed: bool = False
    why: str = "Invalid value: null used for required field"


NANOSECONDS, CONNECT, ISO = ({"time_precision_mode": mode} for mode in ("nanoseconds", "connect", "isostring"))


def end_of(connector: Connector) -> str:
    """Why its task has ended."""
    until(lambda: connector.state() == "FAILED", f"connector {connector.name} ends")
    [task] = (connector.status() or {})["tasks"]
    return str(task["trace"])


def test_a_refcursor_ends_postgresqls_snapshot(rig: Rig) -> None:
    db = rig.postgres()
    db.execute("CREATE TABLE cursors (id int PRIMARY KEY, name refcursor)")
    db.execute("INSERT INTO cursors VALUES (1, 'somewhere')")

    assert 'cursor "somewhere" does not exist' in end_of(rig.connect(db, errors_max_retries="0"))


def ends_each_connector(rig: Rig, db: Database, cases: Sequence[Refused]) -> None:
    """Each value, in a table of its own with a connector of its own, ends that and is not sent."""
    connectors = []
    for number, case in enumerate(cases):
        table = f"refused_{number}"
        db.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, name {case.kind} NOT NULL)")
        if not case.streamed:
            db.execute(f"INSERT INTO {table} VALUES (1, {case.value})")
        connectors.append(rig.connect(db, prefix=f"{rig.prefix}.{number}", tables=(table,), **case.options))
    for number, case in enumerate(cases):
        if case.streamed:
            connectors[number].wait_streaming()
            db.execute(f"INSERT INTO refused_{number} VALUES (1, {case.value})")
    for number, (case, connector) in enumerate(zip(cases, connectors, strict=True)):
        assert case.why in end_of(connector), case
        assert f"{connector.prefix}.{db.schema}.refused_{number}" not in connector.topics()


def test_values_for_which_postgresqls_connector_has_only_null_end_it_where_that_cannot_be(rig: Rig) -> None:
    db = rig.postgres()
    db.execute("CREATE TYPE mood AS ENUM ('sad')")

    ends_each_connector(
        rig,
        db,
        [
            Refused("numeric", "'Infinity'"),
            Refused("numeric(10,2)", "'NaN'", streamed=True),
            Refused("timestamp", "'1600-01-01'", NANOSECONDS),
            Refused("mood[]", "'{sad,NULL}'"),
            Refused("mood[]", "'{sad,NULL}'", streamed=True),
            Refused("bit(3)[]", "'{}'"),
            Refused("timetz", "'12:00:00+15:59:59'"),
        ],
    )


def test_an_offset_with_seconds_is_null_in_postgresqls_snapshot_and_ends_its_stream(
    rig: Rig, bridge: Callable[..., Bridge]
) -> None:
    db = rig.postgres()
    db.execute("CREATE TABLE clocks (id int PRIMARY KEY, at timetz)")
    db.execute("INSERT INTO clocks VALUES (1, '12:00:00+15:59:59'), (2, '12:00:00+15:59')")
    connector = rig.connect(db)
    connector.wait_streaming()
    db.execute("INSERT INTO clocks VALUES (3, '12:00:00+15:59:59')")

    assert "Text '12:00:00+15:59:59' could not be parsed" in end_of(connector)
    made = bridge()
    made.run()
    assert made.rows("public.clocks") == [{"id": 1, "at": None}, {"id": 2, "at": "20:01:00Z"}]


def test_values_for_which_mariadbs_connector_has_only_null_end_it_where_that_cannot_be(rig: Rig) -> None:
    ends_each_connector(
        rig,
        rig.mariadb(),
        [
            Refused("time", "'-00:00:01'", CONNECT),
            Refused("time", "'24:00:01'", ISO),
            Refused("time", "'24:00:01'", CONNECT, streamed=True),
        ],
    )


def test_the_year_0000_ends_mariadbs_snapshot_and_is_1900_from_the_stream(
    rig: Rig, bridge: Callable[..., Bridge]
) -> None:
    db = rig.mariadb()
    db.execute("CREATE TABLE years (id int PRIMARY KEY, name year)")
    connector = rig.connect(db)
    connector.wait_streaming()
    db.execute("INSERT INTO years VALUES (1, 0), (2, 2024)")
    connector.wait_caught_up()

    assert "IllegalArgumentException" in end_of(rig.connect(db, prefix=f"{rig.prefix}-second"))
    made = bridge()
    made.run()
    [name] = made.tables()
    assert db.execute("SELECT * FROM years ORDER BY id") == [(1, 0), (2, 2024)]
    assert made.rows(name) == [{"id": 1, "name": 1900}, {"id": 2, "name": 2024}]


@pytest.mark.parametrize("kind", ["inet4", "inet6"])
def test_an_internet_address_in_a_database_that_is_not_captured_ends_mariadbs_connector(rig: Rig, kind: str) -> None:
    db, other = rig.mariadb(), rig.mariadb()
    other.execute(f"CREATE TABLE hosts (id int PRIMARY KEY, address {kind})")

    assert kind in end_of(rig.connect(db))


def test_a_change_of_a_compressed_column_ends_every_connector_and_its_snapshot_lands(
    rig: Rig, bridge: Callable[..., Bridge]
) -> None:
    db, other = rig.mariadb(), rig.mariadb()
    db.execute("CREATE TABLE notes (id int PRIMARY KEY, body text COMPRESSED)")
    db.execute("INSERT INTO notes VALUES (1, 'before')")
    capturing, beside = rig.connect(db), rig.connect(other, prefix=f"{rig.prefix}-beside")
    for connector in (capturing, beside):
        connector.wait_streaming()
    db.execute("INSERT INTO notes VALUES (2, 'after')")

    for connector in (capturing, beside):
        assert "mysql.binlog.event.deserialization." in end_of(connector)
    made = bridge()
    made.run()
    [name] = made.tables()
    assert made.rows(name) == [{"id": 1, "body": "before"}]


def test_changes_that_mariadb_compresses_in_its_log_do_not_land_and_nothing_says_so(
    rig: Rig, bridge: Callable[..., Bridge]
) -> None:
    db = rig.mariadb()
    db.execute("CREATE TABLE notes (id int PRIMARY KEY, body text)")
    db.execute("INSERT INTO notes VALUES (1, 'before')")
    connector = rig.connect(db)
    connector.wait_streaming()
    db.execute("SET GLOBAL log_bin_compress = ON")
    try:
        db.execute("INSERT INTO notes VALUES (2, repeat('long', 1000))")
    finally:
        db.execute("SET GLOBAL log_bin_compress = OFF")
    db.execute("INSERT INTO notes VALUES (3, 'after')")
    connector.wait_caught_up()
    made = bridge()
    made.run()

    assert connector.state() == "RUNNING"
    [name] = made.tables()
    assert made.rows(name) == [{"id": 1, "body": "before"}, {"id": 3, "body": "after"}]
