"""The emulated replicator, rule by rule, so that what it never complained of was really right."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.emulators.file_tree import FileTree
from tests.emulators.replicator import CLEANUP, Replicator

ZONE = "workspace/item/Files/LandingZone"
ORDERS = f"{ZONE}/public.schema/orders"
METADATA = b'{"keyColumns": ["id"], "isUpsertDefaultRowMarker": true}'
SCHEMA = pa.schema(
    [pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string()), pa.field("__rowMarker__", pa.int32())]
)


class Clock:
    """Seconds that only the test moves."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class World:
    """A landing zone and its replicator, which looks when it is told to."""

    def __init__(self, metadata: bytes | None = METADATA, cleanup: str = CLEANUP[0]) -> None:
        self.clock = Clock()
        self.tree = FileTree("workspace", clock=self.clock)
        self.tree.create(ORDERS, is_folder=True, if_absent=True)
        self.replicator = Replicator(self.tree, ZONE, cleanup=cleanup)
        if metadata is not None:
            self.write("_metadata.json", metadata)

    def write(self, name: str, body: bytes) -> None:
        """A file of the table, all of it at once."""
        self.tree.put(f"{ORDERS}/{name}", body, if_absent=False)

    def publish(self, number: int, *rows: tuple[int, str | None, int], schema: pa.Schema = SCHEMA) -> None:
        """A file with rows of key, name and marker."""
        self.write(name(number), parquet(rows, schema))

    def look(self) -> dict[str, object]:
        """What the table contains after another round: names by key, where keys are single."""
        self.replicator.look()
        return {row["id"]: row["name"] for row in self.replicator.rows("public.orders")}

    def numbers(self) -> list[int]:
        return [one.number for one in self.replicator.consumed]

    def status(self) -> dict[str, object]:
        content = json.loads(self.tree.get("workspace/item/Files/Monitoring/tables.json").body)
        [table] = content["tables"]
        return {key: table[key] for key in ("status", "errorMessage", "sourceSchemaName", "sourceTableName")}

    def files(self) -> list[str]:
        return [
            path.removeprefix(f"{ORDERS}/")
            for path, node in self.tree.children(ORDERS, recursive=True)
            if path.endswith(".parquet") and not node.is_folder
        ]


def name(number: int) -> str:
    return f"{number:020d}.parquet"


def parquet(rows: tuple[tuple[object, ...], ...], schema: pa.Schema = SCHEMA) -> bytes:
    columns = [pa.array([row[index] for row in rows], field.type) for index, field in enumerate(schema)]
    body = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), body)
    return body.getvalue()


def test_rows_are_applied_by_marker_in_the_order_of_files_and_rows() -> None:
    world = World()
    world.publish(1, (1, "a", 4), (2, "b", 1), (3, "c", 0), (2, None, 2))
    world.publish(2, (1, "A", 1), (4, "d", 4), (9, None, 2))
    assert world.look() == {1: "A", 3: "c", 4: "d"}
    assert world.numbers() == [1, 2]


def test_an_insert_does_not_look_for_its_key() -> None:
    world = World()
    world.publish(1, (1, "a", 0), (1, "b", 0))
    world.look()
    assert [row["name"] for row in world.replicator.rows("public.orders")] == ["a", "b"]


@pytest.mark.parametrize(("metadata", "names"), [(METADATA, ["b"]), (b'{"keyColumns": ["id"]}', ["a", "b"])])
def test_rows_without_marker_are_what_the_metadata_says(metadata: bytes, names: list[str]) -> None:
    world = World(metadata)
    world.publish(1, (1, "a", 0), (1, "b", 0), schema=SCHEMA.remove(2))
    world.look()
    assert [row["name"] for row in world.replicator.rows("public.orders")] == names


def test_a_gap_blocks_without_a_word() -> None:
    world = World()
    world.publish(1, (1, "a", 4))
    world.publish(3, (1, "c", 4))
    assert world.look() == {1: "a"}
    assert world.replicator.blocked() == ["public.orders"]
    assert world.status()["status"] == "Replicating"
    world.publish(2, (1, "b", 4))
    assert world.look() == {1: "c"}
    assert world.replicator.blocked() == []


