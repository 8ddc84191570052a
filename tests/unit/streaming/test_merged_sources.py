"""Several source tables that land in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.landing_zone.footer import read_footer
from connectors.landing_zone.ledger.state import TableState, TableStatus
from connectors.landing_zone.requests import Action, new_request
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.columns import Column, Kind
from streaming.demo.workload import Record
from streaming.driver.startup import park_excluded
from streaming.lifecycle.catching_up import CatchUp
from streaming.lifecycle.pausing import Resume
from streaming.plan import JobOptions, TableOptions
from streaming.policies import Compaction, Markers, MetadataColumn, OnResnapshot, OnTruncate
from tests.support.plain_job import Log, PlainJob
from tests.support.records import COLUMNS, Table
from tests.unit.streaming.settings_builder import broken, settings

EAST = Table("east.orders", database="east", run="east-1")
WEST = Table("west.orders", database="west", run="west-1")
SHARED = TableOptions(
    merge_sources=True,
    metadata_columns=(MetadataColumn.SOURCE_DATABASE, MetadataColumn.OP),
    schema_template="",
    on_resnapshot=OnResnapshot.UPSERT,
)


class Shards:
    """A job that lands shards in one table, batch by batch."""

    def __init__(
        self,
        folder: Path,
        options: TableOptions = SHARED,
        markers: Markers = Markers.SAFE,
        overrides: tuple[tuple[str, TableOptions], ...] = (),
    ) -> None:
        self.log = Log()
        job = JobOptions(
            fingerprint="test",
            decode=DecodeOptions(),
            zone=StorageLocation(f"file://{folder}/zone"),
            defaults=options,
            tables=overrides,
            markers=markers,
        )
        self.job = PlainJob(folder, job, self.log)

    def land(self, *records: Record) -> dict[str, Mapping[str, int]]:
        return {table: file.rows for table, file in self.job.receive(*records).files.items()}

    def rows(self) -> list[tuple[Any, ...]]:
        return sorted((row["_cdc_source_database"], row["id"], row["name"]) for row in self.job.rows("orders"))

    @property
    def state(self) -> TableState:
        (table,) = self.job.ledger.state.tables.values()
        return table


def row(key: int, name: str = "a") -> dict[str, Any]:
    return {"id": key, "name": name}


def test_rows_of_shards_with_the_same_key_stay_apart(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    assert shards.land(EAST.create(row(1), 100), WEST.create(row(1, "b"), 5)) == {"orders": {"4": 2}}
    assert shards.rows() == [("east", 1, "a"), ("west", 1, "b")]
    shards.land(EAST.update(row(1, "c"), 101), WEST.delete(row(1), 6))
    assert shards.rows() == [("east", 1, "c")]
    assert shards.state.keys == ("_cdc_source_database", "id")
    assert shards.state.sources == (("east", "public", "orders"), ("west", "public", "orders"))


def test_rows_whose_positions_interleave_keep_their_source(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    east = [EAST.create(row(key), lsn) for key, lsn in ((1, 1), (2, 3), (3, 5))]
    west = [WEST.create(row(key, "w"), lsn) for key, lsn in ((1, 2), (2, 4), (3, 6))]
    assert shards.land(*east, *west) == {"orders": {"4": 6}}
    assert shards.rows() == [("east", key, "a") for key in (1, 2, 3)] + [("west", key, "w") for key in (1, 2, 3)]


def test_the_key_in_the_metadata_begins_with_the_source(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    shards.land(EAST.create(row(1), 1))
    metadata = (tmp_path / "zone/orders/_metadata.json").read_text()
    assert '"_cdc_source_database",\n    "id"' in metadata


@pytest.mark.parametrize("cuts", [1, 2, 5])
def test_each_shard_keeps_its_own_order_whatever_the_positions_of_the_others(tmp_path: Path, cuts: int) -> None:
    history = [
        (EAST, "create", 900),
        (WEST, "create", 1),
        (WEST, "update", 2),
        (EAST, "delete", 901),
        (WEST, "delete", 3),
        (EAST, "create", 902),
        (WEST, "create", 4),
        (EAST, "update", 903),
    ]
    records = [getattr(shard, what)(row(1, f"{what}-{lsn}"), lsn) for shard, what, lsn in history]
    shards = Shards(tmp_path)
    for batch in _batches(records, cuts):
        shards.land(*batch)
    assert shards.rows() == [("east", 1, "update-903"), ("west", 1, "create-4")]
    assert shards.state.late == 0


def _batches(records: list[Record], count: int) -> list[list[Record]]:
    size = -(-len(records) // count)
    return [records[start : start + size] for start in range(0, len(records), size)]


def test_each_shard_brings_its_own_snapshot_and_none_is_taken_for_a_second_one(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    assert shards.land(EAST.read(row(1)), EAST.read(row(2))) == {"orders": {"4": 2}}
    shards.land(EAST.update(row(1, "b"), 9))
    shards.land(WEST.read(row(1)))
    assert shards.rows() == [("east", 1, "b"), ("east", 2, "a"), ("west", 1, "a")]
    assert (shards.state.status, shards.state.parked) == (TableStatus.STREAMING, None)


def test_nothing_is_proven_new_by_positions_of_another_shard(tmp_path: Path) -> None:
    shards = Shards(tmp_path, markers=Markers.NATURAL)
    shards.land(EAST.create(row(1), 1))
    assert shards.land(EAST.create(row(2), 2), WEST.create(row(1), 3)) == {"orders": {"4": 2}}


def test_columns_are_the_union_of_the_shards(tmp_path: Path) -> None:
    wide = replace(WEST, columns=(*COLUMNS, Column("extra", Kind.TEXT)))
    shards = Shards(tmp_path)
    shards.land(EAST.create(row(1), 1), wide.create({**row(2), "extra": "e"}, 1))
    shards.land(EAST.create(row(3), 2))
    landed = {row["id"]: row["extra"] for row in shards.job.rows("orders")}
    assert landed == {1: None, 2: "e", 3: None}


def test_one_topic_may_hold_several_of_them(tmp_path: Path) -> None:
    routed = replace(WEST, topic=EAST.topic)
    shards = Shards(tmp_path)
    assert shards.land(EAST.create(row(1), 100), routed.create(row(1, "b"), 5)) == {"orders": {"4": 2}}
    assert shards.land(routed.update(row(1, "c"), 6), EAST.update(row(1, "d"), 101)) == {"orders": {"1": 2}}
    assert shards.rows() == [("east", 1, "d"), ("west", 1, "c")]
    assert shards.job.ledger.state.merging == ()


def test_key_changes_and_net_changes_stay_within_a_shard(tmp_path: Path) -> None:
    shards = Shards(tmp_path, replace(SHARED, compaction=Compaction.LAST_STATE))
    shards.land(EAST.create(row(1), 1), WEST.create(row(1, "w"), 1))
    moved = EAST.update(row(2, "b"), 2, before=row(1))
    assert shards.land(moved, WEST.update(row(1, "x"), 2), WEST.update(row(1, "y"), 3)) == {
        "orders": {"1": 1, "2": 1, "4": 1}
    }
    assert shards.rows() == [("east", 2, "b"), ("west", 1, "y")]


def test_a_shard_that_cannot_be_told_from_another_parks_the_table(tmp_path: Path) -> None:
    columns = (MetadataColumn.SOURCE_TABLE, MetadataColumn.SOURCE_SCHEMA)
    shards = Shards(tmp_path, replace(SHARED, metadata_columns=columns))
    shards.land(EAST.create(row(1), 1))
    shards.land(WEST.create(row(1), 2))
    parked = shards.state.parked
    assert parked is not None
    assert (parked.reason, parked.message, parked.remedy) == (
        "sources_alike",
        "rows of west.public.orders cannot be told from those of east.public.orders, which land in the same table",
        "carry them with a bridge and a landing zone of their own, and list there under metadata_columns what differs "
        "between them (source_database, source_schema, source_table), or give one of them another name with "
        "tables.overrides[].naming",
    )
    assert parked.resume == {"east.orders": {0: 1}, "west.orders": {0: 0}}
    shards.land(EAST.create(row(2), 3))
    (mirrored,) = shards.job.rows("orders")
    assert (mirrored["_cdc_source_schema"], mirrored["_cdc_source_table"], mirrored["id"]) == ("public", "orders", 1)


def test_a_shard_with_a_column_of_the_identitys_name_parks_the_table_alone(tmp_path: Path) -> None:
    copied = replace(EAST, columns=(*COLUMNS, Column("_cdc_source_database", Kind.TEXT)))
    shards = Shards(tmp_path)
    shards.land(
        copied.create({**row(1), "_cdc_source_database": "elsewhere"}, 1),
        Table("s.items", name="items").create(row(1), 1),
    )
    parked = shards.job.ledger.state.tables["orders"].parked
    assert parked is not None
    assert (parked.reason, parked.message, parked.remedy) == (
        "name_taken",
        "the source has columns of the names that tell merged sources apart: _cdc_source_database",
        "keep the columns out of the events (the connector's column.exclude.list) and "
        "`cdc-bridge resume CONFIG orders`; or set another metadata_prefix and carry the sources with a bridge "
        "and a landing zone of their own",
    )
    assert parked.resume == {"east.orders": {0: 0}}
    assert [landed["id"] for landed in shards.job.rows("items")] == [1]


@pytest.mark.parametrize("first", [EAST, WEST])
def test_a_shard_that_the_settings_treat_otherwise_parks_the_table(tmp_path: Path, first: Table) -> None:
    masking = replace(SHARED, mask=("name",), on_truncate=OnTruncate.IGNORE)
    shards = Shards(tmp_path, overrides=(("west.public.orders", masking),))
    (second,) = {EAST, WEST} - {first}
    shards.land(first.create(row(1, "secret"), 1))
    shards.land(second.create(row(1, "secret"), 2), first.create(row(2, "secret"), 2))
    parked = shards.state.parked
    assert parked is not None
    assert (parked.reason, parked.message, parked.remedy) == (
        "sources_differ",
        f"the settings treat rows of {second.database}.public.orders otherwise (mask, on_truncate) than those of "
        f"{first.database}.public.orders, which land in the same table",
        "let one entry of tables.overrides match all of them, restart, and `cdc-bridge resume CONFIG orders`",
    )
    assert {name for source, _, name in shards.rows() if source == "west"} <= {"****"}


def test_no_row_lands_in_clear_when_shards_that_differ_come_in_one_batch(tmp_path: Path) -> None:
    shards = Shards(tmp_path, overrides=(("west.public.orders", replace(SHARED, mask=("name",))),))
    shards.land(EAST.create(row(1, "secret"), 1), WEST.create(row(1, "secret"), 1))
    assert shards.state.parked is not None
    assert {name for source, _, name in shards.rows() if source == "west"} <= {"****"}


def test_shards_may_come_to_their_common_name_by_templates_of_their_own(tmp_path: Path) -> None:
    own = replace(SHARED, schema_template="{schema}")
    shards = Shards(tmp_path, replace(SHARED, schema_template="public"), overrides=(("west.*", own),))
    assert shards.land(EAST.create(row(1), 1), WEST.create(row(1), 1)) == {"public.orders": {"4": 2}}
    assert shards.state.parked is None


def test_a_truncate_of_one_shard_follows_the_policy(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    shards.land(EAST.create(row(1), 1), WEST.create(row(1), 1))
    shards.land(EAST.truncate(2))
    assert shards.state.parked is not None
    assert shards.state.parked.reason == "truncate"
    ignoring = Shards(tmp_path / "other", replace(SHARED, on_truncate=OnTruncate.IGNORE))
    ignoring.land(EAST.create(row(1), 1))
    ignoring.land(EAST.truncate(2), EAST.create(row(2), 3))
    assert ignoring.rows() == [("east", 1, "a"), ("east", 2, "a")]


@pytest.mark.parametrize("one_partition", [True, False])
def test_events_of_shards_that_take_turns_in_a_topic_land_in_its_order(tmp_path: Path, one_partition: bool) -> None:
    routed = replace(WEST, topic=EAST.topic)
    shards = Shards(tmp_path)
    if not one_partition:
        shards.land(replace(EAST, topic="other").create(row(9), 9))
    turns = [routed.create(row(1), 5), EAST.create(row(1), 900), routed.create(row(2), 6), EAST.create(row(2), 901)]
    shards.land(*turns)
    zone = tmp_path / "zone/orders"
    files = sorted(zone.glob("*.parquet"))
    landed = pq.read_table(files[-1]).select(["_cdc_source_database", "id"]).to_pylist()
    assert [tuple(line.values()) for line in landed] == [("west", 1), ("east", 1), ("west", 2), ("east", 2)]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_bytes_do_not_depend_on_how_records_of_shards_in_one_topic_were_cut(tmp_path: Path, size: int) -> None:
    routed = replace(WEST, topic=EAST.topic)
    turns = [shard.create(row(key), key) for key in range(4) for shard in (routed, EAST)]
    files = []
    for arrow_rows in (size, 5):
        shards = Shards(tmp_path / str(arrow_rows))
        shards.job.arrow_rows = arrow_rows
        shards.land(*turns)
        (file,) = (tmp_path / str(arrow_rows) / "zone/orders").glob("*.parquet")
        files.append(file.read_bytes())
    assert files[0] == files[1]


def test_the_event_that_parks_the_table_is_the_first_in_the_topic(tmp_path: Path) -> None:
    routed = replace(WEST, topic=EAST.topic)
    shards = Shards(tmp_path)
    turns = [routed.create(row(1), 1), EAST.truncate(5), routed.create(row(2), 2), EAST.create(row(2), 6)]
    assert shards.land(*turns) == {"orders": {"4": 1}}
    parked = shards.state.parked
    assert parked is not None
    assert (parked.reason, parked.offset, parked.resume, parked.skipped) == ("truncate", 1, {EAST.topic: {0: 1}}, 3)
    assert shards.state.sources == (("east", "public", "orders"), ("west", "public", "orders"))
    ignoring = replace(shards.job.job, defaults=replace(SHARED, on_truncate=OnTruncate.IGNORE))
    opened, outside = shards.job.opened(), shards.job.outside()
    request = new_request(Action.RESUME, now_ms=1, by="ann@home", table="orders")
    assert Resume(opened, ignoring, outside)(request).accepted
    step = CatchUp(opened, ignoring, outside, 1_000, lambda report: None)
    while step("orders"):
        pass
    assert (shards.state.status, shards.state.rows) == (TableStatus.STREAMING, {"4": 3})


@pytest.mark.parametrize("left_out", ["east", "west"])
def test_a_shard_that_the_settings_exclude_for_a_while_parks_the_table(tmp_path: Path, left_out: str) -> None:
    shards = Shards(tmp_path)
    shards.land(EAST.create(row(1), 1), WEST.create(row(1), 1))
    excluding = replace(shards.job.job, decode=DecodeOptions(rules=TableRules(exclude=(f"{left_out}.public.orders",))))
    park_excluded(shards.job.ledger, excluding)
    parked = shards.state.parked
    assert parked is not None
    assert (parked.reason, parked.message, parked.remedy, parked.resume) == (
        "excluded",
        f"the settings exclude {left_out}.public.orders since then, whose rows are in the table, so none of its events "
        "are landed",
        "include it again, even if it is gone at the source, restart, and `cdc-bridge resume CONFIG orders`",
        {"east.orders": {0: 1}, "west.orders": {0: 1}},
    )
    request = new_request(Action.RESUME, now_ms=1, by="ann@home", table="orders")
    refusal = Resume(shards.job.opened(), excluding, shards.job.outside())(request)
    assert (refusal.accepted, refusal.message) == (
        False,
        f"the settings that the driver runs with exclude {left_out}.public.orders",
    )


def test_a_shard_whose_topic_was_cleaned_up_holds_up_no_resume(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    shards.land(EAST.create(row(1), 1), WEST.create(row(1), 1))
    shards.land(EAST.truncate(2))
    del shards.job.log.partitions[WEST.topic]
    request = new_request(Action.RESUME, now_ms=1, by="ann@home", table="orders")
    ignoring = replace(shards.job.job, defaults=replace(SHARED, on_truncate=OnTruncate.IGNORE))
    outside = shards.job.outside()
    by_name = replace(outside, names=(EAST.topic, WEST.topic))
    refusal = Resume(shards.job.opened(), ignoring, by_name)(request)
    assert not refusal.accepted, "a start would park it (topic_gone)"
    assert refusal.message.startswith("orders cannot go on: its events come from west.orders")
    shards.job.log.left_out.add(WEST.topic)
    assert not Resume(shards.job.opened(), ignoring, outside)(request).accepted, "and here (excluded)"
    shards.job.log.left_out.clear()
    assert Resume(shards.job.opened(), ignoring, outside)(request).accepted
    assert shards.state.status is TableStatus.CATCHING_UP


def test_without_the_option_a_second_source_of_a_name_stands_still(tmp_path: Path) -> None:
    shards = Shards(tmp_path, replace(SHARED, merge_sources=False))
    shards.land(EAST.create(row(1), 1), WEST.create(row(1), 1))
    reasons = {name: table.parked and table.parked.reason for name, table in shards.job.ledger.state.tables.items()}
    assert reasons == {"orders": None, "orders <- west.public.orders": "name_collision"}


def test_all_sources_of_a_table_whose_folder_is_anothers_are_remembered_and_their_events_counted(
    tmp_path: Path,
) -> None:
    shards = Shards(tmp_path, replace(SHARED, compaction=Compaction.LAST_STATE))
    north = Table("north.orders", name="Orders", database="north")
    shards.land(north.create(row(1), 1))
    shards.land(EAST.create(row(1), 1), EAST.update(row(1, "b"), 2), WEST.create(row(1), 1))
    shards.land(WEST.update(row(1, "b"), 2))
    tables = shards.job.ledger.state.tables
    assert sorted(tables) == ["Orders", "orders <- east.public.orders"]
    stopped = tables["orders <- east.public.orders"]
    assert stopped.sources == (("east", "public", "orders"), ("west", "public", "orders"))
    assert stopped.parked is not None
    assert (stopped.parked.reason, stopped.parked.skipped) == ("name_collision", 4)


def test_the_footer_names_all_sources(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    shards.land(EAST.create(row(1), 1), WEST.create(row(1), 1))
    (file,) = (tmp_path / "zone/orders").glob("*.parquet")
    assert '"sources":[["east","public","orders"],["west","public","orders"]]' in read_footer(file.read_bytes()).state


class TestSettings:
    def tables(self, **override: Any) -> dict[str, Any]:
        return {"tables__overrides": [{"match": "*.orders", "merge_sources": True, **override}]}

    def test_sources_have_to_be_told_apart_and_rebuilds_to_be_left_out(self) -> None:
        rules = {
            "policies": {"on_truncate": "rebuild", "on_type_change": "rebuild", "on_drop": "drop"},
            "metadata_columns": ["op"],
        }
        assert sorted(broken(**self.tables(**rules))) == [
            "tables.overrides[0].metadata_columns has to list at least one of source_database, source_schema, "
            "source_table: merge_sources needs to tell the sources apart",
            "tables.overrides[0].policies.on_drop has to be keep with merge_sources: the other sources' rows are still "
            "there",
            "tables.overrides[0].policies.on_resnapshot has to be upsert with merge_sources: each source has a first "
            "snapshot of its own, and a second one can't be told from it",
            "tables.overrides[0].policies.on_truncate can't be rebuild with merge_sources: one source can't bring back "
            "the others' rows",
            "tables.overrides[0].policies.on_type_change can't be rebuild with merge_sources: one source can't bring "
            "back the others' rows",
        ]

    def test_it_is_an_option_of_an_override(self) -> None:
        rules = {"policies": {"on_resnapshot": "upsert"}, "metadata_columns": ["source_database"]}
        tables = settings(**self.tables(**rules)).tables
        assert tables.settings_for("public.orders").merge_sources
        assert not tables.settings_for("public.users").merge_sources
