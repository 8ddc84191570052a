"""Real tables and columns of MariaDB are renamed under a query that runs: Debezium's schema-change topic tells it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import TableState
from streaming.reporting.status import status_of
from tests.rig import Converter, Rig
from tests.rig.equivalence import running
from tests.rig.live import Live, wait
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

GONE = {
    "by_rename": "renamed_1",
    "by_alter": "renamed_2",
    "by_alter_too": "renamed_3",
    "first_of_two": "renamed_4",
    "second_of_two": "renamed_5",
    "with_column": "renamed_6",
    "order": "größe",
}
"""Tables that get another name in their database, and that name."""
SWAPPED = {"left_one": "right_one", "right_one": "left_one"}
COPIED = "copied"
"""A table whose copy takes its place, as tools that change big tables do it."""
MOVED, OPEN = "moved", "open_ended"
"""Tables that go to another database: by statements that name theirs, and that do not."""
COLUMNS = {"changed": {"name": "title"}, "relabelled": {"name": "label", "other": "remark"}}

ANEW = {
    "anew_by_two": ("DROP COLUMN name", "ADD COLUMN name varchar(9)"),
    "anew_at_once": ("DROP COLUMN name, ADD COLUMN name varchar(9) DEFAULT 'd' AFTER id",),
    "anew_beside": ("CHANGE name title varchar(9), ADD name varchar(9)",),
    "anew_later": ("RENAME COLUMN name TO title", "ADD COLUMN (name varchar(9))"),
}
"""Tables of which a column is made anew under a landed name, and by what."""
TO_AND_FRO = "to_and_fro"
"""A table of which a column is renamed and back, and dropped and added before anything lands."""
TABLES = (*GONE, *SWAPPED, COPIED, MOVED, OPEN, *COLUMNS, *ANEW, TO_AND_FRO)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def row(key: int, name: str = "a", other: str = "b") -> dict[str, Any]:
    return {"id": key, "name": name, "other": other}


@pytest.mark.parametrize("converter", [Converter.JSON_SCHEMA, Converter.AVRO])
def test_renames_are_recognised_and_nothing_lands_on_another_tables_rows(
    rig: Rig, bridge: Callable[..., Bridge], converter: Converter
) -> None:
    db, second = rig.mariadb(), rig.mariadb()

    def insert(table: str, key: int) -> None:
        db.execute(f"INSERT INTO {quoted(table)} VALUES ({key}, 'a', 'b')")

    for table in TABLES:
        db.execute(f"CREATE TABLE {quoted(table)} (id int PRIMARY KEY, name varchar(9), other varchar(9))")
        insert(table, 1)
    connector = rig.connect(db, converter=converter, **{"database.include.list": f"{db.name},{second.name}"})
    connector.wait_streaming()
    made = bridge(
        trigger={"interval": "0s"},
        # The bare prefix is the schema-change topic.
        kafka__pattern=rf"{rig.prefix}(\..*)?",
        tables__naming={"schema": "{database}"},
        tables__defaults={"policies": {"on_drop": "drop"}},
        **rig.bridge(converter),
    )
    live = Live(db, made)

    def state(table: str) -> TableState:
        return made.ledger.tables[f"{db.name}.{table}"]

    def reached(table: str, key: int, database: str = db.name) -> bool:
        name = f"{database}.{table}"
        return name in made.ledger.tables and any(line["id"] == key for line in made.rows(name))

    with running(made) as reports:
        for table in TABLES:
            wait(partial(live.landed, table, 1), f"the snapshot of {table} lands")
        before = len(reports)
        db.execute("RENAME TABLE by_rename TO renamed_1")
        db.execute("ALTER TABLE by_alter RENAME TO renamed_2")
        db.execute(f"ALTER TABLE {db.name}.by_alter_too RENAME renamed_3")
        db.execute("RENAME TABLE first_of_two TO renamed_4, second_of_two TO renamed_5")
        db.execute("ALTER TABLE with_column ADD COLUMN z int DEFAULT 1, RENAME TO renamed_6")
        db.execute("RENAME TABLE `order` TO `größe`")
        db.execute("RENAME TABLE left_one TO spare, right_one TO left_one, spare TO right_one")
        db.execute(f"CREATE TABLE {COPIED}_new LIKE {COPIED}")
        db.execute(f"RENAME TABLE {COPIED} TO {COPIED}_old, {COPIED}_new TO {COPIED}")
        db.execute(f"RENAME TABLE {db.name}.{MOVED} TO {second.name}.{MOVED}")
        db.execute(f"RENAME TABLE {OPEN} TO {second.name}.{OPEN}")
        db.execute("ALTER TABLE changed CHANGE COLUMN name title varchar(20)")
        db.execute("ALTER TABLE relabelled RENAME COLUMN name TO label, CHANGE other remark varchar(30)")
        for table, statements in ANEW.items():
            for statement in statements:
                db.execute(f"ALTER TABLE {table} {statement}")
        text = "varchar(9)"
        for statement in (f"CHANGE name title {text}", f"CHANGE title name {text}", "ADD z int", "DROP z", "ADD z int"):
            db.execute(f"ALTER TABLE {TO_AND_FRO} {statement}")
        db.execute(f"INSERT INTO {TO_AND_FRO} (id, name, other) VALUES (2, 'a', 'b')")
        for new in GONE.values():
            db.execute(f"UPDATE {quoted(new)} SET other = 'c'")
        for table in (*SWAPPED, COPIED, *COLUMNS):
            insert(table, 2)
        second.execute(f"UPDATE {MOVED} SET other = 'c'")
        for new in GONE.values():
            wait(partial(reached, new, 1), f"the row of {new} lands")
        wait(partial(reached, MOVED, 1, second.name), "the row of the table in another database lands")
        for table in COLUMNS:
            wait(partial(reached, table, 2), f"the row behind the rename in {table} lands")
        for table in (*SWAPPED, COPIED):
            wait(lambda table=table: live.parked(table) == "recreated", f"{table} stops")
        for table in ANEW:
            wait(lambda table=table: live.parked(table) == "column_replaced", f"{table} stops without an event")
        wait(partial(reached, TO_AND_FRO, 2), "the row behind the statements lands")
        db.execute("CREATE TABLE by_rename (id int PRIMARY KEY, name varchar(9), other varchar(9))")
        insert("by_rename", 7)
        wait(lambda: live.parked("by_rename") == "recreated", "a later table of the old name is told apart")

    reported = {one.name: one for one in status_of(made.ledger, None, 0).tables}
    for old, new in GONE.items():
        assert reported[f"{db.name}.{old}"].renamed == f"{db.name}.{new}"
        assert live.rows(old) == [row(1)], "whatever on_drop says, the mirror stays as it was"
        assert made.rows(f"{db.name}.{new}")[0]["other"] == "c"
    assert reported[f"{db.name}.{MOVED}"].renamed == f"{second.name}.{MOVED}"
    assert (reported[f"{db.name}.{OPEN}"].renamed, live.parked(OPEN)) == ("", None), "nobody can tell its database"
    assert all(live.rows(table) == [row(1)] for table in (*SWAPPED, COPIED))
    for table in ANEW:
        found = state(table).parked
        assert found is not None
        assert "name (a new column)" in found.message
    assert (live.parked(TO_AND_FRO), len(live.rows(TO_AND_FRO))) == (None, 2)
    assert {table: reported[f"{db.name}.{table}"].renamed_columns for table in COLUMNS} == COLUMNS
    assert live.rows("changed") == [{**row(1), "title": None}, {"id": 2, "name": None, "title": "a", "other": "b"}]
    notes = [note for report in reports[before:] for note in report.notes]
    for old, new in {**GONE, **SWAPPED, COPIED: f"{COPIED}_old"}.items():
        told = f"{db.name}.{old}: renamed to {db.name}.{new} at the source: "
        assert sum(note.startswith(told) for note in notes) == 1, (told, notes)
    assert any(note.startswith(f"{db.name}.changed: renamed columns at the source: name to title; ") for note in notes)
    assert any(note.startswith(f"{second.name}.{OPEN}: altered at the source without having landed") for note in notes)
