"""Whole micro-batches, one after the other, without Spark and Kafka: what one batch leaves for the next."""

from __future__ import annotations

from pathlib import Path

from connectors.debezium.options import DecodeOptions
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.workload import Record
from streaming.plan import JobOptions, TableOptions
from streaming.policies import Markers, OnUnavailable
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table

ORDERS = Table("shop.orders")


class Batches:
    """A job to which records are given batch by batch."""

    def __init__(self, folder: Path, **job: object) -> None:
        self.log = Log()
        options = {
            "fingerprint": "test",
            "decode": DecodeOptions(),
            "zone": StorageLocation(f"file://{folder}/zone"),
            **job,
        }
        self.job = PlainJob(folder, JobOptions(**options), self.log)  # type: ignore[arg-type]

    def land(self, *records: Record) -> dict[str, dict[str, int]]:
        """Land the records as one batch; rows per marker of each file."""
        start = self.log.ends()
        for record in records:
            self.log.append(record)
        report = self.job.run_batch(start, self.log.ends())
        return {table: file.rows for table, file in report.files.items()}


class TestNameCollisions:
    def test_a_table_that_would_take_anothers_folder_stands_still_and_the_other_goes_on(self, tmp_path: Path) -> None:
        batches = Batches(tmp_path, defaults=TableOptions(table_template="{table}", schema_template=""))
        other = Table("shop.orders2", database="mall", partition=0)
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


class TestNatural:
    def test_nothing_is_proven_in_a_batch_with_a_record_that_was_set_aside(self, tmp_path: Path) -> None:
        dead: list[object] = []
        batches = Batches(tmp_path, markers=Markers.NATURAL)
        batches.job.set_aside(dead.append)
        assert batches.land(ORDERS.create({"id": 1}, 1)) == {"public.orders": {"4": 1}}
        assert batches.land(ORDERS.create({"id": 2}, 2)) == {"public.orders": {"0": 1}}
        broken = Record("shop.orders", 0, b'{"id": 1}', b"{", ())
        assert batches.land(broken, ORDERS.create({"id": 1}, 4)) == {"public.orders": {"4": 1}}
        assert batches.job.ledger.state.tables["public.orders"].tainted
