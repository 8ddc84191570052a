"""What the source's catalog and its schema changes had told of a table stays known when the ledger is made again."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as changed

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.lost_table import Proof
from connectors.landing_zone.ledger.state import Relation, RenamedColumns, TableState, TableStatus
from streaming.demo.columns import Column, Kind
from streaming.lifecycle.catalog_findings import recorded
from streaming.lifecycle.catalog_look import look
from streaming.lifecycle.catalog_watch import mirrored_tables
from streaming.lifecycle.unread_topics import park_unread
from tests.unit.streaming.landed_shop import row
from tests.unit.streaming.lost_ledgers import ORDERS, World, proofs, some
from tests.unit.streaming.test_catalog_look import SHOP, Server

NAME = "public.orders"
WIDER = replace(ORDERS, columns=(*ORDERS.columns, Column("more", Kind.TEXT)))
TOLD: dict[str, Any] = {
    "relation": Relation(SHOP, 11),
    "column_numbers": (1, 2),
    "renamed_columns": RenamedColumns(0, "", {"name": "title"}),
    "left_out": ("gone.topic",),
}


@dataclass
class Told:
    """A job whose table of orders the catalog has told of."""

    world: World

    @property
    def table(self) -> TableState:
        return self.world.job.ledger.state.tables[NAME]

    def tell(self, **values: Any) -> None:
        """Note it in the ledger; the copy follows."""
        self.world.job.ledger.commit(Draft(tables={NAME: changed(self.table, **values)}))
        assert self.world.copied().tables[NAME] == self.table

    def land(self) -> None:
        """Another file of the table, which the copy does not follow."""
        self.world.arrive(40)
        self.world.land()
        assert self.world.copied().tables[NAME].sequence < self.table.sequence

    def lose(self) -> Proof:
        self.world.lose()
        return proofs(self.world.rebuild())[NAME]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(some(tmp_path))


def values(table: TableState) -> dict[str, Any]:
    return {name: getattr(table, name) for name in TOLD}


@pytest.mark.parametrize("proof", [Proof.COPY, Proof.FOOTER])
class TestLost:
    def test_all_of_it_is_known_as_before(self, told: Told, proof: Proof) -> None:
        told.tell(**TOLD)
        if proof is Proof.FOOTER:
            told.land()
        assert told.lose() is proof
        assert (values(told.table), told.table.parked) == (TOLD, None)

    def test_a_table_made_again_meanwhile_is_noticed(self, told: Told, proof: Proof) -> None:
        told.tell(relation=Relation(SHOP, 11))
        if proof is Proof.FOOTER:
            told.land()
        assert told.lose() is proof
        job, state = told.world.job.job, told.world.job.ledger.state
        [mirrored] = [one for one in mirrored_tables(state, job) if one.name == NAME]
        [finding] = look(Server({12: mirrored.table}), [mirrored], {}).findings
        parked = recorded(finding, told.table, state, job).parked
        assert parked is not None
        assert parked.reason == "recreated"

    def test_a_topic_that_another_has_followed_is_not_missed(self, told: Told, proof: Proof) -> None:
        partitions = {**told.table.partitions, "old.orders": dict(told.table.partitions["shop.orders"])}
        told.tell(left_out=("old.orders",), partitions=partitions)
        if proof is Proof.FOOTER:
            told.land()
        assert told.lose() is proof
        park_unread(told.world.job.ledger, ["shop.orders"], lambda topic: topic == "shop.orders")
        assert told.table.status is TableStatus.STREAMING


def test_a_topic_that_the_last_file_has_read_again_is_not_left_out_any_more(told: Told) -> None:
    told.tell(left_out=("gone.topic", "shop.orders"))
    told.land()
    assert told.lose() is Proof.FOOTER
    assert told.table.left_out == ("gone.topic",)


def test_the_numbers_of_columns_stay_with_theirs_where_others_were_added(told: Told) -> None:
    told.tell(**TOLD)
    before = told.table.schema
    told.world.log.append(WIDER.create({**row(70), "more": "x"}, 5_000))
    told.world.land()
    assert told.lose() is Proof.FOOTER
    assert told.table.schema != before
    assert (told.table.column_numbers, told.table.parked) == ((1, 2), None)


def test_a_table_stands_still_whose_last_file_has_other_columns_than_those_that_the_numbers_are_of(told: Told) -> None:
    other = random.Random(1).randbytes(16).hex()
    told.tell(column_numbers=(1, 2))
    copy = told.world.copied()
    told.land()
    schemas = {**copy.schemas, other: copy.schemas[copy.tables[NAME].schema]}
    tables = {**copy.tables, NAME: changed(copy.tables[NAME], schema=other)}
    told.world.write_copy(changed(copy, tables=tables, schemas=schemas))
    assert told.lose() is Proof.NONE
    parked = told.table.parked
    assert parked is not None
    assert "the columns of its last file do not begin with those of the ledger's copy" in parked.message


def test_when_a_load_took_place_is_known_however_old_the_copy_is(tmp_path: Path) -> None:
    world = World(tmp_path, random.Random(1))
    for lsn in (1, 1_000):
        world.log.append(ORDERS.read(row(lsn), lsn))
        world.land()
    loaded = world.job.ledger.state.tables[NAME]
    assert (world.copied().tables[NAME].loaded_ms, loaded.status) != (loaded.loaded_ms, TableStatus.STREAMING)
    world.lose()
    assert proofs(world.rebuild())[NAME] is Proof.FOOTER
    after = world.job.ledger.state.tables[NAME]
    assert (after.loaded, after.loaded_ms) == (loaded.loaded, loaded.loaded_ms)
