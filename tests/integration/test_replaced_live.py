"""Databases of MariaDB are dropped, and tables replaced, under a query that runs: only statements say so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from connectors.landing_zone.ledger.state import TableState
from streaming.reporting.status import status_of
from tests.rig import Converter, Rig
from tests.rig.equivalence import running
from tests.rig.live import Live, wait
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

REPLACED = {
    "replaced": "CREATE OR REPLACE TABLE {table} (id int PRIMARY KEY, name varchar(9))",
    "commented": "/* why */ create or replace table {database}.{table} (id int PRIMARY KEY, name varchar(9))",
    "selected": "CREATE OR REPLACE TABLE {table} (PRIMARY KEY (id)) AS SELECT * FROM model WHERE id > 5",
    "copied": "CREATE OR REPLACE TABLE {table} LIKE model",
}
"""Tables and the statements that replace them; those of ``selected`` brings a row of its own."""
KEPT = ("model", "asked_for", "asked_for_like")
"""Tables of which nothing happens: a ``CREATE TABLE IF NOT EXISTS`` finds them there."""
IN_DATABASE = ("orders", "customers")


@pytest.mark.parametrize("converter", [Converter.JSON_SCHEMA, Converter.AVRO])
def test_rows_of_later_tables_do_not_land_on_those_of_the_ones_that_went_without_a_drop(
    rig: Rig, bridge: Callable[..., Bridge], converter: Converter
) -> None:
    db, second = rig.mariadb(), rig.mariadb()

    def insert(table: str, key: int) -> None:
        db.execute(f"INSERT INTO {table} VALUES ({key}, 'a')")

    def create(table: str) -> None:
        db.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, name varchar(9))")

    inside = [f"{second.name}.{table}" for table in IN_DATABASE]
    for table in (*REPLACED, *KEPT, *inside):
        create(table)
        insert(table, 1)
    connector = rig.connect(db, converter=converter, **{"database.include.list": f"{db.name},{second.name}"})
    connector.wait_streaming()
    made = bridge(
        trigger={"interval": "0s"},
        # The bare prefix is the schema-change topic.
        kafka__pattern=rf"{rig.prefix}(\..*)?",
        tables__naming={"schema": "{database}"},
        **rig.bridge(converter),
    )
    live, other = Live(db, made), Live(second, made)

    def state(live: Live, table: str) -> TableState:
        found = live.state(table)
        assert found is not None
        return found

    with running(made) as reports:
        for table in (*REPLACED, *KEPT):
            wait(partial(live.landed, table, 1), f"the snapshot of {table} lands")
        for table in IN_DATABASE:
            wait(partial(other.landed, table, 1), f"the snapshot of {table} lands")
        before = len(reports)
        insert("model", 7)
        for table, statement in REPLACED.items():
            db.execute(statement.format(table=table, database=db.name))
        db.execute("CREATE TABLE IF NOT EXISTS asked_for (id int PRIMARY KEY, name varchar(9))")
        db.execute("CREATE TABLE IF NOT EXISTS asked_for_like LIKE model")
        db.execute(f"DROP DATABASE {second.name}")
        db.execute(f"CREATE DATABASE {second.name}")
        create(inside[0])
        for table in (*(table for table in REPLACED if table != "selected"), *KEPT, inside[0]):
            insert(table, 2)
        for table in REPLACED:
            wait(lambda table=table: live.parked(table) == "recreated", f"{table} stops")
        for table in KEPT:
            wait(partial(live.reached, table, 2), f"the row of {table} lands")
        wait(lambda: other.parked("orders") == "recreated", "the table of the database that was made again stops")
        wait(partial(other.dropped, "customers"), "the one that was not made again is known to be gone")

    # A statement's topic may lag behind the table's by a micro-batch; the rows of that one are the only ones to land.
    late = {table for table in REPLACED if state(live, table).tainted} | {
        table for table in IN_DATABASE if state(other, table).tainted
    }
    rows = {table: live.rows(table) for table in REPLACED} | {table: other.rows(table) for table in IN_DATABASE}
    first = [{"id": 1, "name": "a"}]
    assert {table: of_one for table, of_one in rows.items() if table not in late} == dict.fromkeys(
        rows.keys() - late, first
    )
    assert all(of_one[:1] == first and of_one[1:] for table, of_one in rows.items() if table in late), rows
    assert {state(live, table).dropped for table in KEPT} == {None}
    reported = {one.name: one for one in status_of(made.ledger, None, 0).tables}
    assert (reported[f"{second.name}.customers"].dropped, other.parked("customers")) == (True, None)
    notes = [note for report in reports[before:] for note in report.notes]
    for live_one, tables in ((live, REPLACED), (other, IN_DATABASE)):
        for table in tables:
            told = f"{live_one.db.schema}.{table}: dropped at the source: "
            assert sum(note.startswith(told) for note in notes) == 1, (told, notes)
