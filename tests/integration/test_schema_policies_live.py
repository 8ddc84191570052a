"""Keys that come or go and types that change, on real databases under a query that runs: what each policy makes of it.

What else is followed under a query that runs is told in :mod:`tests.integration.test_schema_changes_live`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.rig import Database, Rig
from tests.rig.equivalence import running
from tests.rig.live import Live, wait
from tests.rig.tables import Dialect
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]


def row(key: int, name: object, **more: object) -> dict[str, Any]:
    return {"id": key, "name": name, **more}


RETYPED = {
    "to_string_aside": ("int", "text"),
    "to_string_within": ("text", "int"),
    "ignored": ("int", "text"),
    "wider": ("int", "bigint"),
    "wider_aside": ("int", "bigint"),
    "wider_anew": ("int", "bigint"),
    "wider_ignored": ("int", "bigint"),
    "longer": ("varchar(5)", "varchar(50)"),
    "narrower": ("bigint", "int"),
    "narrower_decimal": ("numeric(12,2)", "numeric(10,2)"),
    "shorter": ("varchar(50)", "varchar(5)"),
}
"""Tables whose column ``name`` changes its type, with the type before and after."""

REKEYED = ("unkeyed", "unkeyed_anew", "keyed", "keyed_anew")
"""Tables that lose their key or get their first one."""

POLICIES = {
    "to_string_*": {"on_type_change": "to_string"},
    "*ignored": {"on_type_change": "ignore"},
    "wider_aside": {"on_type_change": "new_column"},
    "wider_anew": {"on_type_change": "rebuild"},
    "keyed": {"on_missing_key": "append"},
    "*keyed_anew": {"on_missing_key": "append", "on_key_change": "rebuild"},
}


def change_types_and_keys(db: Database, *, mariadb: bool) -> None:
    """The row 3 in each table, changes of types and keys, rows behind them."""
    retype = "MODIFY name" if mariadb else "ALTER COLUMN name TYPE"
    for table, (_, kind) in RETYPED.items():
        cast = " USING name::int" if table == "to_string_within" and not mariadb else ""
        db.execute(f"INSERT INTO {table} VALUES (3, '3')")
        db.execute(f"ALTER TABLE {table} {retype} {kind}{cast}")
        db.execute(f"INSERT INTO {table} VALUES (4, '4')")
    for table in ("to_string_aside", "ignored"):
        db.execute(f"INSERT INTO {table} VALUES (5, 'five')")
    for table in ("wider", "wider_aside", "wider_anew", "wider_ignored"):
        db.execute(f"INSERT INTO {table} VALUES (5, 9999999999)")
    db.execute("INSERT INTO longer VALUES (5, 'a longer text')")
    for table in ("unkeyed", "unkeyed_anew"):
        db.execute(f"ALTER TABLE {table} DROP " + ("PRIMARY KEY" if mariadb else f"CONSTRAINT {table}_pkey"))
    for table in ("keyed", "keyed_anew"):
        db.execute(f"ALTER TABLE {table} ADD PRIMARY KEY (id)")
    for table in REKEYED:
        db.execute(f"INSERT INTO {table} VALUES (3, '3')")


@pytest.mark.parametrize("dialect", Dialect)
def test_keys_that_come_or_go_and_types_that_change_follow_their_policies_in_the_same_run(
    rig: Rig, cluster: Cluster, bridge: Callable[..., Bridge], dialect: Dialect
) -> None:
    mariadb = dialect is Dialect.MARIADB
    db = rig.mariadb() if mariadb else rig.postgres()
    for table in (*RETYPED, *REKEYED):
        kind, _ = RETYPED.get(table, ("text", ""))
        key = "NOT NULL" if table.startswith("keyed") else "PRIMARY KEY"
        db.execute(f"CREATE TABLE {table} (id int {key}, name {kind})")
        db.execute(f"INSERT INTO {table} VALUES (1, '1'), (2, '2')")
    signals, notifications = cluster.own_topic("signals"), cluster.own_topic("notifications")
    rig.connect(
        db,
        signal_enabled_channels="source,kafka",
        signal_kafka_topic=signals,
        signal_kafka_bootstrap_servers=cluster.bootstrap_servers,
        notification_enabled_channels="sink",
        notification_sink_topic_name=notifications,
    ).wait_streaming()
    made = bridge(
        trigger={"interval": "0s"},
        tables__naming={"schema": "{database}" if mariadb else "{schema}"},
        tables__overrides=[{"match": f"{db.schema}.{each}", "policies": given} for each, given in POLICIES.items()],
        landing_zone__release_wait="0s",
        source__signals={"topic": signals},
        source__notifications_topic=notifications,
    )
    live = Live(db, made)
    parked, rows = live.parked, live.rows

    followed = {
        **dict.fromkeys(("to_string_aside", "wider_aside"), ("id", "name__2")),
        **dict.fromkeys(("wider_anew", "longer", "narrower", "narrower_decimal", "shorter"), ("id", "name")),
        **dict.fromkeys(("unkeyed_anew", "keyed", "keyed_anew"), ("id", "name")),
    }
    """Tables that go on, with the columns of the mirror that hold what the database's columns have by then."""

    with running(made) as reports:
        wait(lambda: all(live.landed(table, 1) for table in (*RETYPED, *REKEYED)), "the snapshot lands")
        before = len(reports)
        change_types_and_keys(db, mariadb=mariadb)
        wait(lambda: parked("wider") is not None and parked("unkeyed") is not None, "two tables park")
        last = dict.fromkeys(("to_string_aside", "ignored", "wider_aside", "wider_ignored", "longer"), 5)
        last |= dict.fromkeys(("to_string_within", "narrower", "narrower_decimal", "shorter"), 4) | {"keyed": 3}
        for table, key in last.items():
            wait(partial(live.reached, table, key), f"the rows behind the change of {table} land")
        for table in ("wider_anew", "unkeyed_anew", "keyed_anew"):
            wait(partial(live.rebuilt, table), f"{table} is rebuilt")
        old = [row(1, 1), row(2, 2), row(3, 3)]
        beside = [{**line, "name__2": None} for line in old]
        assert rows("to_string_aside") == [*beside, row(4, None, name__2="4"), row(5, None, name__2="five")]
        assert rows("wider_aside") == [*beside, row(4, None, name__2=4), row(5, None, name__2=9_999_999_999)]
        assert rows("to_string_within") == [row(key, str(key)) for key in (1, 2, 3, 4)]
        assert rows("ignored") == rows("wider_ignored") == [*old, row(4, 4), row(5, None)]

        # Two tables stand still by now. Rows of the others change; those without key only get more of them.
        for table in ("to_string_within", "wider_aside", "wider_anew", "narrower", "narrower_decimal"):
            db.execute(f"UPDATE {table} SET name = name + 1")
        for table in ("to_string_aside", "longer", "shorter", "keyed_anew"):
            db.execute(f"UPDATE {table} SET name = concat(name, '!')")
        for table in ("ignored", "wider_ignored"):
            db.execute(f"UPDATE {table} SET name = 7 WHERE id = 5")
        for table in ("unkeyed", "unkeyed_anew", "keyed"):
            db.execute(f"INSERT INTO {table} VALUES (4, '4')")
        db.execute("INSERT INTO wider VALUES (6, 6)")
        db.execute("DELETE FROM keyed_anew WHERE id = 1")
        for table, columns in followed.items():
            wait(partial(live.equal, table, columns), f"the mirror of {table} equals the database")
        wait(lambda: rows("to_string_within") == [row(key, str(key + 1)) for key in (1, 2, 3, 4)], "text is followed")
        for table in ("ignored", "wider_ignored"):
            wait(lambda table=table: rows(table) == [*old, row(4, 4), row(5, 7)], f"what fits {table} lands in it")

    assert {table for table in (*RETYPED, *REKEYED) if parked(table)} == {"wider", "unkeyed"}
    assert (parked("wider"), rows("wider")) == ("type_changed", old)
    assert (parked("unkeyed"), rows("unkeyed")) == ("missing_key", [row(1, "1"), row(2, "2")])
    assert all(live.equal(table, columns) for table, columns in followed.items())
    states = {table: live.state(table) for table in ("unkeyed_anew", "keyed", "keyed_anew", "wider_anew")}
    assert {table: (state.generation, state.keys) for table, state in states.items() if state is not None} == {
        "unkeyed_anew": (2, ()),
        "keyed": (1, ()),
        "keyed_anew": (2, ("id",)),
        "wider_anew": (2, ("id",)),
    }
    notes = [note.removeprefix(f"{db.schema}.") for report in reports[before:] for note in report.notes]
    ignored = "1 value(s) of name are no int32 and landed as NULL (policies.on_type_change: ignore)"
    assert sorted(note for note in notes if note.split(":")[0] not in ("unkeyed_anew", "keyed_anew")) == [
        f"ignored: {ignored}",
        "to_string_aside: new column name__2 (string) instead of name",
        "wider_aside: new column name__2 (int64) instead of name",
        f"wider_ignored: {ignored}",
    ]
