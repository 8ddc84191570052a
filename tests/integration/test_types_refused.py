"""Types that end the connector, and the changes that it passes over: what docs/types.md says of them.

What ends every connector of a MariaDB server is gone with the test's database.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rig import Connector, Rig, until
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]


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
        assert "Failed to deserialize" in end_of(connector)
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
