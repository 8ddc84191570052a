"""Real databases change their tables under a query that runs: what it follows and what stops, in one run of the bridge.

What each policy makes of each change is told in :mod:`tests.integration.test_schema_changes`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.rig import Rig
from tests.rig.equivalence import running
from tests.rig.live import Live, wait
from tests.rig.tables import Dialect
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]


def row(key: int, name: object, **more: object) -> dict[str, Any]:
    return {"id": key, "name": name, **more}


@pytest.mark.parametrize("dialect", Dialect)
def test_what_changes_while_the_bridge_runs_is_followed_in_the_same_run(
    rig: Rig, bridge: Callable[..., Bridge], dialect: Dialect
) -> None:
    mariadb = dialect is Dialect.MARIADB
    db = rig.mariadb() if mariadb else rig.postgres()
    kinds = dict.fromkeys(("grown", "shrunk", "retitled", "removed", "recreated", "untouched"), "text")
    kinds |= {"retyped": "int", "retyped_aside": "int"}
    for table, kind in kinds.items():
        db.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, name {kind})")
        db.execute(f"INSERT INTO {table} VALUES (1, '1')")
    db.execute("CREATE TABLE rekeyed (id int NOT NULL, name varchar(20) PRIMARY KEY)")
    db.execute("INSERT INTO rekeyed VALUES (1, '1')")
    rig.connect(db).wait_streaming()
    made = bridge(
        trigger={"interval": "0s"},
        # The bare prefix is the schema-change topic.
        kafka__pattern=rf"{rig.prefix}(\..*)?",
        tables__naming={"schema": "{database}" if mariadb else "{schema}"},
        tables__overrides=[{"match": "*.retyped_aside", "policies": {"on_type_change": "new_column"}}],
    )

    live = Live(db, made)
    landed, parked, dropped, rows, equal = live.landed, live.parked, live.dropped, live.rows, live.equal

    followed = {
        "grown": ("id", "name", "size"),
        "shrunk": ("id",),
        "retitled": ("id", "title"),
        "retyped_aside": ("id", "name__2"),
        "untouched": ("id", "name"),
        "entirely_new": ("id", "name"),
    }
    """Tables that go on, with the columns of the mirror that hold what the database's columns have by then."""

    retype = "MODIFY name" if mariadb else "ALTER COLUMN name TYPE"
    key = "PRIMARY KEY" if mariadb else "CONSTRAINT rekeyed_pkey"
    with running(made) as reports:
        wait(lambda: all(landed(table, 1) for table in (*kinds, "rekeyed")), "the snapshot lands")
        before = len(reports)
        db.execute("ALTER TABLE grown ADD COLUMN size int DEFAULT 7")
        db.execute("INSERT INTO grown VALUES (2, 'b', 8)")
        db.execute("ALTER TABLE shrunk DROP COLUMN name")
        db.execute("INSERT INTO shrunk VALUES (2)")
        db.execute("ALTER TABLE retitled RENAME COLUMN name TO title")
        db.execute("INSERT INTO retitled VALUES (2, 'b')")
        for table in ("retyped", "retyped_aside"):
            db.execute(f"ALTER TABLE {table} {retype} text")
            db.execute(f"INSERT INTO {table} VALUES (2, 'two')")
        db.execute(f"ALTER TABLE rekeyed DROP {key}, ADD PRIMARY KEY (id)")
        db.execute("INSERT INTO rekeyed VALUES (2, '2')")
        for table in ("removed", "recreated"):
            db.execute(f"DROP TABLE {table}")
        db.execute("CREATE TABLE entirely_new (id int PRIMARY KEY, name text)")
        db.execute("INSERT INTO entirely_new VALUES (1, 'n')")
        for table in ("grown", "shrunk", "retitled", "retyped_aside"):
            wait(partial(landed, table, 2), f"the row behind the change of {table} lands")
        wait(lambda: landed("entirely_new", 1), "the new table lands")
        wait(lambda: parked("retyped") is not None and parked("rekeyed") is not None, "two tables park")
        if mariadb:
            wait(lambda: dropped("removed") and dropped("recreated"), "the drops are told")
        assert rows("grown") == [row(1, "1", size=None), row(2, "b", size=8)]
        assert rows("shrunk") == [row(1, "1"), row(2, None)]
        assert rows("retitled") == [row(1, "1", title=None), row(2, None, title="b")]
        assert rows("retyped_aside") == [row(1, 1, name__2=None), row(2, None, name__2="two")]
        assert rows("entirely_new") == [row(1, "n")]

        # Two tables stand still by now. Every row of the others changes: what a change left out comes with its rows.
        db.execute("UPDATE grown SET size = size + 1")
        db.execute("UPDATE shrunk SET id = id + 10")
        db.execute("UPDATE retitled SET title = concat(title, '!')")
        for table in ("retyped", "retyped_aside", "untouched", "entirely_new"):
            db.execute(f"UPDATE {table} SET name = concat(name, '!')")
        db.execute("UPDATE rekeyed SET name = '3' WHERE id = 2")
        db.execute("CREATE TABLE recreated (id int PRIMARY KEY, name text)")
        db.execute("INSERT INTO recreated VALUES (3, 'c')")
        for table, columns in followed.items():
            wait(partial(equal, table, columns), f"the mirror of {table} equals the database")
        if mariadb:
            wait(lambda: parked("recreated") is not None, "the table that was made again parks")
        else:
            wait(partial(landed, "recreated", 2), "the row of the table that was made again lands")

    assert {table for table in (*kinds, "rekeyed", "entirely_new") if parked(table)} == {
        "retyped",
        "rekeyed",
        *(["recreated"] if mariadb else []),
    }
    assert (parked("retyped"), rows("retyped")) == ("type_changed", [row(1, 1)])
    assert (parked("rekeyed"), rows("rekeyed")) == ("key_changed", [row(1, "1")])
    assert (parked("removed"), rows("removed")) == (None, [row(1, "1")])
    if mariadb:
        assert (parked("recreated"), rows("recreated")) == ("recreated", [row(1, "1")])
    else:
        assert rows("recreated") == [row(1, "1"), row(3, "c")], "PostgreSQL tells of no drop"
    assert all(equal(table, columns) for table, columns in followed.items())
    notes = [note.removeprefix(f"{db.schema}.") for report in reports[before:] for note in report.notes]
    assert "grown: new column size (int32)" in notes
    assert "shrunk: name is gone from the rows: it stays, NULL in every row that changes from now on" in notes
    assert any(note.startswith("retitled: name is gone and title is new in the same event") for note in notes)
    assert any(note.startswith("removed: dropped at the source: DROP TABLE") for note in notes) is mariadb
