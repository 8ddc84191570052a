"""Real databases change their tables while the bridge runs: what the mirror shows of it, under each policy.

One story per database: tables are made and filled, the bridge lands them; then each of them is changed in its own way,
and the bridge goes on. The stories are told once, each test looks at one table of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import TableStatus
from tests.integration.changed_tables import Story, begun, change_alike, change_unlike, told
from tests.rig import RigServers

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]


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
