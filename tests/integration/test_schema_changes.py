"""Real databases change their tables while the bridge runs: what the mirror shows of it, under each policy.

One story per database: tables are made and filled, the bridge lands them; then each of them is changed in its own way,
and the bridge goes on. The stories are told once, each test looks at one table of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import TableState, TableStatus
from streaming.driver.session import spark_session
from streaming.lifecycle.generations import UNDER_WAY
from tests.rig import Connector, Database, Rig, RigServers, until
from tests.support.bridge import QUICK_START, Bridge
from tests.support.cluster import Cluster
from tests.unit.streaming.settings_builder import settings

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

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

KINDS = (
    {"widened_text": "varchar(5)", "narrowed": "bigint"}
    | dict.fromkeys(
        ("retyped_park", "retyped_new_column", "retyped_to_string", "retyped_ignore", "retyped_rebuild"), "int"
    )
    | {table: before for table, (before, _) in WIDENED.items()}
)
"""Types of the column ``name``, where it is not text."""


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


RETYPED = ("retyped_park", "retyped_new_column", "retyped_to_string", "retyped_ignore", "retyped_rebuild")


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


@pytest.fixture(scope="module")
def tell(
    rig_servers: RigServers, bootstrap_servers: str, tmp_path_factory: pytest.TempPathFactory, spark_jars: list[Path]
) -> Iterator[Callable[..., Story]]:
    """Tells the whole story of a database."""
    with ExitStack() as closing:

        def whole(*, mariadb: bool) -> Story:
            folder = tmp_path_factory.mktemp("story")
            rig, story = begun(rig_servers, bootstrap_servers, folder, spark_jars, mariadb=mariadb)
            closing.callback(rig.close)
            change_alike(story)
            # PostgreSQL's connector takes a key from the catalogue when it decodes, not from when the row was written.
            story.connector.wait_caught_up()
            change_unlike(story, mariadb=mariadb)
            told(story)
            return story

        yield whole


@pytest.fixture(scope="module")
def postgres(tell: Callable[..., Story]) -> Story:
    return tell(mariadb=False)


@pytest.fixture(scope="module")
def mariadb(tell: Callable[..., Story]) -> Story:
    return tell(mariadb=True)


@pytest.fixture(params=["postgres", "mariadb"])
def story(request: pytest.FixtureRequest) -> Story:
    found: Story = request.getfixturevalue(request.param)
    return found


def row(key: int, name: object, **more: object) -> dict[str, Any]:
    return {"id": key, "name": name, **more}


OLD = [row(1, "1"), row(2, "2")]


def test_an_added_column_is_null_in_old_rows_even_where_the_source_gave_them_a_default(story: Story) -> None:
    assert story.rows("added") == [
        row(1, "1", note=None, size=None),
        row(2, "2", note=None, size=None),
        row(3, "c", note=None, size=7),
    ]
    assert story.source("added")[0] == (1, "1", None, 7)
    assert story.told("added") == [
        "new column note (string)",
        "new column size (int32)",
        "rows that exist have a value in size at the source, and NULL in the mirror until they change; "
        "`cdc-bridge resync CONFIG TABLE` fills it",
    ]


def test_a_dropped_column_stays_and_gets_no_more_values(story: Story) -> None:
    assert story.rows("column_dropped") == [*OLD, row(3, None)]
    assert story.told("column_dropped") == [
        "name is gone from the rows: it stays, NULL in every row that changes from now on"
    ]


def test_a_renamed_column_is_a_new_one_and_old_values_stay_where_they_are(story: Story) -> None:
    assert story.rows("column_renamed") == [
        row(1, "1", title=None),
        row(2, "2", title=None),
        row(3, None, title="c"),
    ]
    assert story.told("column_renamed")[-1] == (
        "name is gone and title is new in the same event: if it was renamed, old rows keep their value in name; "
        "`cdc-bridge resync CONFIG TABLE` fills title"
    )


def test_a_longer_text_and_a_narrower_number_land_as_before(story: Story) -> None:
    assert story.rows("widened_text") == [*OLD, row(3, "a long text")]
    assert story.rows("narrowed") == [row(1, 1), row(2, 2), row(3, 3)]
    assert (story.told("widened_text"), story.told("narrowed")) == ([], [])


def test_a_wider_number_is_a_changed_type_that_parks(story: Story) -> None:
    assert story.parked("widened_park") == "type_changed"
    assert story.rows("widened_park") == [row(1, 1), row(2, 2)]


def test_a_wider_number_goes_on_in_a_column_of_its_own(story: Story) -> None:
    assert story.rows("widened_new_column") == [
        row(1, 1, name__2=None),
        row(2, 2, name__2=None),
        row(3, None, name__2=3),
        row(4, None, name__2=9_999_999_999),
    ]
    assert story.told("widened_new_column") == ["new column name__2 (int64) instead of name"]


def test_a_wider_decimal_is_followed_by_a_rebuild(story: Story) -> None:
    state = story.state("widened_rebuild")
    assert (state.status, state.generation) == (TableStatus.STREAMING, 2)
    assert story.rows("widened_rebuild") == [
        row(key, Decimal(f"{number}.00")) for key, number in enumerate((1, 2, 3, 9_999_999_999), 1)
    ]
    assert story.rows("widened_rebuild") == [row(key, name) for key, name in story.source("widened_rebuild")]


def test_a_changed_type_parks(story: Story) -> None:
    assert story.parked("retyped_park") == "type_changed"
    assert story.rows("retyped_park") == [row(1, 1), row(2, 2)]


@pytest.mark.parametrize("policy", ["new_column", "to_string"])
def test_a_changed_type_gets_a_column_of_its_own(story: Story, policy: str) -> None:
    assert story.rows(f"retyped_{policy}") == [
        row(1, 1, name__2=None),
        row(2, 2, name__2=None),
        row(3, None, name__2="3"),
        row(4, None, name__2="four"),
    ]
    assert story.told(f"retyped_{policy}") == ["new column name__2 (string) instead of name"]


def test_a_changed_type_that_is_ignored_keeps_what_the_old_one_holds(story: Story) -> None:
    assert story.rows("retyped_ignore") == [row(1, 1), row(2, 2), row(3, 3), row(4, None)]
    assert story.state("retyped_ignore").ignored_values == 1
    assert story.told("retyped_ignore") == [
        "1 value(s) of name are no int32 and landed as NULL (policies.on_type_change: ignore)"
    ]


def test_a_changed_type_is_followed_by_a_rebuild(story: Story) -> None:
    state = story.state("retyped_rebuild")
    assert (state.status, state.generation) == (TableStatus.STREAMING, 2)
    assert story.rows("retyped_rebuild") == [row(1, "1"), row(2, "2"), row(3, "3"), row(4, "four")]


def test_a_changed_key_parks(story: Story) -> None:
    assert story.parked("rekeyed_park") == "key_changed"
    assert [line["code"] for line in story.rows("rekeyed_park")] == ["k1", "k2", "k3"]


def test_a_changed_key_is_followed_by_a_rebuild(story: Story) -> None:
    state = story.state("rekeyed_rebuild")
    assert (state.status, state.generation, state.keys) == (TableStatus.STREAMING, 2, ("id",))
    assert [(line["code"], line["id"]) for line in story.rows("rekeyed_rebuild")] == [
        ("k1", 1),
        ("k2", 2),
        ("k3", 3),
        ("k4", 4),
    ]


def test_a_new_table_lands_and_tables_that_are_gone_or_parked_stop_none_of_the_others(story: Story) -> None:
    assert story.rows("entirely_new") == [row(3, "c")]
    assert story.rows("untouched") == [*OLD, row(3, "c")]


def test_the_mirror_of_a_removed_or_renamed_table_stays_and_the_new_name_is_a_new_table(story: Story) -> None:
    assert story.rows("removed") == OLD
    assert story.rows("renamed") == OLD
    assert story.rows("has_a_new_name") == [row(3, "c")]


def test_a_dropped_table_is_told_and_its_mirror_stays_or_goes_as_the_settings_say(story: Story) -> None:
    for table in ("removed", "removed_drop"):
        [note] = story.told(table)
        assert note.startswith("dropped at the source")
    assert story.state("removed").dropped is not None
    assert f"{story.db.schema}.removed_drop" not in story.bridge.tables()
    state = story.state("removed_drop")
    assert (state.generation, state.sequence, state.parked) == (2, 0, None)


def test_a_table_that_was_made_again_parks(story: Story) -> None:
    assert story.parked("recreated_park") == "recreated"
    assert story.rows("recreated_park") == OLD


def test_rows_of_the_old_table_stay_where_the_settings_say_so(story: Story) -> None:
    assert story.parked("recreated_ignore") is None
    assert story.rows("recreated_ignore") == [*OLD, row(3, "c")]


def test_a_table_that_was_made_again_begins_anew_where_the_settings_say_so(story: Story) -> None:
    state = story.state("recreated_rebuild")
    assert (state.status, state.generation) == (TableStatus.STREAMING, 2)
    assert story.rows("recreated_rebuild") == [row(3, "c")]


def test_what_a_table_was_renamed_to_is_told(story: Story) -> None:
    """PostgreSQL's catalog shows it, and the statement in MariaDB's schema-change topic says it."""
    [note] = story.told("renamed")
    assert note.startswith(f"renamed to {story.db.schema}.has_a_new_name at the source: its mirror stays as it is")
    assert story.told("has_a_new_name") == []


def test_mariadb_tells_which_column_became_which(mariadb: Story) -> None:
    found = mariadb.state("column_renamed").renamed_columns
    assert found is not None
    assert found.columns == {"name": "title"}
