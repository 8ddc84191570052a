"""A table that stood still goes on from where it stopped, chunk by chunk, and joins the others."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from msgspec.structs import replace

from connectors.debezium.schema import SourceTable
from connectors.kafka.reading.ranges import PartitionRange
from connectors.landing_zone.errors import TopicRecreatedError
from connectors.landing_zone.ledger.state import PlannedTopic, TableStatus
from streaming.demo.columns import Column, Kind
from streaming.driver.batch import DecodeAndLand
from streaming.driver.planning import TopicGoneError
from streaming.lifecycle.catching_up import CatchUp, chunk_of, going_on, joined, ranges_to_land
from streaming.lifecycle.outside import Ranges
from streaming.lifecycle.side import land_beside, land_records
from streaming.plan import BatchPlan
from streaming.policies import OnMissingKey, OnTruncate, OnTypeChange
from streaming.task.results import Results
from streaming.task.worker import worker_for
from tests.support.plain_job import read_log
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.resumable import NAME, Shop

OTHER = Table("shop.public.users", "users")


def truncated(folder: Path, *, chunk: int = 1_000) -> Shop:
    """A table that a truncate has parked, and rows behind it."""
    shop = Shop(folder, chunk=chunk)
    shop.receive(ORDERS.read(row(1), 10), OTHER.read(row(1), 10))
    shop.receive(ORDERS.create(row(2), 20), ORDERS.truncate(21), ORDERS.create(row(3), 22))
    shop.receive(ORDERS.update(row(3, "later"), 23), ORDERS.delete(row(1), 24), OTHER.create(row(2), 25))
    return shop


def test_what_was_passed_over_lands_as_the_next_file_and_the_offsets_stay(tmp_path: Path) -> None:
    shop = truncated(tmp_path)
    parked = shop.table.parked
    assert parked is not None
    assert (parked.resume, parked.skipped) == ({TOPIC: {0: 2}}, 4)
    shop.restart(on_truncate=OnTruncate.IGNORE)
    before = shop.plain.ledger.state

    assert shop.resume().accepted
    assert shop.status() is TableStatus.CATCHING_UP
    assert shop.catch_up_wholly() == 1

    after = shop.plain.ledger.state
    assert after.topics == before.topics
    assert (shop.table.status, shop.table.parked, shop.table.sequence) == (TableStatus.STREAMING, None, 3)
    assert shop.rows() == [row(2), row(3, "later")]
    [report] = shop.reports
    assert (report.table, report.offsets, report.files[NAME].ranges) == (NAME, 4, {TOPIC: {0: (3, 5)}})
    assert after.counters["records"] == before.counters["records"]
    assert after.tables["public.users"] == before.tables["public.users"]


def test_a_table_in_the_stream_again_lands_with_the_others(tmp_path: Path) -> None:
    shop = truncated(tmp_path)
    shop.restart(on_truncate=OnTruncate.IGNORE)
    shop.resume()
    shop.catch_up_wholly()

    report = shop.receive(ORDERS.create(row(9), 40), OTHER.create(row(9), 41))

    assert sorted(report.files) == [NAME, "public.users"]
    assert shop.rows() == [row(2), row(3, "later"), row(9)]
    assert not shop.catch_up(NAME)


def test_chunks_are_files_of_their_own_and_a_batch_between_them_is_caught_up_with_too(tmp_path: Path) -> None:
    shop = truncated(tmp_path, chunk=2)
    shop.restart(on_truncate=OnTruncate.IGNORE)
    shop.resume()

    assert shop.catch_up(NAME)
    parked = shop.table.parked
    assert parked is not None
    assert (shop.table.status, parked.resume, parked.skipped) == (TableStatus.CATCHING_UP, {TOPIC: {0: 4}}, 2)
    report = shop.receive(ORDERS.create(row(9), 40), OTHER.create(row(9), 41))
    assert sorted(report.files) == ["public.users"]
    assert shop.status() is TableStatus.CATCHING_UP
    parked = shop.table.parked
    assert parked is not None
    assert (parked.resume, parked.skipped) == ({TOPIC: {0: 4}}, 3)

    assert shop.catch_up_wholly() == 2
    assert shop.status() is TableStatus.STREAMING
    assert [report.files[NAME].ranges[TOPIC] for report in shop.reports] == [{0: (3, 3)}, {0: (4, 5)}, {0: (6, 6)}]
    assert shop.rows() == [row(2), row(3, "later"), row(9)]


def test_an_event_that_still_cannot_be_taken_parks_the_table_again_and_says_so(tmp_path: Path) -> None:
    shop = truncated(tmp_path)
    before = shop.table
    shop.resume()

    assert shop.catch_up_wholly() == 1

    parked = before.parked
    assert parked is not None
    again = replace(before, parked=replace(parked, message=f"the cause is not mended: {parked.message}"))
    assert shop.table == again
    [report] = shop.reports
    assert (report.parked, report.files) == ((NAME,), {})
    shop.resume()
    shop.catch_up_wholly()
    assert shop.table == again, "said once, however often it is tried"


def test_another_stop_on_the_way_parks_the_table_there(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.receive(ORDERS.read(row(1), 10))
    shop.receive(ORDERS.truncate(21), ORDERS.create(row(3), 22))
    retyped = dataclasses.replace(
        ORDERS, columns=(Column("id", Kind.INT64, optional=False), Column("name", Kind.INT64))
    )
    shop.receive(ORDERS.create(row(4), 23), retyped.create({"id": 5, "name": 7}, 24), retyped.create({"id": 6}, 25))
    shop.restart(on_truncate=OnTruncate.IGNORE)
    shop.resume()

    assert shop.catch_up_wholly() == 1

    parked = shop.table.parked
    assert parked is not None
    assert (shop.table.status, parked.reason, parked.offset) == (TableStatus.PARKED, "type_changed", 4)
    assert (parked.resume, parked.skipped) == ({TOPIC: {0: 4}}, 2)
    assert shop.rows() == [row(1), row(3), row(4)]
    shop.restart(on_type_change=OnTypeChange.NEW_COLUMN)
    shop.resume()
    shop.catch_up_wholly()
    assert shop.status() is TableStatus.STREAMING
    assert [one["id"] for one in shop.rows()] == [1, 3, 4, 5, 6]


def test_a_table_that_never_landed_begins_with_its_snapshot_however_far_the_others_are(tmp_path: Path) -> None:
    """A snapshot row of a run that has streamed other tables is no second snapshot of a table that lags behind."""
    keyless = dataclasses.replace(ORDERS, key=())
    shop = Shop(tmp_path)
    shop.receive(keyless.read(row(1), 10), keyless.read(row(2), 10), OTHER.read(row(1), 10))
    shop.receive(OTHER.create(row(2), 25), keyless.create(row(3), 26))
    assert shop.table.parked is not None
    assert shop.table.parked.reason == "missing_key"
    shop.restart(on_missing_key=OnMissingKey.APPEND)

    shop.resume()
    shop.catch_up_wholly()

    assert shop.status() is TableStatus.STREAMING
    assert shop.rows() == [row(1), row(2), row(3)]


def test_several_partitions_are_merged_and_their_order_holds(tmp_path: Path) -> None:
    shop = Shop(tmp_path, policies={"on_truncate": OnTruncate.PARK})
    shop.receive(ORDERS.at(0).read(row(1), 10), ORDERS.at(1).read(row(2), 10))
    shop.receive(
        ORDERS.at(0).truncate(11),
        ORDERS.at(0).create(row(3), 14),
        ORDERS.at(1).create(row(4), 13),
        ORDERS.at(1).update(row(2, "two"), 15),
    )
    shop.restart(on_truncate=OnTruncate.IGNORE)
    shop.resume()
    shop.catch_up_wholly()

    assert shop.status() is TableStatus.STREAMING
    assert shop.table.late == 0
    assert shop.rows() == [row(1), row(2, "two"), row(3), row(4)]


def test_what_retention_has_removed_meanwhile_parks_the_table_and_names_resync(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shop = truncated(tmp_path, chunk=2)
    shop.restart(on_truncate=OnTruncate.IGNORE)
    shop.resume()
    shop.catch_up(NAME)
    shop.log.earliest[TOPIC, 0] = 5

    assert shop.catch_up(NAME)

    parked = shop.table.parked
    assert parked is not None
    assert (shop.table.status, parked.reason, parked.resume) == (
        TableStatus.PARKED,
        "retention_passed",
        {TOPIC: {0: 4}},
    )
    assert parked.message == (
        "Kafka's retention has removed what the table has to catch up from: "
        "shop.public.orders/0 begins at offset 5, and 4 is the next one to land"
    )
    assert parked.remedy.startswith("rebuild the table with `cdc-bridge resync CONFIG public.orders`")
    [line] = [record.getMessage() for record in caplog.records if "is parked" in record.getMessage()]
    assert line.startswith(f"{NAME} is parked: {parked.message} [table={NAME}]. Remedy: rebuild the table")


def test_a_topic_that_is_made_again_while_a_chunk_is_read_lands_nothing_of_it(tmp_path: Path) -> None:
    shop = truncated(tmp_path)
    shop.restart(on_truncate=OnTruncate.IGNORE)
    shop.resume()
    before, version, outside = shop.files(), shop.plain.ledger.state.version, shop.plain.outside()

    def read(ranges: Ranges) -> DecodeAndLand:
        def meanwhile(plan: BatchPlan) -> Results:
            shop.log.ids[TOPIC] = "another"
            return outside.read(ranges)(plan)

        return meanwhile

    catch_up = CatchUp(
        shop.plain.opened(), shop.plain.job, dataclasses.replace(outside, read=read), shop.chunk, shop.reports.append
    )
    with pytest.raises(TopicGoneError, match="the topic was deleted and created again while the query ran"):
        catch_up(NAME)
    assert (shop.files(), shop.plain.ledger.state.version, shop.reports) == (before, version, [])
    with pytest.raises(TopicRecreatedError):
        catch_up(NAME)


def test_what_was_read_of_a_topic_that_is_deleted_then_lands(tmp_path: Path) -> None:
    shop = truncated(tmp_path)
    shop.restart(on_truncate=OnTruncate.IGNORE)
    shop.resume()
    outside = shop.plain.outside()
    asked = iter([outside.topics([TOPIC]), {}])
    outside = dataclasses.replace(outside, topics=lambda names: next(asked))
    assert CatchUp(shop.plain.opened(), shop.plain.job, outside, shop.chunk, shop.reports.append)(NAME)
    assert shop.rows() == [row(2), row(3, "later")]


@pytest.mark.parametrize(
    ("limit", "wanted"),
    [
        (100, {0: (0, 60), 1: (5, 45), 2: (7, 7)}),
        (50, {0: (0, 30), 1: (5, 25), 2: (7, 7)}),
        (1, {0: (0, 1), 1: (5, 6), 2: (7, 7)}),
    ],
)
def test_a_chunk_takes_of_every_partition_in_proportion(limit: int, wanted: dict[int, tuple[int, int]]) -> None:
    ranges = {TOPIC: PlannedTopic("id", {0: (0, 60), 1: (5, 45), 2: (7, 7)})}
    assert chunk_of(ranges, limit) == {TOPIC: PlannedTopic("id", wanted)}


def test_the_source_table_alone_lands_from_a_topic_that_it_shares(tmp_path: Path) -> None:
    shared = dataclasses.replace(OTHER, topic=TOPIC)
    shop = Shop(tmp_path)
    shop.receive(ORDERS.read(row(1), 10), shared.read(row(1), 10))
    shop.receive(ORDERS.truncate(11), shared.create(row(2), 12), ORDERS.create(row(2), 13))
    shop.restart(on_truncate=OnTruncate.IGNORE)
    before = shop.plain.ledger.state.tables["public.users"]
    shop.resume()
    shop.catch_up_wholly()
    assert shop.plain.ledger.state.tables["public.users"] == before
    assert shop.rows() == [row(1), row(2)]
    assert SourceTable(*before.source).name == "users"


def test_another_source_table_of_the_same_name_does_not_slip_in(tmp_path: Path) -> None:
    twin = dataclasses.replace(ORDERS, database="shop2")
    shop = Shop(tmp_path)
    shop.receive(ORDERS.read(row(1), 10), twin.read(row(7), 10))
    shop.pause()
    shop.receive(ORDERS.create(row(2), 12), twin.create(row(8), 13))
    shop.resume()
    shop.catch_up_wholly()
    assert shop.rows() == [row(1), row(2)]


@pytest.mark.parametrize("partitions", [1, 2])
def test_few_records_land_beside_the_stream_in_this_process(tmp_path: Path, partitions: int) -> None:
    shop = Shop(tmp_path)
    shop.receive(*(ORDERS.at(number).read(row(number), 10) for number in range(partitions)))
    shop.pause()
    later = [ORDERS.at(number % partitions).create(row(number + 2), 10 + number) for number in range(4)]
    shop.receive(*later)
    ranges = ranges_to_land(shop.table, shop.plain.ledger.state)
    asked = [PartitionRange(TOPIC, number, *span) for number, span in ranges[TOPIC].partitions.items()]
    before = shop.table

    report = land_beside(
        NAME,
        going_on(before),
        ranges,
        shop.plain.job,
        shop.plain.ledger,
        shop.plain.opened().publisher,
        lambda plan: land_records(plan, read_log(shop.log, asked, 10), worker_for(plan.job)),
        lambda landed: joined(before, landed.state),
    )

    assert (report.table, report.offsets, shop.status()) == (NAME, 4, TableStatus.STREAMING)
    assert shop.rows() == [row(number) for number in range(partitions)] + [row(number + 2) for number in range(4)]


def test_a_table_that_its_folder_stops_while_it_catches_up_stands_still_and_lands_nothing_more(tmp_path: Path) -> None:
    shop = truncated(tmp_path, chunk=2)
    shop.restart(on_truncate=OnTruncate.IGNORE)
    shop.resume()
    (tmp_path / "zone/public.schema/orders" / f"{3:020d}.parquet").write_bytes(b"somebody else's")
    shop.catch_up(NAME)
    parked = shop.table.parked
    assert parked is not None
    assert (shop.status(), parked.reason, parked.resume) == (
        TableStatus.PARKED,
        "zone:sequence_conflict",
        {TOPIC: {0: 4}},
    )
    assert not shop.catch_up(NAME)
    assert sorted(shop.plain.ledger.state.pending) == [NAME]