@pytest.mark.parametrize("cleanup", CLEANUP)
def test_what_is_taken_in_moves_away_but_for_the_last_one_and_goes_after_a_while(cleanup: str) -> None:
    world = World(cleanup=cleanup)
    for number in (1, 2, 3):
        world.publish(number, (number, "x", 4))
    world.look()
    assert world.files() == [name(3), f"{cleanup}/{name(1)}", f"{cleanup}/{name(2)}"]
    world.clock.now += world.replicator.kept + 1
    world.look()
    assert world.files() == [name(3)]
    assert (world.numbers(), world.replicator.rewritten) == ([1, 2, 3], [])


@pytest.mark.parametrize(
    ("body", "error"), [(b"", "Parquet file size is 0 bytes"), (parquet(((1, "a", 4),))[:-9], "Invalid: ")]
)
def test_a_file_that_is_seen_too_soon_latches_until_it_was_gone_and_is_there_again(body: bytes, error: str) -> None:
    world = World()
    world.write(name(1), body)
    world.look()
    assert error in world.replicator.latched()["public.orders"]
    assert world.status()["status"] == "Failed"
    world.publish(1, (1, "a", 4))
    world.look()
    assert (world.numbers(), list(world.replicator.latched())) == ([], ["public.orders"])
    world.tree.delete(f"{ORDERS}/{name(1)}", recursive=False)
    world.look()
    world.publish(1, (1, "a", 4))
    assert world.look() == {1: "a"}
    assert (world.numbers(), world.replicator.latched(), len(world.replicator.latches)) == ([1], {}, 1)


def test_a_file_before_its_metadata_latches() -> None:
    world = World(metadata=None)
    world.publish(1, (1, "a", 4))
    world.look()
    assert "PathNotFound" in world.replicator.latched()["public.orders"]


@pytest.mark.parametrize(
    ("schema", "row", "error"),
    [
        (SCHEMA.set(1, pa.field("name", pa.int32())), (2, 5, 4), "Type mismatch for column 'name'. Incoming type"),
        (SCHEMA.set(1, pa.field("name", pa.string(), nullable=False)), (2, "b", 4), "column 'name' is not nullable"),
        (SCHEMA.remove(0), ("b", 4), "key column 'id' is missing"),
        (pa.schema([SCHEMA.field(0), SCHEMA.field(2), SCHEMA.field(1)]), (2, 4, "b"), "is not the last column"),
    ],
)
def test_a_schema_that_cannot_be_merged_latches(schema: pa.Schema, row: tuple[object, ...], error: str) -> None:
    world = World()
    world.publish(1, (1, "a", 4))
    world.write(name(2), parquet((row,), schema))
    assert world.look() == {1: "a"}
    assert error in world.replicator.latched()["public.orders"]


def test_a_column_may_come_and_go_and_its_rows_are_empty_without_it() -> None:
    world = World()
    world.publish(1, (1, "a", 4))
    wide = SCHEMA.insert(2, pa.field("size", pa.int32()))
    world.write(name(2), parquet(((2, "b", 7, 4),), wide))
    world.publish(3, (3, "c", 4))
    world.look()
    assert [row["size"] for row in world.replicator.rows("public.orders")] == [None, 7, None]


def test_key_columns_never_change() -> None:
    world = World()
    world.publish(1, (1, "a", 4))
    world.look()
    world.write("_metadata.json", b'{"keyColumns": ["name"]}')
    world.publish(2, (1, "b", 4))
    world.look()
    assert "key columns ['id'] became ['name']" in world.replicator.latched()["public.orders"]


def test_a_published_file_that_changes_is_noticed() -> None:
    world = World()
    world.publish(1, (1, "a", 4))
    world.look()
    world.publish(1, (1, "b", 4))
    assert world.look() == {1: "a"}
    assert world.replicator.rewritten == [f"{ORDERS}/{name(1)}"]


def test_a_folder_made_anew_drops_the_table_and_begins_with_number_1() -> None:
    world = World()
    world.publish(1, (1, "a", 4))
    world.look()
    world.tree.delete(ORDERS, recursive=True)
    world.replicator.look()
    assert world.replicator.tables() == []
    world.write("_metadata.json", METADATA)
    world.publish(1, (2, "b", 4))
    assert world.look() == {2: "b"}
    assert (world.numbers(), world.replicator.dropped) == ([1, 1], ["public.orders"])


def test_folders_and_files_that_begin_with_an_underscore_are_not_looked_at() -> None:
    world = World()
    world.tree.put(f"{ZONE}/_scratchPad/{name(1)}", b"", if_absent=True)
    world.write(f"_{name(1)}", b"")
    world.look()
    assert (world.replicator.tables(), world.replicator.latches) == ([], [])
