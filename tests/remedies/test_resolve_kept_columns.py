"""Another's file is kept, and the table goes back before its own: what the source has told since stays known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as changed

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import Relation, TableState
from streaming.demo.columns import Column, Kind
from streaming.demo.workload import Record
from streaming.resolving.decision import Decision
from tests.remedies.lost_files import Resolving, healthy, problems, started
from tests.support.mariadb_events import ddl
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming import landed_shop, maria_shop
from tests.unit.streaming.rebuild_world import NAME, World

WIDER = replace(landed_shop.ORDERS, columns=(*landed_shop.ORDERS.columns, Column("more", Kind.TEXT)))


def table_of(world: World) -> TableState:
    [table] = world.ledger.tables.values()
    return table


def committed(world: World, first: Record, *second: Record) -> None:
    """File 1 is known to be published, file 2 is committed."""
    world.send(first)
    world.driver().land()
    world.send(*second)
    world.driver().land()


def taken(world: World) -> None:
    """The driver died before it published file 2, somebody else took the number, and the next start stops the table."""
    [file] = world.ledger.pending.values()
    world.zone.write(file.staged, world.zone.files.pop(file.target))
    world.zone.write(file.target, world.zone.files[f"{table_of(world).folder}/{1:020d}.parquet"])
    started(world)
    parked = table_of(world).parked
    assert parked is not None
    assert parked.reason == "zone:sequence_conflict"


def kept(world: World) -> None:
    """The other's file stays by a person's word, and the bridge goes on."""
    [name] = world.ledger.pending
    Resolving(world)(Decision.KEEP, name=name)
    healthy(world)
    assert (table_of(world).sequence, table_of(world).parked) == (3, None)


def test_a_column_that_was_dropped_and_is_made_again_is_noticed(tmp_path: Path) -> None:
    world = World(tmp_path, policies={"schema_template": "{database}"})
    dropped = ddl("ALTER TABLE orders DROP name", ("ALTER", "orders"), pos=20, columns=("id",))
    committed(
        world, maria_shop.ORDERS.read(maria_shop.row(1), 5), maria_shop.ORDERS.create(maria_shop.row(2), 10), dropped
    )
    told = table_of(world).renamed_columns
    assert told is not None

    taken(world)
    kept(world)

    assert table_of(world).renamed_columns == told
    world.send(ddl("ALTER TABLE orders ADD name text", ("ALTER", "orders"), pos=30, columns=("id", "name")))
    world.live()
    parked = table_of(world).parked
    assert parked is not None
    assert parked.reason == "column_replaced"


@pytest.mark.parametrize(
    ("second", "numbers"),
    [
        (landed_shop.ORDERS.create(landed_shop.row(2), 11), (1, 2)),
        (WIDER.create({**landed_shop.row(2), "more": "x"}, 11), (1, 2, 3)),
    ],
)
def test_what_the_first_look_into_the_catalog_has_told_of_the_columns_before_the_file_is_known(
    tmp_path: Path, second: Record, numbers: tuple[int, ...]
) -> None:
    world = World(tmp_path)
    committed(world, landed_shop.ORDERS.create(landed_shop.row(1), 10), second)
    seen: dict[str, Any] = {"relation": Relation("77/5", 11), "column_numbers": numbers}
    taken(world)
    ledger = Ledger.open(MemoryStorage(world.state), now_ms=lambda: 0)
    ledger.claim("looks", "host", "shop")
    ledger.commit(Draft(tables={NAME: changed(table_of(world), **seen)}))

    kept(world)

    assert table_of(world).relation == seen["relation"]
    assert table_of(world).column_numbers == (1, 2)


def test_what_another_has_put_under_the_number_lifts_nothing_else(tmp_path: Path) -> None:
    world = World(tmp_path, policies={"schema_template": "{database}"})
    first, second, third = (maria_shop.row(number) for number in (1, 2, 3))
    committed(world, maria_shop.ORDERS.read(first, 5), maria_shop.ORDERS.create(second, 30))
    world.send(maria_shop.ORDERS.create(third, 31), maria_shop.drop_orders(20))
    world.driver().land()
    taken(world)
    [name] = world.ledger.pending

    Resolving(world)(Decision.KEEP, name=name)
    healthy(world)

    parked = table_of(world).parked
    assert parked is not None
    assert (parked.reason, parked.beneath) == ("recreated", None)
    assert parked.resume == {maria_shop.ORDERS.topic: {0: 2}}, "its row lands again once a person lets the table go on"


def test_rows_that_may_be_there_twice_stay_known(tmp_path: Path) -> None:
    world = World(tmp_path)
    committed(
        world, landed_shop.ORDERS.create(landed_shop.row(1), 10), landed_shop.ORDERS.create(landed_shop.row(2), 11)
    )
    taken(world)
    ledger = Ledger.open(MemoryStorage(world.state), now_ms=lambda: 0)
    ledger.claim("looks", "host", "shop")
    ledger.commit(Draft(tables={NAME: changed(table_of(world), doubled=True)}))

    Resolving(world)(Decision.KEEP, name=NAME)
    healthy(world)

    assert table_of(world).doubled
    assert table_of(world).parked is not None


def test_the_columns_that_the_kept_files_twin_would_have_added_come_with_the_file_behind_it(tmp_path: Path) -> None:
    world = World(tmp_path)
    more = {**landed_shop.row(2), "more": "x"}
    committed(world, landed_shop.ORDERS.create(landed_shop.row(1), 10), WIDER.create(more, 11))
    taken(world)
    kept(world)
    assert world.rows() == [{**landed_shop.row(1), "more": None}, more]
    assert problems(world) == []
