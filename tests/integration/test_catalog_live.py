"""Real PostgreSQL tables are dropped, made again and renamed under a query that runs: its catalog shows it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import TableState
from streaming.lifecycle import catalog_watch
from streaming.renamed import renamed_columns
from tests.rig import SIGNAL_TABLE, Rig, RigError, until
from tests.rig.equivalence import running
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

GONE = ("removed", "removed_drop", "made_again", "made_again_ignore", "made_again_rebuild", "made_again_drop")
"""Tables that are gone for a while."""
SWAPPED = ("swapped", "swapped_rebuild")
"""Tables that are dropped and made again in one transaction."""
COLUMNS = ("column_renamed", "columns_swapped", "column_made_anew", "column_made_anew_beside")
"""Tables whose columns get other names, or are others under the same one."""
TABLES = (*GONE, *SWAPPED, *COLUMNS, "renamed", "renamed_back", "untouched")
POLICIES = {
    "removed_drop": {"on_drop": "drop"},
    "made_again_ignore": {"on_truncate": "ignore"},
    "made_again_rebuild": {"on_truncate": "rebuild"},
    "made_again_drop": {"on_drop": "drop"},
    "swapped_rebuild": {"on_truncate": "rebuild"},
    "renamed": {"on_drop": "drop"},
}
OLD, LAST, NEW = ({"id": key, "name": name} for key, name in ((1, "old"), (2, "last"), (3, "new")))


def create(table: str) -> str:
    return f"CREATE TABLE {table} (id int PRIMARY KEY, name text)"


def insert(table: str, row: dict[str, Any]) -> str:
    return f"INSERT INTO {table} VALUES ({row['id']}, '{row['name']}')"


def test_what_becomes_of_postgresqls_tables_is_seen_while_the_bridge_runs(
    rig: Rig,
    cluster: Cluster,
    bridge: Callable[..., Bridge],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(catalog_watch, "LOOK_SECONDS", 0.5)
    monkeypatch.setattr(catalog_watch, "COLUMNS_SECONDS", 2.0)
    # No look is to fail but for the reader's being shut out, however busy the machine is.
    monkeypatch.setattr(catalog_watch, "TIMEOUT_SECONDS", 60.0)
    caplog.set_level(logging.INFO, catalog_watch.__name__)
    db = rig.postgres()
    reader = f"reader_{db.name}"
    db.execute(f"CREATE ROLE {reader} LOGIN")
    db.execute(f"GRANT SELECT, INSERT ON {SIGNAL_TABLE} TO {reader}")
    for table in TABLES:
        db.transaction(create(table), insert(table, OLD))
    notifications = cluster.own_topic("notifications")
    connector = rig.connect(db, notification_enabled_channels="sink", notification_sink_topic_name=notifications)
    connector.wait_streaming()
    made = bridge(
        trigger={"interval": "0s"},
        landing_zone__release_wait="0s",
        tables__overrides=[{"match": f"*.{table}", "policies": policies} for table, policies in POLICIES.items()],
        source__topic_prefix=rig.prefix,
        source__signals={"table": f"public.{SIGNAL_TABLE}"},
        source__notifications_topic=notifications,
        source__database={"url": f"postgresql://{reader}@{db.host}:{db.port}/{db.name}", "unverified": True},
    )

    def state(table: str) -> TableState:
        return made.ledger.tables[f"public.{table}"]

    def rows(table: str) -> list[dict[str, Any]]:
        return made.rows(f"public.{table}")

    def parked(table: str) -> str | None:
        found = state(table).parked
        return None if found is None else found.reason

    def message(table: str) -> str:
        found = state(table).parked
        return "" if found is None else found.message

    def away(table: str) -> str:
        found = state(table).relation
        return "" if found is None else found.renamed

    def seen_away() -> bool:
        found = made.ledger.tables.get("public.away")
        return found is not None and found.relation is not None

    def known(count: int) -> bool:
        tables = made.ledger.tables.values()
        return sum(table.relation is not None for table in tables) == count

    def dropped(table: str) -> bool:
        found = state(table).dropped
        return found is not None and found.generation == 1 and not found.back

    def emptied(table: str) -> bool:
        found = state(table)
        return (found.generation, found.sequence, found.parked) == (2, 0, None)

    def renamed() -> bool:
        return away("renamed") == "public.has_a_new_name"

    def begun_anew(table: str) -> bool:
        found = state(table)
        return (found.generation, found.parked, bool(found.sequence)) == (2, None, True) and rows(table) == [NEW]

    def called(table: str) -> dict[str, str]:
        return renamed_columns(state(table))

    def told(words: str) -> int:
        return sum(words in record.message for record in caplog.records)

    def wait(condition: Callable[[], bool], what: str) -> None:
        try:
            until(condition, what, seconds=240, poll=0.2)
        except RigError as error:
            known_of = {name: (table.status, table.parked, rows(name)) for name, table in made.ledger.tables.items()}
            raise RigError(f"{error}; the tables are {known_of}") from error

    with running(made) as reports:
        wait(lambda: known(len(TABLES)), "all tables have landed, and their OIDs are known")
        for table in ("removed", "made_again"):
            db.execute(insert(table, LAST))
        # Of a table that is gone when it decodes a row, the connector knows no key.
        connector.wait_caught_up()
        # A row of the transaction that makes or renames its table may come without key: Debezium may look for the
        # table before the commit is seen.
        db.execute("ALTER TABLE renamed RENAME TO has_a_new_name")
        db.execute(insert("has_a_new_name", NEW))
        # The last commits before the tables are made again, and the connector is sent none of them.
        for table in GONE:
            db.execute(f"DROP TABLE {table}")
        for table in ("removed", "made_again", "made_again_ignore", "made_again_rebuild"):
            wait(partial(dropped, table), f"the drop of {table} is known")
        for table in ("removed_drop", "made_again_drop"):
            wait(partial(emptied, table), f"the mirror of {table} is dropped")
        wait(renamed, "the new name is known")

        for table in ("made_again", "made_again_ignore", "made_again_rebuild", "made_again_drop"):
            db.execute(create(table))
            db.execute(insert(table, NEW))
        for table in SWAPPED:
            db.transaction(f"DROP TABLE {table}", create(table))
            db.execute(insert(table, NEW))
        for table in ("made_again", "swapped"):
            wait(lambda table=table: parked(table) == "recreated", f"{table} parks")
        for table in ("made_again_rebuild", "made_again_drop", "swapped_rebuild"):
            wait(partial(begun_anew, table), f"{table} begins anew")
        wait(lambda: rows("made_again_ignore") == [OLD, NEW], "the rows of both tables lie together")

        wait(lambda: all(state(table).column_numbers == (1, 2) for table in COLUMNS), "their columns are known")
        db.execute("ALTER TABLE column_renamed RENAME COLUMN name TO title")
        db.execute("INSERT INTO column_renamed VALUES (4, 'titled')")
        wait(lambda: called("column_renamed") == {"name": "title"}, "the column's new name is known")
        db.transaction(
            *(
                f"ALTER TABLE columns_swapped RENAME COLUMN {before} TO {after}"
                for before, after in (("id", "spare"), ("name", "id"), ("spare", "name"))
            )
        )
        wait(lambda: parked("columns_swapped") == "column_replaced", "columns_swapped parks")
        assert called("columns_swapped") == {"id": "name", "name": "id"}
        db.execute("ALTER TABLE column_made_anew DROP COLUMN name")
        db.execute("ALTER TABLE column_made_anew ADD COLUMN name text")
        db.execute("ALTER TABLE column_made_anew_beside RENAME COLUMN name TO former")
        db.execute("ALTER TABLE column_made_anew_beside ADD COLUMN name text DEFAULT 'b'")
        for table in ("column_made_anew", "column_made_anew_beside"):
            wait(lambda table=table: parked(table) == "column_replaced", f"{table} parks")
            assert "name (a new column)" in message(table)
            assert state(table).column_numbers == (1, 3)

        db.execute("ALTER TABLE renamed_back RENAME TO away")
        wait(lambda: away("renamed_back") == "public.away", "the other name is known")
        db.execute("UPDATE away SET name = 'new'")
        wait(seen_away, "the row that changed under it has landed there, and that table's OID is known")
        db.execute("ALTER TABLE away RENAME TO renamed_back")
        wait(lambda: parked("renamed_back") == "recreated", "renamed_back parks")
        assert rows("renamed_back") == [OLD]

        db.execute(f"ALTER ROLE {reader} NOLOGIN")
        wait(lambda: told("cannot be looked into") == 1, "the log says that nobody is let in")
        db.execute(insert("untouched", LAST))
        wait(lambda: rows("untouched") == [OLD, LAST], "rows land all the same")
        db.execute(f"ALTER ROLE {reader} LOGIN")
        wait(lambda: told("can be looked into again") == 1, "the log says that it is over")

    assert told("cannot be looked into") == 1
    assert (rows("removed"), rows("made_again")) == ([OLD, LAST], [OLD, LAST])
    assert (rows("renamed"), parked("renamed"), rows("has_a_new_name")) == ([OLD], None, [NEW])
    assert "public.removed_drop" not in made.tables()
    assert rows("column_renamed") == [{**OLD, "title": None}, {"id": 4, "name": None, "title": "titled"}]
    # What a batch says of the columns of its own rows depends on which rows it has.
    notes = sorted(
        note.partition("; ")[0]
        for report in reports
        for note in report.notes
        if "renamed columns" in note or not note.startswith("public.column_renamed")
    )
    assert notes == sorted(
        [
            *(f"public.{table}: dropped at the source, as its catalog shows" for table in GONE),
            *(
                f"public.{table}: dropped at the source and made again, or replaced by a renamed table"
                for table in SWAPPED
            ),
            "public.made_again_ignore: the source dropped the table and made it again",
            *(
                f"public.{table}: renamed columns at the source: {columns}"
                for table, columns in (
                    ("column_renamed", "name to title"),
                    ("columns_swapped", "id to name, name to id"),
                )
            ),
            "public.renamed: renamed to public.has_a_new_name at the source: its mirror stays as it is and gets no "
            "more changes",
            "public.renamed_back: renamed to public.away at the source: its mirror stays as it is and gets no more "
            "changes",
            "public.renamed_back: has its name at the source again",
            "public.away: renamed to public.renamed_back at the source: its mirror stays as it is and gets no more "
            "changes",
        ]
    )
