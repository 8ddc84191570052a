"""Whole micro-batches, one after the other, without Spark and Kafka: what one batch leaves for the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from connectors.debezium.events import BadRecord, Op
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.kafka.config import KafkaConfig
from connectors.kafka.dead_letters import DeadLetterConfig, DeadLetterProducer
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, TableState, TableStatus
from connectors.landing_zone.replay.table_metadata import parse_metadata
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.workload import Record
from streaming.driver.assemble import assemble
from streaming.driver.publishing import table_metadata
from streaming.driver.startup import taint_incomplete
from streaming.plan import JobOptions, TableOptions, TableResult
from streaming.policies import FileFormat, Markers, OnResnapshot
from streaming.task.results import Results
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table

ORDERS = Table("shop.orders")


class Letters(DeadLetterProducer):
    """Dead letters that stay in memory."""

    def __init__(self) -> None:
        self.records: list[BadRecord] = []

    def send(self, bad: BadRecord) -> None:
        self.records.append(bad)

    def flush(self) -> None:
        pass


class Batches:
    """A job to which records are given batch by batch."""

    def __init__(self, folder: Path, *, defaults: TableOptions | None = None, markers: Markers = Markers.SAFE) -> None:
        self.log = Log()
        self.letters = Letters()
        options = JobOptions(
            fingerprint="test",
            decode=DecodeOptions(),
            zone=StorageLocation(f"file://{folder}/zone"),
            defaults=defaults or TableOptions(),
            markers=markers,
            dead_letters=DeadLetterConfig(KafkaConfig("127.0.0.1:1"), "dead-letters"),
        )
        self.job = PlainJob(folder, options, self.log, dead_letters=self.letters)

    def land(self, *records: Record) -> dict[str, Mapping[str, int]]:
        """Land the records as one batch; rows per marker of each file."""
        return {table: file.rows for table, file in self.job.receive(*records).files.items()}


class TestNameCollisions:
    def test_a_table_that_would_take_anothers_folder_stands_still_and_the_other_goes_on(self, tmp_path: Path) -> None:
        batches = Batches(tmp_path, defaults=TableOptions(table_template="{table}", schema_template=""))
        other = Table("shop.orders2", database="mall")
        batches.land(ORDERS.create({"id": 1}, 1))
        batches.land(other.create({"id": 7}, 1))
        assert batches.land(ORDERS.create({"id": 2}, 2), other.create({"id": 8}, 2)) == {"orders": {"4": 1}}
        assert batches.land(ORDERS.create({"id": 3}, 3), other.create({"id": 9}, 3)) == {"orders": {"4": 1}}
        tables = batches.job.ledger.state.tables
        assert sorted(tables) == ["orders", "orders <- mall.public.orders"]
        assert tables["orders"].status is TableStatus.STREAMING
        parked = tables["orders <- mall.public.orders"].parked
        assert parked is not None
        assert (parked.reason, parked.resume, parked.skipped) == ("name_collision", {"shop.orders2": {0: 0}}, 3)
        assert [row["id"] for row in batches.job.rows("orders")] == [1, 2, 3]

    @pytest.mark.parametrize(
        ("first", "second"), [("orders", "Orders"), ("a/b", "a_b")], ids=["but for case", "what no folder holds"]
    )
    def test_names_that_lead_to_one_folder_are_told_with_what_to_do(
        self, tmp_path: Path, first: str, second: str
    ) -> None:
        batches = Batches(tmp_path)
        batches.land(Table("shop.one", name=first).create({"id": 1}, 1))
        assert batches.land(Table("shop.two", name=second).create({"id": 7}, 1)) == {}
        (owner, state), (name, collided) = batches.job.ledger.state.tables.items()
        assert name == f"public.{second.replace('/', '_')} <- shop.public.{second}"
        assert collided.folder.casefold() == state.folder.casefold()
        assert collided.parked is not None
        assert (collided.parked.message, collided.parked.remedy) == (
            f"its folder {collided.folder} belongs to the table {owner} of another source table",
            "exclude it, and carry it with a second bridge: another name, landing zone and state, and a snapshot of "
            "its own",
        )


def tainted(batches: Batches) -> bool:
    """Whether no row of the orders is taken for new any more."""
    return batches.job.ledger.state.tables["public.orders"].tainted


class TestNatural:
    def test_nothing_is_proven_in_a_batch_with_a_record_that_was_set_aside(self, tmp_path: Path) -> None:
        batches = Batches(tmp_path, markers=Markers.NATURAL)
        assert batches.land(ORDERS.create({"id": 1}, 1)) == {"public.orders": {"4": 1}}
        assert batches.land(ORDERS.create({"id": 2}, 2)) == {"public.orders": {"0": 1}}
        broken = Record("shop.orders", 0, b'{"id": 1}', b"{", ())
        assert batches.land(broken, ORDERS.create({"id": 1}, 4)) == {"public.orders": {"4": 1}}
        assert tainted(batches)
        assert {letter.offset for letter in batches.letters.records} == {2}

    @pytest.mark.parametrize("left_out", [Op.UPDATE, Op.DELETE, Op.TRUNCATE])
    def test_a_start_that_leaves_events_out_taints_even_if_nothing_else_of_the_table_comes(
        self, tmp_path: Path, left_out: Op
    ) -> None:
        batches = Batches(tmp_path, markers=Markers.NATURAL)
        batches.land(ORDERS.create({"id": 1}, 1))
        taint_incomplete(batches.job.ledger, batches.job.job)
        assert not tainted(batches)
        rules = TableRules(tables=(("*", TableDecoding(excluded_operations=(left_out,))),))
        taint_incomplete(batches.job.ledger, replace(batches.job.job, decode=DecodeOptions(rules=rules)))
        assert tainted(batches)
        version = batches.job.ledger.state.version
        taint_incomplete(batches.job.ledger, replace(batches.job.job, decode=DecodeOptions(rules=rules)))
        assert batches.job.ledger.state.version == version
        assert batches.land(ORDERS.create({"id": 1}, 2)) == {"public.orders": {"4": 1}}

    def test_a_start_that_leaves_only_creates_out_taints_nothing(self, tmp_path: Path) -> None:
        batches = Batches(tmp_path, markers=Markers.NATURAL)
        batches.land(ORDERS.create({"id": 1}, 1))
        rules = TableRules(tables=(("*", TableDecoding(excluded_operations=(Op.CREATE,))),))
        taint_incomplete(batches.job.ledger, replace(batches.job.job, decode=DecodeOptions(rules=rules)))
        assert not tainted(batches)

    def test_a_second_snapshot_that_is_upserted_while_the_table_loads_taints_for_good(self, tmp_path: Path) -> None:
        options = TableOptions(on_resnapshot=OnResnapshot.UPSERT)
        batches = Batches(tmp_path, defaults=options, markers=Markers.NATURAL)
        batches.land(ORDERS.read({"id": 1}, 100), ORDERS.read({"id": 2}, 100))
        assert not tainted(batches)
        again = replace(ORDERS, run="run-2")
        batches.land(again.read({"id": 1}, 200))
        assert tainted(batches)
        batches.land(again.create({"id": 3}, 299))
        assert batches.land(again.create({"id": 2}, 300)) == {"public.orders": {"4": 1}}
        assert sorted(row["id"] for row in batches.job.rows("public.orders")) == [1, 2, 3]


class TestTwoTopicsOfOneTable:
    def test_one_that_merges_and_one_that_does_not_land_in_one_file(self, tmp_path: Path) -> None:
        batches = Batches(tmp_path)
        wide = replace(ORDERS, topic="shop.wide")
        landed = batches.land(
            ORDERS.create({"id": 1}, 2),
            wide.create({"id": 2}, 1),
            wide.at(1).create({"id": 3}, 3),
        )
        assert landed == {"public.orders": {"4": 3}}
        assert batches.job.ledger.state.merging == ("shop.orders",)
        assert batches.land(ORDERS.create({"id": 4}, 5)) == {"public.orders": {"4": 1}}
        assert [row["id"] for row in batches.job.rows("public.orders")] == [2, 1, 3, 4]

    def test_what_a_merge_leaves_out_is_counted(self) -> None:
        table = TableState(("shop", "public", "orders"), "public.schema/orders", dead_letters=5)
        result = TableResult("public.orders", table, left_out={"unavailable_value": 2, "cast_failure": 1})
        results = Results(tables=(result,), partitions=())
        draft = assemble(results, {}, LedgerState("l", 1, 1, "w"), frozenset())
        assert isinstance(draft, Draft)
        assert draft.counters == {"dead_letters.cast_failure": 1, "dead_letters.unavailable_value": 2}


class TestTextFiles:
    def test_the_metadata_says_how_the_first_file_was_written_whatever_the_settings_say_now(
        self, tmp_path: Path
    ) -> None:
        text = TableOptions(file_format=FileFormat.DELIMITED, column_separator=";")
        batches = Batches(tmp_path, defaults=text)
        batches.land(ORDERS.create({"id": 1}, 1))
        state = batches.job.ledger.state
        file = LandedFile("public.orders", 1, 1, "staged", "target", "", "", 1, {}, "")
        now = replace(batches.job.job, defaults=TableOptions())
        body = table_metadata({"public.orders": file}, state, now)["public.orders"]
        written = parse_metadata(body, "_metadata.json").text
        assert written is not None
        assert (written.column_separator, written.extension) == (";", "csv")
