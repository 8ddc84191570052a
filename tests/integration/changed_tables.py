"""A database whose tables change while the bridge runs, each in its own way and under its own policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connectors.landing_zone.ledger.state import TableState
from streaming.driver.session import spark_session
from streaming.lifecycle.generations import UNDER_WAY
from tests.rig import Connector, Database, Rig, RigServers, until
from tests.support.bridge import QUICK_START, Bridge
from tests.support.cluster import Cluster
from tests.unit.streaming.settings_builder import settings

Policies = Mapping[str, str]

POLICIES: dict[str, Policies] = {
    "retyped_new_column": {"on_type_change": "new_column"},
    "retyped_to_string": {"on_type_change": "to_string"},
    "retyped_ignore": {"on_type_change": "ignore"},
    "retyped_rebuild": {"on_type_change": "rebuild"},
    "widened_new_column": {"on_type_change": "new_column"},
    "widened_rebuild": {"on_type_change": "rebuild"},
    "rekeyed_rebuild": {"on_key_change": "rebuild"},
    "recreated_park": {"on_truncate": "park"},
    "recreated_ignore": {"on_truncate": "ignore"},
    "recreated_rebuild": {"on_truncate": "rebuild"},
    "removed_drop": {"on_drop": "drop"},
}
"""Policies of the tables that do not have the defaults."""

DEFAULTS = (
    "added",
    "column_dropped",
    "column_renamed",
    "widened_text",
    "widened_park",
    "narrowed",
    "retyped_park",
    "rekeyed_park",
    "removed",
    "renamed",
    "untouched",
)
"""Tables with the default policies."""

WIDENED = {
    "widened_park": ("int", "bigint"),
    "widened_new_column": ("int", "bigint"),
    "widened_rebuild": ("numeric(10,2)", "numeric(12,2)"),
}
"""Types of the column ``name`` before and after."""

RETYPED = ("retyped_park", "retyped_new_column", "retyped_to_string", "retyped_ignore", "retyped_rebuild")
"""Tables whose column ``name`` is a number before and text after."""

KINDS = (
    {"widened_text": "varchar(5)", "narrowed": "bigint"}
    | dict.fromkeys(RETYPED, "int")
    | {table: before for table, (before, _) in WIDENED.items()}
)
"""Types of the column ``name``, where it is not text."""


@dataclass
class Story:
    """A database, its mirror, and what the bridge has told on the way."""

    db: Database
    connector: Connector
    bridge: Bridge
    notes: list[str]

    def land(self) -> None:
        """Land everything that was committed so far."""
        self.connector.wait_caught_up()
        for report in self.bridge.run():
            self.notes += report.notes

    def is_filled(self) -> bool:
        """Whether no table waits for rows of a snapshot; lands what has come of them."""
        if not any(table.status in UNDER_WAY for table in self.bridge.ledger.tables.values()):
            return True
        self.land()
        return False

    def rows(self, table: str) -> list[dict[str, Any]]:
        return self.bridge.rows(f"{self.db.schema}.{table}")

    def source(self, table: str) -> list[tuple[Any, ...]]:
        return self.db.execute(f"SELECT * FROM {table} ORDER BY 1")

    def state(self, table: str) -> TableState:
        return self.bridge.ledger.tables[f"{self.db.schema}.{table}"]

    def parked(self, table: str) -> str | None:
        found = self.state(table).parked
        return None if found is None else found.reason

    def told(self, table: str) -> list[str]:
        """The notes about a table."""
        name = f"{self.db.schema}.{table}: "
        return [note.removeprefix(name) for note in self.notes if note.startswith(name)]


def begun(
    servers: RigServers, bootstrap_servers: str, folder: Path, jars: list[Path], *, mariadb: bool
) -> tuple[Rig, Story]:
    """A database with its tables, each with the rows 1 and 2, and a bridge that has landed them."""
    cluster = Cluster(bootstrap_servers)
    rig = Rig(servers, cluster.prefix)
    db = rig.mariadb() if mariadb else rig.postgres()
    for table in (*POLICIES, *DEFAULTS):
        key, name = ("code", "text") if table.startswith("rekeyed") else ("id", KINDS.get(table, "text"))
        other = ", id int NOT NULL" if key == "code" else ""
        kind = "varchar(20)" if key == "code" else "int"
        db.execute(f"CREATE TABLE {table} ({key} {kind} PRIMARY KEY, name {name}{other})")
        values = "('k1', '1', 1), ('k2', '2', 2)" if key == "code" else "(1, '1'), (2, '2')"
        db.execute(f"INSERT INTO {table} VALUES {values}")
    notifications = cluster.own_topic("notifications")
    connector = rig.connect(
        db,
        skipped_operations="none",
        notification_enabled_channels="sink",
        notification_sink_topic_name=notifications,
    )
    connector.wait_streaming()
    scheme = "mariadb" if mariadb else "postgresql"
    made = Bridge(
        folder,
        spark_session(settings(spark__master="local[2]", spark__driver_memory="2GiB", spark__conf=QUICK_START), jars),
        kafka__bootstrap_servers=bootstrap_servers,
        kafka__topics=None,
        # The bare prefix is the schema-change topic.
        kafka__pattern=rf"{cluster.prefix}(\..*)?",
        dead_letters__topic=f"{cluster.prefix}-dead-letters",
        landing_zone__release_wait="0s",
        tables__naming={"schema": "{database}" if mariadb else "{schema}"},
        tables__overrides=[{"match": f"*.{table}", "policies": dict(policies)} for table, policies in POLICIES.items()],
        source__topic_prefix=cluster.prefix,
        source__signals={"table": f"{db.schema}.debezium_signal"},
        source__notifications_topic=notifications,
        source__database={
            "url": f"{scheme}://{db.user}@{db.host}:{db.port}/{db.name}",
            "password": db.password,
            "unverified": True,
        },
    )
    story = Story(db, connector, made, [])
    story.land()
    assert story.notes == []
    return rig, story


def change_alike(story: Story) -> None:
    """The changes that both databases know, and a row 3 in each table behind its change."""
    db = story.db
    db.execute("ALTER TABLE added ADD COLUMN note varchar(9)")
    db.execute("ALTER TABLE added ADD COLUMN size int NOT NULL DEFAULT 7")
    db.execute("INSERT INTO added (id, name) VALUES (3, 'c')")
    db.execute("ALTER TABLE column_dropped DROP COLUMN name")
    db.execute("INSERT INTO column_dropped VALUES (3)")
    db.execute("ALTER TABLE column_renamed RENAME COLUMN name TO title")
    db.execute("INSERT INTO column_renamed VALUES (3, 'c')")
    for table in ("rekeyed_park", "rekeyed_rebuild"):
        db.execute(f"INSERT INTO {table} VALUES ('k3', 'c', 3)")
    db.execute("DROP TABLE removed")
    db.execute("DROP TABLE removed_drop")
    db.execute("ALTER TABLE renamed RENAME TO has_a_new_name")
    db.execute("INSERT INTO has_a_new_name VALUES (3, 'c')")
    for table in ("recreated_park", "recreated_ignore", "recreated_rebuild"):
        db.execute(f"DROP TABLE {table}")
        db.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, name text)")
        db.execute(f"INSERT INTO {table} VALUES (3, 'c')")
    db.execute("CREATE TABLE entirely_new (id int PRIMARY KEY, name text)")
    db.execute("INSERT INTO entirely_new VALUES (3, 'c')")
    db.execute("INSERT INTO untouched VALUES (3, 'c')")


def change_unlike(story: Story, *, mariadb: bool) -> None:
    """The changes of types and keys, which each database has its own words for."""
    db = story.db
    retype = "MODIFY name" if mariadb else "ALTER COLUMN name TYPE"
    db.execute(f"ALTER TABLE widened_text {retype} varchar(50)")
    db.execute(f"ALTER TABLE narrowed {retype} int")
    for table, (_, after) in WIDENED.items():
        db.execute(f"ALTER TABLE {table} {retype} {after}")
    for table in RETYPED:
        db.execute(f"ALTER TABLE {table} {retype} text")
    for table in ("rekeyed_park", "rekeyed_rebuild"):
        key = "PRIMARY KEY" if mariadb else f"CONSTRAINT {table}_pkey"
        db.execute(f"ALTER TABLE {table} DROP {key}, ADD PRIMARY KEY (id)")


def told(story: Story) -> None:
    """The rest of a story: rows behind the last changes, the bridge, the snapshots that it asks for, the bridge."""
    story.db.execute("INSERT INTO widened_text VALUES (3, 'a long text')")
    story.db.execute("INSERT INTO narrowed VALUES (3, 3)")
    for table in WIDENED:
        story.db.execute(f"INSERT INTO {table} VALUES (3, 3), (4, 9999999999)")
    for table in RETYPED:
        story.db.execute(f"INSERT INTO {table} VALUES (3, '3'), (4, 'four')")
    for table in ("rekeyed_park", "rekeyed_rebuild"):
        story.db.execute(f"INSERT INTO {table} VALUES ('k4', 'd', 4)")
    story.land()
    story.land()
    until(story.is_filled, "the snapshots that were asked for have landed", seconds=120)
