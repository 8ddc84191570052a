"""What the mirror shows of a table that was there before the connector, in each mode of its initial snapshot."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pymysql
import pytest

from connectors.landing_zone.ledger.state import TableState, TableStatus
from tests.rig import Connector, Database, Rig, until
from tests.rig.tables import Dialect
from tests.rig.versioned import create, versioned
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

ORDERS = versioned("orders")
BEFORE = [(1, 0), (2, 0), (3, 0), (4, 0)]
"""``id`` and ``version`` of the rows that the snapshot finds."""
AFTER = [(1, 0), (2, 7), (4, 0), (5, 8)]
"""The rows after :func:`change`."""
CHANGED = [(2, 7), (5, 8)]
"""Those of them that have changed."""
CONFIGURED = {
    f"snapshot_mode_configuration_based_{part}": "true" for part in ("snapshot_schema", "snapshot_data", "start_stream")
}
WITHOUT_DATA = CONFIGURED | {"snapshot_mode_configuration_based_snapshot_data": "false"}
WITHOUT_STREAM = CONFIGURED | {"snapshot_mode_configuration_based_start_stream": "false"}
WITHOUT_SCHEMA = CONFIGURED | {"snapshot_mode_configuration_based_snapshot_schema": "false"}
ON_DATA_ERROR = CONFIGURED | {"snapshot_mode_configuration_based_snapshot_on_data_error": "true"}


def started(rig: Rig, dialect: Dialect, **options: Any) -> tuple[Database, Connector]:
    db = rig.postgres() if dialect is Dialect.POSTGRESQL else rig.mariadb()
    create(db, dialect, [ORDERS], len(BEFORE))
    return db, rig.connect(db, **options)


def streamed(rig: Rig, bridge: MakeBridge, dialect: Dialect, **options: Any) -> Bridge:
    """A bridge that has landed the snapshot, if there is one, and the changes behind it."""
    db, connector = started(rig, dialect, **options)
    connector.wait_streaming()
    change(db)
    connector.wait_caught_up()
    made = bridge()
    made.run()
    return made


def change(db: Database) -> None:
    db.transaction(
        "UPDATE orders SET version = 7 WHERE id = 2",
        "DELETE FROM orders WHERE id = 3",
        "INSERT INTO orders VALUES (5, 8, 'new')",
    )


def shown(made: Bridge) -> list[tuple[int, int]]:
    """``id`` and ``version`` of the rows in the mirror."""
    [name] = made.tables()
    return [(row["id"], row["version"]) for row in made.rows(name)]


def only_table(made: Bridge) -> TableState:
    [table] = made.ledger.tables.values()
    return table


@pytest.mark.parametrize(
    ("mode", "options", "expected"),
    [
        ("initial", {}, AFTER),
        ("when_needed", {}, AFTER),
        ("configuration_based", CONFIGURED, AFTER),
        ("configuration_based", WITHOUT_DATA, CHANGED),
        ("no_data", {}, CHANGED),
    ],
)
@pytest.mark.parametrize("dialect", Dialect)
def test_the_mirror_has_the_rows_that_the_mode_sends(
    rig: Rig,
    bridge: MakeBridge,
    dialect: Dialect,
    mode: str,
    options: dict[str, str],
    expected: list[tuple[int, int]],
) -> None:
    made = streamed(rig, bridge, dialect, snapshot_mode=mode, **options)

    assert shown(made) == expected
    assert only_table(made).status is TableStatus.STREAMING


def test_postgresqls_connector_needs_no_snapshot_of_the_schema(rig: Rig, bridge: MakeBridge) -> None:
    made = streamed(rig, bridge, Dialect.POSTGRESQL, snapshot_mode="configuration_based", **WITHOUT_SCHEMA)

    assert shown(made) == AFTER


def test_mariadbs_connector_ends_in_a_snapshot_of_data_without_the_schema(rig: Rig) -> None:
    _, connector = started(rig, Dialect.MARIADB, snapshot_mode="configuration_based", **WITHOUT_SCHEMA)

    until(lambda: connector.state() == "FAILED", "the connector ends")
    [task] = (connector.status() or {})["tasks"]
    assert 'because "table" is null' in task["trace"]
    assert connector.sent() == 0


@pytest.mark.parametrize(("mode", "options"), [("initial_only", {}), ("configuration_based", WITHOUT_STREAM)])
@pytest.mark.parametrize("dialect", Dialect)
def test_without_a_stream_the_mirror_stays_at_the_snapshot(
    rig: Rig, bridge: MakeBridge, dialect: Dialect, mode: str, options: dict[str, str]
) -> None:
    db, connector = started(rig, dialect, snapshot_mode=mode, **options)
    until(lambda: connector.sent() >= len(BEFORE), "the snapshot is sent")
    change(db)
    made = bridge()
    made.run()

    assert shown(made) == BEFORE
    assert only_table(made).status is TableStatus.LOADING


def loaded_and_left_behind(db: Database, connector: Connector, bridge: MakeBridge) -> Bridge:
    """A bridge that has landed the first snapshot; the connector pauses, and the table has changed since."""
    connector.wait_streaming()
    made = bridge(landing_zone__release_wait="0s")
    made.run()
    assert shown(made) == BEFORE
    connector.pause()
    change(db)
    return made


def assert_a_second_snapshot_rebuilds(connector: Connector, made: Bridge) -> None:
    """The connector, which goes on by this, sends all rows anew, and they alone are the mirror."""
    before = connector.sent()
    connector.resume()
    until(lambda: connector.sent() >= before + len(AFTER), "the second snapshot is sent")
    connector.wait_caught_up()
    made.run()

    assert shown(made) == AFTER
    assert (only_table(made).status, only_table(made).generation) == (TableStatus.LOADING, 2)


@pytest.mark.parametrize("dialect", Dialect)
def test_a_snapshot_at_every_start_rebuilds_the_table_every_time(
    rig: Rig, bridge: MakeBridge, dialect: Dialect
) -> None:
    db, connector = started(rig, dialect, snapshot_mode="always")
    made = loaded_and_left_behind(db, connector, bridge)
    assert_a_second_snapshot_rebuilds(connector, made)


@pytest.mark.parametrize(("mode", "options"), [("when_needed", {}), ("configuration_based", ON_DATA_ERROR)])
def test_a_lost_replication_slot_makes_postgresqls_connector_send_a_second_snapshot_that_rebuilds_the_table(
    rig: Rig, bridge: MakeBridge, mode: str, options: dict[str, Any]
) -> None:
    db = rig.postgres()
    create(db, Dialect.POSTGRESQL, [ORDERS], len(BEFORE))
    connector = rig.connect(db, snapshot_mode=mode, **options)
    made = loaded_and_left_behind(db, connector, bridge)
    db.drop_slot(connector.settings["slot.name"])
    assert_a_second_snapshot_rebuilds(connector, made)


def test_a_purged_log_ends_mariadbs_connector_and_the_snapshot_that_mends_it_rebuilds_the_table(
    rig: Rig, bridge: MakeBridge
) -> None:
    db, connector = started(rig, Dialect.MARIADB, snapshot_mode="when_needed")
    made = loaded_and_left_behind(db, connector, bridge)
    db.execute("FLUSH BINARY LOGS")
    file, _ = db.position()

    def purged() -> bool:
        # The server keeps files that somebody reads, as it takes a connector to do for a while after it has gone.
        readers = (
            "SELECT id FROM information_schema.processlist WHERE command = 'Binlog Dump' AND state NOT LIKE 'Kill%'"
        )
        for (reader,) in db.execute(readers):
            with suppress(pymysql.err.OperationalError):
                db.execute(f"KILL {reader}")
        db.execute(f"PURGE BINARY LOGS TO '{file}'")
        return [log for log, *_ in db.execute("SHOW BINARY LOGS")] == [file]

    until(purged, "the log that the connector would go on with is gone")
    connector.resume()
    until(lambda: connector.state() == "FAILED", "the connector ends")
    [task] = (connector.status() or {})["tasks"]
    assert "Could not find GTID state requested by slave in any binlog files" in task["trace"]

    connector.forget_offsets()
    assert_a_second_snapshot_rebuilds(connector, made)


def test_a_lost_schema_history_ends_mariadbs_connector_and_recovery_goes_on_without_a_snapshot(
    rig: Rig, bridge: MakeBridge
) -> None:
    db, connector = started(rig, Dialect.MARIADB)
    connector.wait_streaming()
    made = bridge()
    made.run()
    assert shown(made) == BEFORE
    connector.pause()
    connector.settings["schema.history.internal.kafka.topic"] += "-lost"
    connector.create()
    connector.resume()
    change(db)
    until(lambda: connector.state() == "FAILED", "the connector ends")
    [task] = (connector.status() or {})["tasks"]
    assert "The db history topic is missing" in task["trace"]

    connector.pause()
    connector.settings["snapshot.mode"] = "recovery"
    connector.create()
    connector.resume()
    connector.wait_caught_up()
    made.run()

    assert shown(made) == AFTER
    assert (only_table(made).status, only_table(made).generation) == (TableStatus.STREAMING, 1)
