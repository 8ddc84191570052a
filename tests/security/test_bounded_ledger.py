"""What records say in their headers, and how often a table's columns change, does not fill the ledger."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from connectors.landing_zone.ledger.state import KEPT_RUNS
from streaming.demo.columns import Column, Kind
from streaming.demo.workload import Record
from tests.catalogue.place import LINES, ORDERS, TABLE, Place, row
from tests.support.records import COLUMNS
from tests.unit.streaming.landed_shop import TOPIC
from tests.unit.streaming.rebuild_world import World

REAL = replace(ORDERS, connector="shop")
LONG = "r" * 50_000


def named(connector: str, run: str) -> Record:
    """A record without a row, that anybody may have written into the topic."""
    return replace(ORDERS, connector=connector, run=run).tombstone(row(1))


def largest(place: Place) -> int:
    """Bytes of the largest file that the bridge has written: versions, their copy in the zone, landing files."""
    return max(path.stat().st_size for path in place.folder.rglob("*") if path.is_file())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.land(REAL.create(row(1), 1))
    return place


def test_the_names_of_any_number_of_connectors_are_not_kept(place: Place) -> None:
    known = place.ledger.runs
    assert list(known) == ["shop"]
    for batch in range(3):
        place.land(*(named(f"{batch}-{number}{'x' * 500}", f"run-{batch}-{number}") for number in range(300)))
    assert (place.ledger.runs, largest(place) < 10_000) == (known, True)


def test_of_any_number_of_runs_of_the_connector_as_many_are_written_as_are_kept(place: Place) -> None:
    for batch in range(3):
        place.land(*(named("shop", f"{batch}-{number}-{LONG}") for number in range(300)))
    assert {name: len(runs) for name, runs in place.ledger.runs.items()} == {"shop": KEPT_RUNS}
    assert largest(place) < 10_000


def test_run_ids_of_any_length_fill_neither_the_ledger_nor_the_landing_files(place: Place) -> None:
    for number in range(2, 6):
        place.land(replace(REAL, run=f"{LONG}{number}").create(row(number), number))
    assert len(place.ledger.tables[TABLE].streamed_runs) == 5
    assert [one["id"] for one in place.rows()] == [1, 2, 3, 4, 5]
    assert largest(place) < 20_000


@pytest.mark.parametrize(
    ("after", "generation"),
    [pytest.param("1", 1, id="of one run upsert"), pytest.param("2", 2, id="of another begin the table anew")],
)
def test_snapshots_of_runs_whose_long_ids_end_differently_are_told_apart(
    tmp_path: Path, after: str, generation: int
) -> None:
    world = World(tmp_path)
    first, second = (replace(ORDERS, topic=TOPIC, run=LONG + end) for end in ("1", after))
    world.send(first.read(row(1), 10), first.read(row(2, "deleted unseen"), 10), first.create(row(3), 20))
    world.live()
    world.send(second.read(row(1, "now"), 90), second.read(row(3), 90), second.create(row(4), 91))
    world.live()
    assert world.table.generation == generation
    assert [one["id"] for one in world.rows()] == ([1, 2, 3, 4] if generation == 1 else [1, 3, 4])


def test_schemas_that_no_table_has_any_more_are_forgotten_and_the_table_goes_on(place: Place) -> None:
    sizes: list[int] = []
    for number in range(2, 8):
        added = tuple(Column(f"c{number}_{place}", Kind.INT32) for place in range(20))
        wide = replace(REAL, columns=(*COLUMNS, *added))
        place.land(wide.create(row(number, **dict.fromkeys((column.name for column in added), number)), number))
        sizes.append(sum(map(len, place.ledger.schemas.values())))
    assert list(place.ledger.schemas) == [place.ledger.tables[TABLE].schema]
    steps = [after - before for before, after in pairwise(sizes)]
    assert steps == [steps[0]] * 5
    assert [one["c3_19"] for one in place.rows()] == [None, None, 3, None, None, None, None]


def test_a_schema_that_another_table_still_has_is_kept(place: Place) -> None:
    shared = place.ledger.tables[TABLE].schema
    place.land(replace(LINES, connector="shop").create(row(1), 2))
    assert place.ledger.tables["public.lines"].schema == shared
    wide = replace(REAL, columns=(*COLUMNS, Column("more", Kind.INT32)))
    place.land(wide.create(row(2, more=2), 3))
    place.land(replace(LINES, connector="shop").create(row(2), 4))
    assert set(place.ledger.schemas) == {table.schema for table in place.ledger.tables.values()} > {shared}
    assert [one["id"] for one in place.rows("public.lines")] == [1, 2]
